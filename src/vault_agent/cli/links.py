"""`vault-agent links`: the links from and to a note, and those that lead nowhere."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent.cli.command import Exit, Invocation, Noun
from vault_agent.cli.list import SCREENFUL, Listing, limit_option, tell_more
from vault_agent.cli.names import client_here, find, find_attachment
from vault_agent.cli.search import line_of
from vault_agent.cli.terminal import (
    clean,
    distinct_warnings,
    envelope,
    is_terminal,
    marked,
    say,
    say_indented,
    style,
    tell,
    warn,
)
from vault_agent.errors import InvalidRequest, NotFound, counted
from vault_agent.model.identifiers import identify
from vault_agent.model.names import Suggestions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vault_agent.client.client import Client, Reply

_KINDS = ("wikilink", "embed", "markdown", "image", "frontmatter", "external")
_STATUSES = ("resolved", "ambiguous", "unresolved", "external")
FAULTS = ("note", "heading", "block", "attachment")
_PARTS = {
    None: ("links", "backlinks"),
    "out": ("links",),
    "in": ("backlinks",),
    "mentions": ("mentions",),
}
_PAGE = 100
_NONE = {
    "links": "It links to no note. Its links to the web: --external",
    "backlinks": "No note links to it.",
    "mentions": "No note mentions it without a link.",
}
_MOST_BROKEN = 1_000
_MOST_CONTEXTS = 10
_LONGEST_NAME = 200  # of a request for suggestions
_MARGIN = " " * 6

command = Noun("links")


@command.by_itself
@click.argument("note")
@click.option("--in", "only", flag_value="in", help="Only the notes that link to it.")
@click.option("--out", "only", flag_value="out", help="Only the links in it.")
@click.option(
    "--mentions", "only", flag_value="mentions", help="The notes that name it without a link."
)
@click.option("--status", type=click.Choice(_STATUSES), help="Only links in it in this state.")
@click.option("--kind", "kinds", type=click.Choice(_KINDS), multiple=True, help="Only this kind.")
@click.option("--external", is_flag=True, help="Also the links to the web.")
@click.option("-l", "--paths", "only_paths", is_flag=True, help="Print only paths of notes.")
@limit_option("Links or notes")
def show(invocation: Invocation, /, note: str, **options: Any) -> None:
    """Show the links from and to a note, or check all links of the vault.

    NOTE is a path or its end, a title, an ID, or the number of a result. An attachment has only
    links to it.

    \b
    vault-agent links "Late frost"
    vault-agent links 1 --mentions
    """  # noqa: D301 - \\b tells the parser to keep these lines
    only, limit = options["only"], options["limit"]
    if only is None and (options["status"] or options["kinds"]):
        only = "out"
    replies: dict[str, Reply] = {}
    with invocation.client() as client:
        note_id, path = _note_or_document(invocation, client, note)
        if path is None and only in ("out", "mentions"):
            raise InvalidRequest("INVALID_REQUEST", "An attachment has only links to it: --in.")
        requests = _requests(client, note_id, options, as_json=invocation.json)
        for key in _PARTS[only] if path is not None else _PARTS["in"]:
            if invocation.json:
                replies[key] = requests[key](limit=limit and min(limit, _PAGE))
            else:
                listing = Listing(invocation, key, limit, page=_PAGE)
                for rows in listing.rows(requests[key]):
                    _print_rows(key, path, rows, only_paths=options["only_paths"])
                is_chosen = options["status"] or options["kinds"] or options["external"]
                none = "It has no such links." if key == "links" and is_chosen else _NONE[key]
                listing.close(none, "link" if key == "links" else "note")
    if invocation.json:
        data = {key: reply.envelope["data"] for key, reply in replies.items()}
        envelope(data, distinct_warnings(replies.values()))


def _requests(
    client: Client, note_id: str, options: dict[str, Any], *, as_json: bool
) -> dict[str, Callable[..., Reply]]:
    """Return what asks for a page of the links in a note, of those to it, and of its mentions."""
    kinds = options["kinds"]
    if not (kinds or options["external"] or options["status"] or as_json):
        kinds = [kind for kind in _KINDS if kind != "external"]
    note = {"note_id": note_id}
    links = {**note, "status": options["status"], "kind": ",".join(kinds) or None}
    backlinks = {**note, "contexts": None if as_json else _MOST_CONTEXTS}
    return {
        "links": partial(client.call, "GET /notes/{noteId}/links", **links),
        "backlinks": partial(client.call, "GET /notes/{noteId}/backlinks", **backlinks),
        "mentions": partial(client.call, "GET /notes/{noteId}/mentions", **note),
    }


def _print_rows(
    key: str, path: str | None, rows: Sequence[dict[str, Any]], *, only_paths: bool
) -> None:
    if only_paths:
        for target in dict.fromkeys(row["path"] for row in rows if row.get("path")):
            say(clean(target))
    elif key != "links":
        for row in rows:
            _print_linking(row, key.removeprefix("back").removesuffix("s"))
    else:
        for link in rows:
            place = f"{link['line']:>4}  " if is_terminal(sys.stdout) else f"{path}:{link['line']}:"
            say(f"{clean(place)}{written(link)}{_destination(link)}")


def _print_linking(note: dict[str, Any], noun: str) -> None:
    path = clean(note["path"])
    if not is_terminal(sys.stdout):
        for place in note["places"]:
            text = place["snippet"] or _where(place)
            say(line_of(path, place["line"], clean(" ".join(text.split()))))
        return
    say(f"{style(path, 'strong')}  {counted(note['count'], noun)}")
    for place in note["places"]:
        say(_MARGIN + style(f"line {place['line']}  {clean(_where(place))}".rstrip(), "faint"))
        if place["snippet"]:
            say_indented(marked(place["snippet"], place["matches"]), len(_MARGIN) + 2)


def _note_or_document(invocation: Invocation, client: Client, text: str) -> tuple[str, str | None]:
    """Return the ID of a note and its path, or the ID of an attachment and None."""
    try:
        place = find(invocation, client, text)
    except NotFound as error:
        if error.code != "NOTE_NOT_FOUND":
            raise
        attachment = find_attachment(invocation, client, text) or _ending_in(client, text)
        if attachment is None:
            raise
        return identify(attachment), None
    path = place.path
    if path is None:
        path = client.call("GET /notes/{noteId}", note_id=place.note_id).envelope["data"]["path"]
    return place.note_id, path


def _ending_in(client: Client, end: str) -> str | None:
    """Return the only attachment of the client's vault whose path ends so."""
    name = PurePosixPath(end).name[:_LONGEST_NAME]
    reply = client.call("GET /suggest", q=name, kinds="attachment", limit=50)
    paths = [suggestion.path or "" for suggestion in reply.read(Suggestions).suggestions]
    ending = [path for path in paths if f"/{path}".endswith(f"/{end}")]
    return ending[0] if len(ending) == 1 else None


