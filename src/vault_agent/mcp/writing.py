"""The tools that write: `vault_write` and the others.

Paths are exact here. A client gets the tools and modes that it has the rights for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vault_agent.api import authoring, files, note_writes, write_history
from vault_agent.errors import InvalidRequest, NotFound, VaultAgentError, counted, error_of
from vault_agent.mcp.reading import HASH_DIGITS, frontmatter_json, named_note, tags_of
from vault_agent.mcp.text import fenced, has_marks, printable, warning_lines, warnings_of
from vault_agent.text.lines import split_lines
from vault_agent.text.names import escaped, is_note, unescaped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.api.operation import Operation
    from vault_agent.mcp.view import RunTool, View
    from vault_agent.model.reply import Envelope
    from vault_agent.model.writing import Written

DIFF_LINES = 20

_SECTION_ACTIONS = {"append": "append", "prepend": "prepend", "overwrite": "replace"}
_VERBS = {"delete": "deleted", "move": "moved"}


async def change(view: View, operation: Operation[Any, Any], body: Mapping[str, Any]) -> str:
    """Run an operation that writes, and return what it has done as text for a model.

    Raises:
        VaultAgentError: as the operation.
    """
    return written_text(view, await perform_write(view, operation, body))


async def perform_write(
    view: View, operation: Operation[Any, Any], body: Mapping[str, Any]
) -> Envelope[Written]:
    """Run an operation that writes. Paths in the body are those of the client.

    Raises:
        InvalidRequest: `INVALID_REQUEST` if the text has marks of a reply.
        NotFound: `NOTE_NOT_FOUND` with similar paths in `details.suggestions`.
        VaultAgentError: as the operation.
    """
    if has_marks(str(body.get("content", ""))):
        raise InvalidRequest(
            "INVALID_REQUEST",
            "content has a line that only replies have (`<note … b=…>`): it is a copy of a reply,"
            " and may be a part of the note. Read all of the note, and send its text without these"
            " lines.",
        )
    fields = dict(body)
    for name in ("path", "to"):
        if name in fields:
            fields[name] = view.caller.scope.in_vault(unescaped(fields[name]))
    try:
        return await view.perform(operation, fields)
    except NotFound as error:
        if error.code != "NOTE_NOT_FOUND" or "path" not in body:
            raise
        raise await _with_suggestions(view, str(body["path"])) from None


def changes(operation: Operation[Any, Any]) -> RunTool:
    """Return what runs a tool whose arguments are those of an operation that writes."""

    async def run(view: View, arguments: Mapping[str, Any]) -> str:
        return await change(view, operation, arguments)

    return run


async def at_this_moment(
    view: View, operation: Operation[Any, Any], body: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a request with the hash that the note has now, for tools that know no hashes.

    Raises:
        VaultAgentError: as the operation.
    """
    tried = (await perform_write(view, operation, {**body, "dryRun": True})).data
    return {**body, **({"expectedHash": tried.hash_before} if tried.hash_before else {})}


async def _with_suggestions(view: View, path: str) -> VaultAgentError:
    """Return the error for an unknown path, with what may have been meant."""
    try:
        note, _ = await named_note(view, path)
    except NotFound as error:
        return error
    if not is_note(note.path) and escaped(note.path) == path:
        what = "this is an attachment. It can be moved and deleted, but not edited."
        return InvalidRequest("INVALID_REQUEST", what)
    what = "no such note. Writing takes the exact path:"
    return error_of("NOTE_NOT_FOUND", what, {"suggestions": [escaped(note.path)]})


def written_text(view: View, reply: Envelope[Written]) -> str:
    """Return what a write has done: a line, and at most 20 lines of what changed."""
    data = reply.data
    is_new = data.created and data.hash_before is None  # not only a section of it
    verb = _VERBS.get(data.operation, "created" if is_new else "changed")
    path = view.shown(data.path)
    if data.moved_from is not None:
        path = f"{view.shown(data.moved_from)} -> {path}"
    parts = [f"{verb if data.changed else 'unchanged'} {path}"]
    if data.line is not None:
        parts[0] += f":{data.line}"
    if data.dry_run:
        parts.append("dry run, nothing was written")
    before, after = data.bytes_before, data.bytes_after
    if before is not None and after not in (None, before):
        parts.append(f"{before:,} -> {after:,} bytes")
    elif before is not None or after is not None:
        count = (before if after is None else after) or 0
        parts.append(counted(count, "byte"))
    if data.operation == "move" and data.spans:
        notes = counted(data.file_count, "note")
        parts.append(f"{counted(data.spans, 'link')} changed in {notes}")
    shown_hash = data.hash_before if data.dry_run else data.hash_after
    if shown_hash is not None and data.operation != "delete":
        parts.append(f"hash: {shown_hash[:HASH_DIGITS]}")
    if data.section_hash is not None and not data.dry_run:
        parts.append(f"sectionHash: {data.section_hash[:HASH_DIGITS]}")
    if data.write_id is not None:
        parts.append(f"writeId: {data.write_id}")
    lines = [" · ".join(parts)]
    # A deleted or new note is what the model knows already.
    if data.changed and not is_new and data.operation != "delete":
        lines += _diff(view, data)
    return "\n".join([*lines, *warning_lines(reply.warnings)])


