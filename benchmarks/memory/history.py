"""Commits as sessions: read from a git history, or made up with known truth.

A commit stands for a session, its note for the session's journal. What a later commit follows up
is what it names (`Follow-up to`, `Fixes:`, `Regression from`, `Reverts`), or, in a history without
such lines, the commit that wrote most of the lines that it removes (as `git blame` says).
"""

from __future__ import annotations

import random
import re
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_TRAILER = re.compile(
    r"^(?:follow-?up (?:to|of|for)|fixes:|fixup of|regression from|reverts|this reverts commit)\b"
    r".*$",
    re.IGNORECASE | re.MULTILINE,
)
_HASH = re.compile(r"\b[0-9a-f]{7,40}\b")
_SIGNED = re.compile(r"^[A-Z][a-z-]+-by: .*$", re.MULTILINE)
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? ", re.MULTILINE)
_RECORD = "\x1e"
_PART = "\x1f"
DIGITS = 8
"""Digits of a commit's hash in the name of its journal."""
MAX_BLAMED = 6
"""Files of a commit whose removed lines are looked at."""


@dataclass(frozen=True)
class Commit:
    """One commit. `follows` are the earlier ones that it follows up."""

    id: str
    at: datetime
    subject: str
    body: str
    files: tuple[str, ...]
    follows: frozenset[str] = field(default=frozenset())

    @property
    def path(self) -> str:
        """Where its journal lies in a vault."""
        return f"journals/{self.at:%Y-%m-%d}-session-{self.id[:DIGITS]}.md"

    @property
    def note(self) -> str:
        """Its journal."""
        files = "".join(f"\n  - {_quoted(each)}" for each in self.files[:200])
        listed = f"files:{files}\n" if files else ""
        return (
            f"---\nid: journal-{self.at:%Y-%m-%d}-{self.id[:8]}\ntype: journal\n"
            f"title: {_quoted(self.subject)}\nupdated: {self.at:%Y-%m-%dT%H:%M:%SZ}\n{listed}---\n"
            f"# {self.subject}\n\n## Outcome\n\n{self.body or self.subject}\n"
        )


def read_history(repository: Path, *, since: str | None = None) -> list[Commit]:
    """Return the commits of a repository that are no merges, oldest first, with what they name."""
    form = f"--format={_RECORD}%H{_PART}%ct{_PART}%s{_PART}%b{_PART}"
    wanted = ["--reverse", "--no-merges", "--name-only", form]
    text = _git(repository, "log", *wanted, *([f"--since={since}"] if since else []))
    commits: list[Commit] = []
    full: dict[str, str] = {}  # by the first seven digits
    for record in text.split(_RECORD)[1:]:
        digest, seconds, subject, body, names = record.split(_PART)
        named = [
            found
            for line in _TRAILER.findall(f"{subject}\n{body}")
            for found in _HASH.findall(line)
            if (known := full.get(found[:7])) is not None and known.startswith(found)
        ]
        commits.append(
            Commit(
                digest,
                datetime.fromtimestamp(int(seconds), UTC),
                subject,
                _SIGNED.sub("", _TRAILER.sub("", body)).strip(),
                tuple(filter(None, names.split("\n"))),
                frozenset(full[found[:7]] for found in named),
            )
        )
        full[digest[:7]] = digest
    return commits


def with_blame(repository: Path, commits: list[Commit], *, last: int) -> list[Commit]:
    """Return the commits, of which the last ones follow up who wrote most of what they remove."""
    known = {each.id for each in commits}
    made = list(commits)
    for place in range(max(0, len(commits) - last), len(commits)):
        commit = commits[place]
        written: Counter[str] = Counter()
        for file in commit.files[:MAX_BLAMED]:
            parent = f"{commit.id}^"
            changed = _git(repository, "diff", "-U0", "--no-renames", parent, commit.id, "--", file)
            for start, count in _HUNK.findall(changed):
                lines = int(count or 1)
                if lines:
                    span = f"{start},+{lines}"
                    told = _git(repository, "blame", "-l", "-s", "-L", span, parent, "--", file)
                    written.update(line.split()[0].lstrip("^") for line in told.splitlines())
        total = written.total()
        for digest, count in written.most_common(1):
            if digest in known and count >= total / 2:
                made[place] = _following(commit, digest)
    return made


def made_history(count: int, *, seed: int = 7) -> list[Commit]:
    """Return made-up commits. A fifth of them follows up an earlier one, mostly a recent one.

    A follow-up shares a file in four of five cases, and some of the words.
    """
    chosen = random.Random(seed)
    words = [f"{a}{b}" for a in _FIRST for b in _SECOND]
    areas = [
        ([f"lib/area{n:02}/part{k}.c" for k in range(12)], chosen.sample(words, 25))
        for n in range(60)
    ]
    at = datetime(2025, 1, 1, 8, tzinfo=UTC)
    made: list[Commit] = []
    for number in range(count):
        at += timedelta(hours=chosen.expovariate(1 / 3))
        followed = None
        if number > 50 and chosen.random() < 0.2:
            back = min(int(chosen.expovariate(1 / 50)) + 1, number)
            followed = made[number - back]
        area = _area(followed) if followed is not None else chosen.randrange(len(areas))
        files, own = areas[area]
        touched = chosen.sample(files, chosen.randint(1, 4))
        topic = chosen.sample(own, 3) + chosen.sample(words, 2)
        if followed is not None:
            topic[:2] = chosen.sample(followed.subject.split()[1:], 2)
            if chosen.random() < 0.8:
                touched[0] = chosen.choice(followed.files)
        subject = f"area{area:02} {' '.join(topic)}"
        body = " ".join(chosen.choices(own, k=25) + chosen.choices(words, k=25))
        digest = f"{chosen.getrandbits(160):040x}"
        commit = Commit(digest, at, subject, body, tuple(dict.fromkeys(touched)))
        made.append(commit if followed is None else _following(commit, followed.id))
    return made


_FIRST = ("par", "con", "tel", "mor", "vil", "sar", "bin", "dor", "fel", "gan", "hul", "jim")
_SECOND = ("tic", "nal", "ver", "ment", "sion", "ker", "dle", "ble", "row", "mist", "pane", "zor")


def _area(commit: Commit) -> int:
    return int(commit.subject[4:6])


def _following(commit: Commit, digest: str) -> Commit:
    return Commit(
        *(commit.id, commit.at, commit.subject, commit.body, commit.files), frozenset({digest})
    )


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _git(repository: Path, *command: str) -> str:
    ended = subprocess.run(
        ["git", "-c", "core.quotePath=false", *command],
        cwd=repository,
        check=False,
        capture_output=True,
    )
    return ended.stdout.decode("utf-8", "replace") if ended.returncode == 0 else ""
