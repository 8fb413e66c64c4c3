"""The full-text index finds what was put in, admits what filters admit, and survives damage."""

from __future__ import annotations

import errno
import threading
import time
from typing import TYPE_CHECKING

import pytest
from tests.clocks import PATIENCE, patiently

from vault_agent.errors import IndexUnavailable, InvalidRequest, VaultAgentError
from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.notes import Chunk, ParsedNote
from vault_agent.model.search import Filters
from vault_agent.ranking.query import compile_query
from vault_agent.store.fulltext import reader as engine
from vault_agent.store.fulltext.guard import guarded
from vault_agent.store.fulltext.reader import FulltextReader
from vault_agent.store.fulltext.schema import to_fulltext
from vault_agent.store.fulltext.spelling import edits
from vault_agent.store.fulltext.writer import FulltextWriter

if TYPE_CHECKING:
    from pathlib import Path

NO_FILTER = Filters()


def note(path: str, *texts: str, title: str = "", **fields: object) -> tuple[str, ParsedNote]:
    """Return a note whose chunks are `texts`; a heading is what stands before `|`."""
    chunks = []
    for index, text in enumerate(texts):
        heading, _, body = text.rpartition("|")
        above = f"## {heading}\n" if heading else ""
        chunks.append(Chunk(index, (heading,) if heading else (), above + body, 1, 1))
    defaults = {"aliases": (), "tags": (), "date": None, "created": None, "updated": None}
    defaults |= {"type": None, "headings": (), "links": ()}
    stem = path.rpartition("/")[2].rpartition(".")[0]
    return path, ParsedNote(title=title or stem, chunks=tuple(chunks), **{**defaults, **fields})


NOTES = [
    note("Zoo/Zebra.md", "stripes and grass", "Food|the zebra eats grass", tags=("animal/wild",)),
    note("Zoo/Lion.md", "the lion hunts a zebra", tags=("animal", "獅子"), date="2024-03-05"),
    note("Home/Cat.md", "吾輩は猫である", "sleeps all day", type="Pet", created="2023-01-02T10:00"),
    note("Home/dev log.md", "ran getUserName with C++ v1.2.3", aliases=("Journal of Code",)),
    note("Empty.md", title="Nothing here"),
]


@pytest.fixture
def reader(tmp_path: Path) -> FulltextReader:
    return build(tmp_path / "r1", NOTES)


def build(directory: Path, notes: list, base: Path | None = None, first: int = 1) -> FulltextReader:
    writer = FulltextWriter(directory, base)
    for rowid, (path, parsed) in enumerate(notes, first):
        writer.add_note(rowid, to_fulltext(path, parsed))
    writer.commit()
    return FulltextReader(directory)


def find(reader: FulltextReader, query: str, filters: Filters = NO_FILTER, **options) -> set[int]:
    found = reader.candidates(compile_query(query), filters, **options)
    return set(found.notes) | {key >> CHUNK_BITS for key in found.chunks}


@pytest.mark.parametrize(
    ("query", "rowids"),
    [
        ("grass", {1}),
        ("zebras", {1, 2}),
        ("猫", {3}),
        ("猫で", {3}),
        ("username", set()),
        ("user", {4}),
        ("getusername", {4}),
        ("1.2.3", {4}),
        ("c++", {4}),
        ("journal", {4}),
        ("nothing", {5}),
        ('"lion hunts"', {2}),
        ('"hunts lion"', set()),
        ("zebra -lion", {1}),
        ("grass -eats", set()),  # the first part of note 1 has grass, the second eats
        ("zebra tag:animal", {1, 2}),
        ("zebra tag:animal/wild", {1}),
        ("tag:animal -tag:animal/wild", {2}),
        ("path:home day", {3}),
        ('path:"Home/dev log" ran', {4}),
        ("path:*.md lion", {2}),
        ("path:zoo/l* zebra", {2}),
        ("path:zoo/z? zebra", set()),
        ("absentword tag:animal", set()),
        ("animal", {1, 2}),
        ("#animal", {1, 2}),
        ("wild", {1}),
        ("#獅子", {2}),
        ("獅", {2}),
        ("鰐", set()),
        ("鰐 tag:animal", set()),
    ],
)
def test_search_finds(reader: FulltextReader, query: str, rowids: set[int]):
    assert find(reader, query) == rowids


