"""The vault boundary: nothing outside is opened, whatever is linked, renamed or swapped."""

from __future__ import annotations

import errno
import os
import socket
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from tests.support.clocks import patiently
from tests.support.systems import linux, posix
from tests.vault.spellings import CLIMBING, LEAVING, MALFORMED, SECRET

from vault_agent.errors import Failed, Misconfigured
from vault_agent.model.identifiers import identify
from vault_agent.vault import platform
from vault_agent.vault.opening import CannotOpen, Cause, PortableOpener, cannot_open
from vault_agent.vault.root import VaultRoot


def read(root: VaultRoot, path: str) -> bytes:
    with root.open_file(path) as file:
        return os.read(file.fd, 1 << 16)


def cause_of(root: VaultRoot, path: str) -> Cause:
    with pytest.raises(CannotOpen) as caught:
        root.open_file(path).close()
    return caught.value.cause


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


# --- the root itself --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", ["missing", "file", "nul", pytest.param("fifo", marks=posix("pipes of POSIX"))]
)
def test_a_root_that_is_not_a_folder_is_a_configuration_error(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "canary"
    if kind == "file":
        path.write_bytes(b"")
    elif kind == "fifo":
        os.mkfifo(path)
    with pytest.raises(Misconfigured) as caught:
        VaultRoot.open(f"{path}\0" if kind == "nul" else path)
    assert caught.value.code == "VAULT_NOT_FOUND"
    assert "canary" not in caught.value.message
    assert "vault-agent setup --folder" in caught.value.message


@pytest.mark.usefixtures("strategy")
def test_a_symlinked_root_is_followed(folder: Path) -> None:
    (folder / "a.md").write_bytes(b"text")
    link = folder.parent / "link"
    link.symlink_to(folder)
    with VaultRoot.open(link) as root:
        assert root.identity == identify(str(folder.resolve()))
        assert read(root, "a.md") == b"text"


def test_closing_twice_is_allowed(root: VaultRoot) -> None:
    root.close()
    root.close()


def test_a_renamed_vault_stays_open(folder: Path) -> None:
    (folder / "a.md").write_bytes(b"text")
    with VaultRoot.open(folder) as root:
        folder.rename(folder.parent / "moved")
        (folder.parent / "outside").rename(folder)
        (folder / "a.md").write_bytes(SECRET)
        assert read(root, "a.md") == b"text"


@linux("looks at descriptors as Linux has them")
def test_no_descriptor_is_leaked(root: VaultRoot, folder: Path) -> None:
    (folder / "d").mkdir()
    (folder / "d" / "a.md").write_bytes(b"")
    (folder / "in.md").symlink_to("d/../d/a.md")
    (folder / "out.md").symlink_to("../secret.txt")
    before = open_descriptors()
    for path in ("d/a.md", "in.md", "out.md", "d", "d/none", "a/b/c", "d/a.md/x"):
        with suppress(CannotOpen):
            root.open_file(path).close()
        with suppress(CannotOpen), root.listing(path) as entries:
            list(entries)
    assert open_descriptors() == before


# --- names ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "plain.md",
        "new\nline.md",
        "\x1b[31mred.md",
        "\u202edm.txet.md",
        "a\\b.md",
        "%2e%2e.md",
        "日.md",
    ],
    ids=ascii,
)
def test_every_name_on_disk_opens_by_its_exact_path(
    root: VaultRoot, folder: Path, name: str
) -> None:
    (folder / name).write_text(name, encoding="utf-8")
    assert read(root, name) == name.encode()


def test_names_that_differ_by_case_or_normal_form_stay_separate(
    root: VaultRoot, folder: Path
) -> None:
    names = ["caf\u00e9.md", "cafe\u0301.md", "Note.md", "note.md"]
    for name in names:
        (folder / name).write_bytes(name.encode())
    if len(list(folder.iterdir())) < len(names):
        pytest.skip("this file system takes such names for one")
    assert [read(root, name) for name in names] == [name.encode() for name in names]


def test_the_root_refuses_paths_without_prior_validation(root: VaultRoot) -> None:
    for spelling in (*CLIMBING, *LEAVING, *MALFORMED):
        if "%25" not in spelling:
            try:
                root.open_file(spelling).close()
            except CannotOpen:
                continue
            pytest.fail(ascii(spelling))


