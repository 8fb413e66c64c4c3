"""The home folder of a test, on every system."""

from __future__ import annotations

from pathlib import Path

# On Windows the system is asked for the folder of settings and data, unless the last one is set.
HOMES = ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "WIN_PD_OVERRIDE_LOCAL_APPDATA")


def at_home(folder: Path | str) -> dict[str, str]:
    """Return the variables that make a folder the user's home, with all settings and data in it."""
    return dict.fromkeys(HOMES, str(folder))
