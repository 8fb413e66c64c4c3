"""Runs one command line, prints its error if any, and returns the exit code."""

from __future__ import annotations

import errno
import signal
import sys
import warnings
from importlib import import_module
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent.cli.command import (
    Exit,
    Group,
    Invocation,
    asks_for_json,
    exit_code,
    read_table,
    require_utf8,
)
from vault_agent.cli.terminal import (
    DAY,
    DAYS,
    clean,
    complain,
    discard_buffer,
    error_envelope,
    leave_line,
    prepare_streams,
    quoted,
    say,
    tell,
)
from vault_agent.errors import Failed, InvalidRequest, VaultAgentError

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from types import FrameType


_ROWS = read_table("commands.toml")
NAME = "vault-agent"
SECTIONS: dict[str, dict[str, str]] = _ROWS["sections"]
"""The commands by section, each in one sentence."""
FOR_PROGRAMS: dict[str, str] = _ROWS["programs"]
_MODULES: dict[str, str] = _ROWS["modules"]
_IN_HELP = tuple(name for section in SECTIONS.values() for name in section)
COMMANDS = (*_IN_HELP, *FOR_PROGRAMS)

FIRST: tuple[str, ...] = tuple(_ROWS["first"])
"""The commands on the first screen of the help. `help all` has all of them."""

# A full disk or quota, a file size limit, a failing device, a read-only descriptor.
_CANNOT_WRITE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


def describe(misuse: click.ClickException) -> str:
    """Return an error message without the values that were typed.

    It repeats the name of an option or command that does not exist. Values may be a query, a path
    or a key, and errors end up in logs and bug reports.
    """
    match misuse:
        case click.NoSuchOption(option_name=typed, possibilities=near):
            return f"No such option: {quoted(typed)}" + _hint(typed, near, misuse.ctx)
        case click.exceptions.NoSuchCommand(command_name=typed, possibilities=near):
            return f"No such command: {quoted(typed)}" + _hint(typed, near, misuse.ctx)
        case click.exceptions.NoArgsIsHelpError():
            return "Missing command"
        case click.MissingParameter():
            # The parser puts choices on separate lines.
            return " ".join(misuse.format_message().split())
        case click.BadParameter(param=click.Parameter() as parameter):
            return (
                f"Invalid value for {parameter.get_error_hint(misuse.ctx)}: {_rule(parameter.type)}"
            )
        case _:  # our own error, or one that names only an option
            return misuse.format_message()


def _hint(typed: str, near: list[str] | None, context: click.Context | None) -> str:
    """Return what a name that does not exist may mean."""
    path = context.command_path.split()[1:] if context is not None else []
    if typed.startswith("-") or not path:  # the command of another program, or its option
        near = [meant] if (meant := read_table("meant.toml").get(typed)) else near
    if near:
        return f" (did you mean {near[0]}?)"
    is_query = path == ["search"]
    return ". To leave a word out, quote the query, as in 'frost -greenhouse'" if is_query else ""


def _rule(kind: click.ParamType[Any]) -> str:
    match kind:
        case click.Choice(choices=choices):
            return f"not one of {', '.join(map(str, choices))}"
        case _ if kind is DAY:
            return f"not a date: {DAYS}"
        case click.IntRange(min=least, max=most):
            return f"not a number from {least}{'' if most is None else f' to {most}'}"
        case click.types.IntParamType():
            return "not a valid integer"
        case _:
            return f"not a valid {kind.name}"


class _ReaderGone(Exception):
    """The reader of standard output has closed it."""


