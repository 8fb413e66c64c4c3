"""The table of operations. HTTP routes and their OpenAPI description are made from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vault_agent.api import (
    authoring,
    files,
    graph,
    links,
    memory,
    note_writes,
    reading,
    search,
    sessions,
    vaults,
    web,
    write_history,
)
from vault_agent.api.operation import operations_of

if TYPE_CHECKING:
    from vault_agent.api.operation import Operation

_MODULES = (
    *(vaults, search, reading, links, graph, authoring, memory, sessions, web),
    *(note_writes, files, write_history),
)

OPERATIONS: tuple[Operation[Any, Any], ...] = tuple(
    operation for module in _MODULES for operation in operations_of(module)
)
"""Every operation, in the order of the reference."""
