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
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.support.made_sessions import START, Made, Writer, iso

from vault_agent.config.memory_sections import JournalSettings
from vault_agent.memory.collected import Collected, Collector, places_of, with_words
from vault_agent.memory.dialogue import dialogue, is_worth_it
from vault_agent.memory.notes import body
from vault_agent.memory.session import Words
from vault_agent.memory.transcripts.read import transcript_of
from vault_agent.memory.transcripts.recorder import Transcript
from vault_agent.system.git import Commit, History

FOLDER = Path(__file__).parents[2] / "fixtures" / "sessions"
KEPT_ASIDE = ("held-", "own-", "live-")
"""Names of sessions that were written after the rules were, or before a journal was seen."""
CLEAN = Collector(JournalSettings()).clean
_STEP = re.compile(r"^(\[[ x]\]|[>$<|!~*%^&#=])(?: (.*))?$")
_ATTRIBUTED = re.compile(r"^[^:]*: (?:- )?Agent (?:proposed|said): ")
_CWD = "/home/me/project"


@dataclass
class Session:
    """One session as it was written: its steps, and how its journal is judged."""

    name: str
    agent: str
    steps: list[tuple[str, str]]
    has_transcript: bool = True
    play: str = ""
    questions: list[tuple[str, str]] = field(default_factory=list)  # and what answers each
    false: list[str] = field(default_factory=list)

    @property
    def commits(self) -> list[str]:
        """The subjects of its commits."""
        return [text for mark, text in self.steps if mark == "*"]


def read_session(path: Path) -> Session:
    """Return a session of a file."""
    head, told, judged = path.read_text("utf-8").split("---\n")
    facts = dict(line.split(": ", 1) for line in head.splitlines())
    steps = read_steps(told, path.name)
    has_transcript = facts.get("transcript") != "none"
    made = Session(path.stem, facts["agent"], steps, has_transcript, facts.get("play", ""))
    for line in judged.splitlines():
        mark, text = line[0], line[2:]
        if mark == "?":
            made.questions.append((text, ""))
        elif mark == "+":
            made.questions[-1] = (made.questions[-1][0], text)
        else:
            made.false.append(text)
    return made


def read_steps(told: str, name: str) -> list[tuple[str, str]]:
    """Return the steps of a session, each with its mark. `name` is for errors."""
    steps = []
    for line in told.splitlines():
        step = _STEP.match(line if not line.startswith("!") else f"! {line[1:]}")
        if step is None:
            raise SystemExit(f"{name}: no step: {line}")
        steps.append((step[1], step[2] or ""))
    return steps


def written(
    session: Session, cwd: str = _CWD, session_id: str = "", *, began: float = START
) -> Made:
    """Return a session as its agent would record it."""
    writer = Writer(session.agent, cwd, session_id=session_id, began=began)
    steps = session.steps
    at = 0
    while at < len(steps):
        mark, text = steps[at]
        at += 1
        following = []
        while (
            at < len(steps) and mark in "$[%>" and steps[at][0][0] in {"$": "|!#"}.get(mark, mark)
        ):
            following.append(steps[at])
            at += 1
        if mark == ">":
            writer.prompt("\n".join(each for _, each in [(mark, text), *following]))
        elif mark == "&":
            writer.type_meanwhile(text)
        elif mark == "=":
            writer.answer(*text.split(" => "))
        elif mark == "<":
            writer.say(text)
        elif mark == "~":
            writer.edit(text)
        elif mark == "$":
            output = "\n".join(each for kind, each in following if kind == "|")
            if reason := next((each for kind, each in following if kind == "#"), ""):
                writer.refuse(text, reason)
                continue
            writer.run(text, output, fails=any(kind == "!" for kind, _ in following))
        elif mark.startswith("["):
            writer.todos([(each, kind == "[x]") for kind, each in [(mark, text), *following]])
        elif mark == "%":
            _compact(writer.made, "\n".join(each for _, each in [(mark, text), *following]))
        elif mark == "^" and session.agent == "claude-code":
            writer.prompt("[Request interrupted by user]")
    return writer.made


def _compact(made: Made, summary: str) -> None:
    if made.agent == "codex":
        compacted = {"type": "compacted", "payload": {"message": summary}}
        made.lines.append({"timestamp": iso(made.started_at), **compacted})
    else:
        message = {"role": "user", "content": summary}
        compact = {"type": "user", "isCompactSummary": True, "message": message}
        made.lines.append({"uuid": "c", "timestamp": iso(made.started_at), **compact})


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
    _, files = places_of(told.edited, History(), folders=[_CWD], cwd=_CWD)
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
            Commit(f"{n:07x}", 0.0, each) for n, each in enumerate(session.commits, 0xABC1230)
        ),
        transcript=told,
        has_transcript=session.has_transcript,
        has_ended=("^", "") not in session.steps,
    )


def journal_of(session: Session) -> str:
    """Return the text of its journal, "" if it leaves none."""
    known = collected(session)
    return body(dialogue(known), []) if is_worth_it(known) else ""


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


def main() -> None:
    """Parse the command line and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sessions", nargs="*", help="beginnings of names, all without any")
    parser.add_argument("--show", action="store_true", help="print each journal too")
    arguments = parser.parse_args()
    sums: dict[str, list[int]] = {}
    print("| session | answered | false lines |\n|---|---:|---:|")
    for path in sorted(FOLDER.glob("*.txt")):
        if arguments.sessions and not path.stem.startswith(tuple(arguments.sessions)):
            continue
        session = read_session(path)
        journal = journal_of(session)
        unanswered, false, lines = judged(session, journal)
        asked = len(session.questions)
        group = "kept aside" if path.stem.startswith(KEPT_ASIDE) else "first"
        numbers = asked - len(unanswered), asked, len(false), lines
        sums[group] = [a + b for a, b in zip(sums.get(group, [0] * 4), numbers, strict=True)]
        print(f"| {path.stem} | {numbers[0]} of {asked} | {len(false)} of {lines} |")
        if arguments.show:
            print(journal, json.dumps({"unanswered": unanswered, "false": false}, indent=1))
    for group, (answered, asked, false_lines, all_lines) in sums.items():
        shares = f"{answered / max(asked, 1):.0%} | {false_lines / max(all_lines, 1):.1%}"
        print(f"| **{group}**: {asked} questions | {shares} |")


if __name__ == "__main__":
    main()
