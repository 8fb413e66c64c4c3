"""The fast parser and marko find the same headings, code and links."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.markdown.reference import MAX_CHARS, Reading, line_of, read

from vault_agent.markdown import frontmatter
from vault_agent.markdown.structure import scan

VAULT = Path(__file__).parents[2] / "fixtures" / "vault"

INLINE = (
    *("word é", "日本 語", "😀", "*b*", "**c**", "a_b_c", "&amp;", "#tag", "<http://x.y>"),
    *("`co`", "``x ` y``", "`un", "x <b>y</b>", "<!-- c -->", "\\[n](x)"),
    *("[l](d.md)", "[l](<d e.md> 't')", "![i](p.png)", "[r]", "[r][]", "[t][r]", "[o](", "](x)"),
    *("[a [b](c) d](e)", "![a [b](c)](d)"),
)
BEFORE = ("", "# ", "## ", "###### ", "#", "- ", "* ", "1. ", "10) ", "> ", "> > ", "> - ", "- - ")
INDENT = ("", "", "", " ", "   ", "    ", "     ", "\t")
LINES = (
    *("", "```", "```py", "~~~", "---", "===", "***", "* * *", "- ", "#", "    code", "    - x"),
    *("<div>", "</div>", "<!--", "-->", "<pre>"),
    "\n[r]: foo.md\n",
    "\n| a | `b` |\n|---|---|\n| [c](d) | e |\n",
)

_written = st.builds(
    # No tab before a quote: see the last test but one.
    lambda indent, before, words: (
        (indent.replace("\t", "") if ">" in before else indent) + before + " ".join(words)
    ),
    st.sampled_from(INDENT),
    st.sampled_from(BEFORE),
    st.lists(st.sampled_from(INLINE), min_size=1, max_size=4),
)
_markdown = st.lists(st.one_of(_written, st.sampled_from(LINES)), min_size=1, max_size=12).map(
    "\n".join
)


def fast(source: str) -> Reading:
    structure = scan(source)
    return Reading(
        [
            (line_of(source, each.start), each.level, "".join(each.text.split()))
            for each in structure.headings
        ],
        sorted(line_of(source, start) for start, _ in structure.code),
        [(each.start, each.image, each.destination) for each in structure.links],
    )


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
@given(_markdown)
def test_generated_markdown_is_parsed_like_marko(source):
    assert fast(source) == read(source)


@pytest.mark.long
@settings(max_examples=20_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_markdown)
def test_much_generated_markdown_is_parsed_like_marko(source):
    assert fast(source) == read(source)


@pytest.mark.parametrize("path", sorted(VAULT.rglob("*.md")), ids=lambda path: path.name)
def test_every_fixture_is_parsed_like_marko(path):
    text = path.read_text(encoding="utf-8")
    body = text[frontmatter.read(text).end :]
    if len(body) > MAX_CHARS or "%%" in body:
        pytest.skip("too long for marko, or written with comments that only Obsidian knows")
    assert fast(body).headings == [
        (line, level, text.replace("[[", "").replace("]]", ""))
        for line, level, text in read(body).headings
    ]
    assert fast(body).code == read(body).code
    assert fast(body).links == read(body).links


# Here they differ, and the fast parser follows CommonMark 0.31. The generator avoids these.
@pytest.mark.parametrize(
    ("source", "headings", "code", "links"),
    [
        pytest.param(
            "\\` x `co`", [], [1], [], id="an escaped backtick opens no code (section 2.4)"
        ),
        pytest.param(
            "[r]: foo.md\n    text", [], [], [], id="indented code interrupts nothing (section 4.4)"
        ),
        pytest.param(
            "[r]: [o](\n10)",
            [],
            [],
            [(5, False, "10")],
            id="parentheses are balanced (section 6.3)",
        ),
        pytest.param("x\n</pre>\n`c`", [], [3], [], id="</pre> opens no HTML (section 4.6)"),
        pytest.param("| x\n- ", [(1, 2, "|x")], [], [], id="a setext heading with a pipe"),
    ],
)
def test_known_differences_follow_the_specification(source, headings, code, links):
    assert fast(source) == Reading(headings, code, links)


def test_the_known_parser_error_only_misses_code():
    """pulldown-cmark treats ">" after a tab as a quote's next line inside open HTML."""
    source = "> <!-- c -->\n\t> text"
    assert (fast(source).code, read(source).code) == ([], [2])


def test_wikilinks_in_headings_are_rendered_as_in_obsidian():
    (heading,) = scan("# See [[Note#Part|this]] and [[That]]").headings
    assert heading.text == "See this and That"
