"""A day's edits by the official MCP client, each read as git shows it, and all taken back."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from tests.mcp.day import DAILY, Git, server, spent

NOTE = '---\ntitle: "Beds" # mine\ntags:\n  - garden\n---\n# Beds\n\n## Log\n\n- dug\n\n## End\n'
TOOLS = {
    *("vault_write", "vault_replace", "vault_frontmatter", "vault_tags", "vault_delete"),
    *("vault_move", "vault_undo", "task_add", "task_set"),
}


@pytest.mark.long
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
async def test_a_days_edits_are_exact_and_all_taken_back(tmp_path: Path):
    program = server(tmp_path)
    program.write("Garden/Beds.md", NOTE.replace("\n", "\r\n"))
    program.write("Frost.md", "# Frost\n\nLate.")
    program.write("Links.md", "[[Frost]] and [x](Frost.md#Frost)\n")
    git = Git(program.vault)
    git.first()
    with program.indexed():
        day = await spent(program, git, "Garden/Beds.md", "Log", "Frost.md")
    assert day.tools == TOOLS
    changed = {
        (call.partition(" ")[0], path, sign + text.rstrip("\r"))
        for call, diff in day.diffs
        for part in diff.split("diff --git ")[1:]
        for path in re.findall(r"^\+\+\+ b/([^\t\n]*)", part, re.MULTILINE)
        for sign, text in re.findall(r"^([+-])(?![+-][+-])(.*)$", part, re.MULTILINE)
        if path != DAILY
    }
    assert changed == {
        ("vault_write", "Garden/Beds.md", "+*Seen today.*"),
        ("vault_write", "Garden/Beds.md", "+- seen"),
        ("vault_frontmatter", "Garden/Beds.md", "+seen: today"),
        ("vault_tags", "Garden/Beds.md", "+  - seen/today"),
        ("vault_move", "Links.md", "-[[Frost]] and [x](Frost.md#Frost)"),
        (
            "vault_move",
            "Links.md",
            "+[[Frost of old]] and [x](Journal/Moved/Frost%20of%20old.md#Frost)",
        ),
    }