def _where(place: dict[str, Any]) -> str:
    """Return the part of a note in which a link stands: a heading, or its frontmatter."""
    return "in its frontmatter" if place["chunkIndex"] is None else place["heading"] or ""


def written(link: dict[str, Any]) -> str:
    """Return a link roughly as it is written in the note, cleaned for a terminal."""
    target = link["target"]
    if link.get("fragment"):
        target = f"{target}#{link['fragment']}"
    kind, text = link["kind"], link.get("text") or ""
    if kind == "external":
        markup = f"[{text}]({target})" if text and text != target else f"<{target}>"
    elif kind in ("markdown", "image"):
        markup = f"{'!' * (kind == 'image')}[{text}]({target})"
    else:
        markup = f"{'!' * (kind == 'embed')}[[{target}{'|' * bool(text)}{text}]]"
    return clean(markup)


def _destination(link: dict[str, Any]) -> str:
    """Return where a link leads, as it is printed after the link."""
    if link["status"] == "external":
        return ""
    if link["status"] == "unresolved":
        return "  " + style("unresolved", "warning")
    path = f"  → {clean(link['path'])}"
    if link["status"] == "ambiguous":
        others = ", ".join(clean(path) for path in link["candidates"][1:])
        path += "  " + style(f"ambiguous: also {others}" if others else "ambiguous", "warning")
    if link.get("fragmentFound") is False:
        path += "  " + style("no such heading or block", "warning")
    return path


