"""Measures journals: their facts, their time and memory, what is lost, and which secrets leave.

    python -m benchmarks.memory.journals facts
    python -m benchmarks.memory.journals size
    python -m benchmarks.memory.journals lost [--sessions N]
    python -m benchmarks.memory.journals secrets

`facts` makes 50 sessions with real repositories and compares what is collected with the truth.
`size` reads a transcript of 64 MiB of each agent in a process of its own. `lost` reports sessions
to a server that is killed again and again, away half of the time, and has a chat endpoint that
nobody answers at; in the end each session must have one journal. `secrets` puts 500 secrets into
sessions and looks for them in the journals and in what a model would be sent.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import random
import resource
import string
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.server import PROGRAM, Server, isolated
from tests.made_sessions import AGENTS, Made, Writer, made_session

from vault_agent.config.registry import Registered, Role
from vault_agent.config.rules import vault_identity
from vault_agent.config.settings import JournalSettings
from vault_agent.journals import note_text as notes
from vault_agent.journals import summary
from vault_agent.journals.extract import extract
from vault_agent.journals.session_facts import SessionFacts
from vault_agent.journals.spool import spool
from vault_agent.journals.transcripts.recorder import program_of
from vault_agent.model.sessions import Session, SessionEvent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vault_agent.journals.collected import Collected

PLACES = {
    "claude-code": ".claude/projects/x/{}.jsonl",
    "codex": ".codex/sessions/2026/11/22/rollout-{}.jsonl",
    "gemini": ".gemini/tmp/x/chats/session-{}.json",
}


def stored(home: Path, made: Made, data: bytes | None = None) -> Path:
    """Write a transcript where its agent has it."""
    path = home / PLACES[made.agent].format(made.session_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(made.data() if data is None else data)
    return path


def collected(home: Path, project: Path, made: Made, path: Path, start: str | None) -> Collected:
    """Return what is collected of a session."""
    entry = Registered(project / ".vault-agent/vault", Role.PROJECT, "shop", "0" * 32)
    session = Session(
        session_id=made.session_id, agent=made.agent, vault="", started_at=made.started_at,
        last_event_at=made.ended_at, ended_at=made.ended_at, state="ended",
        prompts=len(made.prompts), model=None, transcript_path=str(path), cwd=str(project),
        title=None, start_commit=start, end_reason="other",
    )  # fmt: skip
    facts = SessionFacts(JournalSettings(), home=home)
    return asyncio.run(facts.gather(session, entry, (), ())).session


# --- facts ------------------------------------------------------------------------------------


def git(folder: Path, *command: str, at: float = 0.0) -> str:
    """Run git with fixed names and times."""
    stamp = f"{int(at)} +0000"
    environ = {
        "PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_AUTHOR_DATE": stamp,
        "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org",
        "GIT_COMMITTER_DATE": stamp,
    }  # fmt: skip
    done = subprocess.run(
        ["git", *command], cwd=folder, check=True, capture_output=True, text=True, env=environ
    )
    return done.stdout.strip()


def facts(folder: Path) -> None:
    """Compare what is collected of 50 sessions with the truth."""
    exact = problems = known = 0
    for seed in range(50):
        agent = AGENTS[seed % 3]
        chance = random.Random(seed)
        project = folder / f"p{seed}"
        project.mkdir()
        made = made_session(agent, str(project), seed)
        git(project, "init", "-q")
        (project / "README.md").write_text("x\n")
        git(project, "add", "-A")
        git(project, "commit", "-q", "-m", "Begin", at=made.started_at - 9_000)
        start = git(project, "rev-parse", "HEAD")
        commits = []
        files = set(made.edited)
        for number in range(chance.randint(0, 3)):
            name = f"made/{number}.txt"  # by a command, so that only git knows it
            (project / "made").mkdir(exist_ok=True)
            (project / name).write_text("a\n" * (number + 1))
            git(project, "add", "-A")
            git(project, "commit", "-q", "-m", f"Step {number}", at=made.started_at + number)
            commits.append(git(project, "rev-parse", "--short=7", "HEAD"))
            files.add(name)
        found = collected(folder, project, made, stored(folder, made), start)
        same = {each.path for each in found.files} == files
        exact += same and [each.id for each in found.commits] == commits
        told = {(each.program, each.resolved) for each in found.transcript.failures}
        truth = {(program_of(each), True) for each in made.resolved}
        truth |= {(program_of(each), False) for each in made.open}
        problems += len(told & truth)
        known += len(truth)
    print(f"files and commits exact: {exact} of 50 sessions")
    print(f"problems, open or resolved: {problems} of {known}")


# --- size -------------------------------------------------------------------------------------


def large(agent: str, project: str) -> Iterator[bytes]:
    """Yield a transcript of about 64 MiB: many commands with output, some of it foreign words."""
    chance = random.Random(5)
    words = ("error", "parser", "größe", "解析", "test", "build", "passed", "line", "file", "cost")
    writer = Writer(agent, project)
    writer.prompt("Speed up the parser.")
    text = "\n".join(" ".join(chance.choices(words, k=12)) for _ in range(200))
    for number in range(150):
        writer.edit(f"src/file_{number}.py")
        writer.run(f"pytest tests/test_{number}.py", text, fails=number % 7 == 0)
        writer.say(f"I chose option {number} because it is shorter. " + text[:2_000])
    once = writer.end().data()
    if agent == "gemini":
        head, _, rest = once.partition(b'"messages": [\n')
        body = rest.rpartition(b"\n  ]")[0]
        yield head + b'"messages": [\n'
        for number in range((64 << 20) // len(body)):
            yield (b",\n" if number else b"") + body.replace(b'"id-', b'"id-%d-' % number)
        yield b"\n  ]\n}"
        return
    for _ in range((64 << 20) // len(once)):
        yield once


def size(folder: Path) -> None:
    """Read a transcript of 64 MiB of each agent in a process of its own."""
    for agent in AGENTS:
        made = Writer(agent, str(folder)).end()
        path = stored(folder, made, b"".join(large(agent, str(folder))))
        print(f"{agent}: {path.stat().st_size / 2**20:.0f} MiB", end=", ", flush=True)
        done = subprocess.run(
            [sys.executable, "-m", __spec__.name, "one", "--home", folder, "--path", path,
             "--agent", agent],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        print(done.stdout.strip())
        path.unlink()


def one(home: Path, agent: str, path: Path) -> None:
    """Make the extract of one transcript, and print what it took."""
    made = replace(Writer(agent, str(home)).end())
    before = resource.getrusage(resource.RUSAGE_SELF)
    wall = time.perf_counter()
    found = collected(home, home, made, path, None)
    text = notes.body(extract(found), ())
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(
        f"CPU {cpu:.1f} s, wall {time.perf_counter() - wall:.1f} s, RSS at most"
        f" {after.ru_maxrss / 1024:.0f} MB; {len(found.files)} files, {len(text):,} characters"
    )


# --- lost -------------------------------------------------------------------------------------


def lost(folder: Path, sessions: int) -> None:
    """Report sessions to a server that is killed and away, and count their journals."""
    home, default, project = folder / "home", folder / "notes", folder / "shop"
    for each in (home, default, project / ".git"):
        each.mkdir(parents=True)
    environ = isolated(home)
    environ["VAULT_AGENT_INDEX_DIR"] = str(home / "index")
    subprocess.run(
        [PROGRAM, "init", "--yes"], cwd=project, env=environ, check=True, capture_output=True
    )
    vault = vault_identity(project / ".vault-agent/vault")
    settings = {
        "VAULT_AGENT_VAULTS_ENABLED": "true",
        "VAULT_AGENT_JOURNAL_ENABLED": "true",
        "VAULT_AGENT_CHAT_ENABLED": "true",
        "VAULT_AGENT_CHAT_MODEL": "none",
        "VAULT_AGENT_CHAT_ENDPOINT": "http://127.0.0.1:9/v1/chat/completions",
        "VAULT_AGENT_WATCH_ENABLED": "false",
    }
    chance = random.Random(3)
    waiting = [f"{chance.getrandbits(128):032x}" for _ in range(sessions)]
    chance.shuffle(waiting)
    told, kills = 0, 0
    began = time.monotonic()

    def tell(session_id: str) -> None:
        made = made_session("claude-code", str(project), told)
        made.session_id = session_id
        path = stored(home, made)
        now = time.time() - 60
        about = {
            "agent": "claude-code", "session_id": session_id, "cwd": str(project), "vault": vault,
            "transcript_path": str(path),
        }  # fmt: skip
        for number, (kind, more) in enumerate((
            ("start", {}), ("prompt", {"prompt": made.prompts[0]}),
            ("stop", {"last_message": made.last_message}), ("end", {"reason": "other"}),
        )):  # fmt: skip
            spool(
                home / "index" / "spool",
                SessionEvent(event=kind, name=kind, at=now + number, **about, **more),
            )

    while told < sessions:
        for _ in range(min(sessions - told, chance.randint(10, 60))):  # the server is away
            tell(waiting[told])
            told += 1
        with Server(default, home, **settings) as server:
            until = time.monotonic() + chance.uniform(0.2, 6.0)
            while time.monotonic() < until and told < sessions:
                tell(waiting[told])
                told += 1
                time.sleep(chance.uniform(0.0, 0.1))
            server.process.kill()
            kills += 1
    folder_of_journals = project / ".vault-agent/vault/journals"
    with Server(default, home, **settings):
        deadline = time.monotonic() + max(600, 2 * sessions)
        while time.monotonic() < deadline and _count(folder_of_journals) < sessions:
            time.sleep(1)
        time.sleep(10)  # none may come twice
    found = Counter(
        line.removeprefix("session: ").strip()
        for path in folder_of_journals.glob("[!.]*.md")
        for line in path.read_text().splitlines()
        if line.startswith("session: ")
    )
    found = Counter({key.strip("\"'"): count for key, count in found.items()})
    missing = set(waiting) - found.keys()
    twice = [each for each, count in found.items() if count > 1]
    print(
        f"{sessions} sessions, {kills} kills, {time.monotonic() - began:.0f} s:"
        f" {len(missing)} lost, {len(twice)} with more than one journal"
    )


def _count(folder: Path) -> int:
    return sum(1 for _ in folder.glob("[!.]*.md"))


# --- secrets ----------------------------------------------------------------------------------


def _some(chance: random.Random, count: int, alphabet: str = "") -> str:
    return "".join(chance.choices(alphabet or string.ascii_letters + string.digits, k=count))


def _digit(chance: random.Random, count: int) -> str:
    """Return letters and digits, with at least one digit."""
    return _some(chance, count - 1) + chance.choice(string.digits)


def secrets_of(chance: random.Random) -> Iterator[tuple[str, str]]:
    """Yield a line with a secret of each kind, and the secret."""
    upper = string.ascii_uppercase + string.digits
    lower = string.hexdigits.lower()[:16]
    payload = base64.urlsafe_b64encode(json.dumps({"sub": _some(chance, 9)}).encode())
    jwt = f"eyJhbGciOiJIUzI1NiJ9.{payload.decode().rstrip('=')}.{_some(chance, 43)}"
    for line, value in (
        ("export AWS_ACCESS_KEY_ID={}", "AKIA" + _some(chance, 16, upper)),
        ("remote: https://x-access-token:{}@github.com/a/b", "ghp_" + _some(chance, 36)),
        ("token {} accepted", "github_pat_" + _some(chance, 22) + "_" + _some(chance, 59)),
        ("PRIVATE-TOKEN: {}", "glpat-" + _digit(chance, 20)),
        ("using {}", "sk-ant-api03-" + _some(chance, 93) + "AA"),
        ("OPENAI_API_KEY={}", "sk-proj-" + _digit(chance, 48)),
        ("key={}&v=3", "AIza" + _some(chance, 35)),
        ("stripe listen --api-key {}", "sk_live_" + _some(chance, 24)),
        ("slack: {}", "xoxb-" + "-".join(_some(chance, 11, string.digits) for _ in "ab")
         + "-" + _some(chance, 24)),
        ("Authorization: Bearer {}", jwt),
        ("//registry.npmjs.org/:_authToken={}", "npm_" + _some(chance, 36)),
        ("password = {}", "pypi-AgEIcHlwaS5vcmc" + _some(chance, 60)),
        ("huggingface-cli login --token {}", "hf_" + _some(chance, 34)),
        ("SENDGRID={}", "SG." + _some(chance, 22) + "." + _some(chance, 43)),
        ("twilio {}", "SK" + _some(chance, 32, lower)),
        ("bot {}", _some(chance, 10, "123456789") + ":AA" + _some(chance, 33)),
        ("postgres://app:{}@db.internal/shop", _digit(chance, 14)),
        ("DB_PASSWORD={}", _digit(chance, 16)),
        ('"client_secret": "{}"', _digit(chance, 32)),
        ("curl -H 'Authorization: Bearer {}'", _digit(chance, 40)),
    ):  # fmt: skip
        yield line.format(value), value


HARMLESS = (
    "commit {hex40}", "Downloading wheel sha256:{hex64}",
    "uuid {hex8}-{hex4}-4{hex3}-8{hex3}-{hex12}",
    "def reset_password(token: str) -> None:", "if not api_key: raise ValueError('no api_key')",
    "test_password_is_hashed PASSED", "src/auth/token_store.py:42: error: missing return",
    "password: ********", "the token count is 12345", "SECRET_KEY = os.environ['SECRET_KEY']",
    "index {hex7}..{hex7} 100644", "https://example.org/a/b?page=2", "max_tokens=1200 timeout=30",
    "{n} passed in 0.{n}s", "Authorization header is missing", "api_key: str | None = None",
)  # fmt: skip


def harmless(chance: random.Random) -> str:
    """Return a line that has no secret."""
    lengths = (3, 4, 7, 8, 12, 40, 64)
    values = {f"hex{each}": _some(chance, each, "0123456789abcdef") for each in lengths}
    return chance.choice(HARMLESS).format(**values, n=chance.randint(1, 99))


def put(writer: Writer, place: int, line: str) -> None:
    """Put a line into one of five places of a session."""
    if place == 0:
        writer.prompt(f"Why is this?\n{line}")
    elif place == 1:
        writer.run("make deploy", f"start\n{line}\nend")
    elif place == 2:
        writer.run(f"run {line}", f"error: {line}", fails=True)
    elif place == 3:
        writer.say(f"I decided so because of this:\n{line}")
    else:
        writer.todos([(line, False)])


def secrets(folder: Path) -> None:
    """Put 500 secrets into sessions, and look for them in the journals."""
    chance = random.Random(17)
    total = left = 0
    for number in range(25):
        agent = AGENTS[number % 3]
        writer = Writer(agent, str(folder), session_id=f"s{number:08d}")
        made = list(secrets_of(chance))
        for place, (line, _) in enumerate(made):
            total += 1
            put(writer, place % 5, line)
        writer.say("Done. Next step: rotate.")
        session = writer.end()
        found = collected(folder, folder, session, stored(folder, session), None)
        name = notes.named(found.session_id, found.started_at)
        draft = extract(found)
        shown = notes.body(draft, ()) + repr(
            notes.properties(found, draft, name, notes.Facts("extract"))
        )
        shown += summary.question(found, "=====", 10_000_000) + repr(found)
        left += sum(value in shown for _, value in made)
    print(f"secrets that leave: {left} of {total}")
    clean = SessionFacts(JournalSettings(), home=folder).clean
    lines = [harmless(chance) for _ in range(10_000)]
    hit = sum(clean(line) != line for line in lines)
    print(f"harmless lines that are changed: {hit} of {len(lines):,}")


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["facts", "size", "lost", "secrets", "one"])
    parser.add_argument("--sessions", type=int, default=1_000)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--path", type=Path)
    parser.add_argument("--agent")
    options = parser.parse_args()
    if options.what == "one":
        one(options.home, options.agent, options.path)
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        if options.what == "lost":
            lost(folder, options.sessions)
        else:
            {"facts": facts, "size": size, "secrets": secrets}[options.what](folder)


if __name__ == "__main__":
    main()
