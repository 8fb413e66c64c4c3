"""What a change of settings means, and how the running server gets it."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from vault_agent.cli.servers import START, require_servable, restart_command, server_here
from vault_agent.config.keys import KEYS
from vault_agent.config.layers import config_path
from vault_agent.errors import Misconfigured

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from vault_agent.cli.command import Invocation
    from vault_agent.cli.servers import Server
    from vault_agent.config import Config
    from vault_agent.config.layers import Layer

KEY_NEEDED = (
    "Every request needs a key from now on. Commands and agents on this computer take it from the"
    " config file, and the web page opens with `vault-agent ui`."
)
_SECONDS_TO_FOLLOW = 3.0
_SECONDS_BETWEEN_LOOKS = 0.1
_PART_OF_THE_INDEX = ("index.max_note_bytes", "index.frontmatter_fields")


def settings_now(invocation: Invocation) -> Config | None:
    """Return the settings in force, or None while they are invalid."""
    from vault_agent.config import build_config

    try:
        return build_config(invocation.layers())
    except Misconfigured:
        return None  # the user may be repairing the file step by step


def after_change(
    invocation: Invocation, before: Config | None, names: Sequence[str]
) -> Iterator[str]:
    """Yield what follows from a change of the settings `names`, in lines for the user.

    `before` are the settings before it.
    """
    now = settings_now(invocation)
    if now is None:
        return
    root = now.vault.root
    if "vault.root" in names and root is not None and not os.path.isdir(root):  # noqa: PTH112 - Path.is_dir raises for a name that is too long
        yield "VAULT_NOT_FOUND: The folder does not exist. Make it, or correct vault.root."
        return
    yield from _idle(now, names)
    if "search.folders" in names:
        yield from _about_folders(now)
    yield from about_key(before, now)
    server = server_here(invocation.layers())
    if server is None:
        if "vault.root" in names and root is not None:
            yield f"Next: {START}"
        elif any(name in _PART_OF_THE_INDEX for name in names):
            yield "Then rebuild the index: vault-agent reindex"
        return
    # A server of an older version has not noted its settings.
    known = server.started is not None
    live = [name for name in names if KEYS[name].live]
    changed = still_changed(invocation, server, live)
    where = f"The server at {server.address.endpoint}"
    if not any(name in changed if known else KEYS[name].of_server for name in names):
        if live:
            yield f"{where} uses it from now on."
        return
    again = restart_command(invocation.config)
    if "vault.root" in names:
        yield f"{where} still serves {server.name}. To serve this vault instead: `{again}`"
    elif "vault.exclude" in names:
        yield f"{where} takes the exclusions over when it restarts: `{again}`"
    elif any(name in _PART_OF_THE_INDEX for name in names):
        yield f"To apply it: `{again}`, then `vault-agent reindex`"
    else:
        yield f"{where} runs without this change. To apply it: `{again}`"


def still_changed(invocation: Invocation, server: Server, names: Iterable[str]) -> list[str]:
    """Return the settings that a server does not use yet, in their place "agents" for its agents.

    Wait for a moment until it has taken `names` over.
    """
    deadline = time.monotonic() + _SECONDS_TO_FOLLOW
    while True:
        changed = server.changed(invocation.layers())
        if not set(names) & set(changed) or time.monotonic() > deadline:
            return changed
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def _about_folders(now: Config) -> Iterator[str]:
    """Yield which weights do nothing. If the list of vaults is broken, `doctor` says so."""
    with suppress(Misconfigured):
        if unknown := unknown_folders(now):
            yield f"No vault has {', '.join(unknown)}, so its weight does nothing."


def unknown_folders(config: Config) -> list[str]:
    """Return the folders of `search.folders` that neither the vault nor a registered one has.

    While a vault is not there, nobody knows, and there are none.

    Raises:
        Misconfigured: `CONFIG_INVALID` if the list of vaults cannot be read.
    """
    from vault_agent.config.registry import read_registry

    folders = config.search.weights.folders
    if not folders:
        return []
    roots = [each.root for each in read_registry()]
    if config.vault.root is not None:
        roots.append(config.vault.root)
    if not all(map(os.path.isdir, roots)):
        return []
    return [folder for folder in folders if not any(_has(root, folder) for root in roots)]


def _has(root: Path, folder: str) -> bool:
    """Whether a vault has a folder of exactly this name, as weights compare it."""
    here = str(root)
    for name in folder.split("/") if folder else ():
        try:
            if name not in os.listdir(here):  # noqa: PTH208 - here is text
                return False
        except OSError:
            return False
        here = os.path.join(here, name)  # noqa: PTH118
    return os.path.isdir(here)  # noqa: PTH112


def waits_in_background(invocation: Invocation, names: Iterable[str]) -> bool:
    """Whether a server in the background must be restarted for one of the settings `names`."""
    server = server_here(invocation.layers())
    if server is None or server.started is None or server.started.at_terminal:
        return False
    return bool(set(names) & set(server.changed(invocation.layers())))


def about_key(before: Config | None, now: Config) -> Iterator[str]:
    """Yield that requests need a key, if they needed none before."""
    from vault_agent.config.access import changes_notes

    if before is None or before.server.api_key is not None or changes_notes(before):
        return
    if changes_notes(now):
        yield KEY_NEEDED


def _idle(now: Config, names: Iterable[str]) -> Iterator[str]:
    """Yield which of the switches do nothing yet, and what turns on the rest."""
    from vault_agent.config.keys import unmet
    from vault_agent.config.settings import value_of

    for name in names:
        missing = unmet(partial(value_of, now), name, KEYS[name].idle_without)
        if missing:
            section = KEYS[name].section
            yield (
                f"{name} does nothing without {' and '.join(missing)}. To turn on all that it"
                f" needs: `vault-agent enable {section}`"
            )


def set_all(
    invocation: Invocation, settings: Sequence[tuple[str, str]], *, must_serve: bool = False
) -> None:
    """Write settings into the config file in one step, if all settings are valid with them.

    With `must_serve`, and while a server runs in the background, a server must be able to start
    with them.

    Raises:
        VaultAgentError: what is wrong. Nothing was written.
    """
    from vault_agent.config import build_config
    from vault_agent.config.edit import set_values
    from vault_agent.config.started import repeated

    server = server_here(invocation.layers())
    started = server.started if server is not None else None

    def accept(file: Layer) -> None:
        given, variables, _ = invocation.layers()
        layers = (given, variables, file)
        config = build_config(layers)
        if started is not None and not started.at_terminal:
            flags = {**repeated(started, layers), **given.values}
            require_servable(build_config((replace(given, values=flags), variables, file)))
        elif must_serve:
            require_servable(config)

    set_values(config_path(invocation.config), dict(settings), accept=accept)
