"""Start Python processes by a fork of one that has imported the program already (Linux).

Importing the program takes a quarter of a second of processor time, and the tests start it a
thousand times. `Starter.install` replaces the function that starts processes. What `subprocess`,
asyncio and multiprocessing start with this interpreter then comes from a *warm parent*, with the
arguments, environment, streams, folder, descriptors and exit status of a real start. It is a child
of the caller like any other: Linux lets a process fork a child of its parent.

A process that starts others has a warm parent of its own, so servers, indexers and parsers of notes
start warm too. A start that differs in what only a real one can give (another interpreter, other
variables for Python or the loader, `preexec_fn`, …) is a real one. So is every start in a test with
the marker `real_start`, and every start on other systems.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import platform
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

# The number of clone(2), which no function of Python calls.
_CLONE = {"x86_64": 56, "aarch64": 220}.get(platform.machine())
_CLONE_PARENT = 0x8000

AVAILABLE = sys.platform == "linux" and _CLONE is not None

if AVAILABLE:
    import _posixsubprocess

TITLE = b"warm parent"
"""The command line of a warm parent that is the child of a warm start."""

_REAL_START: Any = _posixsubprocess.fork_exec if AVAILABLE else None
_TITLE_BYTES = 4096
_MAX_REQUEST_BYTES = 1 << 20
_PARENT = Path(__file__).with_name("warm_parent.py")

# A process cannot take these over from another one: Python and the loader read them as they start.
_READ_AT_START = (b"PYTHON", b"LD_", b"LC_", b"LANG", b"MALLOC_", b"GLIBC_")
_IGNORED = (b"PYTHONWARNINGS", b"PYTHONDONTWRITEBYTECODE", b"PYTHONPYCACHEPREFIX")
"""Variables that make no difference: a warm start treats warnings as errors anyway."""


class Starter:
    """Starts processes from one warm parent, which it starts when it is first needed."""

    def __init__(self, parent: socket.socket | None = None) -> None:
        self.real_only = False
        self.started = 0
        self._ask_at = parent
        self._theirs: socket.socket | None = None
        if self._ask_at is None:  # the warm parent starts when it is first needed
            self._ask_at, self._theirs = socket.socketpair()
        self._lock = threading.Lock()
        self._real = _REAL_START
        self._environment = _read_at_start(_own_environment())

    def install(self) -> None:
        """Replace the function that starts processes, in this process."""
        subprocess._USE_POSIX_SPAWN = False  # else it replaces `_fork_exec` from 3.13 on
        subprocess._fork_exec = self.fork_exec  # type: ignore[attr-defined]
        _posixsubprocess.fork_exec = self.fork_exec  # that of multiprocessing

    def fork_exec(self, *arguments: Any) -> int:
        """Start a process as `_posixsubprocess.fork_exec` does. Return its ID."""
        request = self._warm_request(*arguments)
        return self._real(*arguments) if request is None else self._ask(*request)

    def _warm_request(  # noqa: PLR0917
        self, args: Any, executables: Any, close: Any, kept: Any, cwd: Any, environment: Any,
        stdin: int, _p2cwrite: int, _c2pread: int, stdout: int, _errread: int, stderr: int,
        _errpipe_read: int, errpipe_write: int, _signals: Any, session: Any, group: int,
        *identity: Any,
    ) -> tuple[bytes, list[int]] | None:  # fmt: skip
        """Return what the warm parent is asked, or None if only a real start will do."""
        arguments = [os.fsencode(argument) for argument in args]
        variables = _own_environment() if environment is None else list(environment)
        folder = os.getcwdb() if cwd is None else os.fsencode(cwd)  # noqa: PTH109 - bytes
        if (
            self.real_only
            or not close
            or group != -1
            or any(value not in (None, -1, False, True) for value in identity)
            or any(os.fsencode(path) != os.fsencode(sys.executable) for path in executables[:1])
            or not _understood(arguments[1:])
            or _read_at_start(variables) != self._environment
            or not Path(os.fsdecode(folder)).is_dir()
        ):
            return None
        streams = {0: stdin, 1: stdout, 2: stderr}
        wanted = {target: target if source == -1 else source for target, source in streams.items()}
        wanted |= {descriptor: descriptor for descriptor in kept if descriptor != errpipe_write}
        try:
            for descriptor in wanted.values():
                os.fstat(descriptor)
        except OSError:  # a closed stream
            return None
        blocked = [int(each) for each in signal.pthread_sigmask(signal.SIG_BLOCK, ())]
        what = (arguments, variables, folder, _umask(), bool(session), blocked, list(wanted))
        return marshal.dumps(what), list(wanted.values())

    def _ask(self, request: bytes, descriptors: list[int]) -> int:
        with self._lock:
            if self._theirs is not None:
                self._start_parent(self._theirs)
                self._theirs.close()
                self._theirs = None
            socket.send_fds(self._ask_at, [len(request).to_bytes(8)], descriptors)
            self._ask_at.sendall(request)
            answer = self._ask_at.recv(8)
            self.started += 1
        if len(answer) != 8:
            raise RuntimeError("the warm parent has ended")
        return int.from_bytes(answer)

    def _start_parent(self, theirs: socket.socket) -> None:
        environment = {**os.environ, "PYTHONWARNINGS": "error"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        theirs.set_inheritable(True)  # the only descriptor that it gets besides the streams
        title = "x" * _TITLE_BYTES
        command = [sys.executable, "-P", str(_PARENT), str(theirs.fileno()), title]
        os.posix_spawn(sys.executable, command, environment)


def serve(parent: socket.socket) -> tuple[list[bytes], list[bytes], bytes, int, bool]:
    """Fork a process for each request. Return in the forked processes only, with the request.

    The forked process has the descriptors that it is to have, and no others.
    """
    while True:
        head, descriptors, _, _ = socket.recv_fds(parent, 8, 64)
        if not head:
            os._exit(0)
        request = _receive(parent, int.from_bytes(head))
        if _fork_a_sibling() == 0:
            arguments, *start, blocked, targets = marshal.loads(request)
            show(arguments)
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # as before Python has started
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
            parent.sendall(os.getpid().to_bytes(8))
            parent.detach()
            _place(descriptors, targets)
            return arguments, *start
        for descriptor in descriptors:
            os.close(descriptor)


def _fork_a_sibling() -> int:
    """Fork as `os.fork` does, but a child of the parent of this process: of who asked for it."""
    api = ctypes.pythonapi
    api.PyOS_BeforeFork()
    child = ctypes.PyDLL(None).syscall(_CLONE, _CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        api.PyOS_AfterFork_Child()
        return 0
    api.PyOS_AfterFork_Parent()
    if child < 0:
        raise OSError("no process can be forked")
    return int(child)


def _receive(parent: socket.socket, size: int) -> bytes:
    parts = []
    while size:
        part = parent.recv(min(size, _MAX_REQUEST_BYTES))
        if not part:
            os._exit(0)  # the starter was killed amid its request
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _place(received: list[int], targets: list[int]) -> None:
    """Give each received descriptor its number, and close all others."""
    import fcntl

    above = max(*targets, *received) + 1
    moved = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, above) for descriptor in received]
    for source, target in zip(moved, targets, strict=True):
        os.dup2(source, target, inheritable=True)
    kept = sorted(targets)
    for low, high in zip(kept, [*kept[1:], os.sysconf("SC_OPEN_MAX")], strict=True):
        os.closerange(low + 1, high)


def show(arguments: list[bytes]) -> None:
    """Let the system show these arguments as the command line of this process."""
    fields = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
    begin, end = int(fields[45]), int(fields[46])
    title = b"\0".join(arguments)[: end - begin - 1]
    ctypes.memset(begin, 0, end - begin)
    ctypes.memmove(begin, title, len(title))


def children(pid: int | str = "self") -> set[int]:
    """Return the child processes of a process; none if it has ended."""
    found: set[int] = set()
    with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has just ended
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - twice a test
            listed = Path(f"/proc/{pid}/task/{thread}/children")
            with suppress(FileNotFoundError, ProcessLookupError):
                found.update(map(int, listed.read_bytes().split()))
    return found


def command_line(pid: int) -> bytes:
    """Return the arguments of a process, each followed by a NUL; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def _understood(arguments: list[bytes]) -> bool:
    """Whether these arguments of Python can be carried out by a process that runs already."""
    for argument in arguments:
        if argument in (b"-c", b"-m"):
            return True
        if argument not in (b"-P", b"-I", b"-u", b"-B", b"-Werror"):
            break
    return False


def _umask() -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    return int(status.partition("Umask:")[2].split()[0], 8)


def _own_environment() -> list[bytes]:
    return [name + b"=" + value for name, value in os.environb.items()]


def _read_at_start(environment: list[bytes]) -> set[bytes]:
    return {
        pair
        for pair in environment
        if pair.startswith(_READ_AT_START) and pair.partition(b"=")[0] not in _IGNORED
    }
