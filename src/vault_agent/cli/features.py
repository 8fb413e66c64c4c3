"""Changes of settings: the features that they turn on, and how the running server gets them."""

from __future__ import annotations

import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.cli.command import read_table
from vault_agent.cli.servers import START, STOP, require_servable, running_servers, server_here
from vault_agent.cli.terminal import complain, say, tell
from vault_agent.config.followed_file import file_digest, flags_to_repeat, settings_in_use
from vault_agent.config.layers import config_path
from vault_agent.config.setting_names import SETTINGS
from vault_agent.errors import Misconfigured
from vault_agent.system.address import is_serving

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from vault_agent.cli.command import Invocation
    from vault_agent.cli.servers import Server
    from vault_agent.config.followed_file import SettingsInUse
    from vault_agent.config.layers import Layer
    from vault_agent.config.settings import Config

KEY_NEEDED = (
    "Every request needs a key from now on. Commands and agents on this computer take it from the"
    " config file."
)
_SECONDS_TO_FOLLOW = 60.0
_SECONDS_TO_REOPEN = 5.0
"""A server that has left its index for so long has ended."""
_SECONDS_BETWEEN_LOOKS = 0.1


class Before(NamedTuple):
    """What a change of settings begins with.

    Args:
        config: the settings in force, or None while they are invalid.
        server: the server that runs here, if one does.
    """

    config: Config | None
    server: Server | None


def before_change(invocation: Invocation) -> Before:
    """Return the settings in force, and the server that will follow a change of them."""
    server = None
    with suppress(Misconfigured):  # the user may be repairing the file
        server = server_here(invocation.layers())
    return Before(settings_now(invocation), server)


def settings_now(invocation: Invocation) -> Config | None:
    """Return the settings in force, or None while they are invalid."""
    from vault_agent.config.settings import build_config

    try:
        return build_config(invocation.layers())
    except Misconfigured:
        return None  # the user may be repairing the file step by step


def after_change(invocation: Invocation, before: Before, names: Sequence[str]) -> Iterator[str]:
    """Yield what follows from a change of the settings `names`, in lines for the user.

    Waits until the server that runs has taken them over.
    """
    now = settings_now(invocation)
    if now is None:
        return
    root = now.vault.root
    yield from _idle(now, names)
    yield from about_key(before.config, now)
    if "vault.root" in names and root is None:
        if before.server is not None:
            yield f"The server that runs keeps its vault until it ends. To end it: {STOP}"
        yield "No vault is set now. To set one: vault-agent setup"
        return
    if before.server is None:
        if "vault.root" in names:
            yield f"Next: {START}"
        return
    yield from _taken_over(invocation, before.server, names)


def _taken_over(invocation: Invocation, server: Server, names: Sequence[str]) -> Iterator[str]:
    """Yield whether a server uses the settings `names` now."""
    in_use = wait_for_server(invocation, server)
    server = server_here(invocation.layers()) or server
    where = f"The server at {server.address.endpoint}"
    if in_use is None:
        yield f"{where} has not taken it over yet. To start it anew: `{STOP}`, then `{START}`"
    elif in_use.refused:
        yield f"{where} goes on without this change: {in_use.refused}"
    elif kept := [name for name in names if name in in_use.flags]:
        yield f"{where} was started with its own {', '.join(kept)}, and keeps it."
    elif any(SETTINGS[name].of_server for name in names):
        yield f"{where} uses it from now on."


def wait_for_server(invocation: Invocation, server: Server) -> SettingsInUse | None:
    """Wait until a server has looked at the config file as it is now. Return what it uses then.

    None if it does not within `_SECONDS_TO_FOLLOW`, or has ended.
    """
    file = config_path(invocation.config)
    deadline = time.monotonic() + _SECONDS_TO_FOLLOW
    ended_at = time.monotonic() + _SECONDS_TO_REOPEN
    while time.monotonic() < min(deadline, ended_at):
        digest = file_digest(file)  # the server may write its key into the file meanwhile
        # With another vault or port, its folder and address are other ones.
        for one in (server, *running_servers(invocation.layers())):
            in_use = settings_in_use(one.folder, server.address.pid)
            if in_use is None or not is_serving(one.folder):
                continue
            if in_use.file == digest:
                return in_use
            ended_at = time.monotonic() + _SECONDS_TO_REOPEN
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    return None


