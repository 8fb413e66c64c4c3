"""The plugin for Claude Code and Codex in `plugin/`: manifests, entry and hooks.

The skill is written by hand, in `plugin/skills`. Each client has a manifest of its own. The entry
and the hooks are those that `agent connect` writes, with the program's name in place of its path.
Two catalogs let a client install the plugin from a clone.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from vault_agent import __version__
from vault_agent.cli.agent_hooks import hook_command, hooks_of
from vault_agent.cli.agent_programs import CLIENTS, NAME

_TITLE = "Vault Agent"
_SUMMARY = "Lets the agent search, read and, where you allow it, change your Markdown notes. Local."
_CATEGORY = "Productivity"


def files() -> dict[str, str]:
    """Return the text of each file, by its path in the repository."""
    entry = {"mcpServers": {NAME: CLIENTS["claude-code"].entry_of([NAME, "mcp"])}}
    made: dict[str, Any] = {
        "plugin/.claude-plugin/plugin.json": _manifest("claude-code"),
        "plugin/.codex-plugin/plugin.json": {
            **_manifest("codex"),
            "skills": "./skills/",
            "mcpServers": "./.mcp.json",
            "interface": {
                "displayName": _TITLE,
                "shortDescription": "Your own notes, searched and read",
                "longDescription": _SUMMARY,
                "developerName": _project()["authors"][0]["name"],
                "category": _CATEGORY,
                "capabilities": ["Read", "Write"],
                "defaultPrompt": ["What do my notes say about this?"],
            },
        },
        "plugin/.mcp.json": entry,
        "plugin/hooks/claude-code.json": _hooks("claude-code"),
        "plugin/hooks/codex.json": _hooks("codex"),
        ".claude-plugin/marketplace.json": {
            "name": NAME,
            "owner": {"name": _project()["authors"][0]["name"]},
            "plugins": [{"name": NAME, "source": "./plugin", "description": _SUMMARY}],
        },
        ".agents/plugins/marketplace.json": {
            "name": NAME,
            "interface": {"displayName": _TITLE},
            "plugins": [
                {
                    "name": NAME,
                    "source": {"source": "local", "path": "./plugin"},
                    "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
                    "category": _CATEGORY,
                }
            ],
        },
    }
    return {path: json.dumps(value, indent=2) + "\n" for path, value in made.items()}


def _manifest(agent: str) -> dict[str, Any]:
    project = _project()
    return {
        "name": NAME,
        "version": __version__,
        "description": _SUMMARY,
        "author": project["authors"][0],
        "license": project["license"],
        "keywords": project["keywords"],
        "hooks": f"./hooks/{agent}.json",
    }


def _hooks(agent: str) -> dict[str, Any]:
    return hooks_of(agent, hook_command(agent, [NAME], None))


def _project() -> dict[str, Any]:
    text = Path(__file__).parents[2].joinpath("pyproject.toml").read_text("utf-8")
    project: dict[str, Any] = tomllib.loads(text)["project"]
    return project