@pytest.mark.parametrize(
    "spelling",
    ["d//a.md", "d/./a.md", "d/x/../a.md", "./d/a.md", "d/../d/a.md", "/d/a.md", "//d/a.md",
     "d/a.md/", "x/../../vault/d/a.md", "../vault/d/a.md", "d/a.md\0", "d/a.md\ud800"],
    ids=ascii,
)  # fmt: skip
def test_paths_with_dots_or_empty_parts_are_refused_even_inside(
    root: VaultRoot, folder: Path, spelling: str
) -> None:
    (folder / "d" / "x").mkdir(parents=True)
    (folder / "d" / "a.md").write_bytes(b"text")
    assert cause_of(root, spelling) is Cause.OUTSIDE
    with pytest.raises(CannotOpen) as caught, root.listing(spelling.replace("/a.md", "")):
        pass
    assert caught.value.cause is Cause.OUTSIDE


def test_bad_path_segments_are_refused(root: VaultRoot, folder: Path) -> None:
    (folder / "a.md").write_bytes(b"")
    assert cause_of(root, "a.md/b.md") is Cause.VANISHED
    assert cause_of(root, "x" * 300) is Cause.UNREADABLE
    assert cause_of(root, "none.md") is Cause.VANISHED


# --- links ------------------------------------------------------------------------------------


@pytest.mark.parametrize("absolute", [False, True])
def test_symlinks_inside_the_vault_are_not_followed(
    root: VaultRoot, folder: Path, absolute: bool
) -> None:
    (folder / "d" / "e").mkdir(parents=True)
    (folder / "d" / "e" / "a.md").write_bytes(b"text")
    base = str(folder.resolve()) + "/" if absolute else ""
    (folder / "one.md").symlink_to(f"{base}d/e/a.md")
    (folder / "folder").symlink_to(f"{base}d")
    for path in ("one.md", "folder/e/a.md"):
        assert cause_of(root, path) is Cause.OUTSIDE


@pytest.mark.parametrize(
    "target",
    [
        "../secret.txt",
        "../outside/secret.md",
        "../vault2/secret.md",
        "{parent}/secret.txt",
        "{parent}/vault2/secret.md",
        "d/../../secret.txt",
        "../vault/../secret.txt",
        "{parent}/vault/../secret.txt",
        "/proc/self/cwd",
        "/proc/self/root/etc/passwd",
        "/dev/zero",
        "/dev/stdin",
        "../nothing-there",
        "/",
        "..",
    ],
)
def test_a_symlink_out_is_refused_even_if_dangling(
    root: VaultRoot, folder: Path, target: str
) -> None:
    (folder / "d").mkdir()
    (folder / "link.md").symlink_to(target.format(parent=folder.parent.resolve()))
    (folder / "again.md").symlink_to("link.md")
    assert cause_of(root, "link.md") is Cause.OUTSIDE
    assert cause_of(root, "again.md") is Cause.OUTSIDE


def test_a_symlinked_outside_folder_reveals_nothing(root: VaultRoot, folder: Path) -> None:
    (folder / "link").symlink_to("../outside")
    assert cause_of(root, "link/secret.md") is Cause.OUTSIDE
    assert cause_of(root, "link/nothing.md") is Cause.OUTSIDE
    with pytest.raises(CannotOpen), root.listing("link"):
        pass


@pytest.mark.fault(
    "Paths",
    "symbolic links in a loop",
    "passed over, with a warning",
)
def test_symlink_loops_end(root: VaultRoot, folder: Path) -> None:
    (folder / "self.md").symlink_to("self.md")
    (folder / "a.md").symlink_to("b.md")
    (folder / "b.md").symlink_to(folder.resolve() / "a.md")
    for path in ("self.md", "a.md", "b.md"):
        assert cause_of(root, path) is Cause.OUTSIDE