@command.command("check")
@click.argument("paths", nargs=-1)
@click.option(
    "--fail-on",
    metavar="KINDS",
    default=",".join(FAULTS),
    show_default=True,
    help="Kinds of findings, separated by commas. Also: ambiguous.",
)
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1),
    help=f"Findings. Default: {SCREENFUL} at a terminal, else all.",
)
def check(
    invocation: Invocation, /, paths: tuple[str, ...], fail_on: str, limit: int | None
) -> int:
    """Find the links that lead nowhere.

    Prints one line for each, as path:line:column, and exits with 6 if there are any. PATHS are
    folders or notes of the vault to check; the default is all. Links to the web are never opened.
    """
    kinds = tuple(dict.fromkeys(kind.strip() for kind in fail_on.split(",")))
    if not set(kinds) <= {*FAULTS, "ambiguous"}:
        raise click.UsageError(f"--fail-on takes {', '.join(FAULTS)}, ambiguous")
    folders = [_folder(path) for path in paths]
    links: list[dict[str, Any]] = []
    with client_here(invocation) as client:
        for folder in folders:
            _require_notes(client, folder)
        cursor = None
        while True:
            reply = client.call(
                "GET /links/broken", kinds=",".join(kinds), limit=_MOST_BROKEN, cursor=cursor
            )
            data = reply.envelope["data"]
            links += (link for link in data["links"] if _is_below(link["path"], folders))
            cursor = data["nextCursor"]
            if cursor is None:
                break
    is_long = is_terminal(sys.stdout) and not invocation.json
    most = limit or (SCREENFUL if is_long else len(links))
    if invocation.json:
        envelope({"findings": links[:most], "total": len(links)}, reply.envelope["warnings"])
    else:
        for link in links[:most]:
            place = f"{clean(link['path'])}:{link['line']}:{link['column']}"
            say(f"{style(place, 'strong')}: {_fault(link)} {written(link)}{_candidates(link)}")
        if len(links) > most:
            tell_more(most, len(links), "finding")
    tell(f"{counted(len(links), 'finding')}.")
    warn(reply.warnings)
    return Exit.LINKS_FOUND if links else Exit.SUCCESS


def _folder(path: str) -> str:
    """Return a typed path as paths of the vault are written. The vault itself is empty."""
    return "" if path == "." else path.removeprefix("./").strip("/")


def _require_notes(client: Client, folder: str) -> None:
    """Raise NotFound if a path is neither a note nor a folder with notes."""
    if not folder:
        return
    notes = client.call("GET /notes", path=folder, limit=1)
    if not notes.envelope["data"]["total"]:
        raise NotFound(
            "NOTE_NOT_FOUND",
            f"The vault has neither a note {clean(folder)} nor such a folder with notes.",
            remedy="Type paths as they are in the vault, with .md.",
        )


def _is_below(path: str, folders: Sequence[str]) -> bool:
    return not folders or any(
        not folder or path == folder or path.startswith(f"{folder}/") for folder in folders
    )


def _fault(link: dict[str, Any]) -> str:
    """Return what is wrong with a link: `no note`, `no heading`, or `ambiguous`."""
    fault = clean(link["fault"])
    return fault if fault == "ambiguous" else f"no {fault}"


def _candidates(link: dict[str, Any]) -> str:
    return f"  ({', '.join(map(clean, link['candidates']))})" if link.get("candidates") else ""
