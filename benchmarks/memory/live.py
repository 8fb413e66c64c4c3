"""Play sessions with the real server, hooks, commits and transcripts, and judge what they leave.

    python -m benchmarks memory.live [--show]

The sessions of `fixtures/sessions` whose names begin with `live-` are played one after another in
one project, in a temporary home. Their first lines may say how: `play: aborted` ends without a word
and `play: off` is without a server, and after both somebody else commits; `play: beside NAME` runs
at the same time as another session, in the same checkout. Then each prompt of
`fixtures/prompts-live.txt` is the first of a new session. It has the session that should come and
what must be told, or nothing: then it is about something else. Printed are

- how many of the questions the journals answer, and how many of their lines say what is not true
- how many of the other prompts get nothing
- how many prompts about a session are served, with the title or the text of its journal
- how many are told what they need, by the text itself
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.written_sessions import FOLDER, Session, read_session, written

from benchmarks.figures import table
from benchmarks.memory.journals import Verdicts
from benchmarks.server import PROGRAM, Server, isolated

if TYPE_CHECKING:
    from collections.abc import Iterator

PROMPTS = FOLDER.parent / "prompts-live.txt"
NOWHERE = "http://127.0.0.1:9"
SWITCHES = {f"VAULT_AGENT_{name}_ENABLED": "true" for name in ("VAULTS", "MEMORY", "JOURNAL")}
_PATIENCE = 60.0


class Project:
    """A project in git below a home that has everything switched on."""

    def __init__(self, folder: Path) -> None:
        self.home, self.default = folder / "home", folder / "notes"
        self.folder = folder / "home" / "work"
        self.vault = self.folder / ".vault-agent" / "vault"
        self.folder.mkdir(parents=True)
        self.default.mkdir()
        self.environment = isolated(self.home) | {
            "VAULT_AGENT_INDEX_DIR": str(self.home / "index"),
            "VAULT_AGENT_MEMORY_HOOK_TIMEOUT_MS": "10000",
            "CLAUDE_CONFIG_DIR": str(self.home / ".claude"),
            "CODEX_HOME": str(self.home / ".codex"),
        }
        self.git("init", "-q", "-b", "main")
        self.git("commit", "-q", "--allow-empty", "-m", "Begin")
        self.run("init", "--yes", "--private")

    def run(self, *arguments: str, sent: str = "") -> str:
        """Run the program in the project and return what it prints."""
        done = subprocess.run(
            [PROGRAM, *arguments],
            cwd=self.folder,
            env=self.environment,
            input=sent,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"{arguments}: {done.stderr}")
        return done.stdout

    def git(self, *arguments: str, author: str = "A") -> str:
        """Run git in the project."""
        person = ("-c", f"user.name={author}", "-c", f"user.email={author}@example.org")
        done = subprocess.run(
            ["git", *person, *arguments], cwd=self.folder, capture_output=True, check=True
        )
        return done.stdout.decode("utf-8", "replace")

    def commit(self, files: list[str], subject: str, author: str = "A") -> str:
        """Change files, commit them, and return what git prints."""
        for name in files:
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a") as file:
                file.write(f"{subject}\n")
        self.git("add", "--", *files)
        return self.git("commit", "-m", subject, author=author)


class Played:
    """A session that is played."""

    def __init__(self, project: Project, session: Session) -> None:
        self._project = project
        self._session = session
        self.name = session.name
        self.id = str(uuid.uuid4())

    def play(self) -> Iterator[None]:
        """Send its events, make its commits, and write its transcript. Stop before each prompt."""
        is_aborted = self._session.play == "aborted"
        said, began = "", time.time()
        steps: list[tuple[str, str]] = []
        edited: list[str] = []
        self._event("SessionStart", source="startup")
        for mark, text in self._session.steps:
            steps.append((mark, text))
            if mark == ">":
                yield
                if said:
                    self._event("Stop", last_assistant_message=said)
                self._event("UserPromptSubmit", prompt=text)
            elif mark == "<":
                said = text
            elif mark == "~":
                edited.append(text)
            elif mark == "*":
                printed = self._project.commit(edited, text)
                steps[-1:] = [("$", f"git commit -m '{text}'"), ("|", printed.splitlines()[0])]
        self._session.steps = steps
        made = written(self._session, str(self._project.folder), self.id, began=began)
        transcript = self._transcript()
        transcript.parent.mkdir(parents=True, exist_ok=True)
        transcript.write_bytes(made.data())
        if not is_aborted:
            self._event("Stop", last_assistant_message=said)
            self._event("SessionEnd", reason="other")
        if self._session.play in {"aborted", "off"}:
            self._project.commit(["other.py"], "Somebody else's change", author="B")

    def _transcript(self) -> Path:
        home = self._project.home
        if self._session.agent == "codex":
            return home / ".codex" / "sessions" / "2026" / f"rollout-{self.id}.jsonl"
        return home / ".claude" / "projects" / "work" / f"{self.id}.jsonl"

    def _event(self, name: str, **more: Any) -> None:
        endpoint = ("--endpoint", NOWHERE) if self._session.play == "off" else ()
        if self._session.agent != "codex" or name != "SessionEnd":  # it tells of no end
            send(self._project, self._session.agent, self.id, name, endpoint,
                 transcript_path=str(self._transcript()), **more)  # fmt: skip


def send(
    project: Project,
    agent: str,
    session_id: str,
    name: str,
    options: tuple[str, ...] = (),
    **more: Any,
) -> str:
    """Call the hook, and return the text that it brings."""
    event = {"hook_event_name": name, "session_id": session_id, "cwd": str(project.folder), **more}
    printed = project.run("memory", "hook", "--agent", agent, *options, sent=json.dumps(event))
    out = json.loads(printed) if printed.strip() else {}
    return str(out.get("hookSpecificOutput", {}).get("additionalContext", ""))


def play(project: Project, sessions: list[Session]) -> list[Played]:
    """Play sessions one after another, but those side by side that say so."""
    all_played = [Played(project, session) for session in sessions]
    by_name = {played.name.removeprefix("live-"): played for played in all_played}
    for session, played in zip(sessions, all_played, strict=True):
        if session.play == "with":
            continue
        running = [played.play()]
        if session.play.startswith("beside "):
            running.append(by_name[session.play.removeprefix("beside ")].play())
        while running:
            running = [steps for steps in running if next(steps, "end") != "end"]
    return all_played


def journal_of(project: Project, session_id: str) -> str:
    """Return the journal of a session, "" if it leaves none."""
    begun = time.monotonic()
    while time.monotonic() - begun < _PATIENCE:
        shown = project.run("memory", "journal", "--all", "--json")
        for journal in json.loads(shown)["data"]["journals"]:
            if journal["sessionId"] == session_id and journal["state"] not in ("pending", "open"):
                path = journal["path"]
                return (project.vault / path).read_text("utf-8") if path else ""
        time.sleep(0.3)
    return ""


def read_prompts() -> list[tuple[str, str, str]]:
    """Return the prompts: the session that should come, what is to be told, and the text."""
    lines = PROMPTS.read_text("utf-8").splitlines()
    return [(parts[0], parts[1], parts[2]) for line in lines if (parts := line.split("\t"))]


def judge_prompts(project: Project, journals: dict[str, str], *, show: bool) -> None:
    """Send each prompt as the first of a session, and print the shares."""
    silent: list[bool] = []
    served: list[bool] = []
    told: list[bool] = []
    for name, needed, prompt in read_prompts():
        session_id = str(uuid.uuid4())
        start = send(project, "claude-code", session_id, "SessionStart", source="startup")
        text = send(project, "claude-code", session_id, "UserPromptSubmit", prompt=prompt)
        send(project, "claude-code", session_id, "SessionEnd", reason="other")
        if name == "-":
            silent.append(not text)
        else:
            title = re.search(r"^# (.*)", journals.get(name, ""), re.MULTILINE)
            whole = f"{start} {text}"  # a session gets each note once
            served.append(title is not None and title[1].replace("\\", "")[:40] in whole)
            told.append(re.search(needed, " ".join(whole.split())) is not None)
        if show:
            verdict = silent[-1] if name == "-" else (served[-1], told[-1])
            print(f"\n? {prompt}  [{name}] {verdict}\n{text}")
    rows = (("others silent", silent), ("served", served), ("told", told))
    shares = ((name, f"{sum(values)} of {len(values)}") for name, values in rows)
    print(table(("prompts", "count"), *shares))


def main() -> None:
    """Parse the command line and print tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true", help="print journals and texts too")
    options = parser.parse_args()
    sessions = [read_session(path) for path in sorted(FOLDER.glob("live-*.txt"))]
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder))
        homes = {name: project.environment[name] for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME")}
        with Server(project.default, project.home, **SWITCHES, **homes) as server:
            project.environment["VAULT_AGENT_SERVER_ENDPOINT"] = server.endpoint
            all_played = play(project, sessions)
            for agent in ("claude-code", "codex"):  # what was left is written at the next start
                send(project, agent, str(uuid.uuid4()), "SessionStart", source="startup")
            journals = {}
            verdicts = Verdicts()
            for session, played in zip(sessions, all_played, strict=True):
                text = journal_of(project, played.id)
                journals[session.name.removeprefix("live-")] = text
                bare = re.sub(r"\A---\n[\s\S]*?\n---\n", "", text)
                verdicts.add(session, bare, "all", show=options.show)
            print(verdicts.table(), "\n")
            project.run("index")
            judge_prompts(project, journals, show=options.show)


if __name__ == "__main__":
    main()
