"""Error messages for a mistyped command line that do not quote it.

Arguments may contain a query, a path or a key, and errors end up in logs and bug reports. The
parser's own messages quote arguments.
"""

from __future__ import annotations

from typing import Any

import asyncclick as click


def describe(misuse: click.ClickException) -> str:
    """Return an error message that names only known options and commands."""
    match misuse:
        case click.NoSuchOption(possibilities=near):
            return "No such option" + (_hint(near) or _quoting(misuse.ctx))
        case click.exceptions.NoSuchCommand(possibilities=near):
            return "No such command" + _hint(near)
        case click.MissingParameter():
            return " ".join(
                misuse.format_message().split()
            )  # the parser puts choices on separate lines
        case click.BadParameter(param=click.Parameter() as parameter):
            hint = parameter.get_error_hint(misuse.ctx)
            return f"Invalid value for {hint}: {_rule(parameter.type)}"
        case _:  # our own error, or one that names only an option
            return misuse.format_message()


def _hint(near: list[str] | None) -> str:
    return f" (did you mean {near[0]}?)" if near else ""


def _quoting(context: click.Context | None) -> str:
    if context is None or context.info_name != "search":
        return ""
    return ". To leave a word out, quote the query, as in 'frost -greenhouse'"


def _rule(kind: click.ParamType[Any]) -> str:
    match kind:
        case click.Choice(choices=choices):
            return f"not one of {', '.join(map(str, choices))}"
        case click.types.IntParamType():
            return "not a valid integer"
        case _:
            return f"not a valid {kind.name}"