def test_exclusions_apply_to_the_name_on_disk(
    open_root: Callable[..., VaultRoot], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # macOS and Windows find `private` by `PRIVATE`; here a hard link stands in for that.
    root = open_root("private/")
    (folder / "private").mkdir()
    (folder / "private" / "a.md").write_bytes(SECRET)
    (folder / "PRIVATE.md").write_bytes(b"text")
    monkeypatch.setattr(platform, "names_are_exact", lambda: False)
    assert read(root, "PRIVATE.md") == b"text"
    on_disk = str(folder.resolve() / "private" / "a.md")
    monkeypatch.setattr(platform, "descriptor_path", lambda fd: on_disk)
    assert cause_of(root, "PRIVATE.md") is Cause.EXCLUDED
    on_disk = str(folder.resolve().parent / "vault2" / "secret.md")
    assert cause_of(root, "PRIVATE.md") is Cause.OUTSIDE


# --- what is not a regular file ---------------------------------------------------------------


@linux("binds a socket by a path of /proc")
def test_fifo_socket_device_and_folder_are_never_opened(root: VaultRoot, folder: Path) -> None:
    os.mkfifo(folder / "fifo.md")
    (folder / "to-fifo.md").symlink_to("fifo.md")
    (folder / "folder.md").mkdir()
    (folder / "zero.md").symlink_to("/dev/zero")
    with patiently():
        assert cause_of(root, "fifo.md") is Cause.IRREGULAR
        assert cause_of(root, "to-fifo.md") is Cause.OUTSIDE
        assert cause_of(root, "folder.md") is Cause.DIRECTORY
        assert cause_of(root, "zero.md") is Cause.OUTSIDE
    with socket.socket(socket.AF_UNIX) as server:
        here = os.open(folder, os.O_RDONLY)  # a socket's path must be short
        try:
            server.bind(f"/proc/self/fd/{here}/socket.md")
        finally:
            os.close(here)
        assert cause_of(root, "socket.md") is Cause.IRREGULAR


def test_a_device_inside_the_vault_is_never_opened(root: VaultRoot, folder: Path) -> None:
    try:
        os.mknod(folder / "zero.md", stat.S_IFCHR | 0o600, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("making a device needs privileges")
    assert cause_of(root, "zero.md") is Cause.IRREGULAR


@posix("pipes of POSIX")
def test_the_writer_of_a_fifo_is_not_disturbed(root: VaultRoot, folder: Path) -> None:
    # Opening a FIFO for reading, even without blocking, would let its writer go on.
    os.mkfifo(folder / "fifo.md")
    assert cause_of(root, "fifo.md") is Cause.IRREGULAR
    with pytest.raises(OSError, match=os.strerror(errno.ENXIO)):
        os.close(os.open(folder / "fifo.md", os.O_WRONLY | os.O_NONBLOCK))


@pytest.mark.parametrize(
    ("number", "cause"),
    [
        (errno.EACCES, Cause.FORBIDDEN),
        (errno.EIO, Cause.UNREADABLE),
        (errno.ENOENT, Cause.VANISHED),
        (errno.ELOOP, Cause.OUTSIDE),
    ],
)
def test_system_errors_become_causes(number: int, cause: Cause) -> None:
    assert cannot_open(OSError(number, "x")).cause is cause


def test_running_out_of_descriptors_fails_the_run_and_loses_no_notes() -> None:
    with pytest.raises(Failed):
        cannot_open(OSError(errno.EMFILE, "x"))


# --- the system -------------------------------------------------------------------------------


@pytest.mark.fault(
    "Paths",
    "a folder beside the vault whose name starts with the vault's name",
    "refused",
)
@pytest.mark.parametrize(
    ("path", "expected"),
    [("/a/vault", ""), ("/a/vault/x/y", "x/y"), ("/a/vault2/x", None), ("/a", None), ("/", None)],
)
def test_containment_is_checked_by_path_segments(path: str, expected: str | None) -> None:
    assert platform.relative_to("/a/vault", path) == expected


def test_the_file_system_root_can_be_a_vault() -> None:
    assert platform.relative_to("/", "/a") == "a"
    assert platform.relative_to("/", "/") == ""


def test_without_descriptor_relative_calls_the_portable_way_is_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "has_descriptor_relative_calls", lambda: False)
    (folder / "a.md").write_bytes(b"text")
    with VaultRoot.open(folder) as root:
        assert isinstance(root._opener, PortableOpener)
        assert read(root, "a.md") == b"text"
    with pytest.raises(Misconfigured):
        VaultRoot.open(folder / "none")
