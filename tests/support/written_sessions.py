"""The hand-written sessions of `fixtures/sessions`, as their agents would record them.

`fixtures/README.md` says how they are written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.made_sessions import START, Made, Writer, iso

FOLDER = Path(__file__).parents[2] / "fixtures" / "sessions"
CWD = "/home/me/project"
_STEP = re.compile(r"^(\[[ x]\]|[>$<|!~*%^&#=])(?: (.*))?$")


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
    session: Session, cwd: str = CWD, session_id: str = "", *, began: float = START
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
            writer.prompt("\n".join(line for _, line in [(mark, text), *following]))
        elif mark == "&":
            writer.type_meanwhile(text)
        elif mark == "=":
            writer.answer(*text.split(" => "))
        elif mark == "<":
            writer.say(text)
        elif mark == "~":
            writer.edit(text)
        elif mark == "$":
            output = "\n".join(line for kind, line in following if kind == "|")
            if reason := next((line for kind, line in following if kind == "#"), ""):
                writer.refuse(text, reason)
                continue
            writer.run(text, output, fails=any(kind == "!" for kind, _ in following))
        elif mark.startswith("["):
            writer.todos([(line, kind == "[x]") for kind, line in [(mark, text), *following]])
        elif mark == "%":
            _compact(writer.made, "\n".join(line for _, line in [(mark, text), *following]))
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
