"""The text that is searched is the text that a reader sees."""

from __future__ import annotations

import pytest

from vault_agent.markdown.parse import parse_note

HIDDEN = [
    "[word](https://a.example/zebra/end)",
    '[word](note.md "zebra")',
    "[word](zebra.md)",
    "[word][zebra]\n\n[zebra]: https://a.example/end 'zebra'",
    "![word](https://a.example/zebra/end.png?zebra)",
    "[[zebra|word]]",
    "[[zebra#zebra|word]]",
    '<span class="zebra">word</span>',
    '<div id="zebra">\nword\n</div>',
    "word <!-- zebra\nzebra -->",
    "%% zebra %% word",
    "%%\nzebra\n\nzebra\n%%\n\nword",
    "word https://a.example/zebra/end?zebra=1#zebra",
    "word <https://a.example/zebra/end>",
    "word {{zebra}} <% zebra %>",
    "<style>\n.zebra { }\n</style>\n\nword",
]
SHOWN = [
    "zebra",
    "[zebra](a.md)",
    "![zebra](a.png)",
    "[[zebra]]",
    "[[a|zebra]]",
    "<b>zebra</b>",
    "`<zebra>`",
    "```\nhttps://a.example/zebra/end {{zebra}}\n```",
    "[^1]: zebra",
    "[x]: this is a zebra",
    "a %% b zebra",
]


@pytest.mark.parametrize("text", HIDDEN)
def test_what_a_reader_does_not_see_is_no_text(text: str):
    note = parse_note(text, path="a.md")
    shown = "".join(note.shown_texts)
    assert "zebra" not in shown
    assert "word" in shown
    assert "zebra" not in note.beside or "zebra.md" in text


@pytest.mark.parametrize("text", SHOWN)
def test_what_a_reader_sees_is_text(text: str):
    assert "zebra" in "".join(parse_note(text, path="a.md").shown_texts)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("[a](https://www.Site.example/b/the-end?q=1#f)", ["site.example", "the-end"]),
        ("see https://site.example/b/the%20end/.", ["site.example", "the end"]),
        ("<https://site.example>", ["site.example"]),
        ("![[My cat.png|300]] and [](notes/Other%20one.md)", ["Other one", "My cat.png"]),
        ("![a](pictures/My%20cat.png)", ["My cat.png"]),
        ("[shown](pictures/cat.png) and [[Note|shown]]", []),
        ("[open](obsidian://show?id=x)", []),
    ],
)
def test_the_names_behind_links_are_kept(text: str, names: list[str]):
    assert list(parse_note(text, path="a.md").beside) == names


def test_words_beside_hidden_parts_stay_apart():
    note = parse_note("one<br>two [three](a.md)four [[x|five]]six", path="a.md")
    words = "".join(sign if sign.isalnum() else " " for sign in note.shown_texts[0]).split()
    assert words == ["one", "two", "three", "four", "five", "six"]


def test_each_chunk_has_its_own_shown_text():
    text = "Intro %%gone%%\n\n## One\n\n[a](b.md) %%\n\n## Two\n\nx %% y\n"
    note = parse_note(text, path="a.md")
    assert len(note.shown_texts) == len(note.chunks)
    assert all(
        shown[:2] == chunk.text[:2]
        for shown, chunk in zip(note.shown_texts, note.chunks, strict=True)
    )
