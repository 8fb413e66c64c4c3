"""What a write replies, what of it is logged, and the diff. Pure."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from difflib import unified_diff
from typing import TYPE_CHECKING, Any

from vault_agent.model.warning import Warning
from vault_agent.model.writing import PENDING, Written, WrittenFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.model.writing import Write
    from vault_agent.store.writes.record import FileChange

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
    first = _equal(old, new)
    last = _equal(old[first:][::-1], new[first:][::-1])
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
    data = text.encode("utf-8", "replace")
    if len(data) <= MAX_DIFF_BYTES:
        return text, False
    return data[:MAX_DIFF_BYTES].decode("utf-8", "ignore"), True


def logged(written: Written) -> str:
    """Return a reply as it is logged: without content and without the state of the index."""
    fields = asdict(written)
    return json.dumps({name: value for name, value in fields.items() if name not in _NOT_LOGGED})


def replayed(reply: str) -> Written:
    """Return a logged reply. Its diff is empty."""
    fields: dict[str, Any] = json.loads(reply)
    fields["files"] = tuple(WrittenFile(**each) for each in fields["files"])
    fields["warnings"] = tuple(Warning(**each) for each in fields["warnings"])
    return Written(**fields, replayed=True)


def unchanged(
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


def of_change(write: Write, write_id: str | None, change: FileChange, **more: Any) -> Written:
    """Return the reply of a write of one file. `more` are other fields of `Written`."""
    before, after = change.hash_before, change.hash_after
    return Written(
        write_id=write_id,
        operation=write.operation,
        changed=True,
        path=change.target or change.path,
        dry_run=write.dry_run,
        hash_before=before.hex() if before else None,
        hash_after=after.hex() if after else None,
        bytes_before=change.size_before,
        bytes_after=change.size_after,
        undoable=write_id is not None,
        **more,
    )


def with_files(written: Written, changes: Sequence[FileChange]) -> Written:
    """Return a reply that names the other files of a write."""
    files = [
        WrittenFile(
            path=each.target or each.path,
            before=each.path if each.target else None,
            hash_before=each.hash_before.hex() if each.hash_before else None,
            hash_after=each.hash_after.hex() if each.hash_after else None,
            bytes_before=each.size_before,
            bytes_after=each.size_after,
            links=each.links,
        )
        for each in changes
    ]
    return replace(written, files=tuple(files[:MAX_FILES]), file_count=len(files))


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines(keepends=True)


def _equal(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for each, its in zip(one, other, strict=False):
        if each != its:
            break
        count += 1
    return count


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
    for each in ranges:
        start, comma, count = each[1:].partition(",")
        moved.append(f"{each[0]}{int(start) + lines}{comma}{count}")
    return f"@@ {' '.join(moved)} @@\n"
