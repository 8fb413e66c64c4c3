"""The synthetic vaults are reproducible and realistic, and every benchmark can be started."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.__main__ import NAMES, main
from benchmarks.vault import Vault, Vocabulary, queries

from vault_agent.markdown.parse import parse_note

ROOT = Path(__file__).parent.parent


def texts_in(root: Path) -> dict[str, str]:
    """Return the notes of a small vault by path."""
    Vault(300).write(root)
    return {p.relative_to(root).as_posix(): p.read_text("utf-8") for p in root.rglob("*.md")}


def test_the_same_seed_gives_the_same_notes_of_every_kind(tmp_path: Path):
    texts = texts_in(tmp_path / "one")
    assert texts_in(tmp_path / "other") == texts
    notes = [parse_note(text, path=path) for path, text in texts.items()]
    assert not any(note.warnings for note in notes)
    assert sum(len(note.anchors) for note in notes) > 3 * len(notes)
    assert sum(bool(note.tags) for note in notes) > 100
    assert sum(bool(note.aliases) for note in notes) > 30
    assert 20 < sum(note.title[0] >= "\u3000" for note in notes) < 60
    assert sum("```" in text for text in texts.values()) > 20


def test_queries_have_one_to_twelve_words_and_some_are_cjk():
    texts = queries(Vocabulary(1), 200)
    assert texts == queries(Vocabulary(1), 200)
    assert {len(query.split()) for query in texts} == set(range(1, 13))
    assert sum(query[0] >= "\u3000" for query in texts) == 20


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments",
    [
        "run --quick",
        "search --sizes 200 --clients 1 --attachments 100",
        "watch --notes 100 --folders 10 --saves 2 --storm 10 --seconds 1",
        "writing --notes 100 --appends 2",
        "attachments --pdfs 1",
        "related fixtures/vault",
        "exactness fixtures/vault/Journal",
        "memory.journals own-",
        "memory.hooks --runs 1 --notes 20",
        "memory.live",
    ],
)
def test_a_small_run_prints_its_table(arguments: str):
    """It ends well, so the commands and routes that it uses exist."""
    command = [sys.executable, "-m", "benchmarks", *arguments.split()]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "|---|" in done.stdout


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
