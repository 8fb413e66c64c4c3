"""Checks the sizes of mapped files: reading a truncated one kills the process (SIGBUS).

In the index's private folder only another program of the same user, or a failing disk, truncates a
file. So the sizes are checked before each use, which takes about a microsecond a file. A file that
is truncated between the check and the read is not noticed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from vault_agent.store.failures import damaged

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class MappedFiles:
    """Files that may grow, but not shrink. Each is compared with its largest size seen."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._sizes = dict.fromkeys(map(str, paths), 0)
        self._short: set[str] = set()
        self.check()

    def check(self) -> None:
        """Make sure that no file is shorter than before.

        A removed file is no error: it stays mapped, with the size of the last check.

        Raises:
            IndexUnavailable: `INDEX_INCOMPATIBLE` if a file is shorter.
        """
        for path, least in self._sizes.items():
            try:
                size = os.stat(path).st_size  # noqa: PTH116 - for speed
            except FileNotFoundError:
                size = 0 if path in self._short else least
            if size < least:
                self._short.add(path)
                raise damaged()
            self._short.discard(path)
            self._sizes[path] = size
