"""Figures as people read them: times, sizes, percentiles, tables, and the machine they are from."""

from __future__ import annotations

import os
import platform
import sqlite3
import sys
import time
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def say(text: str) -> None:
    """Print a progress message."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def seconds(value: float) -> str:
    """Return a duration with three significant digits."""
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.3g} ms"


def megabytes(value: float) -> str:
    """Return a size in MB."""
    return f"{value / 1e6:.1f} MB"


def percentile(values: Iterable[float], share: float) -> float:
    """Return the percentile of the values at `share`, 0 to 1."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def latency(times: Sequence[float]) -> str:
    """Return the median and the late percentiles of times in seconds."""
    shares = (0.5, 0.95, 0.99)
    return ", ".join(f"p{s * 100:.0f} {seconds(percentile(times, s))}" for s in shares)


def table(*rows: Sequence[object]) -> str:
    """Return a Markdown table. The first row is its head."""
    lines = [f"| {' | '.join(map(str, row))} |" for row in rows]
    lines.insert(1, "|---" * len(rows[0]) + "|")
    return "\n".join(lines)


def load() -> float:
    """Return the load average of the last minute, or 0 where it is not available."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def machine() -> str:
    """Describe the machine, its load and the library versions, without the machine's name."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    packages = ("vault-agent", "tantivy", "aiosqlite", "aiohttp", "pyromark")
    libraries = ", ".join(f"{name} {version(name)}" for name in packages)
    return (
        f"{cores} cores, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {libraries}; "
        f"load before the run {load():.1f}."
    )
