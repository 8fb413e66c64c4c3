"""Links: all that Obsidian follows, none from code or comments, with file lines."""

from __future__ import annotations

import pytest

from vault_agent.markdown.parse import parse_note
from vault_agent.model.notes import LinkKind

W, E, M, I, F = LinkKind  # noqa: E741 - one letter a kind keeps the table readable


def links_of(text: str) -> list[tuple]:
    note = parse_note(text, path="a.md")
    return [(link.kind, link.target, link.fragment, link.text) for link in note.links]


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("[[Note]]", (W, "Note", None, None)),
        ("[[Note|shown]]", (W, "Note", None, "shown")),
        ("[[Note#Heading]]", (W, "Note", "Heading", None)),
        ("[[Note#A#B|shown]]", (W, "Note", "A#B", "shown")),
        ("[[#Heading]]", (W, "", "Heading", None)),
        ("[[Note#^id]]", (W, "Note", "^id", None)),
        ("[[ folder/My note ]]", (W, "folder/My note", None, None)),
        ("[[Release 1.2 (final) & more]]", (W, "Release 1.2 (final) & more", None, None)),
        ("[[日本語 🔥|x]]", (W, "日本語 🔥", None, "x")),
        ("[[cafe\u0301]]", (W, "cafe\u0301", None, None)),
        ("![[image.png|300]]", (E, "image.png", None, "300")),
        ("![[Note#^id]]", (E, "Note", "^id", None)),
        ("\\![[Note]]", (W, "Note", None, None)),
        ("\\\\[[Note]]", (W, "Note", None, None)),
        ("**[[Note]]** text", (W, "Note", None, None)),
        ("# A [[Note]] heading", (W, "Note", None, None)),
        ("Setext [[Note]]\n---", (W, "Note", None, None)),
        ("- [ ] [[Note]]", (W, "Note", None, None)),
        ("> [!note] [[Note]]", (W, "Note", None, None)),
        ("x[^1]\n\n[^1]: see [[Note]]", (W, "Note", None, None)),
        ("[^1]: [[Note]]", (W, "Note", None, None)),
        ("| a |\n|---|\n| [[x\\|y]] |", (W, "x", None, "y")),
        ("| a |\n|---|\n| [[x|y]] |", (W, "x", None, "y")),
        ("| a |\n|---|\n| [[x#h\\|y]] |", (W, "x", "h", "y")),
        ("[[a|the `b` c]]", (W, "a", None, "the `b` c")),
        ("[[a|b [c] d]]", (W, "a", None, "b [c] d")),
        ("[[Sq]uare]]", (W, "Sq]uare", None, None)),
        ("[[Note [draft]]]", (W, "Note [draft]", None, None)),
        ("[[[1] Note [2]]]", (W, "[1] Note [2]", None, None)),
        ("[[[draft] Note]]", (W, "[draft] Note", None, None)),
        ("[[Note [1] two|a [b]]]", (W, "Note [1] two", None, "a [b]")),
        ("[[List<Text>|`it`]]", (W, "List<Text>", None, "`it`")),
        ("[Field:: [[Note]]]", (W, "Note", None, None)),
        ("[[[Note]]]", (W, "Note", None, None)),
        ("[[Note]](other.md)", (W, "Note", None, None)),
        ("[[Note]]\n\n[Note]: other.md", (W, "Note", None, None)),
        ("[shown](folder/note.md)", (M, "folder/note.md", None, "shown")),
        (
            "[a *b* `c`](n.md#part 'title')",
            (M, "n.md", "part", "a b c"),
        ),
        ("[s](my%20note.md#a%20b)", (M, "my note.md", "a b", "s")),
        ("[s](<my note.md>)", (M, "my note.md", None, "s")),
        ("[s](#part)", (M, "", "part", "s")),
        ("[s](100%.md)", (M, "100%.md", None, "s")),
        ("[s](caf%C3%A9.md)", (M, "café.md", None, "s")),
        ("[s](%ff.md)", (M, "%ff.md", None, "s")),
        ("[s](../up.md)", (M, "../up.md", None, "s")),
        ("[s](a\\_b.md)", (M, "a_b.md", None, "s")),
        ("[s](Q&amp;A.md)", (M, "Q&A.md", None, "s")),
        ("![alt](pic.png)", (I, "pic.png", None, "alt")),
        ("[text][ref]\n\n[ref]: note.md", (M, "note.md", None, "text")),
        ("[ref][]\n\n[ref]: note.md", (M, "note.md", None, "ref")),
        ("[ref]\n\n[REF]: <a b.md> 't'", (M, "a b.md", None, "ref")),
        ("[](n.md)", (M, "n.md", None, None)),
        ("---\nlinks: ['[[A#b|c]]']\n---\n", (F, "A", "b", "c")),
        ("---\nlinks:\n  - [[A]]\n---\n", (F, "A", None, None)),
        ("---\nlinks: folder/b.md\n---\n", (F, "folder/b.md", None, None)),
        ("---\nlinks: ['[x](c%20d.md)']\n---\n", (F, "c d.md", None, "x")),
        ("---\nup: '[[Parent]]'\n---\n", (F, "Parent", None, None)),
        ("---\nup: '[[Parent [1]]]'\n---\n", (F, "Parent [1]", None, None)),
        ("---\nup: '[[[1] Parent]]'\n---\n", (F, "[1] Parent", None, None)),
        ("---\nup: '![[cover.png]]'\n---\n", (F, "cover.png", None, None)),
        ("---\na: {b: [{c: '[[Deep]]'}]}\n---\n", (F, "Deep", None, None)),
    ],
)
def test_is_a_link(text, link):
    assert links_of(text) == [link]


