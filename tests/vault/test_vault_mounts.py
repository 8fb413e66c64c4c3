"""One table says what a file system means for watching and for writing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests.support.systems import linux

from vault_agent.vault.platform import file_system, is_durable, is_shared

LOCAL = ("ext4", "xfs", "btrfs", "apfs", "overlay", "tmpfs", "fuseblk", "fuse.gocryptfs", "")
SHARED = (
    *("nfs", "nfs4", "cifs", "smb3", "smbfs", "afpfs", "webdav", "davfs", "ceph", "glusterfs"),
    *("lustre", "9p", "drvfs", "virtiofs", "vboxsf", "prl_fs", "vmhgfs", "fuse", "macfuse"),
    *("fuse.rclone", "fuse.sshfs", "fuse.vmhgfs-fuse"),
)


@pytest.mark.parametrize("name", SHARED)
def test_what_is_changed_elsewhere_is_uploaded_later_too(name: str):
    assert is_shared(name)
    assert not is_durable(name)


@pytest.mark.parametrize("name", LOCAL)
def test_a_local_file_system_reports_changes_and_keeps_them(name: str):
    assert not is_shared(name)
    assert is_durable(name)


@pytest.mark.parametrize("name", ["vfat", "exfat", "msdos"])
def test_a_memory_stick_reports_changes_but_has_no_journal(name: str):
    assert not is_shared(name)
    assert not is_durable(name)


@linux("it asks `stat -f`")
@pytest.mark.parametrize("folder", ["/", "/proc"])
def test_the_file_system_is_that_of_the_mount(folder: str):
    expected = subprocess.check_output(["stat", "-f", "-c", "%T", folder], text=True)
    assert file_system(folder)[:3] == expected.strip()[:3]


def test_a_descriptor_counts_and_a_missing_folder_has_no_file_system(tmp_path: Path):
    assert file_system(str(tmp_path / "none")) == ""
    if os.name == "posix":
        folder = os.open(tmp_path, os.O_RDONLY)
        try:
            assert file_system("/no/such/folder", folder) == file_system(str(tmp_path))
        finally:
            os.close(folder)
