"""The log: one JSON object a line, without any text from notes or requests.

An event is a name with fields from a fixed list. Numbers and booleans are allowed. A string is
allowed only if it looks like a code, an identifier or a route's template. There is no free-text
logger. Records that libraries log through `logging` are reduced to the logger's name, the level,
and the type of the error.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import sys
import threading
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import IntEnum
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO, TypedDict

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Unpack

    from vault_agent.system.crash import CrashReport


class Level(IntEnum):
    """Severity of an event, with the numbers of `logging`."""

    DEBUG = logging.DEBUG
    INFO = logging.INFO
    WARNING = logging.WARNING
    ERROR = logging.ERROR


class Fields(TypedDict, total=False):
    """The fields that an event may have."""

    request_id: str
    method: str
    route: str  # the template, never the path
    status: int
    duration_ms: float
    code: str
    error_type: str
    process: str  # server, keeper or worker
    frames: tuple[str, ...]  # our own stack frames, as module:line
    requested_mode: str
    used_mode: str
    result_count: int
    warning_count: int
    logger: str
    connections: int
    key_required: bool
    cors_enabled: bool
    embeddings_enabled: bool


_WORD = re.compile(r"[A-Za-z0-9_./{}\-]{1,80}")
_FRAME = re.compile(r"vault_agent[a-z_.]{0,120}:[0-9]{1,6}")


class EventLog:
    """Writes events of `level` and above to a text stream."""

    def __init__(self, level: Level, stream: TextIO | None = None) -> None:
        self.level = level
        self._stream = stream if stream is not None else sys.stderr

    def emit(self, level: Level, event: str, **fields: Unpack[Fields]) -> None:
        """Write one event. A field that is not listed or not plain is left out."""
        if level < self.level:
            return
        line: dict[str, Any] = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "level": level.name.lower(),
            "event": event,
        }
        line |= {
            name: value
            for name, value in fields.items()
            if name in Fields.__annotations__ and _plain(value)
        }
        try:
            self._stream.write(orjson.dumps(line).decode() + "\n")
            self._stream.flush()
        except (OSError, ValueError):
            pass  # a closed stderr must not fail a request


@contextmanager
def private_stderr() -> Iterator[TextIO]:
    """Reserve standard error for the log, and yield it as a stream.

    Other output to standard error is discarded: tracebacks, and output of native code (a panic of
    the full-text engine names files).
    """
    try:
        shared = sys.stderr.fileno()
    except (OSError, ValueError):  # closed, or replaced by an object that is not a file
        yield sys.stderr
        return
    sys.stderr.flush()
    with open(os.dup(shared), "w", encoding="utf-8", errors="backslashreplace") as own:  # noqa: PTH123 - a descriptor
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, shared)
        os.close(nowhere)
        try:
            yield own
        finally:
            sys.stderr.flush()
            os.dup2(own.fileno(), shared)


@contextmanager
def captured_logging(log: EventLog) -> Iterator[None]:
    """Turn the log records of libraries and uncaught errors into events.

    Needs a running event loop. The texts are dropped, because they contain request lines, headers
    and tracebacks.
    """
    root = logging.getLogger()
    handler = _Reducer(log)
    before, level = root.handlers[:], root.level
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: _report(log, context))
    hooks = threading.excepthook, sys.unraisablehook
    threading.excepthook = sys.unraisablehook = partial(_report_uncaught, log)
    try:
        yield
    finally:
        threading.excepthook, sys.unraisablehook = hooks
        loop.set_exception_handler(None)
        root.handlers[:] = before
        root.setLevel(level)


class _Reducer(logging.Handler):
    def __init__(self, log: EventLog) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        fields: Fields = {"logger": record.name}
        if record.exc_info and record.exc_info[0] is not None:
            fields["error_type"] = record.exc_info[0].__name__
        level = Level.ERROR if record.levelno >= logging.ERROR else Level.WARNING
        self._log.emit(level, "library_log", **fields)


def report_crash(log: EventLog, process: str, report: CrashReport) -> None:
    """Log an unexpected error in one of our processes."""
    log.emit(
        Level.ERROR,
        "crash",
        process=process,
        error_type=report.error_type,
        frames=report.frames,
    )


def _report(log: EventLog, context: dict[str, Any]) -> None:
    error = context.get("exception")
    if isinstance(error, ConnectionError):
        return  # a client that disconnected
    log.emit(Level.ERROR, "loop_error", error_type=type(error).__name__)


def _report_uncaught(log: EventLog, error: Any) -> None:
    log.emit(Level.ERROR, "uncaught_error", error_type=error.exc_type.__name__)


def _plain(value: object) -> bool:
    if isinstance(value, str):
        return _WORD.fullmatch(value) is not None
    if isinstance(value, tuple):
        return all(isinstance(frame, str) and _FRAME.fullmatch(frame) for frame in value)
    return isinstance(value, (bool, int, float))
