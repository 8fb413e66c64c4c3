"""Closed or full standard streams, or Ctrl-C at any moment, cause no traceback."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.fake import PROGRAM, FakeServer
from tests.support.clocks import PATIENCE
from tests.support.listening import free_port

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell and its signals")

COMMANDS = ("--version", "--help", "config get", "--json config get", "completion bash")


async def shell(environment: dict[str, str], line: str) -> tuple[int, str, str]:
    """Run a shell command in which `$P` is the program."""
    process = await asyncio.create_subprocess_exec(
        "sh", "-c", line.replace("$P", '"$@"'), "sh", *PROGRAM,
        env=environment, stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    async with asyncio.timeout(PATIENCE):
        out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


@pytest.mark.parametrize("command", COMMANDS)
async def test_a_closed_stream_is_not_an_internal_error(environment: dict[str, str], command: str):
    assert await shell(environment, f"$P {command} >&-") == (0, "", "")
    code, out, err = await shell(environment, f"$P {command} <&- 2>&-")
    assert (code, err) == (0, "")
    assert out


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")  # noqa: PTH110
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", COMMANDS)
async def test_a_failing_output_is_reported_in_one_line(
    environment: dict[str, str], command: str, unbuffered: str
):
    environment["PYTHONUNBUFFERED"] = unbuffered
    code, _, err = await shell(environment, f"$P {command} > /dev/full")
    assert code == 1
    assert err == "OUTPUT_FAILED: The output cannot be written: No space left on device\n"
    assert await shell(environment, "$P nonsense 2> /dev/full") == (2, "", "")


async def test_an_empty_or_closed_stdin_does_not_remove_a_setting(
    environment: dict[str, str],
):
    key = "k" * 40
    assert (await shell(environment, f"echo {key} | $P config set server.api_key -"))[0] == 0
    for stdin in ("<&-", "</dev/null"):
        code, _, err = await shell(environment, f"$P config set server.api_key - {stdin}")
        assert code == 2
        assert err.startswith("INVALID_REQUEST: ")
    assert (await shell(environment, "$P config reveal-api-key"))[1].strip() == key


async def test_a_missing_current_folder_is_reported(environment: dict[str, str], tmp_path: Path):
    gone = f"mkdir {tmp_path}/gone && cd {tmp_path}/gone && rmdir {tmp_path}/gone &&"
    for command in ("config set vault.root notes", "--config mine.toml search x"):
        code, _, err = await shell(environment, f"{gone} $P {command}")
        assert code == 2
        assert "the current folder no longer exists" in err
    assert (await shell(environment, f"{gone} $P config path"))[0] == 0


async def test_a_download_does_not_replace_pipes_links_or_folders(
    environment: dict[str, str], server: FakeServer, tmp_path: Path
):
    get = "$P get attachment a.png --download --output"
    pipe, file, link = (tmp_path / name for name in ("pipe", "file", "link"))
    os.mkfifo(pipe)
    file.write_bytes(b"old")
    link.symlink_to(file)
    _, size, _ = await shell(environment, f"wc -c < {pipe} & {get} {pipe}; wait")
    assert size.strip() == "5000"
    assert pipe.is_fifo()
    assert (await shell(environment, f"{get} {link}"))[0] == 0
    assert link.is_symlink()
    assert file.stat().st_size == 5000
    assert (await shell(environment, f"{get} {tmp_path}"))[2].startswith("OUTPUT_FAILED: ")


def interrupted(environment: dict[str, str], seconds: float, *arguments: str) -> tuple[int, str]:
    """Run the program, press Ctrl-C after `seconds`, return exit code and stderr."""
    process = subprocess.Popen(
        [*PROGRAM, *arguments], env=environment,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    return process.returncode, err


@pytest.mark.parametrize(
    "moments", [(0.3,), pytest.param((0.1, 0.18, 0.26, 0.34, 0.42, 0.5), marks=pytest.mark.long)]
)
def test_ctrl_c_during_startup_prints_no_traceback(
    environment: dict[str, str], tmp_path: Path, moments: tuple[float, ...]
):
    (tmp_path / "vault").mkdir()
    serve = ("serve", "--vault-root", str(tmp_path / "vault"), "--port", str(free_port()))
    # After the start of Python itself.
    for seconds in moments:
        code, err = interrupted(environment, seconds, *serve)
        if "init_import_site" in err:
            continue  # Python itself had not started yet
        assert code in (0, 130, -signal.SIGINT), err
        assert "cli/run.py" not in err
        assert "Exception in" not in err


# An extension module puts an error of its own in the place of a KeyboardInterrupt.
REPLACED = """
import signal
from vault_agent.cli import main, run

def require_utf8(arguments):
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        raise ValueError

run.require_utf8 = require_utf8
main.main()
"""


async def test_ctrl_c_that_becomes_another_error_is_no_failure(environment: dict[str, str]):
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", REPLACED, env=environment, stderr=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(PATIENCE):
        _, err = await process.communicate()
    assert (process.returncode, err) == (130, b"")
