"""The command lines that open a file at a line in an editor. Pure."""

from __future__ import annotations

import os
import shlex
from pathlib import PurePath
from typing import Final

# How editors take a line, by the name of their program.
_PLUS: Final = (
    "vi vim nvim view gvim nano pico emacs emacsclient micro joe jed kak mg ne gedit bbedit"
)
_COLON: Final = "hx helix subl sublime_text zed zeditor mcedit lite-xl"
_GOTO: Final = "code code-insiders codium vscodium cursor windsurf"
_LINE: Final = "idea pycharm webstorm mate kate kwrite"

_SYNTAX: Final = {
    name: form
    for names, form in (
        (_PLUS, ("+{line}", "{file}")),
        (_COLON, ("{file}:{line}",)),
        (_GOTO, ("--goto", "{file}:{line}")),
        (_LINE, ("--line", "{line}", "{file}")),
        ("notepad++", ("-n{line}", "{file}")),
    )
    for name in names.split()
}


def editor_command(setting: str, file: str, line: int | None) -> list[str]:
    """Return the command that opens a file in the editor of `$VISUAL` or `$EDITOR`.

    An editor whose syntax for lines is unknown opens the file at its beginning.

    Raises:
        ValueError: if the setting is empty or has an unclosed quote.
    """
    words = shlex.split(setting, posix=os.name != "nt")
    if not words:
        raise ValueError("empty")
    name = PurePath(words[0].strip('"')).name.lower().removesuffix(".exe").removesuffix(".cmd")
    form = _SYNTAX.get(name)
    if line is None or form is None:
        return [*words, file]
    return [*words, *(part.format(file=file, line=line) for part in form)]
