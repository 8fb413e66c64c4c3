"""An agent with a folder gets the same replies whatever the rest of the vault has.

Two servers serve vaults that are equal inside the folders of six agents, and different outside.
Both get the same random calls of every tool, and requests of every route that an agent may try.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import random
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.mcp.conftest import META, MODERN, Agent
from tests.security.test_access_table import ALLOWED
from tests.support.waiting import eventually

from vault_agent.store.directory import IndexDirectory

CALLS = 300
MANY_CALLS = 12_000
ROUND = 75
"""Calls until the next round: rounds that change notes and rounds that only read take turns."""
RIGHTS = ["create", "append", "edit", "overwrite", "move", "delete"]
AGENTS: dict[str, dict[str, Any]] = {
    "reader": {"folder": "team/pub"},
    "writer": {"folder": "team/pub", "write": RIGHTS},
    "iso": {"toolset": "agentiso", "folder": "team/pub", "write": RIGHTS},
    "third": {"toolset": "obsidian-vault-mcp", "folder": "team/pub", "write": RIGHTS},
    "two": {"folders": ["team/pub/deep", "team/pub/locked"], "write": RIGHTS},
    "shelves": {
        "toolset": "obsidian-vault-mcp", "folders": ["team/pub", "team/none"], "write": RIGHTS,
    },
    "co": {"toolset": "co-cli", "folder": ".", "deny": ["priv", "team/other", "Home.md", "zoo"]},
    "synk": {"toolset": "synk", "folder": "team/pub", "deny": ["team/pub/locked"], "write": RIGHTS},
}  # fmt: skip
WORDS = (
    "lantern", "harbour", "ledger", "meadow", "signal", "orchard", "copper", "velvet", "quarry",
    "lanterns", "harbourmaster", "zanzibarplan", "zanzibarplot", "東京", "東",
)  # fmt: skip
INSIDE = WORDS[:9]
PLACES = (
    "", "A0", "A3.md", "deep/A4", "deep", "locked/L1", "locked", "team/pub/A0.md", "priv/s1.md",
    "priv", "s1", "Home", "zoo/z2", "team", "A 99", "new.md", "deep/new", "*.md", "**/A*", "pub",
    "other", "Guessed", "moved.md", "team/pub/deep/A4", "team/pub/deep/new.md", "pub/A0.md",
)  # fmt: skip
TEXTS = (
    "# Title\n\nlantern [[A1]] and [[Guessed]]\n", "copper #tag/one",
    "- [ ] do [[Guessed]] 📅 2026-02-03", "---\nstatus: open\n---\nzanzibarplan",
    "![[A2]] [x](deep/A4.md)", "",
)  # fmt: skip
VALUES: dict[str, tuple[Any, ...]] = {
    "limit": (1, 2, 3, 20), "max_results": (2, 20), "maxResults": (2, 20), "maxTokens": (300, 2000),
    "tags": (["one"], ["tag/one"], ["secret"], []), "tag": ("one", "#tag/one", "secret", "tag"),
    "after": ("2026-01-01",), "dueBefore": ("2026-03-01",),
    "lines": ("1-3", "2"), "section": ("Title", "Part", "Secret"), "line": (1, 3, 5),
    "key": ("status", "aliases", "rank"), "value": ("open", 3, ["a"], True),
    "files": (["src/a.py"], ["src/secret.py"]), "filePaths": (["src/a.py"],), "links": (["A1"],),
    "frontmatter": ({"status": "done"},), "search": ("lantern", "copper", "l.ntern"),
    "replace": ("velvet", "[[A5]]"), "expectedHash": ("0" * 12,),
    "repository_name": ("deep", "team", "vault", "priv"),
    "confirm": (True,), "queries": (
        [{"query": "lantern ledger"}], [{"query": "zanzibarplan"}],
        [{"kind": "read", "query": name} for name in ("A3", "s1", "L3", "zoo/z2")],
    ),
    "type": ("note", "decision", "journal"), "title": ("A9", "Guessed", "Plan"),
    "topic": ("Plan", "s1"), "priority": ("high",), "due": ("2026-04-05",),
    "status": ("open", "done", "all"), "expectedCount": (1, 2), "sections": ({"Outcome": "done"},),
    "file": ("src/a.py", "src/secret.py"), "sessionId": ("none",), "writeId": ("w1",),
}  # fmt: skip
OTHERS: dict[str, tuple[Any, ...]] = {
    "integer": (1, 30), "string": ("one",), "array": ([], ["one"]), "object": ({},),
}  # fmt: skip
LATEST_FIRST = ("list_vault_notes", "before")
RANKED_BY = {"query", "queries", "prompt", "text", "topic", "files", "filePaths"}
"""Arguments of tools that rank."""
UNCHANGED = "2026-01-06"
"""Before this day are the times of all files that no call has changed: in both vaults the same."""
_TIMES = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?")
_BY_CHANCE = re.compile(
    r'"requestId": "\w+"|\b01[0-9a-f]{18}\b|\bb=[0-9a-f]{8}\b|</note [0-9a-f]{8}>'
    r"|\\n! INDEX_PENDING: [^!\\\"]*"
)
_OPAQUE = re.compile(r"\bWy[A-Za-z0-9_-]{20,}")


class Host(Agent):
    """One of the two servers."""

    keys: dict[str, str]

    def call(self, agent: str, method: str, params: dict[str, Any]) -> Any:
        """Send a request as an agent, and return the reply without what differs each time."""
        headers = {
            "MCP-Protocol-Version": MODERN,
            "Mcp-Method": method,
            "Authorization": f"Bearer {self.keys[agent]}",
        }
        if "name" in params:
            headers["Mcp-Name"] = params["name"]
        sent = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}
        status, reply, _ = self.post(sent, headers, f"/mcp/{agent}")
        return [status, reply]

    def settle(self) -> None:
        """Wait until what was written is indexed, which no tool says."""
        owner = {"Authorization": f"Bearer {KEY}"}
        eventually(
            lambda: self.ask_route("GET", "/health", None, owner)[1]["data"],
            lambda now: not now["runningJob"] and not now["watch"]["pending"],
        )

    def rebuild(self) -> None:
        """Rebuild the index of the owner and of every agent.

        What the engine's statistics still count of removed documents is gone afterwards.
        """
        agents = sorted(self.indexes.glob("indexes/*/agents/*"))
        before = [IndexDirectory(agent).current() for agent in agents]
        assert None not in before
        owner = {"Authorization": f"Bearer {KEY}"}
        assert self.ask_route("POST", "/reindex", b"{}", owner)[0] == 202
        eventually(
            lambda: [IndexDirectory(agent).current() for agent in agents],
            lambda now: all(old != new for old, new in zip(before, now, strict=True)),
        )
        self.settle()

    def ask_route(
        self, method: str, target: str, data: bytes | None, headers: dict[str, str]
    ) -> tuple[int, Any]:
        """Send a request to a route, and return the status and the JSON."""
        headers = {"Content-Type": "application/json", **headers}
        request = urllib.request.Request(
            self.endpoint + target, method=method, data=data, headers=headers
        )
        try:
            with urllib.request.urlopen(request) as reply:
                content, status = reply.read(), reply.status
        except urllib.error.HTTPError as error:
            with error:
                content, status = error.read(), error.code
        try:
            return status, json.loads(content)
        except ValueError:
            return status, len(content)


KEY = "the-key-of-the-owner-0123456789abcdef"


def inside(chosen: random.Random) -> dict[str, str]:
    """Return the notes that both vaults have."""
    made = {}
    for number in range(24):
        folder = ("", "", "deep/", "locked/")[number % 4]
        name = f"{'L' if folder == 'locked/' else 'A'}{number}"
        words = " ".join(chosen.choices(INSIDE, k=12 + 9 * (number % 5)))
        properties = f"status: {'open' if number % 2 else 'done'}\nfiles: [src/a.py]\ntags: [one]\n"
        made[f"team/pub/{folder}{name}.md"] = (
            f"---\n{properties}---\n# Title {number}\n\n{words}. [[A{number // 2}]] [[Guessed]]"
            f"\n\n## Part\n\n- [ ] {words[:20]} 📅 2026-02-0{1 + number % 9}\n\n"
            f"東京の{words[:9]} #tag/one\n"
        )
    for number, folder in enumerate(("", "", "deep/")):
        made[f"team/pub/{folder}M{number}.md"] = f"# M{number}\n\nlantern [[A{number}]] [[M1]]\n"
    return made


def outside(chosen: random.Random, *, rich: bool) -> dict[str, str]:
    """Return the notes that differ: few, or many with links into the folder."""
    if not rich:
        return {"priv/only.md": "alone\n", "Home.md": "# Home\n"}
    made = {"Home.md": "# Home\n\n[[A0]] [[A3]] [[L3]] [[A9]]\n"}
    for number in range(60):
        words = " ".join(chosen.choices(WORDS, k=80))
        made[f"priv/s{number}.md"] = (
            f"---\ntags: [secret, one]\naliases: [Guess {number}]\n"
            f"files: [src/a.py, src/secret.py]\n---\n# Secret {number}\n\n{words} lantarn 東京 "
            f"[[A{number % 24}]] [[A{number % 7}]] [[Guessed]]\n\n"
            f"## Part\n\n- [ ] zanzibarplan 🆔 s{number}\n"
        )
    made |= {f"zoo/z{number}.md": f"zanzibarplan {number}\n" for number in range(40)}
    made |= {
        "team/other/o1.md": "# Title 3\n\nlantern ledger [[A1]]\n",
        "zoo/more.md": "[[Guessed]]\n",
    }
    made["team/other/new.canvas"] = '{"nodes":[{"type":"file","file":"team/pub/A0.md"}]}'
    made["priv/all.base"] = "filters: file.hasLink('A0')\n"
    return made


def host(folder: Path, *, rich: bool) -> Host:
    """Return one of the two servers, which has indexed its vault."""
    folder.mkdir()
    made = Host(folder)
    for path, text in {**inside(random.Random(3)), **outside(random.Random(4), rich=rich)}.items():
        os.utime(made.write(path, text), (1_767_600_000, 1_767_600_000))
    config = made.home / "config.toml"
    variables = {
        "CONFIG": str(config), "SERVER_API_KEY": KEY, "WATCH_ENABLED": "false",
        "MEMORY_ENABLED": "true", "WRITE_ENABLED": "true", "WRITE_FOLDERS": ".",
        "WRITE_ALLOW": ",".join(RIGHTS), "WRITE_QUIET_SECONDS": "0",
        "WRITE_MAX_PER_MINUTE": "100000", "WEB_ENABLED": "true",
    }  # fmt: skip
    made.variables = {f"VAULT_AGENT_{name}": value for name, value in variables.items()}
    made.keys = {name: f"the-key-of-{name}-0123456789-abcdefghijk" for name in AGENTS}
    lines: list[str] = []
    for name, settings in AGENTS.items():
        hashed = hashlib.sha256(made.keys[name].encode()).hexdigest()
        lines += [f"[agents.{name}]", f"key_sha256 = '{hashed}'"]
        lines += [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    config.write_text("\n".join(lines))
    made.start("--mcp")
    made.settle()
    return made


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[tuple[Host, Host]]:
    made: list[Host] = []
    try:
        for name, rich in (("a", False), ("b", True)):
            made.append(host(tmp_path / name, rich=rich))
        yield made[0], made[1]
    finally:
        for each in made:
            each.close()


def arguments(chosen: random.Random, tool: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return arguments of a tool, some of them wrong."""
    sent: dict[str, Any] = {}
    for name, of in schema.get("properties", {}).items():
        needed = name in schema.get("required", ()) or (tool, name) == LATEST_FIRST
        if not needed and chosen.random() < 0.6:
            continue
        if name in {"query", "text", "prompt"}:
            sent[name] = " ".join(chosen.choices((*WORDS, "path:priv", "file:s1", "-lantern"), k=2))
        elif name in {"path", "to"} and tool == "vault_move":
            # A note that notes outside link to cannot be moved, which is the one exception.
            sent[name] = chosen.choice(("M0", "M1.md", "deep/M2", "moved.md", "deep/moved", "A 99"))
        elif name in {"path", "to", "folder", "path_prefix", "path_filter", "noteId", "filename"}:
            sent[name] = chosen.choice(PLACES)
        elif name == "content":
            sent[name] = chosen.choice(TEXTS)
        elif name == "sort":
            sent[name] = "path"  # the times of files differ
        elif name == "before":
            sent[name] = UNCHANGED
        elif "enum" in of:
            sent[name] = chosen.choice(of["enum"])
        elif of.get("type") == "boolean":
            sent[name] = chosen.random() < 0.5
        elif name != "cursor":
            sent[name] = chosen.choice(VALUES.get(name) or OTHERS[of["type"]])
    return sent


