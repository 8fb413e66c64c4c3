"""Folders of a program that runs."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def below(folder: Path, name: str) -> Iterator[Path]:
    """Files and folders anywhere below a folder whose names match a pattern.

    `Path.rglob` fails where a server removes a folder while it is listed.
    """
    for parent, folders, files in os.walk(folder):
        for entry in (*folders, *files):
            if fnmatchcase(entry, name):
                yield Path(parent, entry)
