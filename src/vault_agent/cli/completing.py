"""Completes names of notes, tags, folders and vaults in a shell, from what the server knows.

Nothing is offered, and nothing printed, if no server answers at once.
"""

from __future__ import annotations

import io
import threading
from contextlib import redirect_stderr, suppress
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from asyncclick.types import StringParamType

if TYPE_CHECKING:
    from collections.abc import Iterable

    import asyncclick as click
    from asyncclick.shell_completion import CompletionItem

    from vault_agent.cli.command import Invocation

    Kind: TypeAlias = Literal["note", "tag", "folder", "vault"]

_SECONDS = 1.0
_MOST = 50
# Parameters by their name or by how they are shown.
_KINDS: dict[str, Kind] = {
    "note": "note",
    "NOTE": "note",
    "[NOTE]": "note",
    "FROM": "note",
    "TO": "note",
    "NOTE:LINE": "note",
    "tags": "tag",
    "paths": "folder",
    "[FOLDER]...": "folder",
    "[PATH]...": "folder",
    "vault": "vault",
}


class Name(StringParamType):
    """The text of a parameter that names something of a vault."""

    def __init__(self, kind: Kind) -> None:
        self._kind: Kind = kind

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        """Return the names that begin with what was typed."""
        from asyncclick.shell_completion import CompletionItem

        del param
        found: list[str] = []

        def ask() -> None:
            with suppress(Exception):  # no server, no vault, a wrong setting: nothing is offered
                found.extend(_names(ctx.obj, self._kind, incomplete))

        with redirect_stderr(io.StringIO()):
            thread = threading.Thread(target=ask, daemon=True)
            thread.start()
            thread.join(_SECONDS)
        return [CompletionItem(each) for each in dict.fromkeys(found) if each.isprintable()]


def complete_names(parameters: Iterable[click.Parameter]) -> None:
    """Let the shells complete the parameters that name notes, tags, folders and vaults."""
    for parameter in parameters:
        if type(parameter.type) is StringParamType:
            kind = _KINDS.get(parameter.name or "") or _KINDS.get(parameter.metavar or "")
            if kind is not None:
                parameter.type = Name(kind)


def _names(invocation: Invocation, kind: Kind, text: str) -> list[str]:
    from vault_agent.cli.here import all_vaults, scope
    from vault_agent.client import calls

    if kind == "vault":
        return [each for each in all_vaults() if each.startswith(text)]
    sign = "#" if kind == "tag" and text.startswith("#") else ""
    text = text.removeprefix(sign)
    names: list[str] = []
    with invocation.client() as client:
        for vault in scope(invocation):
            client.vault_name = vault
            found = client.call(calls.SUGGEST, q=text, kinds=kind, limit=_MOST)
            for each in found.envelope["data"]["suggestions"]:
                names += (sign + name for name in _offered(each, text))
    return names


def _offered(suggestion: dict[str, Any], text: str) -> list[str]:
    """Return what of a suggestion begins with what was typed: its short name, or its path."""
    name = suggestion["insert"].partition("|")[0]  # a link shows another text after the bar
    texts = (name, suggestion["label"], suggestion.get("path"))
    begun = (each for each in texts if each and each.casefold().startswith(text.casefold()))
    return list(begun)[:1]