def steady(reply: Any) -> str:
    """Return a reply without times, numbers of writes, and what binds a cursor to its vault."""
    text = json.dumps(reply, ensure_ascii=False)
    text = _OPAQUE.sub(lambda found: _opened(found[0]), text)
    return _BY_CHANCE.sub("", _TIMES.sub("(time)", text))


def _opened(cursor: str) -> str:
    try:
        content = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except ValueError:
        return cursor
    return json.dumps([part for part in content[2:] if not (type(part) is int and part > 1 << 40)])


def is_reading(tool: Any) -> bool:
    """Whether a tool changes nothing."""
    return bool(tool.get("annotations", {}).get("readOnlyHint"))


def ranks(tool: Any) -> bool:
    """Whether the order of a tool's results depends on statistics of words."""
    return is_reading(tool) and (
        "related" in tool["name"]
        or bool(RANKED_BY & tool["inputSchema"].get("properties", {}).keys())
    )


def asked(hosts: tuple[Host, Host], agent: str, tool: Any, sent: list[Any]) -> list[Any]:
    """Call a tool of both servers at once. What it wrote is indexed afterwards."""

    def ask(each: Host, given: Any) -> Any:
        reply = each.call(agent, "tools/call", {"name": tool["name"], "arguments": given})
        if not is_reading(tool):
            each.settle()
        return reply

    with ThreadPoolExecutor(2) as both:
        return list(both.map(ask, hosts, sent))


