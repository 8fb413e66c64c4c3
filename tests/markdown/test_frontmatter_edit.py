"""Keys of frontmatter: what is set and deleted, what stays, what is refused."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_agent.errors import Conflict, InvalidRequest, VaultAgentError
from vault_agent.markdown.edit import spliced
from vault_agent.markdown.frontmatter_edit import read_keys, set_keys
from vault_agent.markdown.yaml_values import same


def after(note: str, values: dict[str, Any], delete: tuple[str, ...] = ()) -> str:
    data = note.encode()
    return spliced(data, set_keys(data, values, delete)).decode()


def block(note: str, values: dict[str, Any], delete: tuple[str, ...] = ()) -> str:
    """Return the YAML after an edit of this YAML."""
    changed = after(f"---\n{note}---\nbody", values, delete)
    assert changed.startswith("---\n")
    assert changed.endswith("---\nbody")
    return changed[4:-8]


def refused(note: str, values: dict[str, Any], delete: tuple[str, ...] = ()) -> str:
    with pytest.raises(VaultAgentError) as error:
        set_keys(note.encode(), values, delete)
    return error.value.code


@pytest.mark.parametrize(
    ("old", "value", "new"),
    [
        ("k: 1 # why\n", 2, "k: 2 # why\n"),
        ("k:   'a'  # why\n", "it's", "k:   'it''s'  # why\n"),
        ('k: "a"\n', 'say "x"', 'k: "say \\"x\\""\n'),
        ("k: 'a'\n", "two\nlines", 'k: "two\\nlines"\n'),
        ("k: a\n", "b c", "k: b c\n"),
        ("k: a\n", "b: c", 'k: "b: c"\n'),
        ("k: {{date}}\n", "x", "k: x\n"),
        ("k: a\n  folded\nl: 1\n", "b", "k: b\nl: 1\n"),
        ("k:\n  a\n", "b", "k:\n  b\n"),
        ("k:\n", "b", "k: b\n"),
        ("k: \n", "b", "k: b \n"),
        ("k: # why\n", "b", "k: b # why\n"),
        ("k: a\n", None, "k: \n"),
        ("k: | # why\n  a\n\n  b\n\nl: 1\n", "c", "k: c\n\nl: 1\n"),
        ("k: |+\n  a\n\nl: 1\n", "c", "k: c\n\nl: 1\n"),
        ("k: !!str 1\n", "c", "k: c\n"),
        ("K: a\n", "b", "K: b\n"),
        ('"k" : a\n', "b", '"k" : b\n'),
    ],
)
def test_a_scalar_keeps_its_quotes_spaces_and_comment(old: str, value: Any, new: str):
    assert block(old, {"k": value}) == new


@pytest.mark.parametrize(
    ("old", "value", "new"),
    [
        ("k: [a,  b] # why\n", ["a", "b", "c"], "k: [a,  b, c] # why\n"),
        ("k: [a, b, c]\n", ["a", "c"], "k: [a, c]\n"),
        ("k: ['a', 'b']\n", ["b", "x"], "k: ['b', 'x']\n"),
        ("k: [\n  a, # one\n  b,\n]\n", ["a", "b", "c"], "k: [\n  a, # one\n  b, c,\n]\n"),
        ("k: [a]\n", [], "k: []\n"),
        ("k: []\n", ["a"], "k: [a]\n"),
        ("k:\n  - a # one\n  - b\n", ["a", "c"], "k:\n  - a # one\n  - c\n"),
        ("k:\n- a\n- b\n", ["x", "b"], "k:\n- x\n- b\n"),
        ("k:\n-   a\n# two\n-   b\n", ["b", "c"], "k:\n# two\n-   b\n-   c\n"),
        ("k: # why\n  - a\nl: 1\n", [], "k: [] # why\nl: 1\n"),
        ("k: # why\n  - a\nl: 1\n", "x", "k: x # why\nl: 1\n"),
        ("k:\n  - a: 1\n    b: 2\n  - c\n", [{"a": 1, "b": 2}], "k:\n  - a: 1\n    b: 2\n"),
        ("k:\n  - |\n    x\n\n  - c\n", ["c"], "k:\n\n  - c\n"),
        ("k:\n  -\n    a\n", ["a", "b"], "k:\n  -\n    a\n  - b\n"),
        ("k: a\n", ["a", "b"], "k: [a, b]\n"),
        ("k: [0x1, 'b', [[c]]]\n", ["x", 1, "b"], "k: [x, 0x1, 'b']\n"),
        ("k:\n- a # one\n# two\n- b\n- 010\n", [10, "b"], "k:\n- 010\n# two\n- b\n"),
        ("k:\n  a: 1\n", {"b": 2}, "k: {b: 2}\n"),
    ],
)
def test_a_list_keeps_its_style_and_the_items_that_stay(old: str, value: Any, new: str):
    assert block(old, {"k": value}) == new


def test_what_is_set_already_is_no_change():
    assert set_keys(b"---\nk: 0x10\nl: [1.0, yes]\n---\n", {"k": 16, "L": [1, "yes"]}) == ()
    assert set_keys(b"---\nk: 1\n---\n", {}, ["other"]) == ()


def test_a_new_key_is_a_line_before_the_closing_fence():
    assert block("a: 1\n# end\n", {"b": [1, "x"], "c": None}) == "a: 1\n# end\nb: [1, x]\nc:\n"
    assert after("---\r\na: 1\r\n---\r\n", {"b": 2}) == "---\r\na: 1\r\nb: 2\r\n---\r\n"
    assert after("---\ra: 1\r---\rx\ny\nz\n", {"b": 2}) == "---\ra: 1\rb: 2\n---\rx\ny\nz\n"
    assert block("  ! a: 1\n", {"b": 2}) == "  ! a: 1\n  b: 2\n"
    assert block("", {"yes": 1, "a b": 2, "# x": 3}) == '"yes": 1\na b: 2\n"# x": 3\n'


def test_a_note_without_frontmatter_gets_one():
    assert after("body", {"a": 1}) == "---\na: 1\n---\nbody"
    assert after("\ufeffbody\r\n", {"a": 1}) == "\ufeff---\r\na: 1\r\n---\r\nbody\r\n"
    assert after("", {"a": 1}) == "---\na: 1\n---\n"


@pytest.mark.parametrize(
    "note", ["---\nopen: 1\n", "---\nprose\n---\n", "---\n# only\n---\n", "---\n\ta: 1\n---\n"]
)
def test_no_second_block_is_put_before_what_looks_like_one(note: str):
    assert refused(note, {"k": 1}) == "FRONTMATTER_INVALID"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a: 1\nk: 2\nb: 3\n", "a: 1\nb: 3\n"),
        ("k: # why\n  - x\n\n  - y # z\n\n# b\nb: 3\n", "\n# b\nb: 3\n"),
        ("a: |+\n  x\n\nk: 1\nb: 2\n", "a: |+\n  x\n\nb: 2\n"),
        ("a: 1\nk: |+\n  x\n\nb: 2\n", "a: 1\n\nb: 2\n"),
        ("a: 1\nk: |\n  x\n\nb: 2\n", "a: 1\n\nb: 2\n"),
        ("k: [a,\n  b]\na: 1\n", "a: 1\n"),
        ("k:\n  a:\n    - b\nl: 1\n", "l: 1\n"),
        ("K: 1\n", ""),
    ],
)
def test_a_deleted_key_leaves_the_lines_around_it(old: str, new: str):
    assert block(old, {}, ("k",)) == new


def test_several_keys_are_one_edit():
    assert block("a: 1\nb: 2\nc: 3\n", {"c": 4, "d": 5}, ("A",)) == "b: 2\nc: 4\nd: 5\n"


@pytest.mark.parametrize(
    ("note", "code", "line"),
    [
        ("---\nk: 1\nK: 2\nk: 3\n---\n", "FRONTMATTER_INVALID", None),
        ("---\nK: 1\nK: 2\n---\n", "FRONTMATTER_INVALID", None),
        ('---\na: 1\nk: "\n---\n', "FRONTMATTER_INVALID", 4),
        ("---\n{k: 1}\n---\n", "FRONTMATTER_INVALID", 2),
        ('---\n"k"\n---\n', "FRONTMATTER_INVALID", 2),
        ("---\nk:\n\t- 1\n---\n", "FRONTMATTER_INVALID", 3),
        ("---\nk: &x 1\n---\n", "FRONTMATTER_INVALID", 2),
        ("---\na: &x 1\nk: [*x]\n---\n", "FRONTMATTER_INVALID", 2),
        ("---\nk: 1\na: *x\n---\n", "FRONTMATTER_INVALID", 3),
        ("---\na: 1\n? k\n: 1\n---\n", "FRONTMATTER_INVALID", 3),
        ("---\na: 1\n--- b\nk: 1\n---\n", "FRONTMATTER_INVALID", 3),
        ("---\nk: " + "[" * 200 + "]" * 200 + "\n---\n", "FRONTMATTER_INVALID", 2),
        ("---\nk: " + "x" * 65_536 + "\n---\n", "FRONTMATTER_INVALID", 1),
        ("---\na\x01: 1\nk: 1\n---\n", "FRONTMATTER_INVALID", 2),
    ],
)
def test_what_cannot_be_edited_for_certain_is_refused(note: str, code: str, line: int | None):
    with pytest.raises(Conflict) as error:
        set_keys(note.encode(), {"k": 9})
    assert error.value.code == code
    assert error.value.details.get("line") == line


def test_other_keys_may_be_what_cannot_be_edited():
    old = "d: 1\nd: 2\nx: Q&A*\ny: {{date}}\n? z\n: 1\nt: <% tp %>\nk: 1\n"
    assert block(old, {"k": 2}) == old.replace("k: 1", "k: 2")


def test_a_comment_alone_would_be_no_frontmatter():
    assert refused("---\n# why\nk: 1\n---\n", {}, ("k",)) == "FRONTMATTER_INVALID"


@pytest.mark.fault(
    "Writing",
    "hostile frontmatter: 64 KiB, 10,000 keys, deep, anchors, tabs, a key twice, a "
    "fence in a text, unclosed, mixed line ends",
    "edited exactly, or refused by a code",
)
@pytest.mark.parametrize(
    "yaml_text",
    [
        "\n".join(f"k{i}:" for i in range(1_000)),
        "k: " + "x" * 65_000,
        "k: " + "[" * 60_000,
        "k:\n" + "".join("  " * level + "  -\n" for level in range(90)),
        "a: &a [x]\n" + "".join(f"b{i}: &b{i} [*a, *a]\n" for i in range(1_000)) + "k: 1",
        "k: |\n  ---\n  x",
        "k: >\n\n\n\tx",
        "k: 1\x85l: 2\u2028m: 3",
        "k\u2028: 1",
        "%YAML 1.2\nk: 1",
        "k: !<tag:x> 1",
        "k: ! 1",
        "<<: *a\nk: 1",
        "k: @name",
        "k: `code`",
        "k: %% comment %%",
        "k: -",
        "k: ?",
        "? k",
        ": k",
        "k",
        "# only a comment",
        "",
        "\n\n",
        "\ufeffk: 1",
        "k: 'open",
        "k: {a: 1",
        "k:\n- a\n - b",
        "k: a\n b: c",
    ],
)
def test_hostile_blocks_are_edited_exactly_or_refused(yaml_text: str):
    for ending in ("\n", "\r\n", "\r"):
        note = f"---\n{yaml_text}\n---\nbody\n---\n".replace("\n", ending).encode()
        for values, delete in (
            ({"k": "x: y"}, []),
            ({"k": ["a", None]}, []),
            ({"k": None}, []),
            ({"new": {"a": [1]}}, []),
            ({}, ["k"]),
        ):
            try:
                splices = set_keys(note, values, delete)
            except VaultAgentError as error:
                code = error.code
            else:
                code = "exact"
                changed = spliced(note, splices)
                assert changed.endswith(f"---{ending}body{ending}---{ending}".encode())
            assert code in ("exact", "FRONTMATTER_INVALID", "EDIT_NOT_PROVEN")


@pytest.mark.parametrize(
    ("values", "delete"),
    [
        ({"": 1}, ()),
        ({"a\nb": 1}, ()),
        ({"x" * 201: 1}, ()),
        ({"a": 1, "A": 2}, ()),
        ({"a": 1}, ("a",)),
        ({"a": float("nan")}, ()),
        ({"a": 10**5_000}, ()),
        ({"a": "\0"}, ()),
        ({"a": "\ud800"}, ()),
        ({"a": "x" * 1_000_000}, ()),
    ],
)
def test_what_no_frontmatter_can_have_is_refused(values: dict[str, Any], delete: tuple[str, ...]):
    with pytest.raises(InvalidRequest):
        set_keys(b"note", values, delete)


def test_a_value_may_be_nested_but_not_too_deeply():
    value: Any = "x"
    for _ in range(1_000):
        value = [value]
    assert refused("note", {"k": value}) == "INVALID_REQUEST"


@pytest.mark.fault(
    "Writing",
    "values with `: `, ` #`, line ends, emoji, 1 MB, 1,000 levels",
    "they read back equal in YAML 1.1 and 1.2, or 400",
)
@pytest.mark.parametrize(
    "text",
    [
        *("yes", "No", "on", "y", "null", "~", "true", "0012", "0x1F", "0o7", "1e3", "1_000"),
        *("12:30", "1:30:00", "1.", ".5", "+1", "-", "=", "<<", "- a", "? a", "a: b", "a:", "a #b"),
        *("#a", "@a", "`a`", "%a", "&a", "*a", "!a", "[[a]]", "{{a}}", "'a", '"a', "a ", " a"),
        *(
            "",
            "\n",
            "a\tb",
            "\u2028",
            "\x85",
            "\u00a0",
            "\ufeff",
            "\x7f",
            "é 😀",
            "---",
            "...",
            ".inf",
        ),
    ],
)
def test_text_reads_back_in_both_versions_of_yaml(text: str):
    written = block("", {"k": text, "l": [text], "m": {text or "x": text}})
    assert yaml.safe_load(written)["k"] == text
    assert yaml.safe_load(written)["l"] == [text]
    assert read_keys(f"---\n{written}---\n".encode())["k"] == text


def test_dates_stay_plain():
    values = {"a": "2024-05-06", "b": "2024-05-06T07:08", "c": "2024-05-06 x"}
    assert block("", values) == "a: 2024-05-06\nb: 2024-05-06T07:08\nc: 2024-05-06 x\n"


@pytest.mark.parametrize("number", [0, -7, 1.5, 1e300, -2.5e-7, 2**60, True, False])
def test_numbers_read_back_in_both_versions_of_yaml(number: float):
    written = block("", {"k": number})
    assert yaml.safe_load(written)["k"] == number
    assert read_keys(f"---\n{written}---\n".encode())["k"] == number


def test_keys_are_read_as_json():
    note = "---\na: 2024-05-06\nb: [1, 1.5, yes, True, ~]\nc: {d: 'x'}\ne: 012\na: 2\n---\n"
    assert read_keys(note.encode()) == {
        "a": "2024-05-06",
        "b": [1, 1.5, "yes", True, None],
        "c": {"d": "x"},
        "e": 12,
    }


# --- random frontmatter ---------------------------------------------------------------------------

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
    | st.sampled_from(["yes", "12:30", "2024-05-06", "[[a]]", "a: b", "#x"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
SCALARS = [
    "1",
    "a b",
    "'a'",
    '"b\\n"',
    "2024-05-06",
    "[[x]]",
    "{{date}}",
    "~",
    "no*",
    "é 😀",
    "! x",
]
WRITTEN = [
    "",
    " # c",
    *(f" {each}" for each in SCALARS),
    *(f" {each} # c" for each in SCALARS[:4]),
    " |\n  x\n\n  y\n",
    " |+\n  x\n\n",
    " >-\n  x\n   y",
    " [a, 'b',c ]",
    " [\n  a, # c\n  b\n  ]",
    " {a: 1, b: [c]}",
    "\n- a\n- b # c",
    "\n  - a\n\n  # c\n  - 'b'",
    "\n  - a: 1\n    b: 2\n  - - x",
    "\n  a: 1\n  b:\n    - c",
    " a\n  folded\n  text",
]
NAMES = ["a", "tags", "Two Words", '"q: x"', "'s'", "é", "2024", "yes"]
BETWEEN = ["", "", "", "# c\n", "\n", " # c\n", "\n\n# c\n"]


@st.composite
def notes(draw: Any) -> tuple[str, str, list[tuple[str, str]], str]:
    """Return a start, a line end, pieces of YAML with their keys ("" for none), and a body."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True))
    pieces = []
    written = ""
    for name in names:
        between = draw(st.sampled_from(BETWEEN))
        # Empty lines behind `|+` are a part of the value.
        pieces.append(("", between.lstrip("\n") if "|+" in written else between))
        written = draw(st.sampled_from(WRITTEN))
        pieces.append((name.strip("'\""), f"{name}:{written}\n"))
    start = draw(st.sampled_from(["", "\ufeff"]))
    ending = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    return start, ending, pieces, draw(st.sampled_from(["", "body", "# h\n\n---\nx\n"]))


