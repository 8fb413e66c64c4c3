"""The warm parent: imports the program once, then forks a process for each start (see `warm`).

Arguments: the descriptor of its socket, and characters that make room for a command line.
"""

from __future__ import annotations

import gc
import importlib
import io
import os
import pkgutil
import signal
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

_ALSO = (
    "aiohttp.web", "aiosqlite", "anyio._backends._asyncio", "asyncclick._textwrap",
    "encodings.ascii", "encodings.idna", "encodings.utf_8_sig", "filelock", "importlib.readers",
    "importlib.resources.readers", "multiprocessing.popen_spawn_posix",
    "multiprocessing.resource_tracker", "multiprocessing.spawn", "numpy", "platformdirs", "pty",
    "resource", "rich.console", "rich.progress", "stat",
)  # fmt: skip
# What never starts a process of the program, and the commands that do.
_ALONE = (b"indexing.watcher", b"multiprocessing.resource_tracker", b"multiprocessing.spawn")
_PROGRAM = {b"vault_agent", b"from vault_agent.cli.main import main; main()"}
_STARTING = {
    b"agent", b"demo", b"disable", b"enable", b"mcp", b"restart", b"serve", b"service", b"setup",
}  # fmt: skip


def main() -> None:
    """Serve until the caller ends. A forked process serves starts of its own in a child."""
    from tests.warm import TITLE, Starter, serve, show

    _import_the_program()
    gc.freeze()
    assert len(list(Path("/proc/self/task").iterdir())) == 1, "a process with threads must not fork"
    starts: socket.socket | None = socket.socket(fileno=int(sys.argv[1]))
    while True:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        arguments, environment, folder, umask, session = serve(starts)
        if not _starts_others(arguments):
            starts = None
            break
        starts, theirs = socket.socketpair()
        if os.fork() != 0:
            theirs.close()
            os.set_inheritable(starts.fileno(), False)
            break
        starts.close()
        starts = theirs
        show([TITLE])
        for stream in range(3):
            os.close(stream)
            os.open(os.devnull, os.O_RDWR)
    if session:
        os.setsid()
    os.chdir(folder)
    os.umask(umask)
    os.environ.clear()
    os.environb.update(pair.split(b"=", 1) for pair in environment)  # type: ignore[attr-defined]
    if starts is not None:
        Starter(starts).install()
    _run([os.fsdecode(argument) for argument in arguments])


def _starts_others(arguments: list[bytes]) -> bool:
    """Whether a process starts others. If it does although this says no, they start for real."""
    if not _PROGRAM.isdisjoint(arguments):
        return not _STARTING.isdisjoint(arguments)
    return not any(name in argument for name in _ALONE for argument in arguments)


def _import_the_program() -> None:
    import vault_agent

    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as the program does before numpy loads
    for module in pkgutil.walk_packages(vault_agent.__path__, "vault_agent."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in _ALSO:
        importlib.import_module(name)
    _compile_the_routes()


def _compile_the_routes() -> None:
    """Compile the patterns of the routes, which `re` keeps: a quarter of a server's start."""
    from aiohttp import web

    from vault_agent.server.routes import add_routes

    add_routes(web.UrlDispatcher())


def _run(arguments: list[str]) -> None:
    """Run what the arguments of Python say, and end this process as Python does."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _open_streams()
    code = 1
    try:
        _execute(arguments)
        code = 0
    except SystemExit as ended:
        code = _exit_code(ended.code)
    except BaseException as error:  # noqa: BLE001 - as Python does
        shown = error.__traceback__
        while shown is not None and shown.tb_frame.f_code.co_filename == __file__:
            shown = shown.tb_next
        sys.excepthook(type(error), error.with_traceback(shown), shown)
        if isinstance(error, KeyboardInterrupt):
            code = -signal.SIGINT
    _end(code)


def _execute(arguments: list[str]) -> None:
    rest = arguments[1:]
    safe = False
    while rest[0] not in ("-c", "-m"):
        safe = safe or rest[0] in ("-P", "-I")
        rest.pop(0)
    how, what, *others = rest
    sys.orig_argv = arguments
    sys.path = [path for path in sys.path if path != str(Path(__file__).parent.parent)]
    main = ModuleType("__main__")
    main.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = main
    sys.argv = [how, *others]
    if how == "-c":
        if not safe:
            sys.path.insert(0, "")
        exec(compile(what, "<string>", "exec"), main.__dict__)
    else:
        import runpy

        if not safe:
            sys.path.insert(0, os.getcwd())  # noqa: PTH109
        runpy._run_module_as_main(what)  # type: ignore[attr-defined]


def _exit_code(code: Any) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    print(code, file=sys.stderr)
    return 1


def _end(code: int) -> None:
    import atexit

    with suppress(BaseException):
        threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stderr, sys.stdout, sys.__stderr__, sys.__stdout__):
        try:
            stream.flush()
        except (OSError, ValueError):
            code = code or 120
    if code == -signal.SIGINT:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(code & 0xFF)


def _open_streams() -> None:
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        raw = io.FileIO(number, mode, closefd=False)
        buffer = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
        before = getattr(sys, f"__{name}__")
        stream = io.TextIOWrapper(
            buffer,
            before.encoding,
            before.errors,
            line_buffering=name == "stderr" or raw.isatty(),
        )
        stream.mode = mode  # type: ignore[misc]
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))
    main()
