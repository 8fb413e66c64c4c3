"""`vault-agent hooks`: lets agents report their sessions, and get what is remembered."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import asyncclick as click

from vault_agent.cli.clients import client_name, with_hooks
from vault_agent.cli.command import Command, Group, Invocation
from vault_agent.cli.terminal import clean, envelope, say, tell
from vault_agent.config.project import find_project, project_folder
from vault_agent.errors import VaultAgentError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from vault_agent.cli.clients import Scope

_AGENT = partial(client_name, among=with_hooks())


@click.group("hooks", cls=Group)
def command() -> None:
    """Let coding agents report their sessions.

    They get what is remembered in return. Their settings get one command for each event. Nothing
    else in them changes.
    """


def _scopes(function: Callable[..., object]) -> Callable[..., object]:
    user = click.option(
        "--user", "scope", flag_value="user", default="user", help="In all projects. The default."
    )
    project = click.option(
        "--project", "scope", flag_value="project", help="Only in the project of this folder."
    )
    return user(project(function))


@command.command("install", cls=Command)
@click.argument("agent", callback=_AGENT)
@_scopes
@click.pass_obj
async def install(invocation: Invocation, agent: str, scope: Scope) -> None:
    """Add the hooks to the settings of an agent."""
    from vault_agent.cli import agent_hooks
    from vault_agent.cli.connecting import hooks_command

    known, hooks = with_hooks()[agent]
    path = hooks.file(scope, _folder())
    changed = agent_hooks.install(agent, path, hooks_command(invocation, agent))
    if invocation.json:
        envelope({"agent": agent, "file": str(path), "changed": changed})
        return
    if not changed:
        say(f"{known.title} has the hooks already.")
        return
    say(f"{known.title}: the hooks are in {clean(str(path))}. {hooks.advice}")
    where = " --project" if scope == "project" else ""
    say(f"    to undo: vault-agent hooks remove {agent}{where}")
    _tell_if_off(invocation)


@command.command("remove", cls=Command)
@click.argument("agent", callback=_AGENT)
@_scopes
@click.pass_obj
async def remove(invocation: Invocation, agent: str, scope: Scope) -> None:
    """Take the hooks out of the settings of an agent."""
    from vault_agent.cli import agent_hooks

    known, hooks = with_hooks()[agent]
    path = hooks.file(scope, _folder())
    changed = agent_hooks.remove(agent, path)
    if invocation.json:
        envelope({"agent": agent, "file": str(path), "changed": changed})
    elif changed:
        say(f"{known.title}: the hooks are no longer in {clean(str(path))}.")
    else:
        say(f"{known.title} has no hooks of ours there.")


@command.command("status", cls=Command)
@click.argument("agent", callback=_AGENT, required=False)
@click.pass_obj
async def status(invocation: Invocation, agent: str | None) -> None:
    """Show which agents have the hooks."""
    from vault_agent.cli import agent_hooks
    from vault_agent.cli.connecting import hooks_command

    rows = []
    scopes: tuple[Scope, ...] = ("user", "project")
    for name, (known, hooks) in with_hooks().items():
        if agent not in (None, name):
            continue
        ours = hooks_command(invocation, name)
        for scope in scopes:
            path = hooks.file(scope, _folder())
            try:
                found: str = agent_hooks.state(name, path, ours)
            except VaultAgentError:
                found = "unreadable"
            rows.append(
                {
                    "agent": name,
                    "title": known.title,
                    "scope": scope,
                    "found": known.is_here,
                    "state": found,
                    "file": str(path),
                }
            )
    if invocation.json:
        envelope({"hooks": rows})
        return
    for row in rows:
        if row["scope"] == "project" and row["state"] == "missing":
            continue
        begin = f"{row['agent']:<12} {row['scope']:<8}"
        if row["state"] == "missing" and not row["found"]:
            say(f"{begin} not found here")
            continue
        note = ": install them again" if row["state"] == "outdated" else ""
        say(f"{begin} {row['state']}{note}  {clean(str(row['file']))}")
    _tell_if_off(invocation)


def _folder() -> Path:
    """Return the folder of the current project, or the one that would become one."""
    try:
        found = find_project()
    except VaultAgentError:
        found = None
    return found.folder if found is not None else project_folder()


def _tell_if_off(invocation: Invocation) -> None:
    from vault_agent.config.connection import hook_settings

    if not hook_settings(invocation.layers()).enabled:
        tell("The hooks do nothing yet: `vault-agent init` in a project turns memory on.")
