"""What to say of a command line that was mistyped, without repeating any of it.

What was typed may be a query, a path or a key, and errors end up in logs and bug reports. The
parser's own messages quote it.
"""

from __future__ import annotations

from typing import Any

import asyncclick as click


def describe(misuse: click.ClickException) -> str:
    """Return what is wrong, in terms of the options and commands that there are."""
    match misuse:
        case click.NoSuchOption(possibilities=near):
            return "No such option" + (_hint(near) or _quoting(misuse.ctx))
        case click.exceptions.NoSuchCommand(possibilities=near):
            return "No such command" + _hint(near)
        case click.MissingParameter():
            return " ".join(misuse.format_message().split())  # choices stand in lines of their own
        case click.BadParameter(param=click.Parameter() as parameter):
            hint = parameter.get_error_hint(misuse.ctx)
            return f"Invalid value for {hint}: {_rule(parameter.type)}"
        case _:  # ours, or one that names an option only
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
