"""Builds the file that installs vault-agent in Claude Desktop by one click: `make mcpb`.

It is a zip archive with a manifest (MCPB, manifest version 0.4) and the wheel of this version. The
client has `uv`, which installs the wheel and what it needs at the first start.
"""

from __future__ import annotations

import json
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

from vault_agent.mcp.handshake import result_for
from vault_agent.mcp.tool import OWN, ClientTools

ROOT = Path(__file__).resolve().parent.parent
_MANIFEST_VERSION = "0.4"
_TIME = (2020, 1, 1, 0, 0, 0)  # the same bytes for the same contents
_ENTRY = """\
import sys

from vault_agent.cli.main import main

sys.argv = ["vault-agent", "mcp"]
sys.exit(main())
"""


def manifest(version: str) -> dict[str, Any]:
    """Return the manifest of a version: what the client shows, asks for and starts."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return {
        "manifest_version": _MANIFEST_VERSION,
        "name": "vault-agent",
        "display_name": "vault-agent",
        "version": version,
        "description": project["description"],
        "author": {"name": project["authors"][0]["name"]},
        "license": project["license"],
        "keywords": project["keywords"],
        "server": {
            "type": "uv",
            "entry_point": "server.py",
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--directory", "${__dirname}", "server.py"],
                "env": {"VAULT_AGENT_VAULT_ROOT": "${user_config.folder}"},
            },
        },
        "tools": _tools(),
        "tools_generated": True,
        "user_config": {
            "folder": {
                "type": "directory",
                "title": "Folder of your notes",
                "description": "The folder that is searched and read, such as an Obsidian vault."
                " Nothing in it is changed.",
                "required": True,
            }
        },
        "compatibility": {
            "platforms": ["darwin", "win32", "linux"],
            "runtimes": {"python": project["requires-python"]},
        },
    }


def project_file(version: str, wheel: str) -> str:
    """Return the pyproject.toml of the archive, which names the wheel in it."""
    return (
        "[project]\n"
        'name = "vault-agent-in-claude-desktop"\n'
        f'version = "{version}"\n'
        'requires-python = ">=3.11"\n'
        'dependencies = ["vault-agent"]\n'
        "\n"
        "[tool.uv]\n"
        "package = false\n"
        "\n"
        "[tool.uv.sources]\n"
        f'vault-agent = {{ path = "{wheel}" }}\n'
    )


def build(wheel: Path, into: Path) -> Path:
    """Write the archive with a wheel into a folder, and return its path."""
    version = wheel.name.split("-")[1]
    made = into / f"vault-agent-{version}.mcpb"
    files = {
        "manifest.json": json.dumps(manifest(version), indent=2).encode(),
        "pyproject.toml": project_file(version, wheel.name).encode(),
        "server.py": _ENTRY.encode(),
        wheel.name: wheel.read_bytes(),
    }
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, _TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return made


def _tools() -> list[dict[str, str]]:
    """Return the tools that read, with their descriptions. Others are there once switched on."""
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    listed = result_for(request, ClientTools(OWN, (), (), is_named_agent=False))
    assert listed is not None
    return [{"name": each["name"], "description": each["description"]} for each in listed["tools"]]


def main() -> None:
    """Build the archive of the newest wheel in a folder, `dist` unless one is given."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist"
    wheels = sorted(folder.glob("vault_agent-*.whl"), key=lambda each: each.stat().st_mtime)
    if not wheels:
        sys.exit(f"There is no wheel in {folder}. Run `make build` first.")
    print(build(wheels[-1], folder))


if __name__ == "__main__":
    main()
