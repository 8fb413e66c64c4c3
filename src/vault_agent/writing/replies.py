"""The reply of a write with its diff, and the part of it that is logged. Pure."""

from __future__ import annotations

import json
import re
import secrets
import time
from dataclasses import asdict
from difflib import unified_diff
from itertools import islice
from typing import TYPE_CHECKING, Any

from vault_agent.markdown.lines import equal_lines
from vault_agent.model.warning import Warning
from vault_agent.model.writing import Written, WrittenFile
from vault_agent.text.lines import split_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vault_agent.model.writing import VaultChange, Write

MAX_DIFF_BYTES = 64 * 1024
MAX_FILES = 200
_MOST_LINES = 2_000
_CONTEXT = 3
_START = re.compile(r"(?<=[-+])\d+")
_NOT_LOGGED = ("diff", "diff_truncated", "replayed", "index")


def diff(texts: Iterable[tuple[str, bytes | None, bytes | None]]) -> tuple[str, bool]:
    """Return the unified diffs of files, and whether they were cut at `MAX_DIFF_BYTES`.

    Each of `texts` is the path of a file, and its bytes before and after.
    """
    parts: list[str] = []
    size, is_cut = 0, False
    for path, before, after in texts:
        part = _diff_of(path, before, after)
        is_cut = is_cut or part is None
        parts.append("Too many lines differ.\n" if part is None else part)
        size += len(parts[-1])
        if size > MAX_DIFF_BYTES:
            break
    data = "".join(parts).encode("utf-8", "replace")
    is_cut = is_cut or len(data) > MAX_DIFF_BYTES
    return data[:MAX_DIFF_BYTES].decode("utf-8", "ignore"), is_cut


def _diff_of(path: str, before: bytes | None, after: bytes | None) -> str | None:
    """Return the diff of one file, or None if comparing its lines would take too long."""
    if before == after:
        return ""
    old, new = (split_lines((data or b"").decode("utf-8", "replace")) for data in (before, after))
    first = equal_lines(old, new)
    last = equal_lines(old[first:][::-1], new[first:][::-1])
    if len(old) + len(new) - 2 * (first + last) > _MOST_LINES:
        return None
    skip, keep = max(0, first - _CONTEXT), max(0, last - _CONTEXT)
    hunks = unified_diff(old[skip : len(old) - keep], new[skip : len(new) - keep], n=_CONTEXT)
    names = ["/dev/null" if before is None else path, "/dev/null" if after is None else path]
    lines = [f"--- {names[0]}\n", f"+++ {names[1]}\n"]
    for line in islice(hunks, 2, None):
        if line.startswith("@@"):  # its line numbers count from the part that was compared
            lines.append(_START.sub(lambda start: str(int(start[0]) + skip), line))
        elif line.endswith(("\r", "\n")):
            lines.append(line if line.endswith("\n") else f"{line}\n")
        else:
            lines.append(f"{line}\n\\ No newline at end of file\n")
    return "".join(lines)


def dump_reply(reply: Written) -> str:
    """Return a reply as it is logged: without content and without the state of the index."""
    fields = asdict(reply)
    return json.dumps({name: value for name, value in fields.items() if name not in _NOT_LOGGED})


def load_reply(reply: str) -> Written:
    """Return a logged reply. Its diff is empty."""
    fields: dict[str, Any] = json.loads(reply)
    fields["files"] = tuple(WrittenFile(**file) for file in fields["files"])
    fields["warnings"] = tuple(Warning(**warning) for warning in fields["warnings"])
    return Written(**fields, replayed=True)


def make_reply(write: Write, path: str, changes: Sequence[VaultChange], **more: Any) -> Written:
    """Return the reply of a write, with the diffs of its changes.

    The reply names `path`, and has the hashes of the change at that path, or of the first change.
    That change may change nothing. `more` are other fields of `Written`.
    """
    main = next((change for change in changes if path in (change.path, change.target)), changes[0])
    of_main = WrittenFile.of(main)
    changed = main.before is None or main.before != main.after
    is_logged = changed and not write.dry_run
    others = [WrittenFile.of(change) for change in changes if change is not main]
    text, is_cut = diff(
        (path if change is main and not main.target else change.path, change.before, change.after)
        for change in changes
    )
    return Written(
        write_id=new_id() if is_logged else None,
        operation=write.operation,
        changed=changed,
        path=path,
        dry_run=write.dry_run,
        hash_before=of_main.hash_before,
        hash_after=of_main.hash_after,
        bytes_before=main.size_before,
        bytes_after=main.size_after,
        undoable=is_logged,
        files=tuple(others[:MAX_FILES]),
        file_count=len(others),
        diff=text,
        diff_truncated=is_cut,
        **more,
    )


def new_id() -> str:
    """Return a new ID of a write."""
    return f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(4)}"