def about_key(before: Config | None, now: Config) -> Iterator[str]:
    """Yield that requests need a key, if they needed none before."""
    from vault_agent.config.server_key import is_exposed, needs_key

    if before is None or before.server.api_key is not None or needs_key(before):
        return
    if needs_key(now):
        page = " The web page opens with `vault-agent ui`." if now.web.enabled else ""
        yield f"{KEY_NEEDED}{page}"
    if is_exposed(now):
        yield "Other computers need it too: `vault-agent config reveal-api-key` prints it."


def _idle(now: Config, names: Iterable[str]) -> Iterator[str]:
    """Yield which of the switches do little or nothing yet, and what turns on the rest."""
    from vault_agent.config.setting_names import unmet
    from vault_agent.config.settings import value_of

    for name in names:
        missing = unmet(partial(value_of, now), name, SETTINGS[name].idle_without)
        if missing:
            section = SETTINGS[name].section
            yield (
                f"{name} does little or nothing without {' and '.join(missing)}. To turn on all"
                f" that it needs: `vault-agent enable {section}`"
            )


class Feature(NamedTuple):
    """A feature that can be turned on and off: a row of `features.toml`."""

    summary: str
    on: list[str]
    off: list[str]
    now: str
    ended: str
    then: str = ""


FEATURES = {name: Feature(**row) for name, row in read_table("features.toml").items()}


def typed_parts(typed: str) -> tuple[str, ...]:
    """Return what was typed with commas between. `none` is nothing."""
    parts = tuple(part.strip() for part in typed.split(",") if part.strip())
    return () if parts == ("none",) else parts


def switch(names: Iterable[str], *, on: bool) -> list[tuple[str, str]]:
    """Return the switches of features with their new values, each once."""
    groups = (FEATURES[name].on if on else FEATURES[name].off for name in names)
    switches = dict.fromkeys(switch for switches in groups for switch in switches)
    return [(switch, "true" if on else "false") for switch in switches]


def apply(
    invocation: Invocation, settings: Sequence[tuple[str, str]], *, must_serve: bool = False
) -> Applied:
    """Write settings in one step, and wait until the running server has taken them over.

    All settings must be valid with them. With `must_serve`, and while a server runs, a server must
    be able to start with them.

    Raises:
        VaultAgentError: what is wrong with them. Nothing was written.
    """
    from vault_agent.config.edit import set_values
    from vault_agent.config.settings import build_config

    before = before_change(invocation)
    in_use = before.server.in_use if before.server is not None else None

    def accept(file: Layer) -> None:
        flags, variables, _ = invocation.layers()
        config = build_config((flags, variables, file))
        if in_use is not None:
            values = {**flags_to_repeat(in_use), **flags.values}
            require_servable(build_config((flags._replace(values=values), variables, file)))
        elif must_serve:
            require_servable(config)

    set_values(config_path(invocation.config), dict(settings), accept=accept)
    lines = tuple(after_change(invocation, before, [name for name, _ in settings]))
    server = server_here(invocation.layers())
    return Applied(lines, server.address.endpoint if server is not None else None)


class Applied(NamedTuple):
    """What a change of settings meant: lines for the user, and where the server runs."""

    lines: tuple[str, ...]
    endpoint: str | None = None


def overridden(settings: Mapping[str, str]) -> None:
    """Warn of settings that a variable of the environment overrides."""
    import os

    for name in settings:
        variable = SETTINGS[name].environment
        if variable in os.environ:
            complain("CONFIG_INVALID", f"{variable} overrides {name}: unset it.", look="warning")


def tell_applied(applied: Applied, *, then: str = "", needs_server: bool = True) -> None:
    """Say what a change meant, and what to type next."""
    for line in applied.lines:
        tell(line)
    if applied.endpoint is None and needs_server:
        say(f"No server runs. To start it: {START}")
    if then:
        say(f"Next: {then}")
