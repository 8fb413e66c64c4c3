"""Where a new file or folder may be put: in which folders of the disk, and under which names."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vault_agent.errors import Conflict
from vault_agent.text.names import fold, is_note
from vault_agent.vault.naming import new_folder, new_path
from vault_agent.vault.opening import CannotOpen

if TYPE_CHECKING:
    import os

    from vault_agent.vault.root import VaultRoot


class _Entry(NamedTuple):
    name: str
    is_folder: bool


def place_for_file(root: VaultRoot, path: str, suffix: str, *, moved: str | None = None) -> str:
    """Return the path at which a file may be made, with its folders as they are on the disk.

    Args:
        path: as asked for. The extension is added if it is missing.
        suffix: the extension that the file must have.
        moved: the path of the file that moves there, whose own name is free to it.

    Raises:
        InvalidRequest: `INVALID_NOTE_NAME`, `INVALID_PATH`.
        Forbidden: `PATH_OUTSIDE_VAULT`.
        Conflict: `NOTE_EXISTS`, `NAME_COLLISION`, `NOTE_NOT_LOCAL`.
    """
    spelled, existing = _spelled(root, path)
    place = new_path(spelled, suffix, existing=existing)
    _check_free(root, place, existing, moved)
    return place


def place_for_folder(root: VaultRoot, path: str, *, moved: str | None = None) -> str:
    """Return the path at which a folder may be made. See `place_for_file`."""
    spelled, existing = _spelled(root, path)
    place = new_folder(spelled, existing=existing)
    _check_free(root, place, existing, moved)
    return place


def inside_folder(root: VaultRoot, path: str, to: str) -> str:
    """Return the destination of a file: where `to` is a folder that exists, the same name in it."""
    name = path.rpartition("/")[2]
    spelled, existing = _spelled(root, f"{to}/{name}")
    return spelled if existing == to.count("/") + 1 else to


def folder_exists(root: VaultRoot, path: str) -> bool:
    """Whether there is a folder at exactly this path."""
    parent, _, name = path.rpartition("/")
    return any(entry.name == name and entry.is_folder for entry in _entries(root, parent))


def _spelled(root: VaultRoot, path: str) -> tuple[str, int]:
    """Return a path with its existing folders as the disk spells them, and their number."""
    names = path.split("/")
    found: list[str] = []
    for name in names[:-1]:
        entries = _entries(root, "/".join(found))
        folders = [entry.name for entry in entries if entry.is_folder]
        same = [each for each in folders if fold(each) == fold(name)]
        if not same:
            break
        found.append(name if name in same else min(same))
    return "/".join([*found, *names[len(found) :]]), len(found)


def _check_free(root: VaultRoot, place: str, existing: int, moved: str | None) -> None:
    """Check that nothing has the name of a path, in any spelling."""
    *folders, name = place.split("/")
    if existing < len(folders):
        inside, taken = "/".join(folders[:existing]), folders[existing]
    else:
        inside, taken = "/".join(folders), name
    for entry in _entries(root, inside):
        path = f"{inside}/{entry.name}" if inside else entry.name
        if path == moved:
            continue
        if fold(entry.name) == f".{fold(taken)}.icloud":
            raise Conflict("NOTE_NOT_LOCAL", "There is a note of this name in the cloud.")
        if fold(entry.name) != fold(taken):
            continue
        if path == place:
            kind = "folder" if entry.is_folder else "note" if is_note(path) else "file"
            raise Conflict(
                "NOTE_EXISTS", f"There is already a {kind} of this name.", {"path": path}
            )
        raise Conflict(
            "NAME_COLLISION",
            "There is already something with this name in another spelling.",
            {"path": path},
        )


def _entries(root: VaultRoot, folder: str) -> list[_Entry]:
    try:
        with root.listing(folder) as entries:
            return [_Entry(entry.name, _is_folder(entry)) for entry in entries]
    except CannotOpen:
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether a name is a folder, or a link to one. A link that leads nowhere is a file."""
    try:
        return entry.is_dir()
    except OSError:  # a link to itself, or through a folder that may not be read
        return False
