"""Where a new file goes: the spelling of folders that exist, and names that are taken."""

from __future__ import annotations

import stat
import unicodedata
from typing import TYPE_CHECKING

from vault_agent.errors import Conflict, InvalidRequest
from vault_agent.text.names import fold

if TYPE_CHECKING:
    from vault_agent.vault.root import VaultRoot


def place_of_new(root: VaultRoot, path: str) -> tuple[str, int]:
    """Return the path of a file or folder that is to be created, and how many folders exist.

    Folders that exist keep their spelling, and links among them are followed. The rest is in NFC.

    Raises:
        CannotOpen: if a link leads to where nothing may be written.
        InvalidRequest: `INVALID_PATH` if a file is where the path has a folder.
        Conflict: `NOTE_EXISTS`; `NAME_COLLISION` with `details.path` if the name exists in another
            spelling; `NOTE_NOT_LOCAL`.
    """
    *folders, name = path.split("/")
    real = ""
    for number, each in enumerate(folders):
        spelled = _spelled(root, real, each)
        if spelled is None:
            rest = [unicodedata.normalize("NFC", part) for part in (*folders[number:], name)]
            return "/".join((*filter(None, (real,)), *rest)), number
        place = root.resolve(f"{real}/{spelled}" if real else spelled)
        if not stat.S_ISDIR(place.stat.st_mode):
            raise InvalidRequest("INVALID_PATH", "A file is where the path has a folder.")
        real = place.path
    taken = _spelled(root, real, name)
    prefix = f"{real}/" if real else ""
    if taken is not None and taken.startswith("."):
        raise Conflict("NOTE_NOT_LOCAL", "A note of this name is in the cloud, not here.")
    if taken is not None:
        details = {"path": prefix + taken}
        if taken == name:
            raise Conflict("NOTE_EXISTS", "There is a file of this name.", details)
        raise Conflict("NAME_COLLISION", "This name exists in another spelling.", details)
    return prefix + unicodedata.normalize("NFC", name), len(folders)


def _spelled(root: VaultRoot, folder: str, name: str) -> str | None:
    """Return how a name is spelled in a folder, exactly if possible, or None."""
    with root.open_folder(folder) as opened:
        names = opened.names()
    if name in names:
        return name
    wanted = fold(name)
    found = next((each for each in names if fold(each) == wanted), None)
    placeholder = f".{name}.icloud"
    return placeholder if found is None and placeholder in names else found
