"""Task files are read in two formats, and wrong ones are refused without their content."""

from __future__ import annotations

from pathlib import Path

import pytest

from vault_agent.cli.context import read_tasks
from vault_agent.errors import InvalidRequest

TOML = """
[[tasks]]
name = "a"
prompt = "P"
model = "mine"
vault_context = [{query = "x"}, {kind = "read", query = "n"}]
"""
JSON = """{"tasks": [{"name": "a", "prompt": "P", "model": "mine",
  "vault_context": [{"query": "x"}, {"kind": "read", "query": "n"}]}]}"""


@pytest.mark.parametrize(("name", "text"), [("t.toml", TOML), ("t.json", JSON)])
def test_a_task_file_is_read_with_the_keys_of_others(tmp_path: Path, name: str, text: str):
    file = tmp_path / name
    file.write_text(text)
    assert read_tasks(file) == [
        {
            "name": "a",
            "prompt": "P",
            "model": "mine",
            "vault_context": [{"query": "x"}, {"kind": "read", "query": "n"}],
        }
    ]


@pytest.mark.fault(
    "Note contents",
    "a task file with deep nesting, or that is no list of tasks",
    "refused without its content",
)
@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("t.txt", "canary", "neither TOML"),
        ("t.toml", "canary", "neither TOML"),
        ("t.json", "{canary", "JSON"),
        ("t.json", "[" * 100_000, "JSON"),
        ("t.json", "{}", "needs a list `tasks`"),
        ("t.json", "[]", "needs a list `tasks`"),
        ("t.json", '{"tasks": ["canary"]}', "mappings"),
        ("t.json", '{"tasks": [{"name": "canary"}]}', "`prompt`"),
    ],
)
def test_a_wrong_task_file_is_refused(tmp_path: Path, name: str, text: str, rule: str):
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(InvalidRequest) as refused:
        read_tasks(file)
    message = refused.value.message
    assert rule in message
    assert "canary" not in message
    assert str(tmp_path) not in message


def test_a_missing_or_binary_task_file_is_refused(tmp_path: Path):
    with pytest.raises(InvalidRequest, match="cannot be read"):
        read_tasks(tmp_path / "none.toml")
    (tmp_path / "t.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidRequest, match="neither TOML"):
        read_tasks(tmp_path / "t.toml")
