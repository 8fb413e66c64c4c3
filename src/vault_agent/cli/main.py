"""The entry point."""

from __future__ import annotations

import gc
import os
import signal
import sys
from contextlib import suppress

from vault_agent import __version__


def main() -> None:
    """Run the command line and exit."""
    _open_closed_streams()
    _end_at_ctrl_c()
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["version"]):
        # Without the parser, whose import takes longer than the rest.
        with suppress(OSError):  # `run` meets it again, and reports it
            os.write(1, f"vault-agent {__version__}\n".encode())  # no buffer keeps what fails
            sys.exit(0)
    if arguments[:2] == ["memory", "hook"]:
        _hook_if_wanted(arguments)
    if "mcp" in arguments:
        _relay_if_wanted(arguments)
    from vault_agent.cli.run import run

    code = run(arguments)
    _end_at_ctrl_c()
    with suppress(OSError):
        sys.stderr.flush()
    # `run` has closed and flushed all. To free each object would take longer than a command.
    os._exit(code)


def _hook_if_wanted(arguments: list[str]) -> None:
    """Run the hook of agents without the parser, and end the process with code 0.

    Returns if the arguments are not those of a hook.
    """
    gc.disable()  # the process is too short to leave anything to collect
    try:
        from vault_agent.cli.hook import hook_options, run_hook

        options = hook_options(arguments)
        if options is not None:
            run_hook(options)
        gc.enable()
    except Exception:  # noqa: BLE001 - an agent takes a failure as an order to stop
        os._exit(0)


def _relay_if_wanted(arguments: list[str]) -> None:
    """Run the relay for agents without the parser, which takes longer than the relay's start.

    Returns if the arguments are not those of a relay.
    """
    from vault_agent.cli.relay import options_of, relay
    from vault_agent.errors import VaultAgentError

    options = options_of(arguments)
    if options is None:
        return
    try:
        relay(options)
    except VaultAgentError as error:
        sys.stderr.write(f"{error.code}: {error.message}\n")
        sys.exit(2)


def _end_at_ctrl_c() -> None:
    """Let Ctrl-C end the process at once while no event loop handles it.

    A KeyboardInterrupt during an import or at exit would print a traceback, or crash an extension
    module that is being imported. If SIGINT is ignored from the start (`nohup`), it stays ignored.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _open_closed_streams() -> None:
    """Open the null device in place of a closed standard stream (`2>&-`).

    The next opened file would get its descriptor number. Output of native code would then go into
    that file, for example a database.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is this one
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - stays open
