"""A server with three vaults of fixed notes and file times, and everything switched on."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.clocks import PATIENCE
from tests.support.program import Program
from tests.support.waiting import eventually

from vault_agent.config.rules import vault_identity
from vault_agent.model.identifiers import content_hash, identify
from vault_agent.system.files import is_locked

FIXTURES = Path(__file__).parents[2] / "fixtures" / "golden"
KEY = "golden-key-of-the-owner-0123456789abcdef"
WRITTEN_AT = 1_767_600_000  # 2026-01-05 08:00 UTC, the time of every file
_NAME = re.compile("«([^»]+)»")
CONFIG = """
[vault]
root = "{vault}"
[index]
dir = "{indexes}"
[mcp]
enabled = true
[agents.iso]
folder = "."
toolset = "agentiso"
write = ["create", "append", "edit", "overwrite", "delete"]
[agents.third]
toolset = "obsidian-vault-mcp"
folder = "claude"
write = ["create", "append", "edit", "delete"]
[agents.co]
folder = "."
toolset = "co-cli"
"""
SETTINGS = {
    "SERVER_API_KEY": KEY,
    "WEB_ENABLED": "true",
    "WATCH_RESCAN_SECONDS": "86400",
    "VAULTS_ENABLED": "true",
    "MEMORY_ENABLED": "true",
    "JOURNAL_ENABLED": "true",
    "JOURNAL_ASK": "true",
    "WRITE_ENABLED": "true",
    "WRITE_FOLDERS": ".",
    "WRITE_ALLOW": "create,append,edit,overwrite,move,delete",
    "WRITE_QUIET_SECONDS": "0",
    "WRITE_MAX_PER_MINUTE": "1000",
}


@dataclass(frozen=True)
class Case:
    """Something to ask the program.

    Args:
        of: the route, tool or command.
        sent: what is asked. In its texts, `«Bread.md»` is the note's ID and `«name»` is kept.
        what: what is special about it.
        keep: values of what is recorded to keep, as dotted paths by name.
        until: a value of what is recorded, as a dotted path, and what it must be, or its pattern.
            Until then it is asked again.
        settle: whether all jobs end before the next case.
        endpoint: where the tools of another toolset are, below /mcp.
        project: whether it is about the vault of the project.
        given: the standard input of a command.
        varying: fields that differ each time in this reply only.
    """

    of: str
    sent: Any = None
    what: str = ""
    keep: Mapping[str, str] = field(default_factory=dict)
    until: tuple[str, Any] | None = None
    settle: bool = False
    endpoint: str = ""
    project: bool = False
    given: str = ""
    varying: tuple[str, ...] = ()


class House(Program):
    """The program with its three vaults. `kept` has what cases may name."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.shop = self.home / "shop"
        self.project = self.shop / ".vault-agent" / "vault"
        self.shared = self.home / ".vault-agent" / "vault"
        self.config = self.home / "config.toml"
        self.config.write_text(
            CONFIG.format(vault=self.vault.as_posix(), indexes=self.indexes.as_posix())
        )
        self.variables = {f"VAULT_AGENT_{name}": value for name, value in SETTINGS.items()}
        self.variables |= {"VAULT_AGENT_CONFIG": str(self.config), "EDITOR": "true", "TZ": "UTC"}
        self.began = time.time()
        self.kept = {"cwd": str(self.shop), "shop": str(self.shop)}
        self.kept["claude"] = str(self.vault / "claude")
        self.kept["robot"] = vault_identity(self.vault / "claude")

    def open(self) -> None:
        """Make the vaults, start the server, and wait until all of them have an index."""
        self.shop.mkdir()
        made = self.command("init", "--yes", at=self.shop)
        assert made.returncode == 0, made.stderr
        for place, name in (
            (self.vault, "notes"), (self.project, "project"), (self.shared, "global"),
        ):  # fmt: skip
            shutil.copytree(FIXTURES / name, place, dirs_exist_ok=True)
            for path in sorted(place.rglob("*"), reverse=True):
                os.utime(path, (WRITTEN_AT, WRITTEN_AT))
        self.start()  # not watching yet: or the job and the watcher would both make the index
        for name in ("project:shop", "global"):
            self.ask("GET", f"/vaults/{name}/health")
        self.settle()
        self.restart(WATCH_ENABLED="true")
        for name in ("project:shop", "global"):
            self.ask("GET", f"/vaults/{name}/health")
        vaults = self.ask("GET", "/vaults")[1]["data"]["vaults"]
        self.kept |= {each["name"]: each["identity"] for each in vaults}
        self.settle()

    def restart(self, **settings: str) -> None:
        """Start the server again with other settings."""
        self.stop()
        self.variables |= {f"VAULT_AGENT_{name}": value for name, value in settings.items()}
        self.start()
        self.settle()

    def settle(self) -> None:
        """Wait until no job of any vault runs, no change waits for one, and all was looked at."""

        def is_settled(health: Any) -> bool:
            watch = health["watch"]
            waits = watch["pending"] or (watch["enabled"] and not watch["lastScanAt"])
            return not (health["runningJob"] or waits)

        for prefix in ("", "/vaults/project:shop", "/vaults/global"):
            eventually(lambda at=f"{prefix}/health": self.ask("GET", at)[1]["data"], is_settled)
        # A run removes old rows after its revision is served, and they count in scores till then.
        locks = list((self.indexes / "indexes").glob("*/writer.lock"))
        eventually(lambda: not any(map(is_locked, locks)))

    def named(self, sent: Any) -> Any:
        """Return what is sent with values in place of names."""
        if sent == "«now»":
            return self.began
        if isinstance(sent, str):
            return _NAME.sub(lambda found: self._value(found[1]), sent)
        if isinstance(sent, dict):
            return {name: self.named(value) for name, value in sent.items()}
        return [self.named(value) for value in sent] if isinstance(sent, list) else sent

    def _value(self, name: str) -> str:
        if name.startswith("hash "):
            return content_hash((self.vault / name[5:]).read_bytes()).hex()
        return self.kept.get(name) or identify(name)

    def ask(
        self, method: str, target: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, Any, Any]:
        """Send a request with the key. Return the status, the JSON or bytes, and the headers."""
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body)
        media = "application/octet-stream" if isinstance(body, bytes) else "application/json"
        request = urllib.request.Request(
            self.endpoint + target,
            method=method,
            data=data.encode() if isinstance(data, str) else data,
            headers={
                "Authorization": f"Bearer {KEY}",
                **({} if data is None else {"Content-Type": media}),
                **(headers or {}),
            },
        )
        try:
            with _OPENER.open(request, timeout=PATIENCE) as reply:
                return reply.status, _read(reply), reply.headers
        except urllib.error.HTTPError as error:
            with error:
                return error.code, _read(error), error.headers

    def command(
        self, *words: str, at: Path | None = None, given: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run a command."""
        more = {"VAULT_AGENT_PROJECT": str(at)} if at else {}
        if words[:2] == ("memory", "hook"):  # on a busy machine
            more["VAULT_AGENT_MEMORY_HOOK_TIMEOUT_MS"] = "10000"
        return self.run(*words, at=at or self.home, stdin=given, **more)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirect)


def _read(reply: Any) -> Any:
    """Return JSON as a value, the first message of a stream, and other bytes as they are."""
    media = reply.headers.get("Content-Type", "")
    if media.startswith("text/event-stream"):
        lines = []
        while line := reply.readline().decode().strip():
            lines.append(line)
        return lines
    content = reply.read()
    return json.loads(content) if media.startswith("application/json") and content else content
