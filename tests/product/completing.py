"""What a shell is offered."""

from __future__ import annotations

import shlex
import subprocess
from typing import TYPE_CHECKING

from tests.support.clocks import PATIENCE
from tests.support.program import PROGRAM

if TYPE_CHECKING:
    from tests.support.program import Program


def completed(program: Program, *words: str, **variables: str) -> list[str]:
    """Return what a shell is offered for the last word."""
    ended = subprocess.run(
        PROGRAM,
        env={
            **program.environment,
            **variables,
            "_VAULT_AGENT_COMPLETE": "bash_complete",
            "COMP_WORDS": shlex.join(("vault-agent", *words)),
            "COMP_CWORD": str(len(words)),
        },
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    return [line.partition(",")[2] for line in ended.stdout.splitlines() if line]
