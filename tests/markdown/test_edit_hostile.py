"""Random pieces of YAML and Markdown: each edit is exact, or is refused by a code."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_agent.errors import VaultAgentError
from vault_agent.markdown.address import PartAddress
from vault_agent.markdown.edit import spliced
from vault_agent.markdown.frontmatter_edit import read_keys, set_keys
from vault_agent.markdown.section_edit import edit_section
from vault_agent.markdown.tag_edit import edit_tags
from vault_agent.markdown.yaml_values import same

YAML = ["k:", "k: ", "a: 1", "tags:", "- ", "-", "  ", "\t", "\n", "\n", "\n", "\r\n", "\r", "# c"]
YAML += [" # c", "|", "|+", ">-", "[", "]", "{", "}", ",", "'", '"', "&x ", "*x", "!!str ", "? "]
YAML += [": ", "é", "😀", "\u2028", "\x85", "---", "...", "%", "@", "`", "1", "null", "~", "\\"]
MARKDOWN = [
    "# ", "## ", "#", "\n", "\n", "\n\n", "\r\n", "\r", "a", "h", "===", "---", "```", "~~~", "~~~",
    "> ", "- ", "  ", "    ", "^b", " ^b", "%%", "<!--", "-->", "<div>", "|", "#t", " #t",
    "| a |\n|---|", "[[a#b]]", "é", "😀", "\u2028", "`", "*", "\\", "[x]: y", "***", "# h\n",
    "# h\n",
]  # fmt: skip
BLOCKS = st.lists(st.sampled_from(YAML), max_size=14).map("".join)
BODIES = st.lists(st.sampled_from(MARKDOWN), max_size=16).map("".join)
VALUES = st.sampled_from(["x", "a: b", None, 1, ["a"], ["a", None], {"q": 1}])
ACTIONS = st.sampled_from(
    ["append", "prepend", "replace", "insertBefore", "insertAfter", "renameHeading"]
)
CONTENTS = st.sampled_from(["x", "x\n", "# y", "- z", "===", "", "```"])
REFUSED = {
    "FRONTMATTER_INVALID",
    "HEADING_NOT_FOUND",
    "HEADING_AMBIGUOUS",
    "BLOCK_NOT_FOUND",
    "INVALID_REQUEST",
    "EDIT_NOT_PROVEN",
}


def edited(note: bytes, editor: Any, *args: Any, **options: Any) -> bytes | None:
    """Return the note after an edit, or None if it is refused by a code that is expected."""
    try:
        found = editor(note, *args, **options)
    except VaultAgentError as error:
        code = error.code
    else:
        return spliced(note, getattr(found, "splices", found))
    assert code in REFUSED
    return None


def check_block(yaml: str, body: str, value: Any) -> None:
    """Set, add and delete keys and tags. The body stays, and what is set reads back."""
    note = f"---\n{yaml}\n---\n{body}".encode()
    for values, delete in (({"k": value}, []), ({"new": value}, []), ({}, ["k"])):
        after = edited(note, set_keys, values, delete)
        if after is None:
            continue
        assert after.endswith(body.encode())
        read = read_keys(after)
        assert all(same(read[name], each) for name, each in values.items())
    after = edited(note, edit_tags, ["t"], ["x"])
    assert after is None or after.endswith(body.encode())


def check_body(body: str, action: Any, content: str, deep: bool) -> None:
    """Edit sections and blocks, and tags of the text."""
    note = body.encode()
    for address in (PartAddress(("h",)), PartAddress(("a", "h")), PartAddress(block_id="b")):
        options = {"deep": deep, "create_if_missing": not deep}
        after = edited(note, edit_section, address, action, content, **options)
        assert after is None or len(after) >= len(note) or action in ("replace", "renameHeading")
    after = edited(note, edit_tags, ["new"], [], "inline")
    assert after is None or b"#new" in after


@given(BLOCKS, BODIES, VALUES)
def test_frontmatter_is_edited_exactly_or_not_at_all(yaml: str, body: str, value: Any):
    check_block(yaml, body, value)


@given(BODIES, ACTIONS, CONTENTS, st.booleans())
def test_text_is_edited_exactly_or_not_at_all(body: str, action: str, content: str, deep: bool):
    check_body(body, action, content, deep)


@pytest.mark.long
@settings(max_examples=50_000, deadline=None)
@given(BLOCKS, BODIES, VALUES)
def test_much_frontmatter_is_edited_exactly_or_not_at_all(yaml: str, body: str, value: Any):
    check_block(yaml, body, value)


@pytest.mark.long
@settings(max_examples=50_000, deadline=None)
@given(BODIES, ACTIONS, CONTENTS, st.booleans())
def test_much_text_is_edited_exactly_or_not_at_all(
    body: str, action: str, content: str, deep: bool
):
    check_body(body, action, content, deep)
