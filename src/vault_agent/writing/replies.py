"""What a write replies, what of it is logged, and the diff. Pure."""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import asdict
from difflib import unified_diff
from typing import TYPE_CHECKING, Any

from vault_agent.markdown.lines import equal_lines
from vault_agent.model.warning import Warning
from vault_agent.model.writing import PENDING, Written, WrittenFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.model.writing import VaultChange, Write

MAX_DIFF_BYTES = 64 * 1024
MAX_FILES = 200
_MOST_LINES = 20_000
_SLOW_LINES = 2_000
_CONTEXT = 3
_NOT_LOGGED = ("diff", "diff_truncated", "replayed", "index")


def diff(path: str, before: bytes | None, after: bytes | None) -> tuple[str, bool]:
    """Return a unified diff of at most `MAX_DIFF_BYTES`, and whether it was cut."""
    if before == after:
        return "", False
    old, new = _lines(before), _lines(after)
    first = equal_lines(old, new)
    last = equal_lines(old[first:][::-1], new[first:][::-1])
    changed = len(old) + len(new) - 2 * (first + last)
    if changed > _MOST_LINES:
        return f"{changed} lines differ\n", True
    if changed > _SLOW_LINES:
        lines = _whole(old, new, first, last)
    else:
        skip, keep = max(0, first - _CONTEXT), max(0, last - _CONTEXT)
        lines = list(
            unified_diff(old[skip : len(old) - keep], new[skip : len(new) - keep], n=_CONTEXT)
        )[2:]
        lines = [_shifted(line, skip) if line.startswith("@@") else line for line in lines]
    names = ["/dev/null" if before is None else path, "/dev/null" if after is None else path]
    text = f"--- {names[0]}\n+++ {names[1]}\n" + "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
    return _cut(text)


def _cut(text: str) -> tuple[str, bool]:
    """Return a diff of at most `MAX_DIFF_BYTES`, and whether it was cut."""
    data = text.encode("utf-8", "replace")
    if len(data) <= MAX_DIFF_BYTES:
        return text, False
    return data[:MAX_DIFF_BYTES].decode("utf-8", "ignore"), True


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


def unchanged_reply(
    write: Write, path: str, data: bytes, digest: bytes, *warnings: Warning, **more: Any
) -> Written:
    """Return the reply of a write that changes nothing."""
    return Written(
        write_id=None,
        operation=write.operation,
        changed=False,
        path=path,
        dry_run=write.dry_run,
        hash_before=digest.hex(),
        hash_after=digest.hex(),
        bytes_before=len(data),
        bytes_after=len(data),
        warnings=warnings,
        index=PENDING,
        **more,
    )


def make_reply(write: Write, path: str, changes: Sequence[VaultChange], **more: Any) -> Written:
    """Return the reply of a write that changes files, with their diffs.

    `path` is the one that the reply names, and `more` are other fields of `Written`.
    """
    main = next((change for change in changes if path in (change.path, change.target)), changes[0])
    of_main = WrittenFile.of(main)
    others = [WrittenFile.of(change) for change in changes if change is not main]
    text, is_cut = _diffs(path if not main.target else main.path, main, changes)
    return Written(
        write_id=None if write.dry_run else new_id(),
        operation=write.operation,
        changed=True,
        path=path,
        dry_run=write.dry_run,
        hash_before=of_main.hash_before,
        hash_after=of_main.hash_after,
        bytes_before=main.size_before,
        bytes_after=main.size_after,
        undoable=not write.dry_run,
        files=tuple(others[:MAX_FILES]),
        file_count=len(others),
        diff=text,
        diff_truncated=is_cut,
        **more,
    )


def _diffs(path: str, main: VaultChange, changes: Sequence[VaultChange]) -> tuple[str, bool]:
    """Return the diffs of all changes, cut at their limit, and whether they were cut."""
    parts: list[str] = []
    size, is_cut = 0, False
    for change in changes:
        if size >= MAX_DIFF_BYTES:
            is_cut = True
            break
        text, one_is_cut = diff(
            path if change is main else change.path, change.before, change.after
        )
        parts.append(text)
        size += len(text.encode("utf-8", "replace"))
        is_cut = is_cut or one_is_cut
    text, is_longer = _cut("".join(parts))
    return text, is_cut or is_longer


def new_id() -> str:
    """Return a new ID of a write."""
    return f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(4)}"


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines(keepends=True)


def _whole(old: list[str], new: list[str], first: int, last: int) -> list[str]:
    """Return all that differs as one hunk: comparing so many lines would take too long."""
    removed, added = old[first : len(old) - last], new[first : len(new) - last]
    head = f"@@ -{first + 1},{len(removed)} +{first + 1},{len(added)} @@\n"
    return [head, *(f"-{line}" for line in removed), *(f"+{line}" for line in added)]


def _shifted(head: str, lines: int) -> str:
    """Return the head of a hunk for a text with more lines before it."""
    if not lines:
        return head
    _, *ranges, _ = head.split(" ")
    moved = []
    for lines_range in ranges:
        start, comma, count = lines_range[1:].partition(",")
        moved.append(f"{lines_range[0]}{int(start) + lines}{comma}{count}")
    return f"@@ {' '.join(moved)} @@\n"
