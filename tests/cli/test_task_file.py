"""Task files are read in two formats, and wrong ones are refused without their content."""

from __future__ import annotations

from pathlib import Path

import pytest

from vault_agent.cli.context import MAX_TASKS, read_tasks
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
    "a task file with deep nesting, over 1 MiB or 500 tasks, or with an unknown key",
    "refused with the line or key, without its content",
)
@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("t.txt", "canary", "must end in"),
        ("t.toml", "canary", "not valid TOML"),
        ("t.json", "{canary", "not valid JSON (line 1)"),
        ("t.json", "[" * 100_000, "JSON"),
        ("t.toml", "x" * ((1 << 20) + 1), "over 1 MiB"),
        ("t.json", "{}", "needs a list `tasks`"),
        ("t.json", "[]", "needs a list `tasks`"),
        ("t.json", f'{{"tasks": [{",".join(["{}"] * (MAX_TASKS + 1))}]}}', "more than 500"),
        ("t.json", '{"tasks": ["canary"]}', "tasks[0]"),
        ("t.json", '{"tasks": [{"name": "canary"}]}', "tasks[0].prompt"),
        ("t.json", JSON.replace('"query": "n"', '"file": "canary"'), "vault_context[1].query"),
        ("t.json", JSON.replace('"kind"', '"canary"'), "unknown key at tasks[0].vault_context[1]"),
        ("t.json", '{"tasks": [{"name": "a", "prompt": "b", "vault_context": "canary"}]}', "list"),
    ],
)
def test_a_wrong_task_file_is_refused(tmp_path: Path, name: str, text: str, rule: str):
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(InvalidRequest) as refused:
        read_tasks(file)
    message = refused.value.message
    assert rule in message or "deeply" in message
    assert "canary" not in message
    assert str(tmp_path) not in message


def test_a_missing_or_binary_task_file_is_refused(tmp_path: Path):
    with pytest.raises(InvalidRequest, match="cannot be read"):
        read_tasks(tmp_path / "none.toml")
    (tmp_path / "t.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidRequest, match="not UTF-8"):
        read_tasks(tmp_path / "t.toml")
