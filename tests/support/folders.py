"""Folders of a program that runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path


def below(folder: Path, name: str) -> Iterator[Path]:
    """Files and folders anywhere below a folder whose names match a pattern.

    `Path.rglob` fails where a server removes a folder while it is listed.
    """
    for parent, folders, files in os.walk(folder):
        for entry in (*folders, *files):
            if fnmatchcase(entry, name):
                yield Path(parent, entry)