def caught_up(
    hosts: tuple[Host, Host], agent: str, tool: Any, sent: list[Any], replies: list[Any]
) -> list[Any]:
    """Return the replies, asked for again while one index may be behind what was just written."""
    if steady(replies[0]) == steady(replies[1]):
        return replies
    try:
        return eventually(
            lambda: asked(hosts, agent, tool, sent),
            lambda again: steady(again[0]) == steady(again[1]),
        )
    except AssertionError:
        return replies


def differences(hosts: tuple[Host, Host], seed: int, calls: int) -> list[tuple[Any, ...]]:
    """Return the calls to which the two servers reply differently.

    The first half of the calls only read. In the second half, rounds that change notes and rounds
    that read what they have left take turns.
    """
    chosen = random.Random(seed)
    names = list(AGENTS)
    tools = {}
    for name in names:
        listed = [server.call(name, "tools/list", {}) for server in hosts]
        assert listed[0] == listed[1]
        tools[name] = list(listed[0][1]["result"]["tools"])
    different: list[tuple[Any, ...]] = []
    cursors: dict[tuple[str, str], list[Any]] = {}
    was_writing = False
    for number in range(calls):
        writes = number >= calls // 2 and (number - calls // 2) // ROUND % 2 == 0
        if was_writing and not writes:
            with ThreadPoolExecutor(2) as both:
                list(both.map(Host.rebuild, hosts))
        was_writing = writes
        agent = chosen.choice(names)
        tool = chosen.choice([tool for tool in tools[agent] if writes or is_reading(tool)])
        if writes and ranks(tool):
            continue  # the engine's statistics count what was removed until it merges its files
        sent = [arguments(chosen, tool["name"], tool["inputSchema"])] * 2
        more = cursors.pop((agent, tool["name"]), None)
        if more is not None:
            sent = more
        replies = asked(hosts, agent, tool, sent)
        if was_writing and is_reading(tool):
            replies = caught_up(hosts, agent, tool, sent, replies)
        first, second = map(steady, replies)
        if first != second:
            at = next(n for n in range(len(first) + 1) if first[: n + 1] != second[: n + 1])
            near = slice(max(at - 100, 0), at + 200)
            different.append((number, agent, tool["name"], sent[0], first[near], second[near]))
        nexts = [_OPAQUE.search(json.dumps(reply)) for reply in replies]
        if all(nexts) and more is None and chosen.random() < 0.7:
            cursors[agent, tool["name"]] = [
                {**given, "cursor": match[0]}
                for given, match in zip(sent, nexts, strict=True)
                if match is not None
            ]
    return different


