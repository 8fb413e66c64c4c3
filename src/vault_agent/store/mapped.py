"""Mapped files: reading one that somebody has cut short ends the process (SIGBUS).

Only another program of the same user, or a failing disk, does that to the index's private folder.
So the sizes are looked at before each use, which takes about a microsecond a file. A file that is
cut short between the look and the read is not noticed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from vault_agent.store.failures import damaged

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class MappedFiles:
    """Files that may grow, but never get shorter; the sizes that count are the largest seen."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._sizes = dict.fromkeys(map(str, paths), 0)
        self._short: set[str] = set()
        self.check()

    def check(self) -> None:
        """Make sure that no file is shorter than it was.

        A file that was removed stays mapped as it was when it was last looked at.

        Raises:
            IndexUnavailable: `INDEX_INCOMPATIBLE` where one is shorter.
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
