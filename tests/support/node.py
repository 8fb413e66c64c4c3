"""The Node of the tests: the one that the locked packages bring, never the machine's own."""

from __future__ import annotations

import os
import shutil
import sysconfig

_SCRIPTS = sysconfig.get_path("scripts")


def node(name: str = "node") -> str:
    """Return the path of `node`, `npm` or `npx` beside this Python."""
    found = shutil.which(name, path=_SCRIPTS)
    assert found is not None, f"{name} is not in {_SCRIPTS}: install requirements/test.txt"
    return found


def with_node() -> dict[str, str]:
    """Return the environment for programs that start `node` by its name, as `npx` does."""
    return {**os.environ, "PATH": os.pathsep.join((_SCRIPTS, os.environ.get("PATH", "")))}