class _Program(Group):
    """The commands. Each is imported at its use."""

    async def invoke(self, ctx: click.Context) -> object:
        """Run the command. Hide a broken pipe from the parser, which would handle it itself."""
        try:
            return await super().invoke(ctx)
        except BrokenPipeError:
            raise _ReaderGone from None

    async def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or the option that `version` and `help` stand for."""
        match args:
            case ["version", *others]:
                args = ["--version", *others]
            case ["help", "all"]:
                say(_all_commands())
                await ctx.aexit()
            case ["help", *words]:
                args = [*words, "--help"]
        return await super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command with this name."""
        if cmd_name not in COMMANDS:
            if not ctx.resilient_parsing and not cmd_name.startswith("-"):
                raise click.exceptions.NoSuchCommand(cmd_name, possibilities=COMMANDS, ctx=ctx)
            return None
        module = import_module(f"vault_agent.cli.{_MODULES.get(cmd_name, cmd_name)}")
        command = getattr(module, cmd_name if cmd_name in _MODULES else "command")
        assert isinstance(command, click.Command)  # noqa: S101 - for the type
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands that a new user needs."""
        del ctx
        _write_sections(formatter, FIRST)
        formatter.write_paragraph()
        formatter.write_text(f"All {len(_IN_HELP)} commands: {NAME} help all")


def _all_commands() -> str:
    """Return the names of all commands, by section."""
    formatter = click.Context(program).make_formatter()
    _write_sections(formatter, _IN_HELP)
    formatter.write_paragraph()
    formatter.write_text(f"The help of one: {NAME} help search")
    return formatter.getvalue().strip("\n")


def _write_sections(formatter: click.HelpFormatter, names: tuple[str, ...]) -> None:
    widest = max(map(len, names))
    for title, section in SECTIONS.items():
        rows = [(name.ljust(widest), what) for name, what in section.items() if name in names]
        if rows:
            with formatter.section(title):
                formatter.write_dl(rows)


program = _Program(
    NAME,
    help="""Search, read and change one folder of Markdown notes on this computer.

    \b
    First steps:
      vault-agent demo                            see it work on sample notes
      vault-agent setup                           set up your own notes
      vault-agent search what I look for          find notes
      vault-agent open 1                          open the first one
    """,
    epilog="Exit codes: 0 success, 1 failure, 2 usage or configuration, 3 authentication,"
    " 4 not found, 5 busy, 6 broken links were found, 7 the note has changed.",
)


_interrupts: list[int] = []
"""The number of the signal, once for each Ctrl-C."""


def _interrupt(number: int, frame: FrameType | None) -> None:
    _interrupts.append(number)
    signal.default_int_handler(number, frame)


def run(arguments: list[str]) -> int:
    """Run one command line to its end and return the exit code."""
    prepare_streams()
    try:
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
            signal.signal(signal.SIGINT, _interrupt)
        code = _driven(_run(arguments))
        sys.stdout.flush()
    except (KeyboardInterrupt, click.Abort):
        # What Ctrl-C leaves open ends with the process.
        warnings.simplefilter("ignore", ResourceWarning)
        leave_line()
        return Exit.INTERRUPTED
    except (_ReaderGone, BrokenPipeError):
        # The reader has closed the pipe (`| head`).
        discard_buffer(sys.stdout)
        return Exit.NO_READER
    except Exception as defect:  # noqa: BLE001 - as in `_run`
        error = _unwritten(defect) or _internal(defect)
        complain(error.code, error.message)
        return exit_code(error)
    return code


def _driven(coroutine: Coroutine[Any, Any, int]) -> int:
    """Return the result of a coroutine that waits for nothing.

    The parser is written for an event loop. No command needs one, so none is imported.
    """
    try:
        coroutine.send(None)
    except StopIteration as end:
        return int(end.value)
    coroutine.close()
    raise RuntimeError("a command waits for an event loop")


async def _run(arguments: list[str]) -> int:
    try:
        require_utf8(arguments)
        result = await program.main(
            arguments, prog_name=NAME, standalone_mode=False, obj=Invocation()
        )
    except click.ClickException as misuse:
        if isinstance(misuse, click.exceptions.NoArgsIsHelpError) and not asks_for_json(arguments):
            say(misuse.format_message())
            return Exit.SUCCESS
        error: VaultAgentError = InvalidRequest("INVALID_REQUEST", _usage(misuse, arguments))
    except VaultAgentError as refusal:
        error = refusal
    except (_ReaderGone, BrokenPipeError, click.Abort):
        raise
    except Exception as defect:  # noqa: BLE001 - its text may contain private data, so it is not shown
        if _interrupts:  # in place of a KeyboardInterrupt, as pydantic raises it during an import
            raise KeyboardInterrupt from None
        error = _unwritten(defect) or _internal(defect)
    else:
        return result if isinstance(result, int) else Exit.SUCCESS
    if asks_for_json(arguments):
        error_envelope(error)
    complain(error.code, _with_next_step(error))
    for line in _candidates(error):
        tell(line)
    return exit_code(error)


def _usage(misuse: click.ClickException, arguments: list[str]) -> str:
    context = getattr(misuse, "ctx", None)
    if context is not None:
        command = context.command_path
    else:  # the parser says that an option lacks its value without a context
        command = " ".join((NAME, *(word for word in arguments[:1] if word in COMMANDS)))
    message = describe(misuse)
    return f"{message}{'' if message.endswith(('.', '?')) else '.'} See `{command} --help`."


def _unwritten(error: Exception) -> Failed | None:
    """Return the error for unwritable standard output, or None for any other error."""
    if not isinstance(error, OSError) or error.errno not in _CANNOT_WRITE:
        return None
    discard_buffer(sys.stdout)
    return Failed("OUTPUT_FAILED", f"the output cannot be written: {error.strerror}")


def _internal(defect: Exception) -> Failed:
    trace = defect.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f" at {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else ""
    return Failed(
        "INTERNAL_ERROR",
        f"vault-agent itself failed ({type(defect).__name__}{place}): please report this line",
    )


def unknown_setting(error: VaultAgentError) -> str | None:
    """Return a setting or section of the config file that this version does not know, if any."""
    for problem in error.details.get("problems", ()):
        for mark in ("", "]", "`"):
            if f"{problem['key']}{mark} (config file) is an unknown " in error.message:
                return str(problem["key"])
    return None


def _candidates(error: VaultAgentError) -> list[str]:
    """Return what the user may have meant, or is to type, as lines."""
    details = error.details
    notes = details.get("notes")  # those that have a name, or how many a move would change
    paths = [note["path"] for note in notes] if isinstance(notes, list) else []
    similar = details.get("suggestions", [])
    # A snippet is to be typed, or written into a file. The variables are those of a template.
    texts = [*paths, *similar, *details.get("snippet", "").splitlines()]
    texts += [f"--var {quote(f'{variable}=VALUE')}" for variable in details.get("variables", [])]
    for heading in details.get("headings", []):
        if isinstance(heading, dict):
            path = " > ".join(heading["headingPath"])
            texts.append(f"{heading['line']}: {path}  {heading['headingId']}")
        else:
            texts.append(heading)
    lines = [f"  {clean(text)}" for text in texts]
    return ["Similar names:", *lines] if similar else lines


def _with_next_step(error: VaultAgentError) -> str:
    if error.code == "WRITE_NOT_FOUND" and (write_id := error.details.get("writeId")):
        return f"{error.what} To take it back: `vault-agent undo {clean(str(write_id))}`"
    if error.code == "CONFIG_INVALID" and (gone := unknown_setting(error)):
        return f"{error.message} To remove it: `vault-agent config unset {clean(gone)}`"
    if error.code == "CONFIG_INVALID" and "is an unknown setting" in error.message:
        return f"{error.message} All settings: `vault-agent config`"
    if error.code == "VAULT_READ_ONLY" and error.details.get("setting") == "write.folders":
        return f"{error.message} To allow it: `vault-agent enable write --folder FOLDER`."
    if error.code == "EMBEDDING_UNAVAILABLE" and error.details.get("setting"):
        return (
            "Semantic search is off. Run `vault-agent enable embedding`, then `vault-agent index`,"
            " or leave out --mode."
        )
    return error.message
