"""Error messages for a mistyped command line.

They repeat the name of an option or command that does not exist. They do not repeat values, as the
parser's own messages do: these may contain a query, a path or a key, and errors end up in logs and
bug reports.
"""

from __future__ import annotations

from typing import Any

import asyncclick as click

from vault_agent.cli.terminal import quoted

# What people type who come from other programs, and what does it here.
_MEANT = {
    "add": "new",
    "browse": "ui",
    "cat": "show",
    "create": "new",
    "find": "search",
    "history": "undo --list",
    "info": "status",
    "less": "show",
    "ls": "list",
    "mkdir": "new FOLDER/",
    "mv": "move",
    "note": "show",
    "notes": "list",
    "print": "show",
    "query": "search",
    "read": "show",
    "rebuild": "reindex",
    "refresh": "index",
    "rename": "move",
    "restart": "serve --background",
    "rm": "delete",
    "settings": "config",
    "start": "serve --background",
    "stats": "status",
    "stop": "serve --stop",
    "todo": "tasks",
    "todos": "tasks",
    "view": "show",
    "web": "ui",
}
_TO_LIST = ("list", "ls", "show")
_TAKE_AWAY = ("remove", "delete", "forget", "cancel", "disconnect", "uninstall", "rm")


def describe(misuse: click.ClickException) -> str:
    """Return an error message without the values that were typed."""
    match misuse:
        case click.NoSuchOption(option_name=typed, possibilities=near):
            known = misuse.ctx.command.params if misuse.ctx is not None else ()
            begun = [each for one in known for each in one.opts if each.startswith(f"{typed}-")]
            hint = _hint([" or ".join(sorted(begun))] if begun else near)
            return f"No such option: {quoted(typed)}" + (hint or _quoting(misuse.ctx))
        case click.exceptions.NoSuchCommand(command_name=typed, possibilities=near):
            return f"No such command: {quoted(typed)}" + _meant(typed, near, misuse.ctx)
        case click.MissingParameter():
            return " ".join(
                misuse.format_message().split()
            )  # the parser puts choices on separate lines
        case click.BadParameter(param=click.Parameter() as parameter):
            hint = parameter.get_error_hint(misuse.ctx)
            if parameter.name == "limit" and misuse.ctx and misuse.ctx.info_name == "grep":
                return f"Invalid value for {hint}: it limits the lines, whose numbers are shown"
            return f"Invalid value for {hint}: {_rule(parameter.type)}"
        case _:  # our own error, or one that names only an option
            return misuse.format_message()


def _hint(near: list[str] | None) -> str:
    return f" (did you mean {near[0]}?)" if near else ""


def _meant(typed: str, near: list[str] | None, context: click.Context | None) -> str:
    """Return the hint for a command: another program's name for it, or one that looks alike."""
    parts = context.command_path.split()[1:] if context is not None else []
    if parts == ["get"] and not near:
        return " (to read a note: vault-agent show)"
    known = " ".join(parts) if parts and typed in _TO_LIST else None
    known = _MEANT.get(typed) if not parts else known
    if typed in _TAKE_AWAY and context is not None and isinstance(context.command, click.Group):
        here = context.command.list_commands(context)
        known = next((" ".join([*parts, each]) for each in _TAKE_AWAY if each in here), known)
    return _hint([known] if known else near)


def _quoting(context: click.Context | None) -> str:
    if context is None or context.info_name != "search":
        return ""
    return ". To leave a word out, quote the query, as in 'frost -greenhouse'"


def _rule(kind: click.ParamType[Any]) -> str:
    match kind:
        case click.Choice(choices=choices):
            return f"not one of {', '.join(map(str, choices))}"
        case click.IntRange(min=least, max=None):
            return f"not a number from {least}"
        case click.types.IntParamType():
            return "not a valid integer"
        case _:
            return f"not a valid {kind.name}"
