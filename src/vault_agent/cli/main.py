"""The entry point."""

from __future__ import annotations

import sys
from typing import NoReturn

from vault_agent import __version__


def main() -> NoReturn:
    """Run the command line and exit."""
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        # Without the parser, which takes longer to import than all else that this does.
        sys.stdout.write(f"vault-agent {__version__}\n")
        sys.exit(0)
    try:
        from vault_agent.cli.run import run

        sys.exit(run(arguments))
    except KeyboardInterrupt:  # while it was still being imported
        sys.exit(130)
