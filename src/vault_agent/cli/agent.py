"""`vault-agent agent`: connects the programs that agents run in, and gives agents rights."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, get_args

import asyncclick as click

from vault_agent.cli.agent_programs import CLIENTS, ClientType
from vault_agent.cli.command import Exit, Invocation, Noun
from vault_agent.cli.features import typed_parts, wait_for_server
from vault_agent.cli.servers import agents_without_folder, in_home, server_here
from vault_agent.cli.terminal import clean, envelope, say, tell
from vault_agent.config import rules
from vault_agent.config.fast_settings import connection, hook_settings
from vault_agent.config.layers import config_path
from vault_agent.config.rights import allowed_rights
from vault_agent.config.setting_names import Toolset
from vault_agent.errors import Misconfigured, NotFound, counted
from vault_agent.text.names import NOTE_SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.config.settings import Config

command = Noun("agent")
_MCP_IS_OFF = "Agents may not use MCP yet. To let them: vault-agent enable mcp"
_RIGHTS = (
    "Its rights, such as create,append. More: edit, overwrite, move, delete, permanent. Never more"
    " than write.allow, and only in write.folders."
)
_TOOLSET = click.option(
    "--toolset",
    type=click.Choice(get_args(Toolset)),
    help="Its tools: those of another server, with their names. Default: mcp.toolset.",
)


@command.by_itself
def show(invocation: Invocation) -> None:
    """Connect Claude Code, Cursor and others to your notes, and say what agents may see.

    By itself it shows which programs are connected, and the named agents with their rights.
    """
    from vault_agent.cli.agent_connect import known_agents
    from vault_agent.config.settings import build_config

    rows = known_agents(invocation)
    config = build_config(invocation.layers())
    agents = config.agents
    if invocation.json:
        own = [
            {"name": name, "folders": agent.folders or (".",)}
            | agent.model_dump(include={"deny", "write", "toolset"})
            for name, agent in agents.items()
        ]
        keys = ("name", "title", "found", "entry", "hooks", "agent")
        clients = [dict(zip(keys, row, strict=True)) for row in rows]
        envelope({"clients": clients, "agents": own})
        return
    absent = [row.name for row in rows if not row.is_here and row.entry == "missing"]
    for row in rows:
        if row.name in absent:
            continue
        state = {"installed": "connected", "other": "has an entry with another command"}.get(
            row.entry, "unreadable settings" if row.entry == "unreadable" else "not connected"
        )
        if row.acts_as is not None:
            state += f" as {clean(row.acts_as)}"
        hooks = f", hooks {row.hooks}" if row.hooks not in (None, "missing") else ""
        say(f"{row.name:<16}{row.title:<22}  {state}{hooks}")
    for name in agents:
        say(f"{clean(name):<16}{'an agent with a key':<22}  {_rights_of(name, config)}")
    if absent:
        tell(f"Not found here: {', '.join(absent)}")


def _rights_of(name: str, config: Config) -> str:
    """Return what an agent sees and may write by the settings as they are."""
    agent = config.agents[name]
    denied = f" without {', '.join(map(clean, agent.deny))}" if agent.deny else ""
    missing = agents_without_folder(config).get(name)
    refused = f"; refused: it sees {missing}" if missing else ""
    sees = f"sees {', '.join(map(clean, agent.folders)) or 'the whole vault'}{denied}{refused}"
    tools = f"; tools of {agent.toolset}" if agent.toolset is not None else ""
    allowed = allowed_rights(config.write.allow, config.write.folders, agent.folders, agent.write)
    rights = [right for right in agent.write if right in allowed]
    if not agent.write:
        writes = ""
    elif not config.write.enabled:
        writes = "; may not write, as writing is off"
    else:
        writes = f"; writes: {', '.join(rights)}" if rights else "; may not write by write.allow"
    return f"{sees}{writes}{tools}"


@command.command("connect")
@click.argument("name", metavar="CLIENT", type=ClientType())
@click.option("--url", metavar="URL", help="The server, if it runs on another computer.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask: turn on mcp.enabled if it is off.")
@click.option("--agent", metavar="AGENT", help="Connect it as this agent of the config file.")
@click.option("--print", "only_print", is_flag=True, help="Print what to type or to paste.")
@click.option("--force", is_flag=True, help="Replace an entry that exists.")
@click.option("--no-hooks", is_flag=True, help="Leave out the hooks for memory.")
def connect(
    invocation: Invocation,
    name: str,
    *,
    url: str | None,
    yes: bool,
    agent: str | None,
    only_print: bool,
    force: bool,
    no_hooks: bool,
) -> int:
    """Connect an agent, such as claude-code, and check it.

    Adds the entry of vault-agent to its settings, and its hooks if memory is on. If agents may not
    use MCP yet, it asks once and turns that on. A server on another computer needs its key:
    `vault-agent config set server.api_key -` keeps it here.

    \b
    vault-agent agent connect claude-code
    vault-agent agent connect cursor --url http://nas.example:1065
    vault-agent agent connect zed --print
    """  # noqa: D301 - \\b tells the parser to keep these lines
    from vault_agent.cli import agent_connect
    from vault_agent.cli.features import FEATURES, tell_applied

    if url is not None:
        invocation.endpoint = url
    require_agent(invocation, agent)
    if only_print:
        _print(invocation, name, agent, hooks=not no_hooks)
        return Exit.SUCCESS
    done, code = agent_connect.connect(
        invocation, name, agent=agent, force=force, hooks=not no_hooks
    )
    if not invocation.json:
        for line in done:
            say(clean(line))
    if code != Exit.SUCCESS:
        if invocation.json:
            envelope({"agent": name, "done": done, "switchedOn": False, "tools": None})
        return code
    # The settings of a server elsewhere are not known here.
    applied = None if url is not None else agent_connect.allow_agents(invocation, yes=yes)
    off = url is None and agent_connect.mcp_is_off(invocation)
    if applied is not None and not invocation.json:
        say(FEATURES["mcp"].now)
        tell_applied(applied._replace(endpoint=applied.endpoint or ""))
    tools = None if off else agent_connect.check(invocation, agent)
    if invocation.json:
        envelope({"agent": name, "done": done, "switchedOn": applied is not None, "tools": tools})
    elif tools is None:
        tell(_MCP_IS_OFF)
    else:
        say(f"Checked: it gets {counted(len(tools), 'tool')}, and its first search works.")
        say(f"To undo: vault-agent agent disconnect {name}")
    return code


def _print(invocation: Invocation, name: str, agent: str | None, *, hooks: bool) -> None:
    """Print what to type or to paste, and where: the entry, and the hooks if memory is on."""
    from vault_agent.cli import agent_connect, agent_hooks, agent_programs

    client = CLIENTS[name]
    if not client.program:
        tell(f"Into {in_home(client.file()) if client.file is not None else client.by_hand}:")
    command = agent_connect.entry_command(invocation, agent)
    say(clean(agent_programs.snippet(client, command), lines=True))
    if hooks and client.hooks is not None and hook_settings(invocation.layers()).enabled:
        tell(f"Into {in_home(client.hooks.user())}:")
        ours = agent_connect.hooks_command(invocation, name)
        say(clean(agent_hooks.snippet(name, ours), lines=True))
    if agent_connect.mcp_is_off(invocation):
        tell(_MCP_IS_OFF)


@command.command("disconnect")
@click.argument("name", metavar="CLIENT", type=ClientType())
def disconnect(invocation: Invocation, name: str) -> None:
    """Take our entry and hooks out of an agent's settings."""
    from vault_agent.cli.agent_connect import take_out

    done = take_out(invocation, name)
    if invocation.json:
        envelope({"agent": name, "done": done})
        return
    for line in done:
        say(clean(line))
    if not done:
        tell("It has neither an entry nor hooks of ours.")


