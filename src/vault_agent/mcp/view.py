"""What one client may see: a vault, a caller, and the size of replies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Self

from vault_agent.api.caller import CallContext
from vault_agent.api.operation import Operation, Result, is_on, perform
from vault_agent.api.requests import parse_values
from vault_agent.errors import InvalidRequest
from vault_agent.mcp.tool import TOOL_SWITCHES, ClientTools
from vault_agent.model.identifiers import GLOBAL, IN_GLOBAL
from vault_agent.text.names import escaped, unescaped

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from vault_agent.api.caller import Caller
    from vault_agent.app import App
    from vault_agent.model.reply import Envelope
    from vault_agent.model.writing import Right
    from vault_agent.vaults.open_vault import OpenVault

    Shown = str | dict[str, Any]
    RunTool = Callable[["View", Mapping[str, Any]], Awaitable[Shown]]


STATES: Final = frozenset(
    (
        "EMBEDDING_INCOMPLETE", "EMBEDDING_UNAVAILABLE", "INDEX_STALE", "RERANK_UNAVAILABLE",
        "VAULT_SKIPPED", "WATCH_LIMIT",
    )
)  # fmt: skip
"""The warnings of a state that lasts. A session is told of each once."""
PATHS: Final = ("path", "to", "note", "filename", "folder", "noteId")
"""Arguments of tools that are paths."""


@dataclass(frozen=True, slots=True)
class View:
    """One client's view of a vault.

    Args:
        app: the server.
        vault: what the tools are about.
        caller: who calls.
        max_bytes: the size limit of a tool's reply.
        toolset: the name of the client's tools.
        vaults: all vaults of a search; () for the vault alone.
        prefix: what paths begin with: `global:` for a call about the global vault.
        told: the codes of states that this session was warned of; None to warn each time.
    """

    app: App
    vault: OpenVault
    caller: Caller
    max_bytes: int = 24_000
    toolset: str = "vault-agent"
    vaults: tuple[str, ...] = ()
    prefix: str = ""
    told: set[str] | None = None

    def shown(self, path: str, vault: str | None = None) -> str:
        """Return a path as this client sees it: relative to its folder, visible.

        `vault` is that of a result of several vaults.
        """
        prefix = IN_GLOBAL if vault == GLOBAL else self.prefix
        return prefix + escaped(self.caller.scope.to_caller(path))

    def of_client(self, client: str) -> Self:
        """Return the view of a program by its name, for the log of writes."""
        return replace(self, caller=replace(self.caller, client=f"mcp:{client}"))

    async def for_call(self, arguments: Mapping[str, Any]) -> tuple[Self, Mapping[str, Any]]:
        """Return the view for a call, and its arguments: of the global vault if a path names it.

        Raises:
            InvalidRequest: `INVALID_REQUEST` if one path names it and another does not.
            VaultAgentError: if it cannot be opened.
        """
        paths = {name: arguments[name] for name in PATHS if isinstance(arguments.get(name), str)}
        global_names = {name for name, path in paths.items() if path.startswith(IN_GLOBAL)}
        if not (self.vaults and global_names):
            return self, arguments
        if len(global_names) < len(paths):
            raise InvalidRequest(
                "INVALID_REQUEST", "The paths of one call are in one vault.", remedy=""
            )
        stripped = {name: paths[name].removeprefix(IN_GLOBAL) or "." for name in global_names}
        vault = await self.app.vaults.open(GLOBAL)
        return replace(self, vault=vault, vaults=(), prefix=IN_GLOBAL), {**arguments, **stripped}

    def patterns(self, place: str | None) -> list[str]:
        """Return a folder or glob of this client as one of the vault; [] for everything."""
        path = unescaped(place or "").strip("/")
        if path in ("", "."):
            return []
        # A glob without a slash is matched with file names in any folder.
        return [path if "/" not in path and "*" in path else self.caller.scope.in_vault(path)]

    @property
    def rights(self) -> frozenset[Right]:
        """What the client may write. `Caller.rights` is never None for an agent."""
        return self.caller.rights or frozenset()

    @property
    def context(self) -> CallContext:
        """What operations run in."""
        return CallContext(self.app, self.vault, self.caller)

    @property
    def client_tools(self) -> ClientTools:
        """What decides which tools the client has."""
        switched_on = [setting for setting in TOOL_SWITCHES if is_on(setting, self.vault.config)]
        return ClientTools(self.toolset, self.rights, switched_on, self.caller.is_named_agent)

    async def perform(
        self, operation: Operation[Any, Result[Any]], fields: Mapping[str, Any]
    ) -> Envelope[Any]:
        """Run an operation as this client's caller. `fields` have the names of JSON.

        Raises:
            VaultAgentError: as `api.operation.perform`.
        """
        request = parse_values(operation.request, fields)
        reply = (await perform(operation, self.context, request)).reply
        if self.told is None:
            return reply
        news = tuple(warning for warning in reply.warnings if warning.code not in self.told)
        self.told.update(STATES.intersection(warning.code for warning in news))
        return replace(reply, warnings=news)
