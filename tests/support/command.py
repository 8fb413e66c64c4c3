"""Run a command line in the process of the test: no start, no imports, the same code."""

from __future__ import annotations

import io
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, chdir, contextmanager
from pathlib import Path
from typing import NamedTuple

from vault_agent.cli.run import run


class Ended(NamedTuple):
    """The exit code and output of a command."""

    code: int
    out: str
    err: str


def run_here(
    arguments: tuple[str, ...],
    variables: Mapping[str, str],
    stdin: str = "",
    at: Path | None = None,
) -> Ended:
    """Run one command line with its own environment, standard streams and working folder.

    Call it in a thread without an event loop: the command runs its own. Only one may run at a time,
    because streams and environment are those of the process.
    """
    with ExitStack() as stack:
        given, out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        given.write(stdin.encode())
        given.seek(0)
        with chdir(at or "."), _environment(variables), _streams(given, out, err):
            try:
                code = run(list(arguments))
            except SystemExit as end:  # what a shell asks to complete a word ends so
                code = int(end.code or 0)
        return Ended(code, _text(out), _text(err))


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _streams(*files: io.BufferedIOBase) -> Iterator[None]:
    names = ("stdin", "stdout", "stderr")
    before = [getattr(sys, name) for name in names]
    streams = [io.TextIOWrapper(file, encoding="utf-8") for file in files]
    for name, stream in zip(names, streams, strict=True):
        setattr(sys, name, stream)
    try:
        yield
    finally:
        for name, stream, original in zip(names, streams, before, strict=True):
            setattr(sys, name, original)
            if not stream.closed:
                stream.detach()


def _text(file: io.BufferedIOBase) -> str:
    file.seek(0)
    return file.read().decode().replace(os.linesep, "\n")
