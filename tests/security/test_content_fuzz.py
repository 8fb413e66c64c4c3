"""Any bytes as a note, and any text as a link, path or query, cause no exception and no loss."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.index_runs import Vault
from tests.vault.spellings import CLIMBING, HARMLESS, LEAVING, MALFORMED

from vault_agent.errors import Forbidden, InvalidRequest
from vault_agent.indexing.parse import Batch, FileToRead, Outcome, ParsedFile, parse_files
from vault_agent.markdown.parse import parse_note
from vault_agent.model.link_resolver import LinkResolver
from vault_agent.model.notes import FileEntry, LinkKind
from vault_agent.search.query import MAX_TERMS, compile_query
from vault_agent.vault.paths import MAX_PATH_BYTES, validate
from vault_agent.vault.root import VaultRoot


def examples(count: int) -> settings:
    """Return settings for a number of examples without a deadline."""
    # The `read` fixture has no state, so examples can share it.
    return settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck))


CODES = {
    "FRONTMATTER_PARSE_FAILED",
    "FILE_NOT_UTF8",
    "FILE_BINARY",
    "FILE_UNREADABLE",
    "FILE_TOO_LARGE_FOR_INDEXING",
}

# Bytes with a meaning in YAML or Markdown, mixed with arbitrary ones.
_PIECES = st.sampled_from(
    [
        *(
            b"---\n",
            b"...\n",
            b"\n---\n",
            b"title: ",
            b"tags: [",
            b"]",
            b"{",
            b"}",
            b"- ",
            b"&a ",
            b"*a ",
        ),
        *(
            b"? ",
            b": ",
            b"!!python/object:os.system ",
            b"!!binary ",
            b"<<: ",
            b"|\n  ",
            b">-\n",
            b"%YAML 9\n",
        ),
        *(
            b"date: 2024-02-30\n",
            b"aliases:\n",
            b'"',
            b"'",
            b"\\x",
            b"\t",
            b"#",
            b"\xef\xbb\xbf",
            b"\xff\xfe",
        ),
        *(
            b"# ",
            b"## ",
            b"```",
            b"~~~\n",
            b"> ",
            b"    ",
            b"[[",
            b"]]",
            b"|",
            b"![",
            b"](",
            b")",
            b"<!--",
            b"-->",
        ),
        *(
            b"%%",
            b"$$",
            b"^id",
            b"`",
            b"**",
            b"_",
            b"\\",
            b"\r",
            b"\r\n",
            b"\n\n",
            b"\0",
            b"\xed\xa0\x80",
        ),
        *(
            b"\xe2\x80\xa8",
            b"<script>",
            b"&#x0;",
            b"[^1]: ",
            b"| a |\n|---|\n",
            b"\xf0\x9f\x94\x91",
            b"x" * 3000,
        ),
    ]
)
NOTES = st.one_of(
    st.binary(max_size=300),
    st.lists(st.one_of(_PIECES, st.binary(max_size=6)), max_size=30).map(b"".join),
    st.lists(st.one_of(_PIECES, st.binary(max_size=6)), max_size=30).map(
        lambda parts: b"---\n" + b"".join(parts) + b"\n---\nbody"
    ),
)


@pytest.fixture
def read(tmp_path: Path) -> Iterator[Callable[[bytes], ParsedFile]]:
    """Return a function that reads and parses bytes like a worker."""
    with VaultRoot.open(tmp_path) as root:

        def read(data: bytes) -> ParsedFile:
            (tmp_path / "note.md").write_bytes(data)
            entry = FileEntry("note.md", len(data), 0, 0, 0)
            batch = Batch(Vault(tmp_path).spec(), None, [FileToRead(entry, None, 1)])
            [parsed] = parse_files(root, batch)
            return parsed

        yield read


def hold_bytes_to_it(read: Callable[[bytes], ParsedFile], data: bytes) -> None:
    parsed = read(data)
    assert {warning.code for warning in parsed.warnings} <= CODES
    assert all(warning.details["path"] == "note.md" for warning in parsed.warnings)
    if parsed.outcome is Outcome.PARSED:
        assert parsed.rows is not None
        # A warning contains no text of the note.
        for warning in parsed.warnings:
            assert warning.message.isascii()
    else:
        assert parsed.outcome is Outcome.NOT_INDEXABLE
        assert b"\0" in data


@pytest.mark.fault(
    "Note contents",
    "arbitrary bytes",
    "indexed, or a warning; no character of a body is lost",
)
@examples(250)
@given(data=NOTES)
def test_any_bytes_are_indexed_or_warned_about(read, data: bytes):
    hold_bytes_to_it(read, data)


@pytest.mark.long
@examples(50_000)
@given(data=NOTES)
def test_very_many_bytes_are_indexed_or_warned_about(read, data: bytes):
    hold_bytes_to_it(read, data)


LINKS = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "[[",
                "]]",
                "|",
                "#",
                "^",
                "![[",
                "](",
                ")",
                "[",
                "!",
                "<",
                ">",
                "\\",
                "%20",
                "../",
                "/",
                "a",
                "B.md",
            ]
        ),
        st.text(max_size=5),
    ),
    max_size=25,
).map("".join)


@examples(300)
@given(text=LINKS)
def test_links_in_any_text_have_valid_lines_and_targets(text: str):
    note = parse_note(text, path="Folder/a.md")
    lines = 1 + text.count("\n") + text.count("\r") - text.count("\r\n")
    files = ["Folder/a.md", "a.md", "B.md", "Folder/B.md", "deep/er/B.md"]
    resolver = LinkResolver([(path, ()) for path in files], ["a.png"])
    for link in note.links:
        assert 1 <= link.line <= lines
        for kind in LinkKind:
            found = resolver.resolve("Folder/a.md", link.target, kind)
            assert found.path is None or found.path in (*files, "a.png")


PATHS = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.sampled_from(
            [*"/\\.%~ :\0aé．", "..", "../", "%2e", "%2f", "%5c", "%25", "%00", "%ff", "Folder"]
        ),
        max_size=15,
    ).map("".join),
    st.sampled_from([*CLIMBING, *LEAVING, *MALFORMED, *HARMLESS]).flatmap(
        lambda one: st.sampled_from([*CLIMBING, *HARMLESS]).map(lambda other: f"{one}/{other}")
    ),
)


@examples(500)
@given(path=PATHS)
def test_a_valid_path_stays_below_its_root(path: str):
    try:
        passed = validate(path)
    except (InvalidRequest, Forbidden) as refusal:
        expected = ("INVALID_PATH", "PATH_OUTSIDE_VAULT")
        assert refusal.code in expected  # noqa: PT017 - some spellings pass
        return
    assert passed == path
    assert len(path.encode()) <= MAX_PATH_BYTES
    assert not path.startswith("/")
    assert ".." not in PurePosixPath(path).parts
    assert os.path.normpath(path) == path
    assert "\0" not in path
    assert "\\" not in path


QUERIES = st.lists(
    st.one_of(
        st.sampled_from(
            [*'"-*?)ก', "tag:", "path:", "AND", "NEAR(", "漢字", "x" * 50, "1.2.3", "snake_case"]
        ),
        st.text(max_size=8),
    ),
    max_size=60,
).map(" ".join)


@examples(300)
@given(text=QUERIES)
def test_every_query_has_a_limited_number_of_terms(text: str):
    query = compile_query(text[:1000])
    assert len(query.term_weights) <= MAX_TERMS
    assert len(query.units) <= MAX_TERMS
    assert len(query.pairs) <= MAX_TERMS
    assert all(query.term_weights)
    assert all(query.phrases)
    assert all(query.excluded)