@pytest.mark.parametrize(
    ("filters", "rowids"),
    [
        (Filters(paths=("Zoo",)), {1, 2}),
        (Filters(paths=("zoo/", "Home/Cat.md")), {1, 2, 3}),
        (Filters(paths=("Zo",)), set()),
        (Filters(paths=("**/c*",)), {3}),
        (Filters(paths=("(.*", "[a-z]*")), set()),
        (Filters(tags=("#Animal",)), {1, 2}),
        (Filters(tags=("animal", "animal/wild")), {1}),
        (Filters(types=("pet",)), {3}),
        (Filters(after="2024-01-01"), {2}),
        (Filters(before="2023-01-02"), {3}),
        (Filters(after="2023-01-02", before="2024-03-05"), {2, 3}),
    ],
)
def test_filters_admit(reader: FulltextReader, filters: Filters, rowids: set[int]):
    assert reader.admitted(filters) == rowids
    assert find(reader, "zebra the all ran 猫", filters) <= rowids


def test_filters_compare_names_as_links_do(tmp_path: Path):
    notes = [note("Maße/ΟΔΟΣ.md", tags=("Größe",)), note("Masse/10\u202fAM.md", tags=("Grösse",))]
    reader = build(tmp_path / "r1", notes)
    assert reader.admitted(Filters(paths=("MAßE",))) == {1}
    assert reader.admitted(Filters(paths=("masse",))) == {2}
    assert reader.admitted(Filters(paths=("οδος.*",))) == {1}
    assert reader.admitted(Filters(paths=("masse/10 am",))) == {2}
    assert reader.admitted(Filters(tags=("gro\u0308ße",))) == {1}


def test_a_misspelt_word_finds_its_neighbour_but_only_where_it_is_in_no_note(
    reader: FulltextReader,
):
    assert find(reader, "zerba") == {1, 2}
    assert reader.candidates(compile_query("lion"), NO_FILTER).neighbours == {}


def test_the_chunk_that_matches_is_a_candidate_by_its_key(reader: FulltextReader):
    found = reader.candidates(compile_query("zebra eats"), NO_FILTER)
    best = max(found.chunks, key=lambda key: found.chunks[key].text)
    assert best == 1 << CHUNK_BITS | 1


def test_exact_names_and_headings_are_marked(reader: FulltextReader):
    found = reader.candidates(compile_query("journal of codes"), NO_FILTER)
    assert found.notes[4].named
    found = reader.candidates(compile_query("Food"), NO_FILTER)
    assert found.chunks[1 << CHUNK_BITS | 1].headed


def test_a_note_can_be_left_out(reader: FulltextReader):
    assert find(reader, "zebra", without_note=1) == {2}


@pytest.mark.parametrize(
    "query",
    [
        "\x00",
        "NEAR(a b)",
        "(" * 300,
        "a* AND OR NOT",
        '"',
        "a b " * 500,
        "\ud800",
        "path:\ud800",
        "tag:\ud800 -path:\ud800",
        "path:[",
        "tag:*",
    ],
)
def test_no_text_upsets_the_engine(reader: FulltextReader, query: str):
    find(reader, query)


@pytest.mark.parametrize(
    "pattern",
    ["?" * 100, "*" + "?" * 16, "*a" * 100, "**/" * 100 + "x", "*a????????", "a*" * 17, "é?" * 200],
    ids=ascii,
)
def test_a_pattern_beyond_the_engine_is_refused_and_not_taken_for_damage(
    reader: FulltextReader, pattern: str
):
    for filters in (Filters(paths=(pattern,)), Filters(paths=("x", pattern) * 25)):
        with pytest.raises(InvalidRequest):
            reader.candidates(compile_query("soup"), filters)
        with pytest.raises(InvalidRequest):
            reader.admitted(filters)
    with pytest.raises(InvalidRequest):
        reader.candidates(compile_query(f'soup -path:"{pattern}"'), NO_FILTER)


def test_patterns_within_the_limit_are_built(reader: FulltextReader):
    with patiently():
        reader.candidates(compile_query("soup"), Filters(paths=("*a" * 16,) * 6))
        reader.candidates(compile_query("soup"), Filters(paths=("journal/????-??-??*",) * 10))


