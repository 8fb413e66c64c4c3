"""Runs one command line, prints its error if any, and returns the exit code."""

from __future__ import annotations

import errno
import os
import signal
import sys
import warnings
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from shlex import quote

import asyncclick as click

from vault_agent.cli import exits
from vault_agent.cli.command import Group, Invocation, asks_for_json, require_utf8
from vault_agent.cli.misuse import describe
from vault_agent.cli.terminal import (
    as_typed,
    clean,
    complain,
    discard_buffer,
    error_envelope,
    leave_line,
    prepare_streams,
    say,
    tell,
)
from vault_agent.errors import Failed, InvalidRequest, VaultAgentError

NAME = "vault-agent"
_COMPLETING = "_VAULT_AGENT_COMPLETE"

SECTIONS = {
    "Find": (
        "search",
        "show",
        "open",
        "list",
        "grep",
        "related",
        "links",
        "graph",
        "tags",
        "tasks",
    ),
    "Change": ("write", "edit", "new", "move", "delete", "undo"),
    "Agents": ("agent", "memory", "journal"),
    "Server": (
        "demo",
        "setup",
        "init",
        "serve",
        "status",
        "doctor",
        "index",
        "ui",
        "vaults",
        "config",
        "enable",
        "disable",
        "service",
        "uninstall",
    ),
}
"""The commands of the help, in the order in which a new user needs them."""

MORE = (
    "backlinks",
    "completion",
    "context",
    "embedding",
    "folders",
    "get",
    "indexes",
    "jobs",
    "mcp",
    "mkdir",
    "promote",
    "reindex",
    "trust",
    "watch",
    "writes",
)
"""Commands that the help only names: they are rare, or parts of those in the sections."""

OLD = ("frontmatter", "mentions", "replace", "section")
"""Older names, which the help leaves out: they are below `edit` and `links` now."""

QUICK = frozenset(
    (
        "search",
        "show",
        "get",
        "list",
        "grep",
        "related",
        "links",
        "backlinks",
        "mentions",
        "graph",
        "folders",
        "context",
        "status",
    )
)
"""Commands that wait for nothing but replies. They run without an event loop, and start sooner."""

_WITH_VALUE = ("--config", "--endpoint", "--api-key", "--vault")

COMMANDS = (*(name for names in SECTIONS.values() for name in names), *MORE, *OLD)


# A full disk or quota, a file size limit, a failing device, a read-only descriptor.
_CANNOT_WRITE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


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

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module with this name and return its `command`."""
        if cmd_name not in COMMANDS:
            if not ctx.resilient_parsing and not cmd_name.startswith("-"):
                raise click.exceptions.NoSuchCommand(cmd_name, possibilities=COMMANDS, ctx=ctx)
            return None
        command = import_module(f"vault_agent.cli.{cmd_name}").command
        assert isinstance(command, click.Command)  # noqa: S101 - for the type
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by section, and the names of the others."""
        widest = max(len(name) for names in SECTIONS.values() for name in names)
        for title, names in SECTIONS.items():
            with formatter.section(title):
                rows = [
                    (name.ljust(widest), command.get_short_help_str(formatter.width))
                    for name in names
                    if (command := self.get_command(ctx, name)) is not None
                ]
                formatter.write_dl(rows)
        with formatter.section("More"):
            formatter.write_text(", ".join(MORE))


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


def run(arguments: list[str]) -> int:
    """Run one command line to its end and return the exit code."""
    prepare_streams()
    try:
        code = _without_a_loop(arguments) if _is_quick(arguments) else _in_a_loop(arguments)
        sys.stdout.flush()
    except (KeyboardInterrupt, click.Abort):
        # What Ctrl-C leaves open ends with the process.
        warnings.simplefilter("ignore", ResourceWarning)
        leave_line()
        return exits.INTERRUPTED
    except (_ReaderGone, BrokenPipeError):
        # The reader has closed the pipe (`| head`).
        discard_buffer(sys.stdout)
        return exits.NO_READER
    except Exception as defect:  # noqa: BLE001 - as in `_run`, from the loop's start or end
        error = _unwritten(defect) or _internal(defect)
        complain(error.code, error.message)
        return exits.exit_code(error)
    return code


def _is_quick(arguments: list[str]) -> bool:
    """Whether a command line needs no event loop. A shell's question for completions needs none."""
    words = iter(arguments)
    command = [next(words, "")]
    while command[0].startswith("-"):  # global options may come before the command
        if command[0] in _WITH_VALUE:
            next(words, "")
        command = [next(words, "")]
    command.append(next(words, ""))
    return _COMPLETING in os.environ or command[0] in QUICK or command == ["config", "get"]


def _without_a_loop(arguments: list[str]) -> int:
    from vault_agent.client.blocking import driven

    _raise_at_ctrl_c()
    return driven(_run(arguments))


