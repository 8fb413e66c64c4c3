"""Sections and blocks: how they are found, and that edits stay within them."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_agent.errors import InvalidRequest, VaultAgentError
from vault_agent.markdown.address import PartAddress
from vault_agent.markdown.document import Document, section_hash
from vault_agent.markdown.edit import spliced
from vault_agent.markdown.section_edit import edit_section

NOTE = """\
---
k: 1
---
# Project

intro

## Log ##

one

### Sub

deep

## **Next** [[a|b]]

# Other
## Log
"""


def after(note: str, action: Any, content: str, *heading: str, **options: Any) -> str:
    address = options.pop("address", PartAddress(heading))
    data = note.encode()
    return spliced(data, edit_section(data, address, action, content, **options).splices).decode()


def refused(note: str, action: Any, content: str, *heading: str, **options: Any) -> VaultAgentError:
    with pytest.raises(VaultAgentError) as error:
        after(note, action, content, *heading, **options)
    return error.value


# --- the outline ----------------------------------------------------------------------------------


def test_the_outline_has_ids_paths_lines_and_hashes():
    found = Document(NOTE)
    assert [(each.level, each.text, each.line, each.end_line) for each in found.sections] == [
        (1, "Project", 4, 17),
        (2, "Log", 8, 15),
        (3, "Sub", 12, 15),
        (2, "Next b", 16, 17),
        (1, "Other", 18, 19),
        (2, "Log", 19, 19),
    ]
    sub = found.sections[2]
    assert sub.id == f"h:2:{sha256(b'### Sub').hexdigest()[:8]}"
    assert sub.path == ("Project", "Log", "Sub")
    assert section_hash(NOTE, sub) == sha256(b"### Sub\n\ndeep\n\n").hexdigest()


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_blocks_are_paragraphs_items_and_what_the_id_follows(ending: str):
    note = (
        "# A ^h\n\ntext\nmore ^p\n\n- a ^i\n  - b\n- c\n\n| a |\n|---|\n\n^t\n\n"
        "> q ^q\n\n```\n^no\n```\n^c\nalone\n^own\n"
    ).replace("\n", ending)
    found = Document(note).blocks
    whole = {block.id: note[block.start : block.end].replace(ending, "\n") for block in found}
    assert whole == {
        "h": "# A ^h\n",
        "p": "text\nmore ^p\n",
        "i": "- a ^i\n  - b\n",
        "t": "| a |\n|---|\n\n^t\n",
        "q": "> q ^q\n",
        "c": "^c\nalone\n^own\n",
        "own": "^c\nalone\n^own\n",
    }


@pytest.mark.parametrize("start", ["", "---\nk: é\n---\n", "\n"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_the_lines_of_a_section_have_its_hash(start: str, ending: str):
    """A tool that reads these lines gets the hash that an edit compares."""
    text = (start + NOTE[11:] + BLOCKS).replace("\n", ending).rstrip()
    found = Document(text)
    assert found.sections
    assert found.blocks
    for part in (*found.sections, *found.blocks):
        lines = text.splitlines(keepends=True)[part.line - 1 : part.end_line]
        assert section_hash(text, part) == sha256("".join(lines).encode()).hexdigest()


# --- addresses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "heading",
    [
        ("Project", "Log", "Sub"),
        ("Project", "Sub"),
        ("Sub",),
        ("sub",),
        ("### Sub",),
        ("**Sub**",),
        ("Log", "Sub"),
    ],
)
def test_a_path_matches_from_any_level(heading: tuple[str, ...]):
    assert "\ndeep\nx\n" in after(NOTE, "append", "x", *heading)


def test_markup_and_links_of_headings_do_not_matter():
    assert "## **Next** [[a|b]]\nx" in after(NOTE, "append", "x", "next b")
    assert "## **Next** [[a|b]]\nx" in after(NOTE, "append", "x", "**Next** [[a|b]]")
    assert after("# C\n# C++\n", "append", "x", "C") == "# C\nx\n# C++\n"
    assert after("# A > B\n", "append", "x", "A", "B") == "# A > B\nx"
    assert after("# Title ^id\n", "append", "x", "Title") == "# Title ^id\nx"


@pytest.mark.fault(
    "Writing",
    "a heading twice, in code, in a quote, underlined, with a block ID",
    "exact or ambiguous, never a guess",
)
def test_several_headings_of_a_name_are_ambiguous():
    error = refused(NOTE, "append", "x", "Log")
    assert error.code == "HEADING_AMBIGUOUS"
    assert [each["line"] for each in error.details["headings"]] == [8, 19]
    by_id = PartAddress(heading_id=error.details["headings"][1]["headingId"])
    assert after(NOTE, "append", "x", address=by_id).endswith("# Other\n## Log\nx")
    assert after(NOTE, "append", "x", "Other", "Log").endswith("# Other\n## Log\nx")


def test_a_heading_that_is_not_there_is_an_error_with_the_nearest():
    error = refused(NOTE, "append", "x", "Subs")
    assert error.code == "HEADING_NOT_FOUND"
    assert error.details["headings"][0] == "### Sub"
    assert error.details["more"] == 3


def test_an_id_still_counts_after_lines_have_moved():
    sub = Document(NOTE).sections[2]
    moved = NOTE.replace("# Project\n", "# Project\n\n## New\n")
    assert "\ndeep\nx\n" in after(moved, "append", "x", address=PartAddress(heading_id=sub.id))
    gone = moved.replace("### Sub", "### Sup")
    assert refused(gone, "append", "", address=PartAddress(heading_id=sub.id)).code == (
        "HEADING_NOT_FOUND"
    )


def test_headings_in_code_and_quotes_are_none():
    note = "# A\n\n```\n# B\n```\n\n> # B\n\n%%\n# B\n%%\n\n    # B\n"
    assert refused(note, "append", "x", "B").code == "HEADING_NOT_FOUND"
    assert after(note, "append", "x", "A") == f"{note}x"


# --- edits of sections ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "options", "old", "new"),
    [
        ("append", {}, "one\n\n###", "one\nx\n\n###"),
        ("append", {"deep": True}, "deep\n\n##", "deep\nx\n\n##"),
        ("prepend", {}, "Log ##\n\none", "Log ##\nx\n\none"),
        ("replace", {}, "one\n\n### Sub\n\ndeep\n", "x\n"),
        ("insertBefore", {}, "## Log ##", "x\n## Log ##"),
        ("insertAfter", {}, "deep\n\n##", "deep\n\nx\n##"),
        ("renameHeading", {}, "## Log ##", "## x ##"),
    ],
)
def test_each_action_changes_one_place(action: str, options: dict[str, bool], old: str, new: str):
    assert after(NOTE, action, "x", "Project", "Log", **options) == NOTE.replace(old, new, 1)


def test_a_section_at_an_open_end_is_closed_first():
    assert after("# A", "append", "x", "A") == "# A\nx"
    assert after("# A\r\na", "append", "x\ny", "A") == "# A\r\na\r\nx\r\ny"
    assert after("# A", "prepend", "x", "A") == "# A\nx"
    assert after("# A", "replace", "x", "A") == "# A\nx"
    assert after("# A", "insertAfter", "x", "A") == "# A\nx"


def test_a_replaced_section_keeps_its_heading_and_empty_lines():
    note = "## A\n\none\n\n\n## B\n"
    assert after(note, "replace", "x", "A") == "## A\n\nx\n\n\n## B\n"
    assert after(note, "replace", "## A\n\nx\n\n", "A") == "## A\n\nx\n\n## B\n"
    assert after(note, "replace", "\nx\n", "A") == "## A\n\nx\n\n\n## B\n"
    assert after(note, "replace", "", "A") == "## A\n\n\n\n## B\n"
    assert after("## A\n## B\n", "replace", "x", "A") == "## A\nx\n## B\n"
    assert after("## A\r\none\r\n", "replace", "x", "A") == "## A\r\nx\r\n"
    assert after("## A\none\n\n", "replace", "x", "A") == "## A\nx\n\n"
    assert after("## A\none", "replace", "x", "A") == "## A\nx"
    assert after("- a ^b\n", "replace", "- x", address=PartAddress(block_id="b")) == "- x ^b\n"


def test_an_underlined_heading_takes_no_text_from_above():
    note = "# A\nTitle\n=====\n"
    assert after(note, "append", "x", "A") == "# A\nx\n\nTitle\n=====\n"
    assert after(note, "insertBefore", "x", "Title") == "# A\nx\n\nTitle\n=====\n"
    assert after(note, "prepend", "x", "Title") == "# A\nTitle\n=====\nx"


def test_an_empty_text_changes_nothing():
    assert edit_section(NOTE.encode(), PartAddress(("Sub",)), "append", "").splices == ()


@pytest.mark.parametrize(
    ("note", "new"),
    [
        ("# Old\n", "# New *1*\n"),
        ("#   Old   ##  \n", "#   New *1*   ##  \n"),
        ("# Old ^id\n", "# New *1* ^id\n"),
        ("#\n", "# New *1*\n"),
        ("   ## Old", "   ## New *1*"),
        ("Old\nname\n===\nx", "New *1*\n===\nx"),
        ("Old ^id\n---\n", "New *1* ^id\n---\n"),
    ],
)
def test_a_renamed_heading_keeps_all_but_its_text(note: str, new: str):
    address = PartAddress(heading_id=Document(note).sections[0].id)
    assert after(note, "renameHeading", "New *1*", address=address) == new


@pytest.mark.parametrize("name", ["", " ", "a\nb", "a #", "#"])
def test_what_is_no_text_of_a_heading_is_refused(name: str):
    assert refused("# A\n", "renameHeading", name, "A").code == "INVALID_REQUEST"


@pytest.mark.parametrize("name", ["- a", "> a", "# a", "```", "    a"])
def test_an_underlined_heading_stays_one(name: str):
    note = "x\n\nA\n===\n"
    if name.strip() == "a":
        assert after(note, "renameHeading", name, "A") == "x\n\na\n===\n"
    else:
        assert refused(note, "renameHeading", name, "A").code == "INVALID_REQUEST"


def test_a_missing_heading_can_be_made():
    edit = edit_section(
        NOTE.encode(), PartAddress(("Sub", "New")), "append", "x", create_if_missing=True
    )
    assert edit.created
    assert edit.hash_before is None
    text = spliced(NOTE.encode(), edit.splices).decode()
    assert text == NOTE.replace("deep\n", "deep\n\n#### New\nx\n")
    assert edit.hash_after == section_hash(text, Document(text).sections[3])
    made = after("# T\n\n## A\n", "append", "x\n", "New", create_if_missing=True)
    assert made == "# T\n\n## A\n\n## New\nx\n"
    assert after("", "append", "x", "New", create_if_missing=True) == "## New\nx"
    assert after("a", "replace", "x", "# New", create_if_missing=True) == "a\n\n## New\nx"


def test_a_heading_is_not_made_where_the_parent_is_unknown():
    options = {"create_if_missing": True}
    assert refused(NOTE, "append", "x", "Suub", "New", **options).code == "HEADING_NOT_FOUND"
    assert refused(NOTE, "append", "x", "Log", "New", **options).code == "HEADING_AMBIGUOUS"
    assert refused(NOTE, "renameHeading", "x", "New", **options).code == "HEADING_NOT_FOUND"
    assert refused("###### A\n", "append", "x", "A", "B", **options).code == "INVALID_REQUEST"


def test_the_hashes_are_those_of_the_section():
    edit = edit_section(NOTE.encode(), PartAddress(("Sub",)), "append", "x")
    assert edit.hash_before == sha256(b"### Sub\n\ndeep\n\n").hexdigest()
    assert edit.hash_after == sha256(b"### Sub\n\ndeep\nx\n\n").hexdigest()


# --- edits of blocks ------------------------------------------------------------------------------

BLOCKS = "# A\n\ntext ^p\n\n- item ^i\n  - child\n- next\n\n| a |\n|---|\n\n^t\n\nend\n"


@pytest.mark.parametrize(
    ("name", "action", "old", "new"),
    [
        ("p", "append", "text ^p", "text\nx ^p"),
        ("p", "prepend", "text ^p", "x\ntext ^p"),
        ("p", "replace", "text ^p", "x ^p"),
        ("^p", "insertBefore", "\n\ntext", "\n\nx\n\ntext"),
        ("p", "insertAfter", "^p\n", "^p\n\nx\n"),
        ("i", "append", "  - child\n", "  - child\nx\n"),
        ("i", "replace", "- item ^i\n  - child\n", "x ^i\n"),
        ("i", "insertBefore", "- item", "x\n- item"),
        ("i", "insertAfter", "  - child\n", "  - child\nx\n"),
        ("t", "append", "|---|\n", "|---|\nx\n"),
        ("t", "replace", "| a |\n|---|\n", "x\n"),
        ("t", "insertAfter", "^t\n", "^t\n\nx\n"),
    ],
)
def test_a_block_keeps_its_id(name: str, action: str, old: str, new: str):
    changed = after(BLOCKS, action, "x", address=PartAddress(block_id=name))
    assert changed == BLOCKS.replace(old, new, 1)


def test_a_replaced_block_may_bring_its_id():
    address = PartAddress(block_id="i")
    assert after(BLOCKS, "replace", "- y ^i\n  - z", address=address) == BLOCKS.replace(
        "- item ^i\n  - child\n", "- y ^i\n  - z\n"
    )


def test_blocks_that_are_not_there_or_twice_are_refused():
    assert (
        refused(BLOCKS, "append", "x", address=PartAddress(block_id="no")).code == "BLOCK_NOT_FOUND"
    )
    twice = refused("a ^x\n\nb ^x\n", "append", "x", address=PartAddress(block_id="x"))
    assert twice.code == "HEADING_AMBIGUOUS"
    assert twice.details["lines"] == [1, 3]
    assert refused(BLOCKS, "renameHeading", "x", address=PartAddress(block_id="p")).code == (
        "INVALID_REQUEST"
    )


# --- hostile and random notes ---------------------------------------------------------------------


HEADINGS = ["# A", "## B ##", "### é 😀", "## A", "Title\n===", "two\nlines\n---", "###### *x* ^id"]
BODIES = [
    "",
    "\n",
    "text\n",
    "\ntext ^p\n\n",
    "```\n# no\n```\n",
    "> # quote\n> text\n\n",
    "- item ^i\n  - child\n\n",
    "| a |\n|---|\n| b |\n\n^t\n\n",
    "%%\n# hidden\n%%\n",
    "    # code\n\n",
    "a\u2028b #tag [[x#y]]\n\n",
]
CONTENTS = [
    "x",
    "x\n",
    "x\n\ny\n",
    "\nx",
    "# New",
    "---",
    "===",
    "```",
    "- a",
    "%%",
    "é 😀 ^z",
    "",
    "\r\n",
]


@st.composite
def sectioned(draw: Any) -> tuple[str, list[tuple[str, str]], str]:
    """Return a start, sections as (heading, body), and a line end."""
    start = draw(st.sampled_from(["", "\ufeff", "---\nk: 1\n---\n", "intro\n\n"]))
    sections = draw(
        st.lists(
            st.tuples(st.sampled_from(HEADINGS), st.sampled_from(BODIES)), min_size=1, max_size=5
        )
    )
    return start, sections, draw(st.sampled_from(["\n", "\r\n", "\r"]))


def check_section(made: Any, action: Any, content: str, deep: bool, data: st.DataObject) -> None:
    """Edit one section at random, and compare all before and after it."""
    start, sections, ending = made
    # An underlined heading continues a paragraph, so an empty line comes before each heading.
    pieces = [start, *(f"{heading}\n{body}\n" for heading, body in sections)]
    texts = [piece.replace("\n", ending) for piece in pieces]
    text = "".join(texts)
    if data.draw(st.booleans()):
        text = text.rstrip("\r\n")
    note = text.encode()
    index = data.draw(st.integers(0, len(sections) - 1))
    found = Document(text.removeprefix("\ufeff")).sections
    assert len(found) == len(sections)
    level = found[index].level
    last = next((i for i in range(index + 1, len(found)) if found[i].level <= level), len(found))
    before = "".join(texts[: index + 1]).encode()
    behind = "".join(texts[last + 1 :])
    behind = (behind if text.endswith(behind) else behind.rstrip("\r\n")).encode()
    address = PartAddress(heading_id=found[index].id)
    try:
        edit = edit_section(note, address, action, content, deep=deep)
    except InvalidRequest:
        assert action == "renameHeading"
        return
    changed = spliced(note, edit.splices)
    assert changed.startswith(before)
    assert changed.endswith(behind)
    assert edit.hash_before == sha256(note[len(before) : len(note) - len(behind)]).hexdigest()
    if action in ("append", "prepend", "insertBefore", "insertAfter"):
        assert len(changed) >= len(note) + len(content.encode()) - content.count("\n")
        (splice, *more) = edit.splices or [None]
        assert not more
        assert splice is None or splice.start == splice.end
    if action == "append" and content.strip() and len(edit.splices) == 1:
        at = edit.splices[0].start
        added = changed[at : len(changed) - len(note) + at].decode()
        assert content.strip() in added.replace("\r\n", "\n").replace("\r", "\n")


ACTIONS = ["append", "prepend", "replace", "insertBefore", "insertAfter", "renameHeading"]


@given(sectioned(), st.sampled_from(ACTIONS), st.sampled_from(CONTENTS), st.booleans(), st.data())
def test_an_edit_stays_in_its_section(
    made: Any, action: str, content: str, deep: bool, data: st.DataObject
):
    check_section(made, action, content, deep, data)


@pytest.mark.long
@settings(max_examples=50_000, deadline=None)
@given(sectioned(), st.sampled_from(ACTIONS), st.sampled_from(CONTENTS), st.booleans(), st.data())
def test_an_edit_stays_in_its_section_in_many_notes(
    made: Any, action: str, content: str, deep: bool, data: st.DataObject
):
    check_section(made, action, content, deep, data)
