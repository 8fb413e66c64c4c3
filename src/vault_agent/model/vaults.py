"""The vaults of a server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from vault_agent.model.sent import Doc, OneOf

VaultReadiness = Literal["ready", "indexing", "closed", "missing", "untrusted", "error"]


@dataclass(frozen=True, slots=True)
class VaultState:
    """A vault of the server, without its folder."""

    name: Annotated[str, Doc("What requests call it: `project:NAME`, `global`, …")]
    role: Annotated[str, OneOf("default", "project", "global", "other")]
    identity: str
    open: Annotated[bool, Doc("A registered vault is opened at its first use.")]
    state: VaultReadiness
    notes: Annotated[int | None, Doc("Of an open vault.")] = None
    types: Annotated[
        Mapping[str, int] | None, Doc('Notes by type; `""` for notes without one.')
    ] = None
    last_indexed: Annotated[str | None, Doc("ISO 8601, UTC.")] = None
    code: Annotated[str | None, Doc("Why its index does not serve.")] = None


@dataclass(frozen=True, slots=True)
class VaultList:
    """The vaults of the server, the default one first."""

    vaults: tuple[VaultState, ...]