def _in_a_loop(arguments: list[str]) -> int:
    import asyncio

    with asyncio.Runner() as runner:
        runner.get_loop()  # created before Ctrl-C can interrupt it
        _raise_at_ctrl_c()
        return runner.run(_run(arguments))


def _raise_at_ctrl_c() -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


async def _run(arguments: list[str]) -> int:
    try:
        require_utf8(arguments)
        result = await program.main(
            arguments, prog_name=NAME, standalone_mode=False, obj=Invocation()
        )
    except click.exceptions.NoArgsIsHelpError as help_wanted:
        say(help_wanted.format_message())
        return exits.SUCCESS
    except click.ClickException as misuse:
        error: VaultAgentError = InvalidRequest("INVALID_REQUEST", _usage(misuse, arguments))
    except VaultAgentError as refusal:
        error = refusal
    except (_ReaderGone, BrokenPipeError, click.Abort):
        raise
    except Exception as defect:  # noqa: BLE001 - its text may contain private data, so it is not shown
        error = _unwritten(defect) or _internal(defect)
    else:
        return result if isinstance(result, int) else exits.SUCCESS
    if asks_for_json(arguments):
        error_envelope(error)
    complain(error.code, _with_next_step(error, arguments))
    for line in _candidates(error):
        tell(line)
    return exits.exit_code(error)


def _usage(misuse: click.ClickException, arguments: list[str]) -> str:
    context = getattr(misuse, "ctx", None)
    if context is not None:
        command = context.command_path
    else:  # the parser says that an option lacks its value without a context
        command = " ".join((NAME, *(each for each in arguments[:1] if each in COMMANDS)))
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


_RIGHTS = {"move": "move", "delete": "delete", "write": "overwrite"}
"""Rights that writing does not include by itself, by the commands whose line names them."""


def _candidates(error: VaultAgentError) -> list[str]:
    """Return what the user may have meant, or is to type, as lines."""
    notes, similar = (
        value if isinstance(value, list) else []
        for value in (error.details.get("notes"), error.details.get("suggestions"))
    )
    found = [note.get("path") for note in notes if isinstance(note, dict)]
    lines = [f"  {clean(path)}" for path in (*found, *similar) if isinstance(path, str)]
    snippet = error.details.get("snippet")  # what to type, or to write into a file
    if isinstance(snippet, str):
        lines += [f"  {clean(line)}" for line in snippet.split("\n")]
    variables = error.details.get("variables")  # of a template
    for each in variables if isinstance(variables, list) else ():
        lines.append(f"  --var {clean(quote(f'{each}=VALUE'))}")
    headings = error.details.get("headings")
    for each in headings if isinstance(headings, list) else ():
        if isinstance(each, dict):
            path = " > ".join(map(str, each.get("headingPath", ())))
            lines.append(
                f"  {each.get('line')}: {clean(path)}  {clean(str(each.get('headingId')))}"
            )
        else:
            lines.append(f"  {clean(str(each))}")
    return ["Similar names:", *lines] if similar else lines


def _with_next_step(error: VaultAgentError, arguments: list[str]) -> str:
    if error.code == "FEATURE_DISABLED" and error.details.get("setting") == "write.enabled":
        needed = _RIGHTS.get(" ".join(arguments[:1]), "")
        more = f" --allow {needed}" if needed in arguments else ""
        return f"{error.what} Run `vault-agent enable write{more}`."
    if error.code == "NOTE_EXISTS" and arguments[:1] == ["write"]:
        return f"{error.message.rstrip('.')}: --mode append."
    job = error.details.get("jobId")
    if error.code == "INDEX_BUSY" and isinstance(job, str) and job not in error.message:
        return f"{error.message} Follow it: vault-agent jobs follow {clean(job)}"
    if error.code == "WRITE_NOT_ALLOWED" and isinstance(right := error.details.get("right"), str):
        return f"{error.message} To allow it: `vault-agent enable write --allow {clean(right)}`"
    no_folder = error.code == "VAULT_READ_ONLY" and error.details.get("setting") == "write.folders"
    if no_folder or (error.code == "WRITE_OUTSIDE_SCOPE" and not error.details.get("hidden")):
        return f"{error.message} To allow it: `vault-agent enable write --folder FOLDER`"
    if error.code == "EMBEDDING_UNAVAILABLE" and error.details.get("setting"):
        return (
            "Semantic search is off. Run `vault-agent enable embedding`, then `vault-agent index`,"
            " or leave out --mode."
        )
    vault = next((name for word, name in pairwise(arguments) if word == "--vault"), None)
    if vault is not None and job is not None:  # other vaults do not know the job
        follow = f"vault-agent --vault {clean(quote(vault))} jobs"
        return as_typed(error.message).replace("vault-agent jobs", follow)
    return as_typed(error.message)