def write_warnings(reply: Envelope[Written]) -> dict[str, list[str]]:
    """Return the member of a JSON reply that shows the warnings of a write.

    That a search finds the change a moment later is nothing to act on.
    """
    return warnings_of(warning for warning in reply.warnings if warning.code != "INDEX_PENDING")


def _diff(view: View, data: Written) -> list[str]:
    """Return the changed lines between the marks of note text: they are text of the note."""
    lines = [line.rstrip("\r\n") for line in split_lines(data.diff)[2:]]
    if not lines:
        return []
    first_lines = lines[:DIFF_LINES]
    if len(first_lines) < len(lines) or data.diff_truncated:
        first_lines.append("[more lines are not shown]")
    return [fenced(view.shown(data.path), "diff", printable("\n".join(first_lines)))]


def place(section: str) -> dict[str, Any]:
    """Return the fields of a request that name a section or block as `vault_read` names it."""
    if section.startswith("^"):
        return {"blockId": section}
    if section.startswith("h:") and section.count(":") == 2:
        return {"headingId": section}
    return {"heading": [name.strip() for name in section.split(" > ")]}


def given(arguments: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return those of the arguments that were given."""
    return {name: arguments[name] for name in names if name in arguments}


# --- the tools ------------------------------------------------------------------------------------


async def _write(view: View, arguments: Mapping[str, Any]) -> str:
    mode = arguments["mode"]
    if "section" not in arguments:
        return await change(view, note_writes.write_note, arguments)
    if mode not in (*_SECTION_ACTIONS, "upsert") or "frontmatter" in arguments:
        raise InvalidRequest(
            "INVALID_REQUEST",
            "with `section`, mode is append, prepend, overwrite, or upsert, which makes the"
            " heading; there is no frontmatter.",
        )
    body = {
        **given(arguments, "path", "content", "expectedHash"),
        **place(arguments["section"]),
        "action": _SECTION_ACTIONS.get(mode, "append"),
    }
    if mode == "upsert":
        body["createIfMissing"] = True
    return await change(view, note_writes.write_section, body)


async def _frontmatter(view: View, arguments: Mapping[str, Any]) -> str:
    if arguments["action"] == "get":
        return await frontmatter_json(view, arguments["path"], arguments.get("key"))
    return await change_frontmatter(view, arguments)


async def change_frontmatter(view: View, arguments: Mapping[str, Any]) -> str:
    """Set or delete a key of a note's frontmatter.

    Raises:
        InvalidRequest: `INVALID_REQUEST` if `key` or `value` is missing.
        VaultAgentError: as the operation.
    """
    body = given(arguments, "path", "expectedHash")
    if "key" not in arguments:
        raise InvalidRequest("INVALID_REQUEST", "key is missing. Give it as text.")
    if arguments["action"] == "delete":
        body["delete"] = [arguments["key"]]
    elif "value" in arguments:
        body["set"] = {arguments["key"]: arguments["value"]}
    else:
        raise InvalidRequest("INVALID_REQUEST", "value is missing. Give it as JSON.")
    return await change(view, note_writes.write_frontmatter, body)


async def list_or_change_tags(view: View, arguments: Mapping[str, Any]) -> str:
    """List, add or remove tags of a note.

    Raises:
        InvalidRequest: `INVALID_REQUEST` if `tag` is missing.
        VaultAgentError: as the operation.
    """
    if arguments["action"] == "list":
        return await tags_of(view, arguments["path"])
    if "tag" not in arguments:
        raise InvalidRequest("INVALID_REQUEST", "tag is missing. Give it as text.")
    body = {
        **given(arguments, "path", "expectedHash"),
        arguments["action"]: [arguments["tag"].removeprefix("#")],
    }
    if arguments["action"] == "remove":  # wherever `list` has found it
        body["where"] = "both"
    return await change(view, note_writes.write_tags, body)


TOOLS: Mapping[str, RunTool] = {
    "vault_write": _write,
    "vault_replace": changes(note_writes.write_replace),
    "vault_frontmatter": _frontmatter,
    "vault_tags": list_or_change_tags,
    "vault_delete": changes(files.write_delete),
    "vault_move": changes(files.write_move),
    "vault_undo": changes(write_history.write_undo),
    "task_add": changes(authoring.add_task),
    "task_set": changes(authoring.set_task),
}
