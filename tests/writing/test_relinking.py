"""Links that are written anew when files move."""

from __future__ import annotations

import pytest

from vault_agent.errors import Conflict
from vault_agent.markdown.edit import spliced
from vault_agent.text.names import keys_of
from vault_agent.writing.relinking import LinkTargets, PathChange, rewrite_links


def moved(
    text: str,
    source: str,
    moved: dict[str, str],
    *others: str,
    aliases: dict[str, tuple[str, ...]] | None = None,
) -> str:
    """Return a note's text after moves in a vault of its own, the moved and the other files."""
    paths = dict.fromkeys([source, *moved, *others])
    notes = [(path, (aliases or {}).get(path, ())) for path in paths if path.endswith(".md")]
    names = LinkTargets(
        notes, [path for path in paths if not path.endswith(".md")], change=PathChange(moved)
    )
    note = text.encode()
    return spliced(note, rewrite_links(note, source, names)).decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[[Old]]", "[[New]]"),
        ("[[old]]", "[[New]]"),
        ("![[Old#Part|shown]]", "![[New#Part|shown]]"),
        ("[[Old#^block]]", "[[New#^block]]"),
        ("[[ Old ]]", "[[ New ]]"),
        ("[[Old.md]]", "[[New.md]]"),
        ("[[a/Old]]", "[[b/New]]"),
        ("[[a/Old.md|x]]", "[[b/New.md|x]]"),
        ("[[/a/Old]]", "[[/b/New]]"),
        ("[[./a/Old]]", "[[./b/New]]"),
        ("[x](a/Old.md)", "[x](b/New.md)"),
        ("[x](a/Old)", "[x](b/New)"),
        ("[x](Old.md)", "[x](New.md)"),
        ("[x](/a/Old.md#part)", "[x](/b/New.md#part)"),
        ("[x](./a/Old.md 'title')", "[x](./b/New.md 'title')"),
        ("[x](<a/Old.md>)", "[x](<b/New.md>)"),
        ('[x](<a/Old.md> "t")', '[x](<b/New.md> "t")'),
        ("![x](a/Old.md)", "![x](b/New.md)"),
        ("[x][r]\n\n[r]: a/Old.md 't'", "[x][r]\n\n[r]: b/New.md 't'"),
        (
            "[x][r] [y][r] ![z][r]\n\n[r]: <a/Old.md#p>",
            "[x][r] [y][r] ![z][r]\n\n[r]: <b/New.md#p>",
        ),
        ("|a|\n|-|\n|[[Old\\|x]]|\n", "|a|\n|-|\n|[[New\\|x]]|\n"),
        ("`[[Old]]` [[Old]]", "`[[Old]]` [[New]]"),
        ("```\n[[Old]]\n```\n", "```\n[[Old]]\n```\n"),
        ("%% [[Old]] %% <!-- [[Old]] -->", "%% [[Old]] %% <!-- [[Old]] -->"),
        ('<a href="a/Old.md">x</a>', '<a href="a/Old.md">x</a>'),
        ("https://example.com/a/Old.md", "https://example.com/a/Old.md"),
        ("---\nup: '[[Old]]'\n---\n", "---\nup: '[[New]]'\n---\n"),
        ('---\nup: ["[[a/Old|x]]"]\n---\n', '---\nup: ["[[b/New|x]]"]\n---\n'),
        (
            "---\nlinks:\n  - a/Old.md # why\n  - '[x](a/Old.md)'\n---\n",
            "---\nlinks:\n  - b/New.md # why\n  - '[x](b/New.md)'\n---\n",
        ),
        ("---\nother: a/Old.md\n---\n", "---\nother: a/Old.md\n---\n"),
    ],
)
def test_style_stays(before: str, after: str):
    assert moved(before, "From.md", {"a/Old.md": "b/New.md"}) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[[Old]]", "[[New 1 (x)]]"),
        ("[x](a/Old.md)", "[x](b%20c/New%201%20(x).md)"),
        ("[x](<a/Old.md>)", "[x](<b c/New 1 (x).md>)"),
        ("---\nup: '[[Old]]'\n---\n", "---\nup: '[[New 1 (x)]]'\n---\n"),
        ("---\nlinks: a/Old.md\n---\n", "---\nlinks: b c/New 1 (x).md\n---\n"),
        (
            "---\nlinks: ['[y](a/Old.md)']\n---\n",
            "---\nlinks: ['[y](b%20c/New%201%20%28x%29.md)']\n---\n",
        ),
    ],
)
def test_a_new_name_is_escaped_as_the_link_needs_it(before: str, after: str):
    assert moved(before, "From.md", {"a/Old.md": "b c/New 1 (x).md"}) == after


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("é ü", "[x](Old.md)", "[x](é%20ü.md)"),
        ("é ü", "[x](<Old.md>)", "[x](<é ü.md>)"),
        ("100%", "[x](Old.md)", "[x](100%25.md)"),
        ("100%", "[x](<Old.md>)", "[x](<100%25.md>)"),
        ("a%20b", "[x](<Old.md>)", "[x](<a%2520b.md>)"),
        ("a#b", "[x](Old.md)", "[x](a%23b.md)"),
        ("a:b", "[x](Old.md)", "[x](a%3Ab.md)"),
        ("a (b", "[x](Old.md)", "[x](a%20%28b.md)"),
        ("a|b", "[x](Old.md)", "[x](a%7Cb.md)"),
        ("&amp;", "[x](Old.md)", "[x](%26amp;.md)"),
        ("it's", "---\nup: '[[Old]]'\n---\n", "---\nup: '[[it''s]]'\n---\n"),
        ("it's", '---\nup: "[[Old]]"\n---\n', '---\nup: "[[it\'s]]"\n---\n'),
        ('"a"', '---\nup: "[[Old]]"\n---\n', '---\nup: "[[\\"a\\"]]"\n---\n'),
        ("v1.2", "[[Old]]", "[[v1.2]]"),
        ("[a] b", "[[Old]]", "[[[a] b]]"),
    ],
)
def test_signs_in_names(name: str, before: str, after: str):
    assert moved(before, "From.md", {"Old.md": f"{name}.md"}) == after


