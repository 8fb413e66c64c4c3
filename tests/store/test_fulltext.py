"""The full-text index: search, filters, spelling and damage."""

from __future__ import annotations

import datetime
import errno
import random
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from tests.support.waiting import eventually

from vault_agent.errors import IndexUnavailable, InvalidRequest, VaultAgentError
from vault_agent.markdown.parse import parse_note
from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.model.notes import Chunk, ParsedNote
from vault_agent.model.search import Filters
from vault_agent.search.query import compile_query
from vault_agent.store.failures import guarded
from vault_agent.store.fulltext import candidates as engine
from vault_agent.store.fulltext.candidates import (
    RevisionRows,
    SearchStopped,
)
from vault_agent.store.fulltext.reader import FulltextReader
from vault_agent.store.fulltext.schema import to_fulltext
from vault_agent.store.fulltext.writer import FulltextWriter
from vault_agent.text.terms import terms

NO_FILTER = Filters()


def note(path: str, *texts: str, title: str = "", **fields: object) -> tuple[str, ParsedNote]:
    """Return a note with chunks `texts`. Text before `|` is a heading."""
    chunks = []
    for index, text in enumerate(texts):
        heading, _, body = text.rpartition("|")
        above = f"## {heading}\n" if heading else ""
        chunks.append(Chunk(index, (heading,) if heading else (), above + body, 1, 1))
    defaults = {"aliases": (), "tags": (), "date": None, "created": None, "updated": None}
    defaults |= {"types": (), "links": ()}
    stem = path.rpartition("/")[2].rpartition(".")[0]
    return path, ParsedNote(title=title or stem, chunks=tuple(chunks), **{**defaults, **fields})


NOTES = [
    note("Zoo/Zebra.md", "stripes and grass", "Food|the zebra eats grass", tags=("animal/wild",)),
    note("Zoo/Lion.md", "the lion hunts a zebra", tags=("animal", "獅子"), date="2024-03-05"),
    note(
        "Home/Cat.md",
        "吾輩は猫である",
        "sleeps all day",
        types=("Pet",),
        created="2023-01-02T10:00",
    ),
    note("Home/dev log.md", "ran getUserName with C++ v1.2.3", aliases=("Journal of Code",)),
    note("Empty.md", title="Nothing here"),
]


@pytest.fixture
def reader(tmp_path: Path) -> FulltextReader:
    return build(tmp_path / "r1", NOTES)


def build(directory: Path, notes: list, first: int = 1) -> FulltextReader:
    writer = FulltextWriter(directory)
    for rowid, (path, parsed) in enumerate(notes, first):
        writer.add_note(rowid, to_fulltext(path, parsed))
    writer.commit()
    writer.merge()
    return FulltextReader(directory)


def find(reader: FulltextReader, query: str, filters: Filters = NO_FILTER, **options) -> set[int]:
    found = reader.candidates(compile_query(query), filters, **options)
    return set(found.body) | {key >> CHUNK_BITS for key in found.text}