def check_keys(made: tuple[str, str, list[tuple[str, str]], str], data: st.DataObject) -> None:
    """Edit one key at random, and compare all that is not part of it."""
    start, ending, pieces, body = made
    texts = [text.replace("\n", ending) for _, text in pieces]
    body = body.replace("\n", ending)
    head = f"{start}---{ending}"
    note = (head + "".join(texts) + f"---{ending}" + body).encode()
    index = data.draw(st.sampled_from([i for i, (name, _) in enumerate(pieces) if name]))
    before = (head + "".join(texts[:index])).encode()
    behind = ("".join(texts[index + 1 :]) + f"---{ending}" + body).encode()
    name = pieces[index][0]
    value = data.draw(VALUES)
    delete = data.draw(st.booleans())
    old = read_keys(note)
    if delete and len(old) == 1 and any("#" in text for text in texts):
        return  # a comment alone would be left
    if delete and any("|+" in text for text in texts[:index]):
        return  # a text before the key would take the empty lines after it: refused
    splices = set_keys(note, {}, [name]) if delete else set_keys(note, {name: value})
    changed = spliced(note, splices)
    assert changed.startswith(before)
    assert changed.endswith(behind)
    new = read_keys(changed)
    assert [key for key in old if key != name] == [key for key in new if key != name]
    assert all(same(old[key], new[key]) for key in new if key != name)
    assert (name not in new) if delete else same(new[name], value)