def test_encoded_letters_stay_encoded():
    text = "[x](a%20%C3%A9.md) [y](<a é.md>)"
    assert moved(text, "From.md", {"a é.md": "b ü.md"}) == "[x](b%20%C3%BC.md) [y](<b ü.md>)"


def test_a_bare_name_becomes_a_path_where_it_is_no_longer_unique():
    assert moved("[[Old]]", "From.md", {"a/Old.md": "b/New.md"}, "c/New.md") == "[[b/New]]"
    assert moved("[[Old]]", "From.md", {"a/Old.md": "New.md"}, "c/New.md") == "[[New]]"


def test_a_name_that_needs_its_extension_gets_it():
    assert moved("[[Old]]", "From.md", {"Old.md": "x.png.md"}, "x.png") == "[[x.png.md]]"


def test_relative_links_of_a_note_that_moves():
    text = "[x](../b/B.md) [y](C.md) ![z](./img/p.png) [[B]] [[./C]]"
    after = "[x](./b/B.md) [y](a/C.md) ![z](./a/img/p.png) [[B]] [[./a/C]]"
    files = ("b/B.md", "a/C.md", "a/img/p.png", "x/C.md")
    assert moved(text, "a/A.md", {"a/A.md": "A.md"}, *files) == after


def test_a_link_that_still_leads_to_its_file_is_not_touched():
    assert (
        moved("[[Old]] [x](Old.md)", "From.md", {"a/Old.md": "b/Old.md"}) == "[[Old]] [x](Old.md)"
    )
    assert moved("[[alias]]", "From.md", {"Old.md": "New.md"}, aliases={"Old.md": ("Alias",)}) == (
        "[[alias]]"
    )


@pytest.mark.parametrize(
    ("source", "before", "moves", "after"),
    [
        ("md/ref.md", "[x](doc.md)", {"md/doc.md": "other/doc.md"}, "[x](../other/doc.md)"),
        ("md/ref.md", "[x](doc.md)", {"md/ref.md": "other/ref.md"}, "[x](../md/doc.md)"),
        ("md/ref.md", "[x](doc.md#p 't')", {"md/doc.md": "md/a/doc.md"}, "[x](a/doc.md#p 't')"),
        ("md/ref.md", "![x](doc.png)", {"md/doc.png": "doc.png"}, "![x](../doc.png)"),
        ("ref.md", "[x][r]\n\n[r]: a/doc.md", {"a/doc.md": "b/doc.md"}, "[x][r]\n\n[r]: b/doc.md"),
        ("ref.md", "[x](2019/june.md)", {"2019/june.md": "2019/JUNE.md"}, "[x](2019/JUNE.md)"),
        ("ref.md", "[x](./june.md)", {"june.md": "June.md"}, "[x](./June.md)"),
        ("a/ref.md", "[x](../b/doc.md)", {"b/doc.md": "B/doc.md"}, "[x](../B/doc.md)"),
        (
            "a/ref.md",
            "[x](doc.md)",
            {"a/ref.md": "A/ref.md", "a/doc.md": "A/doc.md"},
            "[x](doc.md)",
        ),
        # Only Obsidian finds these: they stay as they are.
        ("ref.md", "[x](doc.md)", {"a/doc.md": "b/doc.md"}, "[x](doc.md)"),
        ("md/ref.md", "[x](doc)", {"md/doc.md": "other/doc.md"}, "[x](doc)"),
        ("md/ref.md", "[x](Doc.md)", {"md/doc.md": "other/doc.md"}, "[x](Doc.md)"),
        ("md/ref.md", "[[doc.md]]", {"md/doc.md": "other/doc.md"}, "[[doc.md]]"),
        ("ref.md", "[x](/a/june.md)", {"a/june.md": "a/JUNE.md"}, "[x](/a/june.md)"),
    ],
)
def test_a_path_that_other_programs_follow_stays_one(
    source: str, before: str, moves: dict[str, str], after: str
):
    others = ("md/doc.md",) if "ref.md" in "".join(moves) and "doc.md" not in "".join(moves) else ()
    assert moved(before, source, moves, *others) == after


