"""Notes every call that would change a folder, in each Python process that has this on its path.

`HOOKED_BELOW` names the folder, and `HOOKED_NOTES` the file for the notes.
"""

import os
import sys

_BELOW = os.environ["HOOKED_BELOW"]
_NOTES = os.open(os.environ["HOOKED_NOTES"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
_CHANGES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_EVENTS = {
    *("os.mkdir", "os.rmdir", "os.remove", "os.rename", "os.link", "os.symlink", "os.truncate"),
    *("os.chmod", "os.chown", "os.utime", "os.setxattr", "os.removexattr"),
}


def _is_below(place: object) -> bool:
    """Whether a path, or an open folder by its descriptor, lies in the folder."""
    if isinstance(place, int) and place > 2:
        try:
            place = os.readlink(f"/proc/self/fd/{place}")  # noqa: PTH115 - text in, text out
        except OSError:
            return False
    return isinstance(place, (str, bytes)) and os.fsdecode(place).startswith(_BELOW)


def _note(event: str, arguments: tuple) -> None:
    if event == "open":
        path, _, flags = arguments
        if not (isinstance(flags, int) and flags & _CHANGES) or isinstance(path, int):
            return
        # The event does not tell what a relative path is relative to: it may be the folder.
        if os.path.isabs(path) and not _is_below(path):  # noqa: PTH117 - text or bytes
            return
    elif event not in _EVENTS or not any(map(_is_below, arguments)):
        return
    os.write(_NOTES, f"{event} {arguments!r}\n".encode("utf-8", "replace"))


sys.addaudithook(_note)
