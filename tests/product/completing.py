"""What a shell is offered."""

from __future__ import annotations

import shlex
from unittest.mock import patch

from tests.support.clocks import PATIENCE
from tests.support.command import run_here
from tests.support.program import Program

from vault_agent.cli import completing


def completed(program: Program, *words: str, **variables: str) -> list[str]:
    """Return what a shell is offered for the last word."""
    question = {
        **program.environment,
        **variables,
        "_VAULT_AGENT_COMPLETE": "bash_complete",
        "COMP_WORDS": shlex.join(("vault-agent", *words)),
        "COMP_CWORD": str(len(words)),
    }
    with patch.object(completing, "_SECONDS", PATIENCE):  # for a busy machine
        ended = run_here((), question)
    assert (ended.code, ended.err) == (0, "")
    return [line.partition(",")[2] for line in ended.out.splitlines() if line]
