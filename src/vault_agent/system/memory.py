"""Memory that a process has freed and still holds."""

from __future__ import annotations

import ctypes
import sys


def give_memory_back() -> None:
    """Return what has been freed to the system, where the C library keeps it (glibc)."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none, and no need
        if trim is not None:
            trim(0)
