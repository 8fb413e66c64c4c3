"""`vault-agent setup`: from nothing to a server, in a few questions."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import asyncclick as click
import orjson

from vault_agent.cli.agent_programs import ALIASES, CLIENTS, ClientType
from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.config import built_in_settings, install_model
from vault_agent.cli.servers import in_home
from vault_agent.cli.terminal import (
    agreed,
    ask,
    ask_folder,
    can_ask,
    clean,
    complain,
    envelope,
    say,
    style,
    tell,
)
from vault_agent.errors import InvalidRequest, Misconfigured, VaultAgentError, counted
from vault_agent.model.health import Health
from vault_agent.system.files import expanded, is_folder, read_regular

if TYPE_CHECKING:
    from vault_agent.config.settings import Config

_USUAL = ("Notes", "notes", "Documents/Notes", "Documents/Obsidian", "Obsidian", "vault")
"""Folders of notes in the home folder that are offered if they exist."""

_OBSIDIAN_ON_LINUX = (
    ".var/app/md.obsidian.Obsidian/config/obsidian",  # flatpak
    "snap/obsidian/current/.config/obsidian",
)
_NAME = "Name the folder of your notes, such as `vault-agent setup --folder ~/Notes`."


class Answers(NamedTuple):
    """What is set up."""

    folder: Path
    watch: bool
    web: bool
    meaning: bool
    agents: tuple[str, ...]
    service: bool


@click.command("setup", cls=Command)
@click.option("--folder", metavar="PATH", help="The folder of your notes.")
@click.option("--watch/--no-watch", default=None, help="Notice changes by itself. Default: yes.")
@click.option("--web/--no-web", default=None, help="Serve the web page here. Default: yes.")
@click.option(
    "--meaning/--no-meaning",
    default=None,
    help="Search by meaning too, in English. Default: yes where its model is installed.",
)
@click.option(
    "--agent",
    "agents",
    metavar="CLIENT",
    multiple=True,
    type=ClientType(),
    help="Connect this agent.",
)
@click.option("--no-agents", is_flag=True, help="Connect none.")
@click.option("--service/--no-service", default=None, help="Start at each login. Default: no.")
@click.option("--no-wait", is_flag=True, help="Do not wait for the first index.")
@click.option("-y", "--yes", is_flag=True, help="Ask nothing: what is not given has its default.")
def command(
    invocation: Invocation,
    /,
    *,
    folder: str | None,
    watch: bool | None,
    web: bool | None,
    meaning: bool | None,
    agents: tuple[str, ...],
    no_agents: bool,
    service: bool | None,
    no_wait: bool,
    yes: bool,
) -> None:
    """Set up your own notes in a few questions.

    They are about the folder, the watch, the web page and the service. Two more are about agents,
    if some are found here, and about search by meaning, if the built-in model is installed.

    Each question has a default, and an option. Without a terminal, options and defaults are used,
    and no agent is connected unless it is named. It can be run again at any time.

    \b
    vault-agent setup
    vault-agent setup --folder ~/Notes --agent claude-code --no-web --yes
    """  # noqa: D301 - \\b tells the parser to keep these lines
    from vault_agent.cli.features import settings_now
    from vault_agent.cli.service import installed_service

    config = settings_now(invocation)
    asks = can_ask() and not yes and not invocation.json
    chosen = _folder_of(config, folder, asks=asks)
    # Run again, it offers what is set.
    serves = installed_service(invocation) is not None
    old = config if config is not None and config.vault.root is not None else None
    watches, has_page = (old.watch.enabled, old.web.enabled) if old is not None else (True, True)
    answers = Answers(
        chosen,
        _yes("Notice changes of notes by itself?", watch, default=watches, asks=asks),
        _yes("Serve a web page on this computer?", web, default=has_page, asks=asks),
        _meaning(config, meaning, asks=asks),
        () if no_agents else agents or _agents(asks=asks),
        _yes("Start the server at each login?", service, default=serves, asks=asks),
    )
    endpoint, lines = _set_up(invocation, answers, wait=not no_wait)
    _show(invocation, answers, endpoint, lines)


def _yes(question: str, option: bool | None, *, default: bool, asks: bool) -> bool:
    if option is not None:
        return option
    return agreed(question, yes=False, default=default) if asks else default


def _meaning(config: Config | None, option: bool | None, *, asks: bool) -> bool:
    """Whether the built-in model is to be turned on: where it is installed, and no other is set.

    Raises:
        InvalidRequest: if it is wanted and not installed.
    """
    if config is not None and config.embedding.model is not None and not option:
        return False
    if not built_in_settings():
        if option:
            raise InvalidRequest("INVALID_REQUEST", f"Install the model first: {install_model()}")
        return False
    return _yes("Search by meaning too, in English?", option, default=True, asks=asks)


def _folder_of(config: Config | None, typed: str | None, *, asks: bool) -> Path:
    """Return the folder of the notes, which exists.

    Raises:
        InvalidRequest: if none is given, none is set, and there is nobody to ask.
        Misconfigured: `VAULT_NOT_FOUND`, `CONFIG_INVALID`.
    """
    current = config.vault.root if config is not None else None
    if typed is None and not asks:
        if current is None:
            raise InvalidRequest("INVALID_REQUEST", _NAME)
        typed = str(current)
    if typed is not None:
        return _checked(typed, config)
    offered = _offered(current)
    for number, (folder, note) in enumerate(offered.items(), 1):
        tell(f"  {number}  {in_home(folder)}{note}")
    numbers = {str(number): str(folder) for number, folder in enumerate(offered, 1)}
    question = "Folder of your notes, by number or path" if numbers else "Folder of your notes"
    while True:
        answer = ask_folder(question, "1" if numbers else "")
        try:
            return _checked(numbers.get(answer, answer), config)
        except Misconfigured as refusal:
            tell(refusal.what or "Type a number or a path.")


def _checked(typed: str, config: Config | None) -> Path:
    """Return the folder that was typed.

    Raises:
        Misconfigured: `VAULT_NOT_FOUND`, or `CONFIG_INVALID` with why it cannot be the vault.
    """
    from vault_agent.config.layers import absolute
    from vault_agent.config.rules import data_folder, holds_index

    root = absolute(expanded(typed))
    if not (typed and is_folder(root)):
        raise Misconfigured(
            "VAULT_NOT_FOUND",
            f"There is no folder {in_home(root)}." if typed else "",
            remedy=_NAME,
        )
    parent = config.index.dir if config is not None else None
    if holds_index(root, parent):
        what = f"It holds the indexes too ({in_home(data_folder(parent))})."
    elif root in (Path.home(), Path(root.anchor)):
        what = "It holds much more than notes."
    else:
        return root
    what = f"{in_home(root)} cannot be the vault. {what}"
    raise Misconfigured("CONFIG_INVALID", what, remedy=_NAME)


def _offered(current: Path | None) -> dict[Path, str]:
    """Return the folders that seem to have the user's notes, the likeliest first, with why."""
    usual = (Path.home() / name for name in _USUAL)
    here = Path.cwd()
    offered = {current: " (as it is set)"} if current is not None and is_folder(current) else {}
    if is_folder(here / ".obsidian"):
        offered.setdefault(here, " (this folder)")
    for vault in obsidian_vaults():
        offered.setdefault(vault, " (Obsidian)")
    return offered or {folder: "" for folder in usual if is_folder(folder)}