@pytest.mark.parametrize(
    "text",
    [
        "`[[no]]` ``[no](no.md)``",
        "```\n[[no]]\n```",
        "~~~\n[[no]]\n[no](no.md)",
        "    [[no]]\n",
        "> ```\n> [[no]]\n> ```",
        "<!-- [[no]] [no](no.md) -->",
        "text <!-- [[no]] --> text",
        "<!--\n\n[[no]]\n\n-->",
        "<a title='[[no]]'>x</a>",
        "<div>\n[[no]]\n</div>",
        "%% [[no]] [no](no.md) %%",
        "%%\n\n[[no]]\n\n%%",
        "\\[[no]]",
        "[[no\n]]",
        "[[]] [[|x]] [[#]]",
        "[[a`b]] c`",
        "[[a <b\nc='d'> e]] [[a %%b%%]] [[a <!-- b --> c]]",
        "[no](https://example.org) [no](mailto:a@b.c) ![no](data:image/png;base64,xx)",
        "[no](//example.org/x) <https://example.org> https://example.org",
        "[no]() [no][none] [none]",
        "[[unclosed",
        "---\nlinks: [https://example.org, '[x](https://example.org)']\n---\n",
        "---\nother: 'see [[no]]'\nplain: no.md\n---\n",
    ],
)
def test_is_not_a_link(text):
    assert links_of(text) == []


def test_comments_and_code_can_contain_each_others_marks():
    text = "%%\n```\n[[no]]\n%%\n[[yes]]\n```\n%% [[no]]\n```\n[[yes]]\n"
    assert links_of(text) == [(W, "yes", None, None)] * 2


def test_a_stray_comment_mark_hides_nothing():
    assert len(links_of("50 %% off\n\n[[a]] 20 %% more\n\n[[b]]")) == 2


def test_an_image_in_a_link_is_two_links():
    assert links_of("[![alt](a.png)](b.md)") == [
        (M, "b.md", None, "alt"),
        (I, "a.png", None, "alt"),
    ]


def test_links_have_document_order_and_file_lines():
    text = "---\r\nlinks:\r\n  - a\r\n---\r\n[b](b.md) [[c]]\r\n\r\né ![[d]]\r[e](e.md)\n"
    note = parse_note(text, path="x.md")
    assert [(link.target, link.line) for link in note.links] == [
        *[("a", 3), ("b.md", 5), ("c", 5), ("d", 7), ("e.md", 8)]
    ]
