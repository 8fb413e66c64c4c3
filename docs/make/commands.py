"""The page of commands, made from their help."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import asyncclick as click
from docs.make.markdown import joined, sentence, table, wrapped

from vault_agent.cli.command import Exit, GlobalOption, Invocation, Noun
from vault_agent.cli.run import FOR_PROGRAMS, NAME, SECTIONS, program

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_OF_WRITES = {
    ("--dry-run", "Show the difference, and write nothing."),
    ("--expected-hash", "Refuse if the note has another hash: its first 16 digits or more."),
    ("--no-wait", "Do not wait until a search finds the change."),
}
_HEAD = """\
# Commands

`make docs` writes this page from the help of the program: `vault-agent COMMAND --help` prints
the same. [How commands behave](command-line.md) has the rest.

## Every command

These options are valid before and after the command."""

_WRITES = "Each command that changes notes also has these options."


def page() -> str:
    """Return the page."""
    context = click.Context(program, **program.context_settings, info_name=NAME, obj=Invocation())
    everywhere = [each for each in program.params if isinstance(each, click.Option)]
    write = program.get_command(context, "write")
    assert write is not None
    of_writes = [each for each in _shown_options(write) if _is_of_writes(each)]
    parts = [_HEAD, _options(everywhere), *_exit_codes(), _WRITES, _options(of_writes)]
    shown: dict[object, str] = {}
    for title, names in {**SECTIONS, "For programs": FOR_PROGRAMS}.items():
        parts.append(f"## {title}")
        for name in names:
            command = program.get_command(context, name)
            assert command is not None
            below = click.Context(command, info_name=name, parent=context)
            parts += _command(command, below, shown)
    return joined(parts)


def _exit_codes() -> tuple[str, str]:
    rows = [(str(int(code)), code.meaning) for code in Exit]
    return "The exit code of a command is one of these:", table(("Code", "Meaning"), rows)


def _command(
    command: click.Command, context: click.Context, shown: dict[object, str]
) -> Iterator[str]:
    """Yield the parts of a command and of those below it. `shown` has the ones before."""
    alone = command.bare if isinstance(command, Noun) else command
    arguments = [
        argument.make_metavar(context)
        for argument in alone.params
        if isinstance(argument, click.Argument)
    ]
    path = context.command_path.removeprefix(f"{NAME} ")
    yield f"### `{' '.join((path, *arguments))}`"
    if not isinstance(command, click.Group):
        first = shown.setdefault(command.callback, path)
        if first != path:
            yield f"Another name of `{first}`."
            return
    yield from _help(command.help or "")
    yield _options([each for each in _shown_options(alone) if not _is_of_writes(each)])
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from _command(below, click.Context(below, info_name=name, parent=context), shown)


def _shown_options(command: click.Command) -> list[click.Option]:
    """Return the options of a command that are its own."""
    options = (each for each in command.params if isinstance(each, click.Option))
    return [each for each in options if not isinstance(each, GlobalOption)]


def _is_of_writes(option: click.Option) -> bool:
    return (option.opts[0], option.help) in _OF_WRITES


def _help(text: str) -> Iterator[str]:
    """Yield the paragraphs of a help text. A backspace before one keeps its lines."""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        kept, _, lines = paragraph.partition("\n")
        if kept.strip() == "\b":
            yield "\n".join(["```sh", *(line.strip() for line in lines.splitlines()), "```"])
        else:
            yield wrapped(" ".join(paragraph.replace("\f", "").split()))


def _options(options: Sequence[click.Option]) -> str:
    return table(("Option", "Meaning"), [_option(each) for each in options if not each.hidden])


def _option(option: click.Option) -> tuple[str, str]:
    names = [f"`{name}`" for name in (*option.opts, *option.secondary_opts)]
    if not (option.is_flag or option.count):
        names[-1] = f"{names[-1][:-1]} {option.metavar or _values(option)}`"
    text = (sentence(option.help) if option.help else "") + _limits(option)
    if option.multiple and "epeat" not in text and not isinstance(option, GlobalOption):
        text += " Repeatable."
    is_value = isinstance(option.default, str | int) and not option.is_flag
    if is_value and "Default" not in text:
        text += f" Default: {option.default}."
    return ", ".join(names), text.strip()


def _limits(option: click.Option) -> str:
    """Return what values are allowed, where neither the placeholder nor the text says it."""
    if isinstance(option.type, click.Choice) and option.metavar:
        return f" One of {', '.join(map(str, option.type.choices))}."
    if isinstance(option.type, click.IntRange) and option.type.max is not None:
        limits = f"{option.type.min or 0:,} to {option.type.max:,}"
        return "" if limits in (option.help or "") else f" {limits}."
    return ""


def _values(option: click.Option) -> str:
    if isinstance(option.type, click.Choice):
        return "|".join(map(str, option.type.choices))
    if isinstance(option.type, click.types.IntParamType):
        return "N"
    return "PATH" if isinstance(option.type, click.Path) else "TEXT"