def require_agent(invocation: Invocation, name: str | None) -> None:
    """Refuse an agent that the settings do not have. Those of a server elsewhere are not known.

    None is an unnamed agent.

    Raises:
        NotFound: `AGENT_NOT_FOUND`.
    """
    layers = invocation.layers()
    is_known = name is None or any(name in layer.agents for layer in layers)
    if rules.is_local(connection(layers).endpoint) and not is_known:
        raise NotFound("AGENT_NOT_FOUND", "The config file has no agent of this name.")


@command.command("add")
@click.argument("name", metavar="AGENT")
@click.option(
    "--folder",
    "folders",
    metavar="FOLDER",
    required=True,
    multiple=True,
    help="A folder that it sees; . is the whole vault.",
)
@click.option("--deny", metavar="FOLDER", multiple=True, help="A folder that it never sees.")
@click.option("--write", metavar="RIGHTS", default="", help=f"{_RIGHTS} Default: none.")
@_TOOLSET
def add(
    invocation: Invocation,
    name: str,
    *,
    folders: tuple[str, ...],
    deny: tuple[str, ...],
    write: str,
    toolset: str | None,
) -> None:
    """Add an agent and print its key, once.

    A folder of an agent that may create notes is made at its first write there.
    """
    from vault_agent.config.edit import add_agent
    from vault_agent.config.settings import build_config

    config = build_config(invocation.layers())
    rights = typed_parts(write)
    folders = _folders_of_vault(config, folders, rights)
    path = config_path(invocation.config)
    _show_key(invocation, name, add_agent(path, name, folders, deny, rights, toolset=toolset))
    if config.vault.root is None:
        tell("No vault is set yet, so it sees nothing. To set one: vault-agent setup")
    _tell_denies_nothing(config, deny)
    _tell_lacking(config, rights)


