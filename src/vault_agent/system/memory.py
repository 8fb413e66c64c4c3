"""Return freed memory to the system."""

from __future__ import annotations

import ctypes
import sys


def give_memory_back() -> None:
    """Return freed memory to the system. glibc keeps it otherwise."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl lacks it and does not need it
        if trim is not None:
            trim(0)
