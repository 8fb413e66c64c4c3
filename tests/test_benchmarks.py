"""The synthetic vaults of the benchmarks are reproducible and realistic."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.__main__ import NAMES, main
from benchmarks.shapes import SHAPES, ShapedVault
from benchmarks.vault import Vault, Vocabulary, queries

from vault_agent.markdown.parse import parse_note
from vault_agent.markdown.resolve import LinkResolver

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the notes of a small vault by path."""
    root = tmp_path_factory.mktemp("vault")
    Vault(300).write(root)
    return {p.relative_to(root).as_posix(): p.read_text("utf-8") for p in root.rglob("*.md")}


def test_the_same_seed_gives_the_same_vault(texts: dict[str, str], tmp_path: Path):
    Vault(300).write(tmp_path)
    assert {p: (tmp_path / p).read_text("utf-8") for p in texts} == texts


def test_the_vault_has_the_requested_number_of_notes(texts: dict[str, str]):
    sizes = [len(text.encode()) for text in texts.values()]
    assert len(sizes) == 300
    assert 3_000 < sum(sizes) / len(sizes) < 5_500
    assert max(sizes) > 5 * sorted(sizes)[150]


def test_the_notes_have_every_kind_of_content(texts: dict[str, str]):
    notes = [parse_note(text, path=path) for path, text in texts.items()]
    assert not any(note.warnings for note in notes)
    assert sum(len(note.anchors) for note in notes) > 3 * len(notes)
    assert sum(bool(note.tags) for note in notes) > 100
    assert sum(bool(note.aliases) for note in notes) > 30
    assert 20 < sum(note.title[0] >= "\u3000" for note in notes) < 60
    assert sum("```" in text for text in texts.values()) > 20


def test_most_links_resolve_and_a_few_do_not(texts: dict[str, str]):
    notes = {path: parse_note(text, path=path) for path, text in texts.items()}
    resolver = LinkResolver([(path, note.aliases) for path, note in notes.items()])
    found = [
        resolver.resolve(path, link.target, link.kind).path is not None
        for path, note in notes.items()
        for link in note.links
    ]
    assert len(found) > 3 * len(notes)
    assert 0.95 < sum(found) / len(found) < 1


def test_queries_have_one_to_twelve_words_and_some_are_cjk():
    asked = queries(Vocabulary(1), 200)
    assert asked == queries(Vocabulary(1), 200)
    assert {len(query.split()) for query in asked} == set(range(1, 13))
    assert sum(query[0] >= "\u3000" for query in asked) == 20


@pytest.mark.parametrize(
    ("shape", "size", "chunks", "links"),
    [("manual", 490, 1, 0), ("pages", 2_200, 3.8, 3.4), ("guide", 4_600, 8.5, 3.4),
     ("reference", 4_600, 11.4, 10)],
)  # fmt: skip
def test_the_notes_of_a_shape_are_like_the_real_ones(
    shape: str, size: float, chunks: float, links: float
):
    plan = ShapedVault(SHAPES[shape], 150)
    texts = [plan.text(index) for index in range(150)]
    notes = [parse_note(text, path="a.md") for text in texts]

    def mean(numbers: list[int]) -> float:
        return sum(numbers) / len(numbers)

    assert mean([len(text.encode()) for text in texts]) == pytest.approx(size, rel=0.25)
    assert mean([len(note.chunks) for note in notes]) == pytest.approx(chunks, rel=0.25)
    assert mean([len(note.links) for note in notes]) == pytest.approx(links, rel=0.25)
    assert not any(note.warnings for note in notes)


@pytest.mark.long
def test_edits_of_the_demo_vault_are_exact():
    """The check of real vaults runs, and finds nothing wrong in notes of the demo."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "exactness", "fixtures/vault/Journal"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| **all** |" in done.stdout


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")  # of `runpy`
def test_every_benchmark_can_be_started(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Each one says what it does, so its imports are there."""
    for name in NAMES:
        monkeypatch.setattr(sys, "argv", ["benchmarks", name, "--help"])
        with pytest.raises(SystemExit, match=r"^0$"):
            main()
        assert "usage: " in capsys.readouterr().out, name