def test_a_path_from_the_folder_is_told_from_the_same_path_from_the_root():
    text, files = "[x](sub/X.md)", {"a/sub/X.md": "a/b/sub/X.md", "a/R.md": "a/b/R.md"}
    assert moved(text, "a/R.md", files, "sub/X.md") == "[x](sub/X.md)"
    files = {"a/sub/X.md": "a/sub2/X.md"}
    assert moved(text, "a/R.md", files, "sub2/X.md") == "[x](./sub2/X.md)"


def test_links_within_a_folder_that_moves_stay():
    text = "[x](./B.md) [y](../a/B.md) [z](../C.md)"
    files = {"a/A.md": "q/r/A.md", "a/B.md": "q/r/B.md"}
    assert moved(text, "a/A.md", files, "C.md") == "[x](./B.md) [y](./B.md) [z](../../C.md)"


def test_bystanders_keep_their_file():
    # A name that appears.
    assert moved("[[New]]", "From.md", {"Old.md": "New.md"}, "c/New.md") == "[[c/New]]"
    # A name that goes: "a/Old" was not the note of this folder.
    text = moved(
        "[[Alias]]", "From.md", {"Old.md": "Alias.md"}, "X.md", aliases={"X.md": ("Alias",)}
    )
    assert text == "[[X]]"
    # A path of the root comes before the own folder.
    assert moved("[y](C.md)", "a/A.md", {"b/B.md": "C.md"}, "a/C.md") == "[y](./C.md)"


def test_a_note_that_links_to_itself():
    assert (
        moved("[[Old#Part]] [[#Part]]", "Old.md", {"Old.md": "New.md"}) == "[[New#Part]] [[#Part]]"
    )


def test_letter_case_alone_changes_only_links_by_path():
    assert moved("[[Old]] [x](Old.md)", "From.md", {"Old.md": "old.md"}) == "[[Old]] [x](old.md)"


def test_bytes_outside_stay():
    note = b"\xef\xbb\xbf[[Old]]\r\n\xc3\xa9 [[Old]]\r\n  "
    names = LinkTargets([("From.md", ()), ("Old.md", ())], change=PathChange({"Old.md": "New.md"}))
    after = spliced(note, rewrite_links(note, "From.md", names))
    assert after == b"\xef\xbb\xbf[[New]]\r\n\xc3\xa9 [[New]]\r\n  "


@pytest.mark.parametrize("name", ["a`b", "a#b|c", "a%%b"])
def test_a_name_that_a_wikilink_cannot_have_is_refused(name: str):
    with pytest.raises(Conflict) as caught:
        moved("one\n[[Old]]", "From.md", {"Old.md": f"{name}.md"})
    assert caught.value.code == "LINK_NOT_EXPRESSIBLE"
    assert caught.value.details == {"path": "From.md", "line": 2}


def test_a_folder_that_a_wikilink_cannot_have_is_left_out_while_the_name_is_unique():
    assert moved("[[a/Old]]", "From.md", {"a/Old.md": "b#c/New.md"}) == "[[New]]"


@pytest.mark.parametrize(
    ("link", "to", "after"),
    [
        ("[[module-old|x]]", "modules/new.md", "[[module-new|x]]"),
        ("[[old]] [[module-old]]", "modules/new.md", "[[new]] [[module-new]]"),
        ("[[module-old]]", "modules/parts/new.md", "[[module-new]]"),
        ("[[Module-Old#Part]]", "modules/new.md", "[[Module-new#Part]]"),
        ("---\nup: '[[module-old]]'\n---\n", "modules/new.md", "---\nup: '[[module-new]]'\n---\n"),
        ("[[the-id]]", "modules/new.md", "[[the-id]]"),
        ("[[module-old]]", "archive/old.md", "[[old]]"),  # its type may have been the folder's
    ],
)
def test_a_link_by_type_and_name_follows_its_note(link: str, to: str, after: str):
    keys = {"modules/old.md": keys_of("modules/old.md", "module", "the-id")}
    assert moved(link, "A.md", {"modules/old.md": to}, aliases=keys) == after


def test_a_type_of_its_own_stays_in_the_link():
    keys = {"old.md": keys_of("old.md", "module", None)}
    assert moved("[[module-old]]", "A.md", {"old.md": "b/old.md"}, aliases=keys) == "[[module-old]]"
