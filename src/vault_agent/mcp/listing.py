"""`vault_list` and `task_list`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vault_agent.api import links, search
from vault_agent.api.cursors import decode_cursor, encode_cursor, invalid_cursor
from vault_agent.api.requests import parse_values
from vault_agent.errors import InvalidRequest, counted
from vault_agent.mcp.text import cut, page, printable, title, warning_lines
from vault_agent.model.graph import FolderBranch
from vault_agent.text.names import escaped, fold, stem, unescaped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from vault_agent.mcp.view import RunTool, View
    from vault_agent.model.graph import TagBranch
    from vault_agent.model.lists import ListedNote, ListedTask, NoteList, TaskList

_TASK_CHARACTERS = 240
_DEEPEST = 20


async def list_entries(view: View, arguments: Mapping[str, Any]) -> str:
    """Return a page of notes, folders or tags. `arguments` are the arguments of `vault_list`.

    Raises:
        VaultAgentError: as the operations.
    """
    if arguments["kind"] != "notes":
        return await _tree(view, arguments)
    patterns = view.patterns(arguments.get("path"))
    if not patterns and not arguments["recursive"] and (folder := view.caller.scope.base_folder):
        patterns = [folder]

    async def ask(most: int) -> tuple[list[str], list[str]]:
        request = {
            "path": patterns,
            "tag": arguments.get("tags", []),
            "recursive": arguments["recursive"],
            "sort": arguments["sort"],
            "limit": most,
            "cursor": arguments.get("cursor"),
        }
        reply = await view.perform(search.notes, request)
        listed: NoteList = reply.data
        head = _head(len(listed.notes), listed.total, "note", listed.next_cursor)
        lines = [head, *(_note_line(view, note, arguments["sort"]) for note in listed.notes)]
        return lines, warning_lines(reply.warnings)

    return await page(view, arguments["limit"], ask)


def _note_line(view: View, note: ListedNote, sort: str) -> str:
    line = view.shown(note.path)
    if fold(note.title) != fold(stem(note.path)):
        line += f' "{title(note.title)}"'
    return f"{line} · {cut(note.updated, 25)}" if sort == "updated" else line


async def _tree(view: View, arguments: Mapping[str, Any]) -> str:
    """Return tags or folders, each with the number of notes that have it or one below it."""
    kind = arguments["kind"]
    if "tags" in arguments or arguments["sort"] != "path":
        raise InvalidRequest("INVALID_REQUEST", f"kind: {kind} takes neither `tags` nor `sort`.")
    path = unescaped(arguments.get("path", "")).strip("/")
    if path and kind == "tags":
        raise InvalidRequest(
            "INVALID_REQUEST", "kind: tags lists those of all notes, not of a path."
        )
    if set(path) & set("*?"):
        raise InvalidRequest("INVALID_REQUEST", "kind: folders takes a folder as path, no glob.")
    depth = _DEEPEST if arguments["recursive"] else 1
    fields = {"prefix": f"{path}/" if path else "", "depth": depth}
    tree = links.tags if kind == "tags" else links.folders
    request = parse_values(tree.request, fields)  # for cursors
    reply = await view.perform(tree, fields)
    revision: str = reply.data.revision
    seen = 0
    if arguments.get("cursor"):
        cursor = decode_cursor(request, arguments["cursor"], str, int, vault=view.vault.identity)
        if cursor.position[0] != kind:
            raise invalid_cursor()
        seen = int(cursor.position[1])
        if cursor.revision != revision:
            raise InvalidRequest("CURSOR_EXPIRED", "The notes have changed.", remedy="List again.")
    tops = reply.data.tags if kind == "tags" else reply.data.folders
    lines = list(_tree_lines(tops))
    last = warning_lines(reply.warnings)
    if reply.data.truncated:
        last.append("[only the first 1,000 are listed: the upper levels, by name]")

    async def ask(most: int) -> tuple[list[str], list[str]]:
        page_lines = lines[seen : seen + most]
        cursor = None
        if seen + most < len(lines):
            place = (kind, seen + most)
            cursor = encode_cursor(request, place, vault=view.vault.identity, revision=revision)
        return [_head(len(page_lines), len(lines), kind[:-1], cursor), *page_lines], last

    return await page(view, arguments["limit"], ask)


def _tree_lines(branches: Sequence[TagBranch | FolderBranch]) -> Iterator[str]:
    for branch in branches:
        name = f"{branch.folder}/" if isinstance(branch, FolderBranch) else f"#{branch.tag}"
        yield f"{escaped(name)} · {branch.total:,}"
        yield from _tree_lines(branch.children)


async def _tasks(view: View, arguments: Mapping[str, Any]) -> str:
    patterns = view.patterns(arguments.get("path"))

    async def ask(most: int) -> tuple[list[str], list[str]]:
        request = {
            "path": patterns,
            "status": arguments["status"],
            "tag": arguments.get("tags", []),
            "dueBefore": arguments.get("dueBefore"),
            "limit": most,
            "cursor": arguments.get("cursor"),
        }
        reply = await view.perform(search.tasks, request)
        listed: TaskList = reply.data
        head = _head(len(listed.tasks), None, "task", listed.next_cursor)
        lines = [head, *(_task_line(view, task) for task in listed.tasks)]
        return lines, warning_lines(reply.warnings)

    return await page(view, arguments["limit"], ask)


def _task_line(view: View, task: ListedTask) -> str:
    box = f"[{printable(task.symbol)}]"
    line = (
        f"{view.shown(task.path)}:{task.line}: {box} {cut(printable(task.text), _TASK_CHARACTERS)}"
    )
    dates = (("due", task.due), ("scheduled", task.scheduled), ("done", task.done))
    return line + "".join(f" · {name} {date}" for name, date in dates if date)


def _head(count: int, total: int | None, word: str, cursor: str | None) -> str:
    if total is not None and total > count:
        head = f"{count} of {total:,} {word}s"
    else:
        head = counted(count, word)
    if not count:
        return f"{head}."
    return head if cursor is None else f"{head} · next: {cursor}"


TOOLS: Mapping[str, RunTool] = {"vault_list": list_entries, "task_list": _tasks}
