"""The calls of the client, made from the declarations of the operations."""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict

from vault_agent.api.operations import OPERATIONS

_HEAD = '''\
"""The calls of the server's operations. `make docs` writes this file from their declarations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.client.call import Call

if TYPE_CHECKING:
'''
_MODEL = "vault_agent.model."


def module() -> str:
    """Return the module with one row for each operation that is called over HTTP."""
    imported = defaultdict(set)
    rows = []
    for operation in OPERATIONS:
        if not operation.path or operation.octets:
            continue
        for each in operation.replies:
            imported[each.__module__].add(each.__name__)
        kinds = " | ".join(each.__name__ for each in operation.replies) or "None"
        name = f"{operation.name.upper()}: Call[{kinds}]"
        rows.append(f"{name} = Call({', '.join(_values(operation))})")
    imports = [
        f"    from {name} import {', '.join(sorted(classes))}"
        for name, classes in sorted(imported.items())
    ]
    return _formatted(_HEAD + "\n".join([*imports, "", *rows]) + "\n")


def _values(operation) -> list[str]:
    values = [f'"{operation.method}"', f'"{operation.path}"']
    if operation.replies:
        kinds = (f"{each.__module__}.{each.__name__}" for each in operation.replies)
        values.append(str(tuple(each.removeprefix(_MODEL) for each in kinds)))
    if operation.takes_body:
        values.append("has_body=True")
    return values


def _formatted(text: str) -> str:
    command = [sys.executable, "-m", "ruff", "format", "-", "--stdin-filename", "calls.py"]
    ended = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return ended.stdout
