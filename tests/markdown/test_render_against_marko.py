"""marko with GFM and the renderer show the same text, headings, links and code."""

from __future__ import annotations

import re
from pathlib import Path

import marko
import nh3
import pytest
from hypothesis import HealthCheck, assume, given, settings
from tests.markdown import test_against_marko
from tests.markdown.reference import MAX_CHARS
from tests.markdown.rendering import Read, html_of

from vault_agent.markdown import frontmatter

VAULT = Path(__file__).parents[2] / "fixtures" / "vault"
_IMAGE = re.compile(r'<img[^>]*? alt="([^"]*)"[^>]*>')
_NO_ELEMENT = re.compile(r"<(http://x\.y|d e\.md)>")
# An open comment ends with its block here, so that the rest of a note is seen.
_OPEN_COMMENT = re.compile(r"^\s*(?:<!--|-->)\s*$", re.MULTILINE)
_TASK = re.compile(r"(?:[-*+]|\d[.)])\s+\[.\](?:\s|\Z)")  # [r] is done in a way of its own
_ONLY_OBSIDIAN = re.compile(r"\[\[|%%|\$|==|\[!|\[\^|\s\^[\w-]+\s*$|^[-*+] \[.\]", re.MULTILINE)


def shown(html: str) -> tuple[list[str], list[tuple[int, str]], list[str], list[str]]:
    """Return words, headings, texts of links and code of some HTML. An image is its text."""
    read = Read(_IMAGE.sub(r"\1", html))
    return (
        "".join(read.text.split()),
        [(level, "".join(text.split())) for level, text in read.headings],
        sorted("".join(text.split()) for text, _ in read.links),
        ["".join(each.split()) for each in read.code],
    )


def by_marko(source: str) -> str:
    html = marko.Markdown(extensions=["gfm"]).convert(source)
    # Within HTML of the note these are elements that nobody knows: we show them.
    return nh3.clean(_NO_ELEMENT.sub(r"&lt;\1&gt;", html))


def ours(source: str) -> str:
    # A link that is no link here is a link for marko, and a missing file has its place.
    html = html_of(source).html
    return re.sub(r'<span class="unlinked">(.*?)</span>', r"<a>\1</a>", html)


def assert_shown_like_marko(source: str) -> None:
    assume(not _TASK.search(source))
    assume(not _OPEN_COMMENT.search(source))
    assert shown(ours(source)) == shown(by_marko(source))


@settings(
    max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)  # fmt: skip
@given(test_against_marko._markdown)
def test_generated_notes_are_shown_like_marko_shows_them(source: str):
    assert_shown_like_marko(source)


@pytest.mark.long
@settings(max_examples=10_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(test_against_marko._markdown)
def test_many_generated_notes_are_shown_like_marko_shows_them(source: str):
    assert_shown_like_marko(source)


@pytest.mark.parametrize("path", sorted(VAULT.rglob("*.md")), ids=lambda path: path.name)
def test_every_fixture_is_shown_like_marko_shows_it(path: Path):
    text = path.read_text("utf-8")
    body = text[frontmatter.read(text).end :]
    if len(body) > MAX_CHARS or _ONLY_OBSIDIAN.search(body):
        pytest.skip("too long for marko, or with what only Obsidian knows")
    assert shown(ours(body)) == shown(by_marko(body))