@pytest.mark.fault(
    "Agents",
    "an agent names a note, folder or ID outside its folder to a tool that reads",
    "the same reply as in a vault that does not have it",
)
@pytest.mark.fault(
    "Agents",
    "an agent lists tags and folders, or gathers context",
    "names, counts and notes are those of its folder, as in a vault that holds only that",
)
@pytest.mark.fault(
    "Agents",
    "notes of an agent are linked only by a note outside its folder; a word stands only outside",
    "the note relates nothing; the word counts as unknown",
)
@pytest.mark.fault(
    "Agents",
    "an agent's call takes long, or comes while its index is being built",
    "the share and the progress are of its notes",
)
@pytest.mark.fault(
    "Agents",
    "a forged cursor names a note outside an agent's folder",
    "`CURSOR_EXPIRED`, as for a missing note",
)
def test_an_agent_gets_the_same_replies_whatever_is_outside_its_folder(hosts: tuple[Host, Host]):
    assert differences(hosts, 1, CALLS) == []
    for (method, _), (target, body, _) in ALLOWED.items():
        replies = []
        for each in hosts:
            headers = {"Authorization": f"Bearer {each.keys['reader']}"}
            status, reply = each.ask_route(method, target, body, headers)
            replies.append((status, steady(reply) if status < 500 else reply))
        assert replies[0] == replies[1], target


@pytest.mark.long
def test_many_calls_of_agents_get_the_same_replies(hosts: tuple[Host, Host]):
    assert differences(hosts, 2, MANY_CALLS) == []
