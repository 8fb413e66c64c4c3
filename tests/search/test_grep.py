"""Lines are found by regular expressions, in order, in pages, and within a time."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.search.opened import indexed
from tests.support.index_runs import Vault

from vault_agent.errors import InvalidRequest
from vault_agent.model.search import Filters, GrepAnswer, GrepQuery
from vault_agent.search import grep as scanning
from vault_agent.search.grep import LINE_CHARACTERS, LINES_OF_NOTE, grep
from vault_agent.store.current import Snapshot

pytestmark = pytest.mark.asyncio(loop_scope="module")  # that of `snapshot`

SECONDS = 60.0

NOTES = {
    "a/One.md": "---\nsecret: value\n---\n# One\n\nfoo bar\n\nbar foo\n\n## Two\n\nfoo\n",
    "a/crlf.md": "top\r\nfoo\r\nend\r\n",
    "b.md": "# B\n\nnaïve Café 東京 cafe\n",
    "c.md": "\n".join(f"- item {number}" for number in range(50)),
    "long.md": f"{'x' * 3_000} needle {'y' * 400}\n\n{'z' * 9_000}end\n",
}


async def found(
    snapshot: Snapshot, pattern: str, paths: tuple[str, ...] = (), **more
) -> list[tuple[str, int]]:
    query = GrepQuery(pattern, filters=Filters(paths=paths), **more)
    answer = await grep(snapshot, query, seconds=SECONDS)
    return [(line.path, line.line) for line in answer.lines]


@pytest.mark.parametrize(
    ("pattern", "lines"),
    [
        ("foo", [("a/One.md", 6), ("a/One.md", 8), ("a/One.md", 12), ("a/crlf.md", 2)]),
        ("^foo$", [("a/One.md", 12), ("a/crlf.md", 2)]),
        ("^foo", [("a/One.md", 6), ("a/One.md", 12), ("a/crlf.md", 2)]),
        ("FOO", []),
        ("(?i)^FOO bar", [("a/One.md", 6)]),
        ("secret", []),
        (r"foo\s+bar", [("a/One.md", 6)]),  # never across lines
        (r"bar[^x]+foo", [("a/One.md", 8)]),
        (r"(?s)One.*Two", []),
        ("foo\n", []),
        ("Café|東京", [("b.md", 3)]),
        ("a|^end$", [("a/One.md", 6), ("a/One.md", 8), ("a/crlf.md", 3), ("b.md", 3)]),
        (r"\p{Han}{2}", [("b.md", 3)]),
        ("z{1000}end", [("long.md", 3)]),
    ],
)
async def test_lines_match(snapshot: Snapshot, pattern: str, lines: list[tuple[str, int]]):
    assert await found(snapshot, pattern, ("a", "b.md", "long.md")) == lines


async def test_letter_case_is_ignored_on_request(snapshot: Snapshot):
    assert await found(snapshot, "CAFÉ", ignore_case=True) == [("b.md", 3)]


async def test_a_pattern_that_matches_nothing_finds_every_line_once(snapshot: Snapshot):
    assert await found(snapshot, "x*", ("a/crlf.md",)) == [("a/crlf.md", n) for n in (1, 2, 3)]
    assert await found(snapshot, "^$", ("a/One.md",)) == [("a/One.md", n) for n in (5, 7, 9, 11)]


async def test_a_line_shows_its_matches_and_its_neighbours(snapshot: Snapshot):
    query = GrepQuery("Ca(f)é|cafe", context=1)
    (line,) = (await grep(snapshot, query, seconds=SECONDS)).lines
    assert line.text == "naïve Café 東京 cafe"
    assert [line.text[start:end] for start, end in line.matches] == ["Café", "cafe"]
    query = GrepQuery("^## Two", context=3)
    (line,) = (await grep(snapshot, query, seconds=SECONDS)).lines
    assert line.before == ("", "bar foo", "")
    assert line.after == ("", "foo")


async def test_a_long_line_is_cut_around_its_match(snapshot: Snapshot):
    (line,) = (await grep(snapshot, GrepQuery("needle"), seconds=SECONDS)).lines
    assert len(line.text) == LINE_CHARACTERS
    assert line.text.startswith("…x")
    assert line.text.endswith("y…")
    ((start, end),) = line.matches
    assert line.text[start:end] == "needle"


async def test_a_note_gives_a_limited_number_of_lines(snapshot: Snapshot):
    both = ("c.md", "b.md")
    answer = await grep(snapshot, GrepQuery(".", filters=Filters(paths=both)), seconds=SECONDS)
    assert [line.path for line in answer.lines].count("c.md") == LINES_OF_NOTE
    assert [line.more_in_note for line in answer.lines[-2:]] == [False, True]
    assert answer.place is None
    assert len(await found(snapshot, "item", ("c.md",))) == 50  # alone


async def paged(
    snapshot: Snapshot, query: GrepQuery, seconds: float = SECONDS
) -> tuple[list[tuple[str, int]], list[GrepAnswer]]:
    lines, answers, place = [], [], None
    while True:
        answer = await grep(snapshot, query, seconds=seconds, start=place)
        answers.append(answer)
        lines += [(line.path, line.line) for line in answer.lines]
        place = answer.place
        if place is None:
            return lines, answers


@pytest.mark.parametrize("limit", [1, 3, 19, 20, 21, 200])
async def test_pages_give_every_line_once(snapshot: Snapshot, limit: int):
    every = await found(snapshot, ".", limit=200)
    lines, answers = await paged(snapshot, GrepQuery(".", limit=limit))
    assert lines == every
    assert [line.path for answer in answers for line in answer.lines if line.more_in_note] == [
        "c.md"
    ]


async def test_when_the_time_is_over_the_place_continues(snapshot: Snapshot):
    lines, answers = await paged(snapshot, GrepQuery("foo"), seconds=0.0)
    assert lines == await found(snapshot, "foo")
    assert [answer.incomplete for answer in answers] == [True] * 5 + [False]
    shares = [answer.share for answer in answers]
    assert shares == sorted(shares)
    (warning,) = answers[0].warnings
    assert (warning.code, warning.details["share"]) == ("REGEX_INCOMPLETE", 0.2)


async def test_the_share_is_of_the_notes_that_pass_the_filters(snapshot: Snapshot):
    query = GrepQuery("foo", filters=Filters(paths=("a",)))
    assert (await grep(snapshot, query, seconds=0.0)).share == 0.5


async def test_a_large_note_is_searched_to_its_end(tmp_path: Path):
    vault = Vault(tmp_path)
    vault.write("big.md", "\n\n".join(f"## H{n}\n\n{'word ' * 300}foo" for n in range(9)))
    async with indexed(vault) as snapshot:
        lines, answers = await paged(snapshot, GrepQuery("foo"), seconds=0.0)
    assert lines == [("big.md", 3 + 4 * number) for number in range(9)]
    assert len(answers) == 2  # the time is over after the note


async def test_a_page_continues_in_a_note_with_a_long_path(tmp_path: Path):
    vault = Vault(tmp_path)
    folder = "f" * 200
    for name in "abc":
        vault.write(f"{folder}/{name}.md", "foo\n\nfoo\n")
    async with indexed(vault) as snapshot:
        answer = await grep(snapshot, GrepQuery("foo", limit=3), seconds=SECONDS)
        lines, _ = await paged(snapshot, GrepQuery("foo", limit=1))
        assert lines == [(f"{folder}/{name}.md", n) for name in "abc" for n in (1, 3)]
        gone = answer.place._replace(note_id="0" * 32)
        with pytest.raises(InvalidRequest) as refused:
            await grep(snapshot, GrepQuery("foo", limit=3), seconds=SECONDS, start=gone)
        assert refused.value.code == "CURSOR_EXPIRED"


@pytest.mark.fault(
    "HTTP and access",
    "a page whose rows would exceed the limit of a reply",
    "the page ends early; its cursor skips nothing",
)
async def test_a_page_stays_below_the_limit_of_replies(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(scanning, "_PAGE_BYTES", 10_000)
    vault = Vault(tmp_path)
    for number in range(40):
        vault.write(f"{number:02}.md", "\x01foo " * 200)
    async with indexed(vault) as snapshot:
        lines, answers = await paged(snapshot, GrepQuery("foo", limit=200))
    assert len(lines) == 40
    assert len(answers) > 2


HOSTILE = [
    "(?=a)", "a(?!b)", "(?<=a)b", r"(a)\1", "a{1001}", "(", "[a", "*", "a**", "\\",
    "((a{100}){100}){100}", "(?P<1", "[z-a]", r"\8", "(?R)",
]  # fmt: skip


@pytest.mark.fault(
    "Queries",
    "a regular expression that RE2 does not support, or that needs over 8 MiB",
    "`REGEX_INVALID` with the place; the pattern is neither repeated nor logged",
)
@pytest.mark.parametrize("pattern", HOSTILE)
async def test_an_unsupported_pattern_is_refused_and_not_repeated(
    snapshot: Snapshot, pattern: str, capfd: pytest.CaptureFixture
):
    with pytest.raises(InvalidRequest) as refused:
        await found(snapshot, pattern)
    assert refused.value.code == "REGEX_INVALID"
    if len(pattern) > 2:
        assert pattern not in refused.value.message
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("abc(?=d)", "(at character 4): RE2 knows no look-around"),
        (r"abc\p{Emoji}", r"(at character 4): RE2 has no such property; \p takes a category"),
        (r"abc[\P{han}]", r"(at character 5): RE2 has no such property; \P takes a category"),
        ("abc[[:no:]]", "(at character 5): RE2 has no such class"),
    ],
)
async def test_the_message_names_the_place_and_why(snapshot: Snapshot, pattern: str, why: str):
    with pytest.raises(InvalidRequest) as refused:
        await found(snapshot, pattern)
    assert why in refused.value.message


@pytest.mark.fault(
    "Queries",
    "a slow pattern; one very large note under it",
    "an answer after two seconds, marked `incomplete`, with a cursor that "
    "continues, also within a note",
)
@pytest.mark.parametrize(
    "pattern",
    ["(a+)+$", "(?s).*e.{200}qzq", "[a-z ]*e[a-z ]{40}q", "|".join(["x?" * 10] * 40), "(x+x+)+y"],
)
async def test_a_slow_pattern_gets_an_answer(snapshot: Snapshot, pattern: str):
    answer = await grep(snapshot, GrepQuery(pattern, limit=5), seconds=2)
    assert answer.share > 0


@pytest.mark.fault(
    "Queries",
    "RE2 is not available on this system",
    "`REGEX_INVALID`; everything else works",
)
async def test_without_re2_regular_expressions_are_unsupported(snapshot: Snapshot, monkeypatch):
    monkeypatch.setitem(sys.modules, "re2", None)
    with pytest.raises(InvalidRequest) as refused:
        await found(snapshot, "a")
    assert refused.value.code == "REGEX_INVALID"
    assert "not available" in refused.value.message