def _agents(*, asks: bool) -> tuple[str, ...]:
    """Return the agents to connect: those that the person names, of those that are here."""
    here = [name for name, client in CLIENTS.items() if client.is_here]
    if not (asks and here):
        return ()
    while True:
        answer = ask("Agents that may search and read them, or none", ",".join(here))
        typed = [name.strip() for name in answer.split(",") if name.strip() not in ("", "none")]
        names = [ALIASES.get(name, name) for name in typed]
        if all(name in CLIENTS for name in names):
            return tuple(names)
        tell(f"Choose from {', '.join(CLIENTS)}.")


def _set_up(invocation: Invocation, answers: Answers, *, wait: bool) -> tuple[str, list[str]]:
    """Write the settings, connect the agents, and start the server.

    Return its address, and what was done, in sentences.

    An agent that cannot be connected, or a system without services, is no reason to stop.
    """
    from vault_agent.cli import agent_connect
    from vault_agent.cli.features import apply
    from vault_agent.cli.serve import follow_first_index, started
    from vault_agent.cli.service import install_service, wait_for_service

    settings = [
        ("vault.root", str(answers.folder)),
        ("watch.enabled", str(answers.watch).lower()),
        ("web.enabled", str(answers.web).lower()),
        *([*built_in_settings(), ("embedding.enabled", "true")] if answers.meaning else []),
        *([("mcp.enabled", "true")] if answers.agents else []),
    ]
    apply(invocation, settings, must_serve=True)
    lines = []
    for name in answers.agents:
        lines += agent_connect.connect(invocation, name)[0]
    service = None
    if answers.service:
        try:
            service, _ = install_service(invocation)
        except VaultAgentError as error:
            if not error.code.startswith("SERVICE_"):
                raise
            complain(error.code, error.message, look="warning")
            lines.append("The server runs in the background. It does not start at each login.")
    if service is not None:
        lines.append(f"The service is {in_home(service.file)}.")
        endpoint = wait_for_service(invocation)
    else:
        running = started(invocation, {})
        endpoint = running.address.endpoint
        if running.about_port:
            lines.append(running.about_port)
    if wait and not invocation.json:
        follow_first_index(endpoint, invocation.layers())
    return endpoint, lines


