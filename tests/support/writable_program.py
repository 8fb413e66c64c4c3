"""A program whose vault may be written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from tests.support.program import Program, Reply
from tests.support.waiting import eventually

from vault_agent.cli.command import Exit

KEY = "k" * 40
ALL = "create,append,edit,overwrite,move,delete,permanent"


class WritableProgram(Program):
    """A server that may change the notes of its vault, with a key."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.private.add("the key", KEY)
        self.headers = {"Authorization": f"Bearer {KEY}"}
        self.variables = {
            "VAULT_AGENT_WRITE_ENABLED": "true",
            "VAULT_AGENT_WRITE_FOLDERS": ".",
            "VAULT_AGENT_WRITE_ALLOW": ALL,
            "VAULT_AGENT_WRITE_QUIET_SECONDS": "0",
            "VAULT_AGENT_SERVER_API_KEY": KEY,
        }

    def post(self, operation: str, **body: Any) -> Reply:
        """Change notes."""
        return self.send("POST", f"/write/{operation}", body)

    def text(self, path: str) -> str:
        """Return the text of a file of the vault."""
        return (self.vault / path).read_bytes().decode()

    def done(self, *arguments: str) -> str:
        """Run a command that must succeed, and return what it prints."""
        ended = self.run(*arguments)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def data(self, *arguments: str) -> Any:
        """Run a command that must succeed, and return the data of its reply."""
        return json.loads(self.done("--json", *arguments))["data"]

    @contextmanager
    def indexed(self) -> Iterator[Self]:
        """Serve the vault, and bring its index up to date."""
        self.variables["VAULT_AGENT_VAULT_ROOT"] = str(self.vault)
        self.variables["VAULT_AGENT_INDEX_DIR"] = str(self.indexes)
        with self:
            self.start()
            ended = eventually(  # the first index is being built
                lambda: self.run("index"), lambda ended: ended.returncode != Exit.BUSY
            )
            assert ended.returncode == 0, ended.stderr
            yield self
