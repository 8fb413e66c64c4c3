"""Where a new file or folder may be put: in which folders of the disk, and under which names."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.errors import Conflict, InvalidRequest
from vault_agent.text.names import fold, is_note
from vault_agent.vault.opening import CannotOpen
from vault_agent.vault.paths import check_new, new_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.vault.root import VaultRoot


class _Entry(NamedTuple):
    name: str
    is_folder: bool


class _Spelled(NamedTuple):
    """A path with its existing folders spelled as on the disk. No symbolic link is followed.

    `folder` exists. `rest` are the names below it, and the first of them is no folder.
    """

    folder: str
    rest: tuple[str, ...]

    @property
    def path(self) -> str:
        """The whole path."""
        return "/".join((self.folder, *self.rest) if self.folder else self.rest)

    @property
    def existing(self) -> int:
        """The number of its folders that exist."""
        return self.folder.count("/") + 1 if self.folder else 0


def place_for_new(root: VaultRoot, path: str) -> str:
    """Return the path at which a file is created. New names in it are in NFC.

    Whether a file of this name exists is checked first, because such a file may have any name.

    Raises:
        InvalidRequest: `INVALID_NOTE_NAME`; `INVALID_PATH` if a file is where the path has a
            folder.
        Conflict: `NOTE_EXISTS` or, in another spelling, `NAME_COLLISION`, with `details.path`;
            `NOTE_NOT_LOCAL`.
    """
    spelled = _spelled(root, path)
    _check_free(root, spelled.folder, spelled.path)
    new = tuple(unicodedata.normalize("NFC", name) for name in spelled.rest)
    place = spelled._replace(rest=new).path
    check_new(place, spelled.existing)
    return place


def place_to_move(
    root: VaultRoot,
    path: str,
    suffix: str,
    *,
    moved: str | None = None,
    is_folder: bool = False,
    check: Callable[[str], object] = lambda place: None,  # noqa: ARG005
) -> str:
    """Return the path to which a file may move, or at which a folder may be made.

    Args:
        root: of the vault.
        path: as a request has it. The extension is added if it is missing.
        suffix: the extension that the file must have.
        moved: the present path of the file or folder, which may get its own name again.
        is_folder: whether it is a folder.
        check: called with the new path before the disk is read there. Raises if it is not allowed.

    Raises:
        Forbidden: `PATH_OUTSIDE_VAULT`.
        InvalidRequest, Conflict: as `place_for_new`.
    """
    spelled = _spelled(root, path)
    place = new_path(spelled.path, suffix, existing=spelled.existing, is_folder=is_folder)
    check(place)
    _check_free(root, spelled.folder, place, moved)
    return place


def inside_folder(root: VaultRoot, path: str, to: str) -> str:
    """Return the new path of a file: `to`, or its name inside `to` if that is a folder."""
    spelled = _spelled(root, f"{to}/{path.rpartition('/')[2]}")
    return spelled.path if len(spelled.rest) == 1 else to


def folder_exists(root: VaultRoot, path: str) -> bool:
    """Whether there is a folder at exactly this path."""
    parent, _, name = path.rpartition("/")
    return any(entry.name == name and entry.is_folder for entry in _entries(root, parent))


def _spelled(root: VaultRoot, path: str) -> _Spelled:
    names = path.split("/")
    folder = ""
    for number, name in enumerate(names[:-1]):
        entries = _entries(root, folder)
        folders = [entry.name for entry in entries if entry.is_folder]
        same = [folder_name for folder_name in folders if fold(folder_name) == fold(name)]
        if not same:
            return _Spelled(folder, tuple(names[number:]))
        spelled = name if name in same else min(same)
        folder = f"{folder}/{spelled}" if folder else spelled
    return _Spelled(folder, tuple(names[-1:]))


def _check_free(root: VaultRoot, folder: str, place: str, moved: str | None = None) -> None:
    """Check that the first name of a path below a folder is free there, in any spelling.

    Raises:
        InvalidRequest, Conflict: as `place_for_new`.
    """
    prefix = f"{folder}/" if folder else ""
    name, _, below = place.removeprefix(prefix).partition("/")
    entries = [entry for entry in _entries(root, folder) if prefix + entry.name != moved]
    taken = [entry for entry in entries if fold(entry.name) == fold(name)]
    if not taken:
        if any(fold(entry.name) == f".{fold(name)}.icloud" for entry in entries):
            raise Conflict("NOTE_NOT_LOCAL", "A note of this name is in the cloud, not here.")
        return
    if below:
        what = "A file is where the path has a folder."
        raise InvalidRequest("INVALID_PATH", what, remedy="Choose another folder.")
    same = next((entry for entry in taken if entry.name == name), None)
    details = {"path": prefix + (same or taken[0]).name}
    if same is None:
        raise Conflict("NAME_COLLISION", "This name exists in another spelling.", details)
    kind = "folder" if same.is_folder else "file"
    appends = kind == "file" and is_note(place) and moved is None
    remedy = None if appends else "Choose another name."
    raise Conflict("NOTE_EXISTS", f"There is a {kind} of this name.", details, remedy=remedy)


def _entries(root: VaultRoot, folder: str) -> list[_Entry]:
    try:
        with root.listing(folder) as entries:
            return [_Entry(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    except CannotOpen:
        return []
