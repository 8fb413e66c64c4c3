"""The replies about the vaults of a server."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from vault_agent.wire.base import Model


class ListedVaultData(Model):
    """A vault of the server, without its folder."""

    name: str = Field(description="What requests call it: `project:NAME`, `global`, …")
    role: Literal["default", "project", "global", "other"]
    identity: str
    open: bool = Field(description="A registered vault is opened at its first use.")
    state: Literal["ready", "indexing", "closed", "missing", "untrusted", "error"]
    notes: int | None = Field(description="Of a closed vault those that it had when it was closed.")
    types: dict[str, int] | None = Field(description='Notes by type; `""` for notes without one.')
    last_indexed: str | None = Field(description="ISO 8601, UTC.")
    code: str | None = Field(description="Why its index does not serve.")


class VaultsData(Model):
    """The vaults of the server, the default one first."""

    vaults: list[ListedVaultData]
