"""Chunks cover the body along its headings. None is blank or too long."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vault_agent.markdown.chunk import MAX_CHARS, MAX_SECTIONS, TARGET_CHARS
from vault_agent.markdown.parse import parse_note


def chunks_of(text: str) -> list[tuple]:
    return [(each.heading_path, each.text) for each in parse_note(text, path="a.md").chunks]


@pytest.mark.parametrize(
    ("text", "chunks"),
    [
        pytest.param("", [], id="empty"),
        pytest.param(" \n\t\r\n", [], id="blank"),
        pytest.param("---\ntitle: T\n---\n", [], id="frontmatter alone"),
        pytest.param("text", [((), "text")], id="no heading"),
        pytest.param(
            "before\n# A\na\n## B\nb\n# C\nc\n",
            [
                ((), "before\n"),
                (("A",), "# A\na\n"),
                (("A", "B"), "## B\nb\n"),
                (("C",), "# C\nc\n"),
            ],
            id="sections",
        ),
        pytest.param("\n\n# A\na", [(("A",), "\n\n# A\na")], id="blank lines before a heading"),
        pytest.param(
            "One\n===\na\n\nTwo\nlines\n---\nb",
            [(("One",), "One\n===\na\n\n"), (("One", "Two lines"), "Two\nlines\n---\nb")],
            id="setext",
        ),
        pytest.param(
            "# A\n\n## B\n\n### C\nc\n## D\nd",
            [(("A", "B", "C"), "# A\n\n## B\n\n### C\nc\n"), (("A", "D"), "## D\nd")],
            id="a heading with nothing of its own goes with its first child",
        ),
        pytest.param(
            "## A\n## B\nb\n# C\n",
            [(("A",), "## A\n"), (("B",), "## B\nb\n"), (("C",), "# C\n")],
            id="but not with a sibling",
        ),
        pytest.param(
            "### Deep\na\n# Top\nb\n##### Low\nc\n",
            [
                (("Deep",), "### Deep\na\n"),
                (("Top",), "# Top\nb\n"),
                (("Top", "Low"), "##### Low\nc\n"),
            ],
            id="skipped levels",
        ),
        pytest.param("# A\na\n##\nb", [(("A",), "# A\na\n"), (("A",), "##\nb")], id="no text"),
        pytest.param("```\n# no\n```\n", [((), "```\n# no\n```\n")], id="fenced code"),
        pytest.param("~~~\n# no\n", [((), "~~~\n# no\n")], id="a fence without an end"),
        pytest.param("    # no\n", [((), "    # no\n")], id="indented code"),
        pytest.param("<div>\n# no\n</div>\n", [((), "<div>\n# no\n</div>\n")], id="HTML"),
        pytest.param("<!--\n\n# no\n\n-->", [((), "<!--\n\n# no\n\n-->")], id="comment"),
        pytest.param("%%\n\n# no\n\n%%", [((), "%%\n\n# no\n\n%%")], id="Obsidian's comment"),
        pytest.param("> # no\n\n- # no\n", [((), "> # no\n\n- # no\n")], id="quote and list"),
        pytest.param("#no\n\n\\# no\n", [((), "#no\n\n\\# no\n")], id="a tag, an escape"),
        pytest.param(
            "---\na: 1\n---\n# A #\r\na\r# B\r\nb",
            [(("A",), "# A #\r\na\r"), (("B",), "# B\r\nb")],
            id="all line ends",
        ),
        pytest.param(
            "## A *b* `c` [d](e) [[F|g]] &amp;\nx",
            [(("A b c d g &",), "## A *b* `c` [d](e) [[F|g]] &amp;\nx")],
            id="a heading's text is what a reader sees",
        ),
    ],
)
def test_chunks_follow_headings(text, chunks):
    assert chunks_of(text) == chunks


def test_line_numbers_refer_to_the_file():
    note = parse_note("---\r\na: 1\r\n---\r\né\r\n\r\n# A\rb\n\n# C", path="a.md")
    assert [(chunk.start_line, chunk.end_line) for chunk in note.chunks] == [(4, 5), (6, 8), (9, 9)]
    assert [chunk.index for chunk in note.chunks] == [0, 1, 2]


def sizes(text: str) -> list[int]:
    return [len(chunk.text) for chunk in parse_note(text, path="a.md").chunks]


def paragraph(size: int) -> str:
    return "w" * size + "\n\n"


def test_a_short_section_is_one_chunk():
    assert sizes("# A\n" + "word " * 399) == [TARGET_CHARS - 1]


def test_a_long_section_is_cut_between_paragraphs():
    assert sizes(paragraph(900) * 5) == [1804, 1804, 902]


def test_a_heading_stays_with_its_long_paragraph():
    assert sizes("# A\n\n" + paragraph(2500)) == [2507]


def test_a_short_rest_joins_the_chunk_before_it():
    assert sizes(paragraph(1900) + paragraph(200)) == [2104]


@pytest.mark.parametrize(
    "block",
    [
        "```\n" + "x = 1\n\n" * 500 + "```\n",
        "| a | b |\n|---|---|\n" + "| c | d |\n" * 380,
        "> quoted\n>\n" * 300,
    ],
    ids=["code", "table", "quote"],
)
def test_a_short_block_is_not_split(block):
    assert TARGET_CHARS < len(block) < MAX_CHARS
    chunks = chunks_of(paragraph(1500) + block + "\n" + paragraph(1500))
    assert any(block in text for _, text in chunks)


def test_a_long_list_is_cut_between_items():
    chunks = chunks_of("- an item\n  with two lines\n" * 300)
    assert len(chunks) > 1
    assert all(text.startswith("- an item") for _, text in chunks)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("```\n" + "x = 1\n\ny\n" * 1000 + "```", "\n"),
        ("a line of text\n" * 1000, "\n"),
        ("A sentence of words. " * 400, ". "),
        ("これは文です。" * 1000, "。"),
        ("word " * 2000, " "),
        ("> quoted text\n" * 1000, "\n"),
    ],
    ids=["code", "lines", "sentences", "Japanese", "words", "quote"],
)
def test_long_blocks_are_cut_at_the_best_place(text, end):
    chunks = chunks_of(text)
    assert len(chunks) > 2
    assert all(chunk.endswith(end) for _, chunk in chunks[:-1])


@pytest.mark.parametrize("sequence", ["e\u0301", "का", "👍🏽", "👩\u200d👩", "❤\ufe0f"])
def test_combined_characters_are_not_split(sequence):
    for shift in range(3):
        chunks = chunks_of("x" * shift + sequence * 3000)
        assert len(chunks) > 1
        assert all(text.endswith(sequence) for _, text in chunks)


def test_white_space_is_never_a_chunk():
    assert [text.strip() for _, text in chunks_of("a" + "\n" * 20_000 + "b")] == ["a", "b"]


def test_a_note_of_very_many_sections_has_few_chunks():
    count = MAX_SECTIONS * 3
    chunks = chunks_of("# Top\n" + "## A\nx\n" * count)
    assert len(chunks) < count * 8 / TARGET_CHARS * 2
    assert chunks[1][0] == ("Top", "A")
    assert "".join(text for _, text in chunks) == "# Top\n" + "## A\nx\n" * count


_pieces = st.sampled_from(
    [
        *("# H", "## Two", "#", "text", "é日😀", "- item", "> quote", "```", "    code", "", "  "),
        *(
            "<!--",
            "-->",
            "%%",
            "---",
            "===",
            "| a |\n|---|",
            "[[n]]",
            "#tag",
            "\0",
            "\ud800",
            "\u2028",
        ),
        *("\n" * 50, " " * 300, "w" * 1500, "word " * 900, "Sentence. " * 500, "line\n" * 900),
    ]
)
_ends = st.sampled_from(["\n", "\n\n", "\r\n", "\r", " ", ""])
_texts = st.one_of(
    st.lists(st.tuples(_pieces, _ends), max_size=12).map(
        lambda pairs: "".join(piece + end for piece, end in pairs)
    ),
    st.text(max_size=200),
)


@settings(max_examples=300, deadline=None)
@given(_texts, st.sampled_from(["", "---\na: 1\n---\n", "\ufeff", "\ufeff---\r\n---\r\n"]))
@example("a\n" + " " * 9000 + "b", "")
@example("\r", "")
def test_chunks_cover_the_body_without_overlap(text, before):
    text = text.lstrip("\ufeff-")
    body = "".join(
        "\ufffd" if each == "\0" or "\ud800" <= each <= "\udfff" else each for each in text
    )
    chunks = parse_note(before + text, path="a.md").chunks
    assert "".join(chunk.text for chunk in chunks) == (body if body.strip() else "")
    lines = 1 + before.count("\n")
    for chunk in chunks:
        assert chunk.text.strip()
        assert len(chunk.text) <= MAX_CHARS or len(chunk.text.strip()) <= MAX_CHARS
        assert chunk.start_line == lines
        joined = chunk.text.replace("\r\n", "\n").replace("\r", "\n")
        assert chunk.end_line == lines + joined.count("\n") - joined.endswith("\n")
        lines += joined.count("\n")
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    for one, another in pairwise(chunks):
        assert not (one.text.endswith("\r") and another.text.startswith("\n"))


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_any_text_can_be_chunked(text):
    parse_note(text, path="a.md")
    parse_note(f"---\n{text}\n---\n{text}", path="")


def test_a_long_section_after_a_comment_is_split_between_its_blocks():
    paragraphs = [f"{number} " + "text " * 250 + "\n\n" for number in range(4)]
    text = "%% " + "日本語" * 60 + " %%\n\n" + "".join(paragraphs)
    starts = [chunk.text[:2] for chunk in parse_note(text, path="a.md").chunks]
    assert starts == ["%%", "1 ", "2 ", "3 "]
