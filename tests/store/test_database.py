"""Database connections, and their errors."""

from __future__ import annotations

import asyncio
import errno
import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from tests.support.clocks import PATIENCE

from vault_agent.errors import Failed
from vault_agent.store.database import translated
from vault_agent.store.jobs import open_jobs


async def test_a_cancelled_opening_of_the_jobs_leaves_no_thread(tmp_path: Path):
    async def use() -> None:
        async with open_jobs(tmp_path / "jobs.db"):
            await asyncio.Event().wait()

    for turns in range(20):
        opening = asyncio.create_task(use())
        for _ in range(turns):
            await asyncio.sleep(0)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
    for thread in threading.enumerate():
        if "connection" in thread.name:
            thread.join(PATIENCE)  # it is ending
            assert not thread.is_alive()


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_a_read_only_folder_is_distinguished_from_a_failing_disk(number: int):
    with pytest.raises(Failed, match="permission is denied, or") as refused, translated():
        raise OSError(number, os.strerror(number))
    assert refused.value.code == "INDEX_IO_ERROR"
    with pytest.raises(Failed, match="input/output error"), translated():
        raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_a_read_only_database_is_reported_as_denied_permission(tmp_path: Path):
    path = tmp_path / "index.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE s (x)")
    with (
        closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection,
        pytest.raises(Failed, match="permission is denied, or"),
        translated(),
    ):
        connection.execute("CREATE TABLE t (x)")
