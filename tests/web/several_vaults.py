"""A server with several vaults and memory, as an agent and a browser use it. It has a key."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tests.support.program import Program, Reply
from tests.web.vault import write_vault

KEY = "k" * 40
PROMPT = "src/costs.py: prices must be rounded once, it is off by a cent"
PROJECT = {
    "modules/Cost tracker.md": (
        "---\ntype: module\nproject: shop\ntags: [costs]\nfiles: [src/costs.py]\n---\n"
        "# Cost tracker\n\nCounts the tokens of each call. See [[Round prices]].\n"
    ),
    "decisions/Round prices.md": (
        "---\ntype: decision\nproject: shop\nstatus: accepted\ntags: [costs]\n"
        "files: [src/costs.py]\n---\n"
        "# Round prices at the end\n\nPrices are rounded once, at the end, never in between.\n"
    ),
    "bugs/Off by a cent.md": (
        "---\ntype: bug\nproject: shop\n---\n# Off by a cent\n\nThe sum was off by a cent.\n"
    ),
}
GLOBAL = {
    "patterns/Money in integers.md": (
        "---\ntype: pattern\nproject: bank\ntags: [costs]\n---\n# Money in integers\n\n"
        "Keep prices in cents, as whole numbers, and round once.\n"
    ),
}


class SeveralVaultsServer(Program):
    """A default vault, the vault of the project `shop`, and the global one."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.headers = {"Authorization": f"Bearer {KEY}"}
        self.variables = {
            "VAULT_AGENT_SERVER_API_KEY": KEY,
            "VAULT_AGENT_WEB_ENABLED": "true",
            "VAULT_AGENT_WATCH_ENABLED": "true",
            "VAULT_AGENT_VAULTS_ENABLED": "true",
            "VAULT_AGENT_MEMORY_ENABLED": "true",
            "VAULT_AGENT_MEMORY_HOOK_TIMEOUT_MS": "10000",  # on a busy machine
            "VAULT_AGENT_JOURNAL_ENABLED": "true",
            "VAULT_AGENT_JOURNAL_ASK": "true",
        }
        write_vault(self.vault)
        self.project = self.home / "shop" / ".vault-agent" / "vault"
        self.shared = self.home / ".vault-agent" / "vault"

    def open(self) -> None:
        """Make and register the vaults, and start the server."""
        folder = self.home / "shop"
        folder.mkdir()
        made = self.run("init", "--yes", at=folder)
        assert made.returncode == 0, made.stderr
        for place, notes in ((self.project, PROJECT), (self.shared, GLOBAL)):
            for path, text in notes.items():
                file = place / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
        self.start()
        for job in self.call("GET", "/jobs").data["jobs"]:
            self.finish(job["id"])

    def identity(self, name: str) -> str:
        """Return the identity of a vault."""
        vaults = self.call("GET", "/vaults").data["vaults"]
        return str(next(each["identity"] for each in vaults if each["name"] == name))

    def ticket(self) -> str:
        """Return a ticket for a browser."""
        return str(self.call("POST", "/ui/tickets", {}).data["ticket"])

    def event(self, event: str, session: str = "s-1", **more: Any) -> Reply:
        """Tell the server of an event of an agent's session, as a hook does."""
        body = {
            "version": 1,
            "agent": "claude-code",
            "event": event,
            "name": event,
            "sessionId": session,
            "cwd": str(self.home / "shop"),
            "at": time.time(),
            "vault": self.identity("project:shop"),
            **more,
        }
        return self.call("POST", "/sessions/events", body)
