"""The entry point."""

from __future__ import annotations

import os
import signal
import sys

from vault_agent import __version__


def main() -> None:
    """Run the command line and exit."""
    _open_closed_streams()
    _end_at_ctrl_c()
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        # Without the parser, which takes longer to import than all else that this does.
        try:
            sys.stdout.write(f"vault-agent {__version__}\n")
            sys.stdout.flush()
        except OSError:
            os._exit(1)  # as any program that cannot write; Python would complain at its end
        sys.exit(0)
    from vault_agent.cli.run import run

    code = run(arguments)
    _end_at_ctrl_c()
    sys.exit(code)


def _end_at_ctrl_c() -> None:
    """Have Ctrl-C simply end the process, before and after the loop that takes care of it.

    Raised by Python in the middle of an import or of its own end, it prints a traceback, or crashes
    an extension module that is half set up. Who ignores it from the start (`nohup`) goes on to.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _open_closed_streams() -> None:
    """Put the null device where a standard stream is closed (`2>&-`).

    The next file to be opened would get its number, and whatever native code prints would end up
    in that file: a database, for one.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free: this one
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - a descriptor, for good
