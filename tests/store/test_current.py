"""The generation that serves, where the disk does not even say which."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import pytest

from vault_agent.errors import Failed
from vault_agent.store.current import CurrentIndex
from vault_agent.store.layout import IndexDirectory

if TYPE_CHECKING:
    from pathlib import Path


class Locked(IndexDirectory):
    """A folder whose files may not be read."""

    def current(self) -> NoReturn:
        raise PermissionError(13, "Permission denied")  # which root never sees of a file


async def test_a_folder_that_cannot_be_read_is_told_by_name(tmp_path: Path):
    index = CurrentIndex(Locked(tmp_path), vault="", fingerprint="")
    with pytest.raises(Failed) as failure:
        await index.refresh()
    assert failure.value.code == "INDEX_IO_ERROR"
