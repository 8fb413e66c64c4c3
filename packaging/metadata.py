"""Completes the metadata of the package: its addresses, and the README for PyPI.

A release is built on GitHub, which names the repository in GITHUB_REPOSITORY. Relative links and
pictures of the README then lead into the repository, at the tag of the version, and its mark for
the MCP registry gets the owner of the repository. A build from a clone knows no repository: it has
no addresses, and the README stays as it is.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_MARK = "<!-- mcp-name: vault-agent -->"
_LINK = re.compile(r"(!?)(\[[^\]\n]*\]\()(?![a-z]+:|#)([^)\s]+)\)")


class AddressesHook(MetadataHookInterface):
    """What `dynamic` names in pyproject.toml, besides the version."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the README and the addresses to the metadata."""
        text = Path(self.root, "README.md").read_text("utf-8")
        repository = os.environ.get("GITHUB_REPOSITORY")
        if repository:
            metadata["urls"] = addresses(repository)
            text = with_whole_name(text, repository)
            text = with_whole_links(text, repository, f"v{metadata['version']}")
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def addresses(repository: str) -> dict[str, str]:
    """Return the addresses of a project whose repository is `owner/name`."""
    home = f"https://github.com/{repository}"
    return {
        "Homepage": home,
        "Documentation": f"{home}/blob/main/docs/index.md",
        "Changelog": f"{home}/blob/main/CHANGELOG.md",
        "Issues": f"{home}/issues",
        "Source": home,
    }


def with_whole_name(text: str, repository: str) -> str:
    """Return the README with the name in the MCP registry, which has the repository's owner."""
    owner = repository.partition("/")[0]
    return text.replace(_MARK, _MARK.replace("vault-agent", f"io.github.{owner}/vault-agent"))


def with_whole_links(text: str, repository: str, tag: str) -> str:
    """Return Markdown whose relative links and pictures lead to `tag` of a repository."""

    def whole(link: re.Match[str]) -> str:
        if link[1]:
            start = f"https://raw.githubusercontent.com/{repository}/{tag}"
        else:
            start = f"https://github.com/{repository}/blob/{tag}"
        return f"{link[1]}{link[2]}{start}/{link[3]})"

    return _LINK.sub(whole, text)


def get_metadata_hook() -> type[MetadataHookInterface]:
    """Return the hook of this file."""
    return AddressesHook
