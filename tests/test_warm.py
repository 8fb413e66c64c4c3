"""A warm start gives a process what a real start gives it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.clocks import PATIENCE
from tests.support.waiting import eventually
from tests.warm import AVAILABLE, children

if TYPE_CHECKING:
    from tests.warm import Starter

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="processes start warm on Linux only")

SEEN = """
import json, os, pathlib, signal, sys
print(json.dumps({
    'arguments': sys.argv, 'path': sys.path[0] == '', 'folder': os.getcwd(),
    'variables': dict(os.environ), 'input': sys.stdin.read(), 'name': __name__,
    'line': pathlib.Path('/proc/self/cmdline').read_text().rstrip(chr(0)).split(chr(0)),
    'parent': os.getppid(), 'session': os.getsid(0) == os.getpid(),
    'group': os.getpgid(0), 'umask': os.umask(0),
    'open': sorted(int(n) for n in os.listdir('/proc/self/fd') if int(n) > 2),
    'interrupt': signal.getsignal(signal.SIGINT) is signal.default_int_handler,
    'pipe': signal.getsignal(signal.SIGPIPE) is signal.SIG_IGN,
    'blocked': sorted(map(int, signal.pthread_sigmask(signal.SIG_BLOCK, ()))),
    'tty': [stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)],
    'encodings': [stream.encoding for stream in (sys.stdin, sys.stdout, sys.stderr)],
}))
print('spoken', file=sys.stderr)
sys.exit(7)
"""


def seen(starter: Starter, *, real: bool, **options: Any) -> dict[str, Any]:
    """Return what a process sees of itself that is started in one of the two ways."""
    before = starter.started
    starter.real_only = real
    ended = subprocess.run(
        [sys.executable, "-c", SEEN, "one", "zwei"],
        check=False, input="taken", capture_output=True, text=True, **options,
    )  # fmt: skip
    assert starter.started == before + (not real)
    found: dict[str, Any] = json.loads(ended.stdout)
    found["open"] = len(found["open"])
    return {**found, "code": ended.returncode, "error": ended.stderr}


@pytest.mark.parametrize("session", [True, False])
def test_a_process_sees_the_same_either_way(warm_starts: Starter, tmp_path: Path, session: bool):
    options = {
        "cwd": tmp_path, "start_new_session": session, "env": {**os.environ, "SOME": "thing"},
    }  # fmt: skip
    before = os.umask(0o027)
    try:
        warm = seen(warm_starts, real=False, **options)
        real = seen(warm_starts, real=True, **options)
    finally:
        os.umask(before)
    assert warm["parent"] == os.getpid()
    # Its own warm parent's socket is the one descriptor more.
    assert warm.pop("open") == real.pop("open") + 1
    if session:
        assert warm.pop("group") != real.pop("group")
    assert warm == real


def test_signals_are_blocked_that_the_caller_blocks(warm_starts: Starter):
    """Python starts its resource tracker like this, and it may be the first process of a run."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    try:
        blocked = [seen(warm_starts, real=real)["blocked"] for real in (False, True)]
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    assert blocked == [[signal.SIGTERM]] * 2
    assert seen(warm_starts, real=False)["blocked"] == []


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("pass", 0),
        ("raise SystemExit(3)", 3),
        ("raise SystemExit('why')", 1),
        ("raise SystemExit(None)", 0),
        ("1 / 0", 1),
        ("import os; os._exit(9)", 9),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
        ("raise KeyboardInterrupt", -signal.SIGINT),
        ("import atexit; atexit.register(print, 'last'); print('first')", 0),
        ("import threading; threading.Timer(0.05, print, ['last']).start(); print('first')", 0),
        ("import runpy; runpy.run_module('vault_agent', run_name='__main__')", 0),
    ],
)
def test_a_process_ends_the_same_either_way(warm_starts: Starter, code: str, status: int):
    ends = []
    for real in (False, True):
        warm_starts.real_only = real
        ended = subprocess.run(
            [sys.executable, "-P", "-c", code, "--version"],
            check=False, capture_output=True, text=True,
        )  # fmt: skip
        # Newer Pythons show the lines of `-c` in a traceback, those of a real start only.
        ends.append((ended.returncode, ended.stdout, ended.stderr.splitlines()[-1:]))
    assert ends[0] == ends[1]
    assert ends[0][0] == status


def test_a_module_and_its_children_start_warm(warm_starts: Starter, tmp_path: Path):
    (tmp_path / "parent.py").write_text(
        "import os, subprocess, sys\n"
        "assert __name__ == '__main__'\n"
        "child = 'import os, vault_agent; print(os.getppid(), hasattr(vault_agent, \"cli\"))'\n"
        "print(os.getpid())\n"
        "sys.stdout.flush()\n"
        "subprocess.run([sys.executable, '-c', child], check=True)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-m", "parent"],
        cwd=tmp_path, check=True, capture_output=True, text=True,
    )  # fmt: skip
    pid, child = ended.stdout.splitlines()
    # A real start of the child would have imported no command line.
    assert child.split() == [pid, "True"]


def test_what_a_warm_start_cannot_give_is_a_real_one(warm_starts: Starter, tmp_path: Path):
    before = warm_starts.started
    code = [sys.executable, "-c", ""]
    for command, options in (
        (code, {"env": {**os.environ, "PYTHONHASHSEED": "1"}}),
        (code, {"preexec_fn": os.getpid}),
        ([sys.executable, "--version"], {}),
        (["true"], {}),
    ):
        subprocess.run(command, check=True, capture_output=True, **options)
    with pytest.raises(FileNotFoundError):
        subprocess.run(code, cwd=tmp_path / "none", check=True)
    assert warm_starts.started == before


async def test_asyncio_starts_and_kills_warm_processes(warm_starts: Starter):
    before = warm_starts.started
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "import time; print(1, flush=True); time.sleep(600)",
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert await process.stdout.readline() == b"1\n"
    process.kill()
    assert await asyncio.wait_for(process.wait(), PATIENCE) == -signal.SIGKILL
    assert warm_starts.started == before + 1


def test_the_warm_parent_of_a_process_ends_with_it(warm_starts: Starter):
    process = subprocess.Popen(
        [sys.executable, "-c", "print(flush=True); input()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()
    [parent] = children(process.pid)
    process.kill()
    process.communicate()
    eventually(lambda: not Path(f"/proc/{parent}").exists())


@pytest.mark.real_start
@pytest.mark.parametrize("sent", [b"", b"\0\0\0\0\0\0\0\x09", b"\0\0\0\0\0\0\0\x09some"])
def test_a_warm_parent_ends_with_a_starter_that_is_killed_amid_a_request(sent: bytes):
    ours, theirs = socket.socketpair()
    code = "import socket, sys\nfrom tests.warm import serve\n"
    code += "serve(socket.socket(fileno=int(sys.argv[1])))"
    with theirs:
        parent = subprocess.Popen(
            [sys.executable, "-c", code, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            cwd=Path(__file__).parent.parent,
        )
    with ours:
        ours.sendall(sent)
    try:
        assert parent.wait(PATIENCE) == 0
    finally:
        parent.kill()
        parent.wait()
