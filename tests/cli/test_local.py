"""What a user saw last is kept, also while an index run begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from vault_agent.cli.names import LocalVault, forget_task, recalled_task, remember_tasks
from vault_agent.system import files

NOTE = "0123456789abcdef0123456789abcdef"
TASKS = [{"taskId": f"{NOTE}:{line}:00ff"} for line in (1, 2)]


def test_tasks_are_kept_although_a_run_removes_unfinished_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    remember_tasks(LocalVault(tmp_path, tmp_path), TASKS)
    swept: list[Path] = []

    def replace_file(path: Path, data: bytes, *, durable: bool) -> None:
        with files.replacing(path, durable=durable) as file:
            file.write(data)
            if not swept:
                files.remove_unfinished(path.parent)
                swept.append(path)

    monkeypatch.setattr(files, "replace_file", replace_file)
    forget_task(tmp_path, TASKS[1]["taskId"])
    assert swept
    assert recalled_task(tmp_path, NOTE, 1) == TASKS[0]["taskId"]
    assert recalled_task(tmp_path, NOTE, 2) is None
