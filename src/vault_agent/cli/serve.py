"""`vault-agent serve`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import asyncclick as click

from vault_agent import __version__
from vault_agent.cli import detached, servers
from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.features import KEY_NEEDED
from vault_agent.cli.servers import (
    STOP,
    Running,
    as_argument,
    in_home,
    require_servable,
    running_servers,
    server_in,
    which_vault,
)
from vault_agent.cli.status import embedding_state, index_state, say_rows, watch_state
from vault_agent.cli.terminal import clean, complain, envelope, leave_line, say, style, tell, warn
from vault_agent.config import rules
from vault_agent.errors import Busy, VaultAgentError
from vault_agent.model.health import Health
from vault_agent.system.address import recorded_vault
from vault_agent.system.files import keep_new_files_private

if TYPE_CHECKING:
    from vault_agent.cli.servers import Server
    from vault_agent.config.layers import Layer
    from vault_agent.config.settings import Config
    from vault_agent.server.serve import Listening

_SECONDS_TO_LOCK: Final = 3.0
"""A server that has just got its port locks its index within these seconds."""


@click.command("serve", cls=Command)
@click.option("--vault-root", type=click.Path(), help="The folder of notes.")
@click.option("--host", metavar="ADDRESS", help="Address to listen on. Default: server.host.")
@click.option("--port", type=int, help="Port to listen on. Default: server.port.")
@click.option("--index-dir", type=click.Path(), help="Folder for the indexes.")
@click.option(
    "--watch/--no-watch", default=None, help="Notice changes of notes. Default: watch.enabled."
)
@click.option("--mcp", is_flag=True, help="Let agents call /mcp, as with mcp.enabled = true.")
@click.option("--web", is_flag=True, help="Serve the web page, as with web.enabled = true.")
@click.option("--until-idle", is_flag=True, help="End after 15 minutes without requests.")
@click.option("--background", is_flag=True, help="Run it in the background.")
@click.option("--stop", is_flag=True, help="Stop the server of this vault, or the one found here.")
@click.option(
    "--at-login",
    type=click.Choice(("install", "remove", "status")),
    help="Run it whenever you are logged in: install or remove that, or show its status.",
)
def command(
    invocation: Invocation,
    /,
    *,
    background: bool,
    stop: bool,
    until_idle: bool,
    at_login: str | None,
    **options: str | int | bool | None,
) -> int | None:
    """Start the server.

    It runs in the foreground, and Ctrl-C stops it. The first start also builds the index. With
    --background it runs until `vault-agent serve --stop`, or until the computer restarts, and the
    command shows the progress of the first index. One that an agent has started no longer ends by
    itself then.

    The server follows the config file: what changes there is used within a second. With
    --at-login it is a systemd user unit on Linux, and a launchd agent on macOS, which read your
    config file.
    """
    if stop and background:
        raise click.UsageError("--stop excludes --background")
    flags = {
        "vault.root": options["vault_root"],
        "server.host": options["host"],
        "server.port": options["port"],
        "index.dir": options["index_dir"],
        "watch.enabled": options["watch"],
        "mcp.enabled": options["mcp"] or None,
        "web.enabled": options["web"] or None,
    }
    if at_login is not None:
        if stop or background or until_idle or any(value is not None for value in flags.values()):
            raise click.UsageError("--at-login takes no other option: it reads your config file")
        from vault_agent.cli import service  # seldom needed

        return service.at_login(invocation, at_login)
    if stop:
        _stop(invocation, flags)
    elif background:
        _tell_running(invocation, flags, started(invocation, flags, until_idle=until_idle))
    else:
        _serve(invocation, flags, until_idle=until_idle)
    return None


def _serve(invocation: Invocation, flags: dict[str, Any], *, until_idle: bool = False) -> None:
    config = _checked(invocation, flags)
    import asyncio

    from vault_agent.config.followed_file import FollowedFile
    from vault_agent.config.layers import config_path
    from vault_agent.config.server_key import require_key
    from vault_agent.config.settings import index_directory
    from vault_agent.server.serve import serve  # takes long, so settings are checked before

    require_servable(config)
    if (server := server_in(index_directory(config))) is not None:
        raise _served_already(invocation, flags, server)

    def announce(server: Listening, health: Health) -> None:
        endpoint = rules.endpoint_of(server.host, server.port)
        if invocation.json:
            envelope({"host": server.host, "port": server.port, "endpoint": endpoint})
        else:
            _announce(config, server, health, endpoint, _options(invocation, endpoint))
        if config.web.enabled and config.web.open_on_serve:
            _open_page(endpoint, server)

    keep_new_files_private()
    layers = invocation.layers(flags)

    def accept(config: Config) -> Config:
        require_servable(config)
        return require_key(config, invocation.config)[0]

    follow = FollowedFile(config_path(invocation.config), layers, accept)
    asyncio.run(serve(config, announce=announce, until_idle=until_idle, follow=follow))
    leave_line()


def started(invocation: Invocation, flags: dict[str, Any], *, until_idle: bool = False) -> Running:
    """Start the server of this vault if none runs.

    One of another version, and one that would end when agents no longer ask it, are replaced by one
    with the same flags. A server is not stopped if another one could not start.

    Raises:
        VaultAgentError: why it did not start.
    """
    from vault_agent.config.settings import build_config, index_directory

    folder = index_directory(build_config(invocation.layers(flags)))
    detached.running(folder)  # it may still be starting
    server = server_in(folder)
    if server is not None:
        ends = server.address.until_idle and not until_idle
        if not ends and server.address.version == __version__:
            _require_flags(invocation, flags, server)
            return Running(server.address, folder, before=server)
        chosen = {name: value for name, value in flags.items() if value not in (None, "")}
        flags = {**_flags_of(server), **chosen}
    config = _checked(invocation, flags)
    require_servable(config)
    if server is not None:
        if urlsplit(server.address.endpoint).port != config.server.port:
            servers.taken_port(invocation, flags, config)
        detached.stop(folder)
    try:
        running = servers.start(invocation, flags, config, until_idle=until_idle)
    except VaultAgentError as error:
        # Another command may have started it at the same moment.
        if error.code not in ("PORT_IN_USE", "INDEX_LOCKED"):
            raise
        address = detached.running(folder, within=_SECONDS_TO_LOCK)
        if address is None:
            raise
        return Running(address, folder, before=server_in(folder))
    return running._replace(before=server)


def _flags_of(server: Server) -> dict[str, Any]:
    """Return the flags that a server was started with."""
    from vault_agent.config.followed_file import flags_to_repeat

    return flags_to_repeat(server.in_use) if server.in_use is not None else {}


def _require_flags(invocation: Invocation, flags: dict[str, Any], server: Server) -> None:
    """Raise Busy `INDEX_LOCKED` if a running server was started without one of these flags."""
    from vault_agent.config.settings import build_config, value_of

    wanted = build_config(invocation.layers(flags))
    used = build_config(invocation.layers(_flags_of(server)))
    names = [name for name, value in flags.items() if value not in (None, "")]
    if any(value_of(wanted, name) != value_of(used, name) for name in names):
        raise _served_already(invocation, flags, server)


def _served_already(invocation: Invocation, flags: dict[str, Any], server: Server) -> Busy:
    return Busy(
        "INDEX_LOCKED",
        f"This vault is served already, at {server.address.endpoint}.",
        remedy=f"To start it with other flags, stop it first: `{STOP}"
        f"{which_vault(invocation, flags)}`.",
    )


def _tell_running(invocation: Invocation, flags: dict[str, Any], running: Running) -> None:
    """Say where the server is that runs in the background now, and what to do next."""
    address, before = running.address, running.before
    layers = invocation.layers(flags)
    if invocation.json:
        more = {} if before is None else {"restarted": running.is_new}
        envelope({**address._asdict(), "started": running.is_new, **more})
        return
    follow_first_index(address.endpoint, layers)
    state = "runs in the background" if running.is_new else "already runs"
    say(f"vault-agent {state} at {style(address.endpoint, 'strong')}")
    rows = {"vault": in_home(recorded_vault(running.folder)), "process": str(address.pid)}
    if running.is_new:
        rows["log"] = in_home(running.folder / "server.log")
    say_rows(rows)
    if running.about_port:
        tell(running.about_port)
    options = _options(invocation, address.endpoint)
    say()
    say("Next:")
    say(f"  vault-agent search what I look for{options}")
    say(f"  vault-agent open 1{options}")
    say(f"  vault-agent serve --stop{which_vault(invocation, flags)}")


def follow_first_index(endpoint: str, layers: tuple[Layer, ...]) -> None:
    """Show the progress of the first index, or why the index can't be used.

    Ctrl-C leaves the server and the job running.
    """
    from vault_agent.cli.jobs import follow
    from vault_agent.client.client import Client
    from vault_agent.config.fast_settings import connection

    client = Client(endpoint, connection(layers).api_key)
    reply = client.call("GET /health")
    health = reply.read(Health)
    if not health.index.available and health.running_job is not None:
        follow(client, health.running_job, as_json=False)
        say()
    elif not health.index.available:
        warn(reply.warnings)  # the index can't be used: they say what to do


def _stop(invocation: Invocation, flags: dict[str, Any]) -> None:
    layers = invocation.layers(flags)
    chosen = flags["vault.root"] is not None
    server = servers.stop(layers, only_of_vault=chosen)
    if invocation.json:
        more = {} if server is None else {"endpoint": server.address.endpoint}
        envelope({"stopped": server is not None, **more})
        return
    if server is not None:
        say(f"The server at {server.address.endpoint} has stopped.")
        say(f"It served {in_home(server.vault)}.")
        return
    tell("No server runs for this vault." if chosen else "No server runs here.")
    for other in running_servers(layers):
        tell(f"One of {in_home(other.vault)} runs at {other.address.endpoint}. To stop it:")
        tell(f"  vault-agent serve --stop --vault-root {as_argument(other.vault)}")


def _checked(invocation: Invocation, flags: dict[str, Any]) -> Config:
    """Return the settings of a server. Warn if other computers can reach it."""
    from vault_agent.config.layers import config_path, read_text, unused_settings
    from vault_agent.config.server_key import require_key
    from vault_agent.config.settings import build_config

    config = build_config(invocation.layers(flags))
    for problem in unused_settings(read_text(config_path(invocation.config)) or ""):
        complain("CONFIG_INVALID", f"{problem}.", look="warning")
    exposed = not rules.is_loopback(config.server.host)
    if exposed:
        from vault_agent.system.address import require_bindable

        # A key is written to the user's config file only for an address that can be bound.
        require_bindable(config.server.host, config.server.port)
    config, made = require_key(config, invocation.config)
    if exposed:
        _warn_of_the_network(made=made)
    elif made:
        tell(KEY_NEEDED)
    return config


def _warn_of_the_network(*, made: bool) -> None:
    key = (
        "A key was created and written to your config file. Every request needs it."
        if made
        else "Every request needs the key."
    )
    complain(
        "SERVER_EXPOSED",
        f"Other computers can reach this server, without encryption. {key} `vault-agent config"
        " reveal-api-key` prints it.",
        look="warning",
    )


def _open_page(endpoint: str, server: Listening) -> None:
    """Open the web page, without waiting for the browser. If none can be started, go on."""
    from threading import Thread

    from vault_agent.cli.open import VIEWS, opens_in_browser, page_address, place_of

    ticket = server.page_sessions.make_ticket().ticket if server.page_sessions is not None else None
    address = page_address(endpoint, place_of(VIEWS[0]), ticket)
    Thread(target=opens_in_browser, args=(address,), daemon=True).start()


def _page_of(config: Config, endpoint: str) -> str:
    """Return the address of the web page, or the command that opens it with a ticket."""
    if config.server.api_key is None:
        return f"{endpoint}/ui/"
    return "vault-agent ui opens it, vault-agent ui --print prints its address"


def _options(invocation: Invocation, endpoint: str) -> str:
    """Return the flags that other commands need to find this server."""
    from vault_agent.config.fast_settings import connection
    from vault_agent.config.layers import read_layers

    flags = f" --config {shlex.quote(str(invocation.config))}" if invocation.config else ""
    if connection(read_layers(chosen=invocation.config)).endpoint != endpoint:
        flags += f" --endpoint {endpoint}"
    return clean(flags)


def _announce(
    config: Config, server: Listening, health: Health, endpoint: str, options: str
) -> None:
    say(f"vault-agent {__version__} at {style(endpoint, 'strong')}")
    rows = {
        "server": f"{server.host}, port {server.port}",
        "vault": in_home(config.vault.root),
        "index": index_state(health, health.warnings),
        **({"watch": watch_state(health, health.warnings)} if health.watch.enabled else {}),
        "embeddings": embedding_state(health, health.warnings),
        "key": "required" if config.server.api_key is not None else "not needed",
        **({"web page": _page_of(config, endpoint)} if config.web.enabled else {}),
    }
    say_rows(rows)
    say()
    say("Next, in another terminal (Ctrl-C here stops the server):")
    if not health.index.available and health.running_job is not None:
        say(f"  vault-agent jobs follow {clean(health.running_job)}{options}")
    elif not health.index.available:
        say(f"  vault-agent reindex{options}")
    say(f'  vault-agent search "what I look for"{options}')
    if config.web.enabled:
        say(f"  vault-agent ui{options}")