def test_a_revision_adds_and_removes_without_touching_the_one_before(tmp_path: Path):
    old = build(tmp_path / "r1", NOTES)
    writer = FulltextWriter(tmp_path / "r2", tmp_path / "r1")
    writer.remove_note(1)
    writer.add_note(9, to_fulltext(*note("New.md", "a zebra again")))
    writer.commit()
    assert find(FulltextReader(tmp_path / "r2"), "zebra") == {2, 9}
    assert find(old, "zebra") == {1, 2}
    assert find(FulltextReader(tmp_path / "r1"), "zebra") == {1, 2}


def test_what_is_not_committed_is_not_there(tmp_path: Path):
    build(tmp_path / "r1", NOTES)
    writer = FulltextWriter(tmp_path / "r2", tmp_path / "r1")
    writer.add_note(9, to_fulltext(*note("New.md", "a quagga")))
    writer.close()
    assert find(FulltextReader(tmp_path / "r1"), "quagga") == set()


def test_links_are_copied_where_files_cannot_be_linked(tmp_path: Path, monkeypatch):
    build(tmp_path / "r1", NOTES)

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("os.link", refuse)
    assert find(build(tmp_path / "r2", [], tmp_path / "r1"), "zebra") == {1, 2}


def test_ties_at_the_cut_go_to_the_first_notes_whatever_the_order_of_indexing(tmp_path: Path):
    same = [(rowid, note(f"{rowid:03}.md", "the same words", title="x")) for rowid in range(1, 201)]
    kept = []
    for name, order in (("a", same), ("b", same[::-1])):
        writer = FulltextWriter(tmp_path / name)
        for rowid, (_, parsed) in order:
            writer.add_note(rowid, to_fulltext("x.md", parsed))
        writer.commit()
        found = FulltextReader(tmp_path / name).candidates(compile_query("words"), NO_FILTER)
        kept.append(found)
    assert kept[0] == kept[1]
    assert sorted(kept[0].notes)[: engine.NOTES] == list(range(1, engine.NOTES + 1))


def test_damaged_files_are_reported_as_such(tmp_path: Path, capfd):
    build(tmp_path / "r1", NOTES)
    for file in (tmp_path / "r1" / "notes").glob("*.term"):
        file.write_bytes(b"\xff" * file.stat().st_size)
    with pytest.raises(IndexUnavailable) as refused:
        find(FulltextReader(tmp_path / "r1"), "zebra")
    assert refused.value.code == "INDEX_INCOMPATIBLE"
    assert str(tmp_path) not in str(refused.value)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "DISK_FULL"),
        (ValueError("IoError: Os { code: 28, kind: StorageFull }"), "DISK_FULL"),
        (ValueError("Input/output error (os error 5)"), "INDEX_IO_ERROR"),
        (ValueError("An index writer was killed. A worker thread failed"), "INDEX_IO_ERROR"),
        (ValueError("FileDoesNotExist: No such file (os error 2)"), "INDEX_INCOMPATIBLE"),
        (ValueError("Data corrupted"), "INDEX_INCOMPATIBLE"),
        (type("PanicException", (BaseException,), {})("range end index"), "INDEX_INCOMPATIBLE"),
    ],
    ids=lambda value: value if isinstance(value, str) else str(value)[:20],
)
def test_what_the_engine_says_is_told_by_its_code_and_not_repeated(error: BaseException, code: str):
    with pytest.raises(VaultAgentError) as told, guarded():
        raise error
    assert told.value.code == code
    assert str(error) not in str(told.value)


def test_what_is_no_failure_of_the_engine_passes_through():
    with pytest.raises(KeyboardInterrupt), guarded():
        raise KeyboardInterrupt


def test_an_absent_index_is_reported_as_damaged(tmp_path: Path):
    with pytest.raises(IndexUnavailable):
        FulltextReader(tmp_path / "none")


def test_searching_does_not_hold_up_other_threads(tmp_path: Path):
    reader = build(tmp_path / "r1", [note(f"{n}.md", "common word " * 200) for n in range(300)])
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    deadline = time.monotonic() + PATIENCE
    while len(ticks) <= 10 and time.monotonic() < deadline:
        find(reader, "common word")
    done.set()
    thread.join()
    assert len(ticks) > 10


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [("zebra", "zebra", 0), ("zerba", "zebra", 1), ("zbra", "zebra", 1), ("abc", "xyz", 2)],
)
def test_edits_are_counted_up_to_a_limit(one: str, other: str, distance: int):
    assert min(edits(one, other, 1), 2) == distance
