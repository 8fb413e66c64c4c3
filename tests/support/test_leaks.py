"""A test that leaves something open fails, and its report names what."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from tests.support.processes import LISTED

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not LISTED, reason="only Linux lists what a process has open")


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("kept.append(socket.socket())", "socket:["),
        pytest.param("kept.append(open(__file__))", "test_leaving.py", marks=pytest.mark.long),
        pytest.param("kept.append(subprocess.Popen(['sleep', '30']))", "process",
                     marks=pytest.mark.long),
        pytest.param(
            "threading.Thread(target=threading.Event().wait, name='idle', daemon=True).start()",
            "thread idle", marks=pytest.mark.long),
        pytest.param(
            "asyncio.get_running_loop().create_task(asyncio.sleep(60), name='late')", "task late",
            marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_what_a_test_leaves_open_fails_it_and_no_other(tmp_path: Path, body: str, named: str):
    (tmp_path / "conftest.py").write_text(
        "from tests.conftest import *\nfrom tests.support import leaks\n"
        "leaks._SECONDS_TO_SETTLE = 1.0\n"
    )
    (tmp_path / "test_leaving.py").write_text(
        textwrap.dedent(
            f"""
            import asyncio, socket, subprocess, threading
            kept = []

            def test_before():
                pass

            async def test_leaving():
                {body}

            def test_after():
                pass
            """
        )
    )
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", "-c",
         str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path), str(tmp_path)],
        check=False, capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    summary = [line for line in ended.stdout.splitlines() if line.startswith(("ERROR", "FAILED"))]
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert len(summary) == 1
    assert "test_leaving.py::test_leaving" in summary[0]
    assert named in ended.stdout
