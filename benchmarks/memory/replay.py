"""Replay sessions of a project's work, and print what each leaves and what each prompt brings.

    python -m benchmarks memory.replay [--repository FOLDER] [--days N] [--keep FOLDER]

`fixtures/replay.txt` has sessions in the order in which they happened, each after a line with its
agent. Their steps are those of `fixtures/sessions`, but that a commit (`*`) is named by its hash in
this repository. Each is played with the real server, the real hooks and transcripts in the format
of its agent, in a temporary home: a project grows by the files of these commits. Notes age between
the sessions, so that all took so many days.

Printed are all that the hooks printed, and every journal, to be read and judged by a person, and
at the end how many prompts got something, and of how many tokens.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import uuid
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.memory.journals import Session, read_steps, written
from benchmarks.server import PROGRAM, Server, isolated
from vault_agent.memory.preamble import tokens_of

ROOT = Path(__file__).parents[2]
_DATE = re.compile(r'^(created|updated): "?([0-9TZ:-]+)"?$', re.MULTILINE)
_PROMPTS = {"gemini": "BeforeAgent"}
_STOPS = {"gemini": "AfterAgent"}
_PATIENCE = 60.0


class Project:
    """A project in git below a home that has everything switched on."""

    def __init__(self, folder: Path, repository: Path) -> None:
        self.repository = repository
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

    def git(self, *arguments: str, at: Path | None = None) -> str:
        """Run git in the project, or elsewhere."""
        person = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        done = subprocess.run(
            ["git", *person, *arguments], cwd=at or self.folder, capture_output=True, check=True
        )
        return done.stdout.decode("utf-8", "replace")

    def take(self, commit: str) -> list[str]:
        """Commit the files of a commit of the repository as they are in it. Return them."""
        shown = self.git("show", "--no-renames", "--format=%s%n%n%b%x1e", "--name-only", commit,
                         at=self.repository)  # fmt: skip
        message, names = shown.split("\x1e")
        files = names.split()
        for name in files:
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                path.write_text(self.git("show", f"{commit}:{name}", at=self.repository), "utf-8")
            except subprocess.CalledProcessError:  # the commit removes it
                path.unlink(missing_ok=True)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message.strip())
        return files

    def age(self, days: float) -> None:
        """Make all notes older."""
        for path in self.vault.rglob("*.md"):
            text = _DATE.sub(
                lambda found: f"{found[1]}: {_before(found[2], days)}", path.read_text()
            )
            path.write_text(text)
            then = time.time() - days * 86_400
            os.utime(path, (then, min(then, path.stat().st_mtime)))


def _before(moment: str, days: float) -> str:
    then = datetime.fromisoformat(moment) - timedelta(days=days)
    return f"{then:%Y-%m-%dT%H:%M:%SZ}"


class Played:
    """One session that is played, and what its prompts brought."""

    def __init__(self, project: Project, session: Session) -> None:
        self._project = project
        self._session = session
        self.id = str(uuid.uuid4())
        self.brought: list[tuple[str, str]] = []  # the prompt, "" for a start, and the text

    def play(self) -> None:
        """Send its events, make its commits, and write its transcript."""
        agent, said, began = self._session.agent, "", time.time()
        self._event("SessionStart", "", source="startup")
        transcript = self._transcript()
        steps: list[tuple[str, str]] = []
        for mark, text in self._session.steps:
            if mark == ">":
                if said:
                    self._event(_STOPS.get(agent, "Stop"), None, last_assistant_message=said,
                                prompt_response=said)  # fmt: skip
                self._event(_PROMPTS.get(agent, "UserPromptSubmit"), text, prompt=text)
            elif mark == "<":
                said = text
            elif mark == "*":
                files = self._project.take(text)
                steps += [("~", each) for each in files[:12]]
                steps.append(("$", f"git commit -am {text}"))
            steps.append((mark, text))
        made = written(
            replace(self._session, steps=steps), str(self._project.folder), self.id, began=began
        )
        transcript.parent.mkdir(parents=True, exist_ok=True)
        transcript.write_bytes(made.data())
        self._event(_STOPS.get(agent, "Stop"), None, last_assistant_message=said,
                    prompt_response=said)  # fmt: skip
        self._event("SessionEnd", None, reason="other")

    def journal(self) -> str:
        """Return its journal, or why there is none."""
        begun = time.monotonic()
        while time.monotonic() - begun < _PATIENCE:
            shown = self._project.run("journal", "list", "--all", "--json")
            for each in json.loads(shown)["data"]["journals"]:
                if each["sessionId"] == self.id and each["state"] not in ("pending", "draft"):
                    if each["path"] is None:
                        return f"no journal: {each['state']}, {each['reason']}"
                    path = self._project.vault / each["path"]
                    if path.exists():
                        return path.read_text()
            time.sleep(0.3)
        return "no journal in time"

    def _transcript(self) -> Path:
        home = self._project.home
        return {
            "claude-code": home / ".claude" / "projects" / "work" / f"{self.id}.jsonl",
            "codex": home / ".codex" / "sessions" / "2026" / f"rollout-{self.id}.jsonl",
            "gemini": home / ".gemini" / "tmp" / "work" / "chats" / f"session-{self.id}.json",
        }[self._session.agent]

    def _event(self, name: str, asked: str | None, **more: Any) -> None:
        given = {
            "hook_event_name": name,
            "session_id": self.id,
            "transcript_path": str(self._transcript()),
            "cwd": str(self._project.folder),
            **more,
        }
        hook = ("memory", "hook", "--agent", self._session.agent)
        printed = self._project.run(*hook, sent=json.dumps(given))
        if asked is not None:
            out = json.loads(printed) if printed.strip() else {}
            text = out.get("hookSpecificOutput", {}).get("additionalContext", "")
            self.brought.append((asked, text))


def read_sessions(text: str) -> list[Session]:
    """Return the sessions of a file, each after a line `=== AGENT`."""
    made = []
    for number, part in enumerate(text.split("=== ")[1:], 1):
        agent, _, told = part.partition("\n")
        made.append(Session(f"{number:02}", agent, read_steps(told, f"session {number}")))
    return made


def main() -> None:
    """Parse the command line, and print a replay."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repository", type=Path, default=ROOT)
    parser.add_argument("--days", type=float, default=14.0)
    parser.add_argument("--keep", type=Path, help="where the vault is left")
    arguments = parser.parse_args()
    sessions = read_sessions((ROOT / "fixtures" / "replay.txt").read_text("utf-8"))
    prompts: list[str] = []
    starts: list[str] = []
    journals = 0
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder), arguments.repository)
        settings = {
            f"VAULT_AGENT_{each}_ENABLED": "true" for each in ("VAULTS", "MEMORY", "JOURNAL")
        }
        homes = {each: project.environment[each] for each in ("CLAUDE_CONFIG_DIR", "CODEX_HOME")}
        with Server(project.default, project.home, **settings, **homes) as server:
            endpoint = f"http://127.0.0.1:{server.port}"
            project.environment["VAULT_AGENT_SERVER_ENDPOINT"] = endpoint
            for session in sessions:
                played = Played(project, session)
                played.play()
                journal = played.journal()
                journals += journal.startswith("---")
                print(f"\n===== {session.name} {session.agent}")
                for prompt, text in played.brought:
                    (prompts if prompt else starts).append(text)
                    print(f"> {prompt or '(start)'}\n{text}", flush=True)
                print(journal)
                project.age(arguments.days / len(sessions))
        if arguments.keep:
            shutil.copytree(project.vault, arguments.keep)
    for name, texts in (("starts", starts), ("prompts", prompts)):
        tokens = [tokens_of(each) for each in texts if each]
        print(f"{name}: {len(tokens)} of {len(texts)} brought something, "
              f"{median(tokens or [0]):.0f} tokens at the median")  # fmt: skip
    print(f"{journals} journals of {len(sessions)} sessions")


if __name__ == "__main__":
    main()