def check_new(note: str, name: str, value: Any) -> None:
    """Add a key to a note, and delete it again."""
    added = after(note, {name: value})
    assert same(read_keys(added.encode())[name], value)
    bom = "\ufeff" if note.startswith("\ufeff") else ""
    without = f"{bom}---\n---\n{note.removeprefix(bom)}"
    assert after(added, {}, (name,)) == (note if "---" in note else without)


@given(notes(), st.data())
def test_an_edit_changes_only_its_key(made: Any, data: st.DataObject):
    check_keys(made, data)


@pytest.mark.long
@settings(max_examples=50_000, deadline=None)
@given(notes(), st.data())
def test_an_edit_changes_only_its_key_in_many_notes(made: Any, data: st.DataObject):
    check_keys(made, data)


KEYS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12)
NOTES = st.sampled_from(
    ["", "body\n", "\ufeff# h", "---\na b: 1\n---\nx", "\ufeff---\nb a:\n---\n"]
)


@given(NOTES, KEYS, VALUES)
def test_a_new_key_reads_back_and_can_be_deleted(note: str, name: str, value: Any):
    check_new(note, name, value)


@pytest.mark.long
@settings(max_examples=50_000, deadline=None)
@given(NOTES, KEYS, VALUES)
def test_many_new_keys_read_back_and_can_be_deleted(note: str, name: str, value: Any):
    check_new(note, name, value)