def _show(invocation: Invocation, answers: Answers, endpoint: str, lines: list[str]) -> None:
    from vault_agent.cli.open import VIEWS, new_address, place_of

    with invocation.client() as client:
        health = client.call("GET /health").read(Health)
        page = None
        if answers.web:
            page = new_address(client, place_of(VIEWS[0]))
    if invocation.json:
        envelope(
            {
                "endpoint": endpoint,
                "page": page,
                "folder": str(answers.folder),
                "agents": list(answers.agents),
                "done": lines,
            }
        )
        return
    for line in lines:
        say(clean(line))
    of = f"of {in_home(answers.folder)}"
    if health.running_job is None:
        say(f"Ready: {counted(health.index.notes, 'note')} {of}")
    else:
        say(f"The index {of} is being built. To follow it: vault-agent jobs follow")
    say(f"  server    {endpoint}")
    if page is not None:
        say(f"  web page  {style(page, 'strong')}")
    say()
    say("Next:")
    say("  vault-agent search what I look for")
    if page is not None:
        say("  vault-agent ui")
    say("  vault-agent doctor")


def obsidian_vaults() -> list[Path]:
    """Return the vaults that are there: open ones first, then the last used ones."""
    rows = sorted(row for place in _settings() for row in _rows(place / "obsidian.json"))
    return [folder for _, _, name in rows if is_folder(folder := Path(name))]


def _settings() -> list[Path]:
    """Return the folders in which Obsidian may keep its settings."""
    home = Path.home()
    if sys.platform == "darwin":
        return [home / "Library" / "Application Support" / "obsidian"]
    if sys.platform == "win32":
        return [Path(os.environ.get("APPDATA", home)) / "obsidian"]
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    return [config / "obsidian", *(home / place for place in _OBSIDIAN_ON_LINUX)]


def _rows(file: Path) -> list[tuple[bool, float, str]]:
    """Return whether each vault is closed, its age, and its folder. A broken file has none.

    Of the settings a megabyte is read: a vault takes a hundred bytes.
    """
    try:
        vaults = orjson.loads(read_regular(file, 1 << 20, follow=True) or b"")["vaults"].values()
        return [(not row.get("open"), -float(row.get("ts", 0)), str(row["path"])) for row in vaults]
    except (ValueError, LookupError, TypeError, AttributeError):
        return []
