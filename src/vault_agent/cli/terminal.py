"""Prints safe text, with colour if the terminal supports it, and asks the person.

Results go to stdout. Errors, warnings and progress go to stderr, errors and warnings as
`CODE: what happened`.
"""

from __future__ import annotations

import os
import re
import sys
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, TextIO

import asyncclick as click
import orjson

from vault_agent.errors import InvalidRequest
from vault_agent.text.names import CONTROLS, HIDDEN, MOVING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vault_agent.client.client import Reply
    from vault_agent.errors import VaultAgentError
    from vault_agent.model.warning import Warning as Notice

_UNSAFE = re.compile(f"[{CONTROLS}{MOVING}]")
_UNSAFE_BUT_LINES = re.compile(_UNSAFE.pattern.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f"))
# JSON escapes C0 itself, and has line ends between its members.
_UNSAFE_IN_JSON = re.compile(f"[\x7f-\x9f\u2028\u2029{HIDDEN}]")

_MOST_TYPED = 100
_TIMES_TO_ASK = 3
_FIRST_FILES: Final = 10
"""Files that are listed below a warning about several."""

DECLINED: Final = 1
"""The exit code of a command whose question was answered with no."""

DAYS: Final = "YYYY-MM-DD, today, yesterday, tomorrow, or a number of days such as -7"
_WORDS: Final = {"yesterday": -1, "today": 0, "tomorrow": 1}


def clean(text: str, *, lines: bool = False) -> str:
    """Escape characters that could move the cursor, or colour, reverse or hide other text.

    `lines` keeps line ends and tabs.
    """
    if lines:
        return _UNSAFE_BUT_LINES.sub(_escape, text.replace("\r\n", "\n"))
    return _UNSAFE.sub(_escape, text)


def quoted(text: str) -> str:
    """Return what was typed for an error message: in quotes, on one line, and not too long."""
    beginning = text if len(text) <= _MOST_TYPED else f"{text[:_MOST_TYPED]}…"
    return f'"{clean(beginning)}"'


def _escape(match: re.Match[str]) -> str:
    number = ord(match[0])
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def prepare_streams() -> None:
    """Escape characters that the terminal's encoding lacks, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def discard_buffer(stream: TextIO) -> None:
    """Discard a stream's buffer, so that Python prints no error at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def is_terminal(stream: TextIO) -> bool:
    """Whether a stream is a terminal."""
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False


def has_colour(stream: TextIO) -> bool:
    """Whether to use colour: on a terminal that is not dumb, without NO_COLOR."""
    return (
        is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )


def style(text: str, name: str, stream: TextIO | None = None) -> str:
    """Return text in a style: strong, faint, match, code, warning, added, removed or place."""
    if not has_colour(stream or sys.stdout):
        return text
    looks: dict[str, dict[str, Any]] = {
        "strong": {"bold": True},
        "faint": {"dim": True},
        "match": {"bold": True, "fg": "yellow"},
        "code": {"bold": True, "fg": "red"},
        "warning": {"bold": True, "fg": "yellow"},
        "added": {"fg": "green"},
        "removed": {"fg": "red"},
        "place": {"fg": "cyan"},
    }
    return click.style(text, **looks[name])


def marked(text: str, matches: Iterable[Sequence[int]]) -> str:
    """Return a text with its matches highlighted. Each piece is cleaned separately."""
    pieces, end = [], 0
    for start, stop in matches:
        if end <= start <= stop <= len(text):
            pieces += [clean(text[end:start]), style(clean(text[start:stop]), "match")]
            end = stop
    return "".join(pieces) + clean(text[end:])


def has_links(stream: TextIO) -> bool:
    """Whether to print hyperlinks (OSC 8). Terminals pass over what they do not know.

    The console of Linux does not, and what stands between here and a terminal may not.
    """
    plain = os.environ.get("TERM", "").startswith(("linux", "screen", "tmux"))
    return has_colour(stream) and not plain


def linked(text: str, address: str) -> str:
    """Return text as a hyperlink. The address must be percent-encoded."""
    return f"\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\"


def say(text: str = "") -> None:
    """Print a line to stdout. The caller must have cleaned foreign text in it."""
    click.echo(text, color=has_colour(sys.stdout))


def tell(text: str) -> None:
    """Print a line to stderr. The caller must have cleaned foreign text in it."""
    try:
        click.echo(text, err=True, color=has_colour(sys.stderr))
    except BrokenPipeError:
        raise
    except OSError:
        discard_buffer(sys.stderr)  # there is no stream left for an error message


def complain(code: str, message: str, *, look: str = "code") -> None:
    """Print an error or warning.

    A plain first word gets a capital, a name stays as it is.
    """
    first = message.partition(" ")[0]
    if first.isalpha() and first.islower():
        message = message[0].upper() + message[1:]
    tell(f"{style(clean(code), look, sys.stderr)}: {clean(message)}")


def warn(warnings: Iterable[Notice]) -> None:
    """Print the warnings of a reply. A warning about a file starts with its path.

    Below a warning about several files or links stand the first of them.
    """
    for warning in warnings:
        path = warning.details.get("path")
        place = f"{path}: " if isinstance(path, str) else ""
        complain(warning.code, place + warning.message, look="warning")
        links = [f"{link['path']}:{link['line']}" for link in warning.details.get("links", ())]
        for file in [*warning.details.get("paths", ()), *links][:_FIRST_FILES]:
            tell(f"  {clean(file)}")


def leave_line() -> None:
    """Start a new line after the `^C` that a terminal shows for Ctrl-C."""
    if is_terminal(sys.stdin) and is_terminal(sys.stderr):
        tell("")


def write(content: bytes) -> None:
    """Write bytes to stdout as they are."""
    sys.stdout.flush()
    rest = memoryview(content)
    while rest:
        # With PYTHONUNBUFFERED this is the raw pipe, which may write only a part.
        rest = rest[sys.stdout.buffer.write(rest) :]
    sys.stdout.buffer.flush()


def pass_on(body: bytes) -> None:
    """Print a server's reply on one line, with hidden characters escaped."""
    if not body.isascii():
        import json  # seldom needed

        text = body.decode("utf-8", "replace")
        body = _UNSAFE_IN_JSON.sub(lambda match: json.dumps(match[0])[1:-1], text).encode()
    write(body.rstrip() + b"\n")


def envelope(data: object, warnings: Iterable[object] = ()) -> None:
    """Print a local result in the form of a server's reply."""
    pass_on(orjson.dumps({"data": data, "warnings": list(warnings)}))


def distinct_warnings(replies: Iterable[Reply]) -> list[Any]:
    """Return the warnings of several replies for `envelope`, each once."""
    warnings = [warning for reply in replies for warning in reply.envelope.get("warnings", ())]
    return [warning for place, warning in enumerate(warnings) if warning not in warnings[:place]]


def error_envelope(error: VaultAgentError) -> None:
    """Print an error in the form of a server's reply."""
    body = {"code": error.code, "message": error.message, "details": error.details}
    pass_on(orjson.dumps({"error": body}, default=str))


def say_indented(text: str, margin: int) -> None:
    """Print a paragraph to a terminal, indented and wrapped."""
    from shutil import get_terminal_size  # slow, and needed only at a terminal

    indent = " " * margin
    say(click.wrap_text(text, get_terminal_size().columns, indent, indent))


def can_ask() -> bool:
    """Whether there is a person to ask."""
    return is_terminal(sys.stdin) and is_terminal(sys.stderr)


def ask(question: str, default: str = "") -> str:
    """Return what the person types, or the default for an empty line."""
    return _line(_with_default(question, default)) or default


def ask_folder(question: str, default: str = "") -> str:
    """Return the folder that the person types, where Tab completes its path."""
    try:
        import readline
    except ImportError:  # Windows has none
        return ask(question, default)
    if not is_terminal(sys.stdout):
        return ask(question, default)
    readline.set_completer_delims("\n")  # without a completer, readline completes files
    is_libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")
    try:
        return input(_with_default(question, default)).strip() or default
    except EOFError:
        raise click.Abort from None


def _with_default(question: str, default: str) -> str:
    return f"{question} [{default}]: " if default else f"{question}: "


def agreed(question: str, *, yes: bool, default: bool = False) -> bool:
    """Return whether the person agrees. With `yes`, do not ask.

    Raises:
        InvalidRequest: if there is nobody to ask, or no answer is yes or no.
    """
    if yes:
        return True
    if not can_ask():
        raise InvalidRequest("CONFIRM_REQUIRED", "This needs your consent.", remedy="Add --yes.")
    for _ in range(_TIMES_TO_ASK):
        answer = _line(f"{question} [{'Y/n' if default else 'y/N'}] ").lower()
        if answer in ("", "y", "yes", "n", "no"):
            return answer.startswith("y") if answer else default
        tell("Answer y or n.")
    raise InvalidRequest("CONFIRM_REQUIRED", "No answer was y or n.", remedy="")


def _line(question: str) -> str:
    """Return what the person types. Ctrl-D ends the command, as Ctrl-C does."""
    sys.stderr.write(question)
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise click.Abort
    return line.strip()


class _Day(click.ParamType[str]):
    """A day: a date, a word, or a number of days from today."""

    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the date as ISO 8601."""
        text = str(value).strip().lower()
        days = _WORDS.get(text)
        if days is None and re.fullmatch(r"[+-]\d{1,4}d?", text):
            days = int(text.removesuffix("d"))
        if days is None:
            try:
                return date.fromisoformat(text).isoformat()
            except ValueError:
                self.fail(f"not a date: {DAYS}", param, ctx)
        return (datetime.now().astimezone().date() + timedelta(days)).isoformat()


DAY: Final = _Day()


def local_time(time: str) -> str:
    """Return an ISO time as the day and the minute here. A text that is no time is cleaned."""
    try:
        return f"{datetime.fromisoformat(time).astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        return clean(time)
