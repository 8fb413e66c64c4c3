"""Writes `dist/server.json`, which lists the released version in the MCP registry.

The registry wants the name of the repository's owner in it, and the same name in the README of the
package on PyPI. `metadata.py` completes the mark there.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from vault_agent import __version__
from vault_agent.cli.agent_programs import NAME

ROOT = Path(__file__).resolve().parent.parent
_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"


def server(repository: str) -> dict[str, Any]:
    """Return the entry of the registry for a repository on GitHub, `owner/name`."""
    owner = repository.partition("/")[0]
    return {
        "$schema": _SCHEMA,
        "name": f"io.github.{owner}/{NAME}",
        "description": "Search, read and, where you allow it, change your Markdown notes. Local.",
        "repository": {"url": f"https://github.com/{repository}", "source": "github"},
        "version": __version__,
        "packages": [
            {
                "registryType": "pypi",
                "identifier": NAME,
                "version": __version__,
                "runtimeHint": "uvx",
                "transport": {"type": "stdio"},
                "packageArguments": [{"type": "positional", "value": "mcp"}],
            }
        ],
    }


if __name__ == "__main__":
    entry = server(os.environ["GITHUB_REPOSITORY"])
    (ROOT / "dist/server.json").write_text(json.dumps(entry, indent=2) + "\n", "utf-8")
