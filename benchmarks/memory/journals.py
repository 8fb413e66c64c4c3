"""Judge journals by sessions that were written by hand, each with what a successor would ask.

    python -m benchmarks memory.journals [--show] [SESSION …]

The sessions are in `fixtures/sessions`, which says how they are written. Each is put into the
format of its agent, read by that agent's adapter, and becomes a journal without a command. Printed
are how many of the questions the journal answers, and how many of its lines say what is not true,
for each session, for those that were there while the rules were made, and for those kept aside.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from dataclasses import replace

from tests.support.made_sessions import START
from tests.support.written_sessions import CWD, FOLDER, Session, read_session, written

from benchmarks.figures import table
from vault_agent.config.sections import JournalSettings
from vault_agent.memory.collected import Collected, Collector, places_of, with_words
from vault_agent.memory.dialogue import dialogue, is_worth_it
from vault_agent.memory.journal_notes import body
from vault_agent.memory.session_file import Words
from vault_agent.memory.transcripts.read import transcript_of
from vault_agent.memory.transcripts.recorder import Transcript
from vault_agent.system.git import Commit, History

KEPT_ASIDE = ("held-", "own-", "live-")
"""Names of sessions that were written after the rules were, or before a journal was seen."""
CLEAN = Collector(JournalSettings()).clean
_ATTRIBUTED = re.compile(r"^[^:]*: (?:- )?Agent (?:proposed|said): ")


def collected(session: Session) -> Collected:
    """Return what is known of a session when its journal is written."""
    told = Transcript()
    if session.has_transcript:
        lines = written(session).data().split(b"\n")
        told = transcript_of(session.agent, lines, CLEAN) or told
    else:
        said = [
            Words(START + place, text, by_person=mark == ">")
            for place, (mark, text) in enumerate(session.steps)
            if mark in "<>"
        ]
        edited = tuple(text for mark, text in session.steps if mark == "~")
        told = replace(with_words(told, said, CLEAN), edited=edited)
    _, files = places_of(told.edited, History(), folders=[CWD], cwd=CWD)
    return Collected(
        session.name,
        session.agent,
        "project",
        START,
        START + 3_600,
        title=told.title,
        models=told.models,
        files=tuple(files),
        commits=tuple(
            Commit(f"{n:07x}", 0.0, subject) for n, subject in enumerate(session.commits, 0xABC1230)
        ),
        transcript=told,
        has_transcript=session.has_transcript,
        has_ended=("^", "") not in session.steps,
    )


def journal_of(session: Session) -> str:
    """Return the text of its journal, "" if it leaves none."""
    told = collected(session)
    return body(dialogue(told), []) if is_worth_it(told) else ""


def judged(session: Session, journal: str) -> tuple[list[str], list[str], int]:
    """Return the questions without an answer, the lines that are not true, and how many there are.

    Answers are looked for in the text as one line with each section after its name, and lines that
    are not true with the name of their section before them, too. What the agent proposed or said
    before a word of the person is true as such, unless the judge names the agent.
    """
    whole = " ".join(journal.split())
    unanswered = [
        question
        for question, answer in session.questions
        if not re.search(answer, whole, re.IGNORECASE)
    ]
    section = ""
    lines = []
    for line in journal.splitlines():
        if line.startswith("#"):
            section = line.strip("# ") if line.startswith("## ") else section
            lines += [line] if line.startswith("# ") else []
        elif line.strip():
            lines.append(f"{section}: {line}")
    false = [
        line
        for line in lines
        if any(
            re.search(pattern, line, re.IGNORECASE)
            for pattern in session.false
            if "Agent" in pattern or not _ATTRIBUTED.match(line)
        )
    ]
    return unanswered, false, len(lines)


class Verdicts:
    """The verdicts on journals: a row for each, and sums by group."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str, str]] = []
        self._sums: dict[str, Counter[str]] = {}

    def add(self, session: Session, journal: str, group: str, *, show: bool) -> None:
        """Judge a journal. Print it too, if `show` is set."""
        unanswered, false, lines = judged(session, journal)
        asked = len(session.questions)
        answered = asked - len(unanswered)
        self._sums.setdefault(group, Counter()).update(
            answered=answered, asked=asked, false=len(false), lines=lines
        )
        self.rows.append((session.name, f"{answered} of {asked}", f"{len(false)} of {lines}"))
        if show:
            print(journal, json.dumps({"unanswered": unanswered, "false": false}, indent=1))

    def table(self) -> str:
        """Return the Markdown table, with the shares of each group at its end."""
        shares = [
            (
                f"**{group}**",
                f"{sums['answered'] / max(sums['asked'], 1):.0%}",
                f"{sums['false'] / max(sums['lines'], 1):.1%}",
            )
            for group, sums in self._sums.items()
        ]
        return table(("session", "answered", "false lines"), *self.rows, *shares)


def main() -> None:
    """Parse the command line and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sessions", nargs="*", help="beginnings of names, all without any")
    parser.add_argument("--show", action="store_true", help="print each journal too")
    options = parser.parse_args()
    verdicts = Verdicts()
    for path in sorted(FOLDER.glob("*.txt")):
        if options.sessions and not path.stem.startswith(tuple(options.sessions)):
            continue
        session = read_session(path)
        group = "kept aside" if path.stem.startswith(KEPT_ASIDE) else "first"
        verdicts.add(session, journal_of(session), group, show=options.show)
    print(verdicts.table())


if __name__ == "__main__":
    main()