@command.command("set")
@click.argument("name", metavar="AGENT")
@click.option("--folder", "folders", metavar="FOLDER", multiple=True, help="All that it sees.")
@click.option(
    "--deny", metavar="FOLDER", multiple=True, help="All that it never sees; none for nothing."
)
@click.option("--write", metavar="RIGHTS", help=f"{_RIGHTS} Or none.")
@_TOOLSET
def set_(
    invocation: Invocation,
    name: str,
    *,
    folders: tuple[str, ...],
    deny: tuple[str, ...],
    write: str | None,
    toolset: str | None,
) -> None:
    """Change what an agent sees and may write. Its key stays.

    \b
    vault-agent agent set claude --write create,append
    """  # noqa: D301 - \\b tells the parser to keep these lines
    from vault_agent.config.edit import change_agent
    from vault_agent.config.settings import build_config

    config = build_config(invocation.layers())
    changes: dict[str, str | list[str]] = {}
    if deny:
        changes["deny"] = [] if deny == ("none",) else list(deny)
    if write is not None:
        changes["write"] = list(typed_parts(write))
    if toolset is not None:
        changes["toolset"] = toolset
    if not changes and not folders:
        raise click.UsageError("say what to change: --folder, --deny, --write or --toolset")
    agent = config.agents.get(name)
    rights = typed_parts(write) if write is not None else agent.write if agent is not None else ()
    if folders:
        changes["folders"] = list(_folders_of_vault(config, folders, rights))
    elif write is not None and agent is not None:
        _folders_of_vault(config, agent.folders, rights)
    change_agent(config_path(invocation.config), name, changes)
    if invocation.json:
        envelope({"name": name, **changes})
        return
    say(f"{clean(name)} {_rights_of(name, build_config(invocation.layers()))}.")
    if deny != ("none",):
        _tell_denies_nothing(config, deny)
    if write is not None:
        _tell_lacking(config, rights)
    _tell_if_refused(invocation)


def _folders_of_vault(
    config: Config, folders: tuple[str, ...], rights: Sequence[str]
) -> tuple[str, ...]:
    """Return the folders of an agent with their names on the disk.

    Raises:
        Misconfigured: `AGENT_FOLDER_NOT_FOUND` for one that is missing, and that it cannot make.
    """
    from vault_agent.config.agents import as_on_disk, missing_in

    root = config.vault.root
    try:
        inside = rules.seen_folders(folders)
    except ValueError:
        return folders  # what writes them refuses them, with the rule
    if root is None or not inside:
        return folders
    inside = tuple(as_on_disk(root, folder) for folder in inside)
    if missing := missing_in(root, inside, rights):
        raise Misconfigured(
            "AGENT_FOLDER_NOT_FOUND",
            f"The vault has no folder {', '.join(map(clean, missing))}. Nothing was changed.",
            remedy="Make it, name another one with --folder, or let the agent make it:"
            " --write create",
        )
    return inside


def _tell_denies_nothing(config: Config, deny: Sequence[str]) -> None:
    """Say which folders or notes that are denied the vault lacks: they may be mistyped."""
    from vault_agent.config.agents import as_on_disk

    if (root := config.vault.root) is None:
        return
    places = {path: root / as_on_disk(root, rules.vault_folder(path)) for path in deny}
    missing = [
        path
        for path, place in places.items()
        if not any(os.path.lexists(f"{place}{suffix}") for suffix in ("", *NOTE_SUFFIXES))
    ]
    if missing:
        names = ", ".join(map(clean, missing))
        tell(f"The vault has no {names}. --deny takes paths below the vault, without wildcards.")


def _tell_lacking(config: Config, rights: Sequence[str]) -> None:
    """Say which rights the settings do not let any agent have, and what gives them."""
    if rights and not config.write.enabled:
        tell("Writing is off: `vault-agent enable write` turns it on.")
    elif lacking := [right for right in rights if right not in config.write.allow]:
        more = clean(",".join(lacking))
        tell(f"No agent has {more} yet. To allow it: vault-agent enable write --allow {more}")


@command.command("rotate")
@click.argument("name", metavar="AGENT")
def rotate(invocation: Invocation, name: str) -> None:
    """Give an agent a new key and print it, once."""
    from vault_agent.config.edit import rotate_key

    _show_key(invocation, name, rotate_key(config_path(invocation.config), name))


@command.command("remove")
@click.argument("name", metavar="AGENT")
def remove(invocation: Invocation, name: str) -> None:
    """Remove an agent. A program that acts as it keeps its entry, and is refused."""
    from vault_agent.cli.agent_connect import known_agents
    from vault_agent.config.edit import remove_agent

    remove_agent(config_path(invocation.config), name)
    if invocation.json:
        envelope({"removed": name})
    else:
        say(f"The agent {clean(name)} is removed.")
        for client in known_agents(invocation):
            if client.acts_as == name:
                tell(f"{client.title} is refused now: vault-agent agent disconnect {client.name}")
        _tell_if_refused(invocation)


def _show_key(invocation: Invocation, name: str, key: str) -> None:
    if invocation.json:
        envelope({"name": name, "key": key, "path": f"/mcp/{name}"})
        return
    say(key)
    tell(f"This key opens /mcp/{clean(name)} and nothing else. It is shown only now.")
    tell(f"A client of this computer needs no key: vault-agent agent connect CLIENT --agent {name}")
    _tell_if_refused(invocation)


def _tell_if_refused(invocation: Invocation) -> None:
    """Wait until the running server has taken the change over, and say if it has not."""
    server = server_here(invocation.layers())
    if server is None:
        return
    in_use = wait_for_server(invocation, server)
    if in_use is None or in_use.refused:
        tell("The server does not use it yet. To see why: vault-agent doctor")
