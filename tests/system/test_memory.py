"""Freed memory is returned to the system."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

import pytest

from vault_agent.system.processes import give_memory_back


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(sys.platform != "linux", reason="looks at memory as Linux shows it")
def test_freed_memory_is_returned_to_the_system():
    if not hasattr(ctypes.CDLL(None), "malloc_trim"):
        pytest.skip("a C library that keeps nothing")
    blocks = [bytearray(b"x" * 60_000) for _ in range(2_000)]
    last = bytearray(b"x" * 60_000)  # above the freed blocks: without a call they are not returned
    held = resident_bytes()
    blocks.clear()
    give_memory_back()
    assert held - resident_bytes() > 60_000_000
    assert last