@pytest.mark.parametrize(
    ("query", "rowids"),
    [
        ("grass", {1}),
        ("zebras", {1, 2}),
        ("猫", {3}),
        ("猫で", {3}),
        ("username", {4}),
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
        ("€ tag:animal", set()),
        ("* tag:animal -", {1, 2}),
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
def test_filters_select_notes(reader: FulltextReader, filters: Filters, rowids: set[int]):
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


def test_spelling_is_corrected_only_for_unknown_words(
    reader: FulltextReader,
):
    assert find(reader, "zerba") == {1, 2}
    assert reader.candidates(compile_query("lion"), NO_FILTER).similar_terms == {}


def test_the_matching_chunk_is_a_candidate(reader: FulltextReader):
    found = reader.candidates(compile_query("zebra eats"), NO_FILTER)
    best = max(found.text, key=lambda key: found.text[key])
    assert best == 1 << CHUNK_BITS | 1


def test_exact_names_and_headings_are_marked(reader: FulltextReader):
    found = reader.candidates(compile_query("journal of codes"), NO_FILTER)
    assert 4 in found.named
    found = reader.candidates(compile_query("Food"), NO_FILTER)
    assert 1 << CHUNK_BITS | 1 in found.headed


def whole(reader: FulltextReader, query: str, filters: Filters = NO_FILTER) -> tuple[set[int], int]:
    """Return the notes of the chunks that have all words of a query, and their number."""
    found = reader.candidates(compile_query(query), filters)
    return {key >> CHUNK_BITS for key in found.all_words}, found.all_words_count


def test_chunks_with_all_words_of_a_query_are_marked(reader: FulltextReader):
    assert whole(reader, "zebra eats") == ({1}, 1)
    assert whole(reader, "zebra sleeps") == (set(), 0)


def test_a_word_counts_in_a_title_and_a_misspelt_one_by_its_correction(reader: FulltextReader):
    assert whole(reader, "zebra food") == ({1}, 1)
    assert whole(reader, "zerba food") == ({1}, 1)


def test_filters_hold_for_chunks_with_all_words(reader: FulltextReader):
    assert whole(reader, "zebra", Filters(paths=("nowhere",))) == (set(), 0)


def test_notes_can_be_left_out(reader: FulltextReader):
    assert find(reader, "zebra", without=[1]) == {2}
    assert find(reader, "zebra", without=[1, 2]) == set()


def test_a_search_can_be_limited_to_some_notes(reader: FulltextReader):
    assert find(reader, "zebra", among=[2, 3]) == {2}
    assert find(reader, "zebra", among=[]) == set()


def test_whole_notes_are_compared_by_all_their_terms(reader: FulltextReader):
    scores = reader.similarities({"zebra": 1.0, "eat": 1.0}, [1, 2, 3])
    assert scores.keys() == {1, 2}
    assert reader.similarities({"zebra": 1.0}, [2]).keys() == {2}
    assert reader.similarities({}, [2]) == {}
    assert reader.similarities({"zebra": 1.0}, []) == {}


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
def test_any_text_is_a_safe_query(reader: FulltextReader, query: str):
    find(reader, query)


@pytest.mark.fault(
    "Queries",
    "a path pattern that the full-text engine cannot build",
    "400; the index is not treated as damaged",
)
@pytest.mark.parametrize(
    "pattern",
    ["?" * 100, "*" + "?" * 16, "*a" * 100, "**/" * 100 + "x", "*a????????", "a*" * 17, "é?" * 200],
    ids=ascii,
)
def test_a_pattern_that_is_too_complex_is_not_reported_as_damage(
    reader: FulltextReader, pattern: str
):
    for filters in (Filters(paths=(pattern,)), Filters(paths=("x", pattern) * 25)):
        with pytest.raises(InvalidRequest):
            reader.candidates(compile_query("soup"), filters)
        with pytest.raises(InvalidRequest):
            reader.admitted(filters)
    with pytest.raises(InvalidRequest):
        reader.candidates(compile_query(f'soup -path:"{pattern}"'), NO_FILTER)


def test_patterns_are_counted_over_the_whole_request(reader: FulltextReader):
    half = tuple(f"*{letter}" for letter in "abcde")
    other = " ".join(f"-path:*{letter}{letter}" for letter in "ijklm")
    reader.candidates(compile_query(f"soup {other}"), Filters(paths=half))
    reader.candidates(compile_query("soup"), Filters(paths=half * 6))  # repeats count once
    for query, filters in (
        (f"soup {other} path:*z", Filters(paths=half)),
        ("soup", Filters(paths=tuple(f"*{letter}" for letter in "abcdefghijk"))),
    ):
        with pytest.raises(InvalidRequest):
            reader.candidates(compile_query(query), filters)
        with pytest.raises(InvalidRequest):
            reader.admitted(filters, query=compile_query(query))


@pytest.mark.fault(
    "The index",
    "a reader that never closes",
    "reads its own revision; the write-ahead log stays bounded",
)
def test_a_reader_does_not_see_later_commits(tmp_path: Path):
    reader = build(tmp_path, NOTES)
    writer = FulltextWriter(tmp_path)
    writer.remove([1])
    writer.add_note(9, to_fulltext(*note("New.md", "a zebra again")))
    writer.commit()
    writer.merge()
    assert find(FulltextReader(tmp_path), "zebra") == {2, 9}
    assert find(reader, "zebra") == {1, 2}


def test_uncommitted_changes_are_not_visible(tmp_path: Path):
    build(tmp_path, NOTES)
    writer = FulltextWriter(tmp_path)
    writer.clear()
    writer.add_note(9, to_fulltext(*note("New.md", "a quagga")))
    writer.close()
    assert find(FulltextReader(tmp_path), "quagga") == set()
    assert find(FulltextReader(tmp_path), "zebra") == {1, 2}


@pytest.mark.parametrize(
    "rows",
    [RevisionRows(6, frozenset({7})), RevisionRows(6), RevisionRows(end=8, old=frozenset({6, 7}))],
)
def test_rows_that_are_not_of_the_revision_are_skipped(tmp_path: Path, rows: RevisionRows):
    """They would come first, and there are more of them than a search asks for."""
    reader = build(tmp_path / "own", NOTES)
    build(tmp_path / "more", NOTES)
    words = "zebra grass zebra grass " * 3
    texts = [words] * 200
    writer = FulltextWriter(tmp_path / "more")
    writer.add_note(6, to_fulltext(*note("Zoo/Other.md", *texts, title="Zebra", tags=("animal",))))
    writer.add_note(7, to_fulltext(*note("Zoo/Zebra.md", words, title="Zebra")))
    writer.commit()
    writer.merge()
    skipping = FulltextReader(tmp_path / "more", rows)
    for query in ("zebra", "zebra grass", "zebra tag:animal", "-quagga", '"the zebra"'):
        for filters in (NO_FILTER, Filters(paths=("Zoo",))):
            found, wanted = (
                each.candidates(compile_query(query), filters) for each in (skipping, reader)
            )
            assert found.body.keys() == wanted.body.keys()
            assert found.text.keys() == wanted.text.keys()
            assert (found.named, found.headed) == (wanted.named, wanted.headed)
            assert skipping.admitted(filters) == reader.admitted(filters)
    assert skipping.named("zebra") == reader.named("zebra")
    assert skipping.notes_with(("zebra",), 9)[0] == reader.notes_with(("zebra",), 9)[0]
    assert skipping.note_count == reader.note_count
    assert skipping.chunk_count == reader.chunk_count


def test_a_row_is_above_all_that_were_written(tmp_path: Path):
    build(tmp_path, NOTES)
    writer = FulltextWriter(tmp_path)
    assert writer.next_rowid == len(NOTES) + 1
    writer.remove_between(3, len(NOTES) + 1)
    writer.commit()
    writer.merge()
    assert find(FulltextReader(tmp_path), "path:**") == {1, 2}
    writer = FulltextWriter(tmp_path)
    assert writer.next_rowid == 3
    writer.close()


def test_ties_at_the_limit_do_not_depend_on_indexing_order(tmp_path: Path):
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
    assert sorted(kept[0].body)[: engine.NOTES] == list(range(1, engine.NOTES + 1))


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
def test_engine_errors_are_reported_by_code_without_their_text(error: BaseException, code: str):
    with pytest.raises(VaultAgentError) as told, guarded():
        raise error
    assert told.value.code == code
    assert str(error) not in str(told.value)


def test_other_exceptions_are_not_translated():
    with pytest.raises(KeyboardInterrupt), guarded():
        raise KeyboardInterrupt


def test_an_absent_index_is_reported_as_damaged(tmp_path: Path):
    with pytest.raises(IndexUnavailable):
        FulltextReader(tmp_path / "none")


def test_searching_does_not_block_other_threads(tmp_path: Path):
    reader = build(tmp_path / "r1", [note(f"{n}.md", "common word " * 200) for n in range(300)])
    ticks: list[None] = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(None)
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()

    during_searches = 0

    def search() -> int:
        nonlocal during_searches
        before = len(ticks)
        find(reader, "common word")
        during_searches += len(ticks) - before
        return during_searches

    try:
        eventually(search, lambda count: count > 10)
    finally:
        done.set()
        thread.join()


def edits(one: str, other: str) -> int:
    """Return the optimal string alignment distance, by its definition."""
    rows = [
        [i + j if i * j == 0 else 0 for j in range(len(other) + 1)] for i in range(len(one) + 1)
    ]
    for i, letter in enumerate(one, 1):
        for j, opposite in enumerate(other, 1):
            rows[i][j] = min(
                rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (letter != opposite)
            )
            if min(i, j) > 1 and letter == other[j - 2] and one[i - 2] == opposite:
                rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
    return rows[-1][-1]


def expected_neighbours(term: str, vocabulary: dict[str, int]) -> list[str]:
    if begun := [(-count, each) for each, count in vocabulary.items() if each.startswith(term)]:
        return [each for _, each in sorted(begun)[:3]]
    most = 2 if len(term) >= 8 else 1
    near = [
        (edits(term, each), -count, each)
        for each, count in vocabulary.items()
        if each[0] == term[0] and edits(term, each) <= most
    ]
    return [each for _, _, each in sorted(near)[:3]]


def test_corrections_are_completions_or_the_nearest_frequent_terms(tmp_path: Path):
    chance = random.Random(5)
    words = ["".join(chance.choices("abé", k=chance.randint(3, 10))) for _ in range(400)]
    notes = [note(f"{n}.md", " ".join(chance.choices(words, k=30)), title="x") for n in range(60)]
    vocabulary = Counter(
        term for path, each in notes for term in set(terms(f"{path} {each.chunks[0].text}"))
    )
    reader = build(tmp_path / "r1", notes)
    asked = {"".join(chance.choices("abé", k=chance.randint(4, 11))) for _ in range(200)}
    corrected = 0
    for word in sorted(asked):
        found = reader.candidates(compile_query(word), NO_FILTER).similar_terms
        for term, neighbours in found.items():
            assert list(neighbours) == (expected_neighbours(term, vocabulary))
            corrected += bool(neighbours)
    assert corrected > 50


@pytest.mark.fault(
    "Queries",
    "a query of 1,000 characters of unknown words",
    "the 8 longest are corrected",
)
def test_only_the_longest_unknown_terms_of_a_query_are_corrected(tmp_path: Path):
    words = ["k" + "xyz"[n % 3] * 3 + "abcdefghijkl"[n] * (3 + n) for n in range(12)]
    reader = build(tmp_path / "r1", [note("a.md", " ".join(words))])
    found = reader.candidates(
        compile_query(" ".join(word + "q" for word in words)), NO_FILTER
    ).similar_terms
    assert len(found) == len(words)
    assert [term for term in found if found[term]] == [f"{word}q" for word in words[-8:]]


@pytest.mark.fault(
    "Queries",
    "a client disconnects during a search",
    "the search stops at its next step",
)
def test_an_abandoned_search_stops_between_two_terms(reader: FulltextReader):
    asked: list[bool] = []

    def stopped() -> bool:
        asked.append(True)
        return len(asked) > 2

    query = compile_query("qwertz asdfgh yxcvbn poiuzt")
    with pytest.raises(SearchStopped):
        reader.candidates(query, NO_FILTER, stopped=stopped)
    assert len(asked) == 3


def test_the_chunk_index_does_not_grow_with_note_tags(tmp_path: Path):
    texts = [f"text {n}" for n in range(50)]
    sizes = []
    for count in (0, 400):
        tags = tuple(f"tag{n}" for n in range(count))
        build(tmp_path / str(count), [note("folder/a.md", *texts, tags=tags)])
        files = (tmp_path / str(count) / "chunks").iterdir()
        sizes.append(sum(file.stat().st_size for file in files))
    assert sizes[1] < 1.2 * sizes[0]


@pytest.mark.parametrize("filters", ["all but one", "half", "few", "folder", "days", "none"])
@pytest.mark.parametrize("query", ["w1", "w2 w5", "w1 -w3", "same", "w1 -tag:few"])
def test_filtered_chunks_are_ranked_independently_of_other_notes(
    crowd: FulltextReader, filters: str, query: str
):
    asked = {
        "folder": Filters(paths=("f3",)),
        "days": Filters(after="1970-06-01", before="1971-02-01"),
    }.get(filters, Filters(tags=(filters,)))
    compiled = compile_query(query)
    admitted = crowd.admitted(asked, query=compiled)
    search = engine.CandidateSearch(
        crowd._notes, crowd._chunks, compiled, None, engine.NoteLimits(), lambda: False
    )
    everything = crowd._chunks._best(search._text_query(), 10_000)
    expected = sorted(
        (-round(score, 4), key) for score, key in everything if key >> CHUNK_BITS in admitted
    )[: engine.CHUNKS]
    found = crowd.candidates(compiled, asked)
    assert {key for _, key in expected} - found.text.keys() == set() or compiled.excluded
    assert {key >> CHUNK_BITS for key in found.text} <= admitted
    assert found.body.keys() <= admitted


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> FulltextReader:
    """Return a reader of many notes. Filters select few or nearly all."""
    chance = random.Random(11)
    notes = []
    for number in range(900):
        tags = ["all but one"] * (number != 7) + ["half"] * (number % 2)
        tags += ["few"] * (number % 60 == 0)
        words = [f"w{int(chance.random() ** 3 * 40)}" for _ in range(chance.randint(3, 60))]
        day = datetime.date(1970, 1, 1) + datetime.timedelta(number)
        fields = {"tags": tuple(tags), "date": day.isoformat()}
        notes.append(note(f"f{number % 10}/n{number}.md", " ".join(words), "same", **fields))
    return build(tmp_path_factory.mktemp("crowd") / "r1", notes)


@pytest.mark.parametrize(
    ("query", "rowids"),
    [
        ("Home/dev log.md", {4}),
        ("home/DEV LOG", {4}),
        ("./Home/dev log.md", {4}),
        ("dev log.md", {4}),
        ("dev log", {4}),
        ("/Zoo/Zebra", {1}),
        ("Zoo/Ze.ra", set()),
        ("og.md", set()),
        ("Home/*.md", set()),
        ("(/[.md", set()),
        ("/.md", set()),
    ],
)
def test_paths_path_suffixes_and_file_names_are_exact_names(
    reader: FulltextReader, query: str, rowids: set[int]
):
    assert reader.candidates(compile_query(query), NO_FILTER).named == rowids


def test_the_folders_of_a_very_deep_note_take_little_room():
    """Each folder above a note is a term: without a limit their size is quadratic in the depth."""
    path = "/".join(["\x01" * 250] * 3_000) + "/note.md"
    folders = to_fulltext(path, parse_note("text", path=path)).folder
    assert sum(map(len, folders)) < 100_000
    assert to_fulltext("a/b/c.md", parse_note("text", path="a/b/c.md")).folder == ["a", "a/b"]
