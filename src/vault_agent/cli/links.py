"""`vault-agent links`: the links from and to a note, and those that lead nowhere."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent.cli.command import Exit, Invocation, Noun
from vault_agent.cli.list import SCREENFUL, Listing, limit_option, tell_more
from vault_agent.cli.names import choose_vault, client_here, find, find_attachment
from vault_agent.cli.search import line_of
from vault_agent.cli.terminal import (
    clean,
    counted,
    distinct_warnings,
    envelope,
    fitted,
    is_terminal,
    marked,
    say,
    style,
    tell,
    warn,
)
from vault_agent.errors import Busy, IndexUnavailable, InvalidRequest, NotFound
from vault_agent.model.identifiers import identify
from vault_agent.model.names import Suggestions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.client.client import Client, Reply

_KINDS = ("wikilink", "embed", "markdown", "image", "frontmatter", "external")
_EXTERNAL = "external"
_STATUSES = ("resolved", "ambiguous", "unresolved", "external")
FAULTS = ("note", "heading", "block", "attachment")
_PAGE = 1_000
_LINKING_PAGE = 100
_SCREENFUL = 100
_MOST_CONTEXTS = 10
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
@limit_option("Links or notes", _SCREENFUL)
@click.pass_obj
def show(invocation: Invocation, /, note: str, **options: Any) -> None:
    """Show the links from and to a note, or check all links of the vault.

    NOTE is a path or its end, a title, an ID, or the number of a result. An attachment has only
    links to it.

    \b
    vault-agent links "Late frost"
    vault-agent links 1 --mentions
    """  # noqa: D301 - \\b tells the parser to keep these lines
    only = options["only"]
    if only is None and (options["status"] or options["kinds"]):
        only = "out"
    with invocation.client() as client:
        note_id, path = _note_or_attachment(invocation, client, note)
        if path is None and only in ("out", "mentions"):
            raise InvalidRequest("INVALID_REQUEST", "An attachment has only links to it: --in.")
        parts = _Links(invocation, client, note_id, path or "", {**options, "only": only})
        if only in (None, "out") and path is not None:
            parts.show_out()
        if only in (None, "in"):
            parts.show_linking("backlinks", "link", "No note links to it.")
        if only == "mentions":
            parts.show_linking("mentions", "mention", "No note mentions it without a link.")
    parts.end()


class _Links:
    """Prints the links of one note, part by part. With `--json` all parts are one reply."""

    def __init__(
        self, invocation: Invocation, client: Client, note_id: str, path: str, options: Any
    ) -> None:
        self._invocation, self._client = invocation, client
        self._note_id, self._path, self._options = note_id, path, options
        # A pipe tells the links from it and to it by arrows.
        both = options["only"] is None and path
        self._from_it, self._to_it = ("→ ", "← ") if both else ("", "")
        self._replies: dict[str, Reply] = {}
        self._is_first = True

    def show_out(self) -> None:
        """Print the links in the note, those to notes and files first."""
        options = self._options
        external = options["external"] or _EXTERNAL in (options["status"], *options["kinds"])
        if self._invocation.json:
            self._keep("links", options["limit"])
            return
        # All are needed, since those to the web come last.
        listing = Listing(self._invocation, "links", sys.maxsize, page=_PAGE)
        links = [
            link
            for rows in listing.rows(lambda most, cursor: self._ask("links", most, cursor))
            for link in rows
        ]
        warn(listing.warnings())
        inside = [link for link in links if link["status"] != _EXTERNAL]
        outside = [link for link in links if link["status"] == _EXTERNAL]
        wanted = [*inside, *(outside if external else ())]
        most = options["limit"] or (_SCREENFUL if is_terminal(sys.stdout) else len(wanted))
        self._print_out(wanted[:most])
        if not wanted:
            is_chosen = options["status"] or options["kinds"]
            tell("The note has no such links." if is_chosen else "It links to no note.")
        elif len(wanted) > most:
            tell_more(most, len(wanted), "link")
        if outside and not external:
            tell(f"{counted(len(outside), 'link')} to the web: --external")

    def show_linking(self, key: str, noun: str, none: str) -> None:
        """Print the notes that link to the note or mention it, with their places."""
        limit = self._options["limit"]
        if self._invocation.json:
            self._keep(key, limit)
            return
        listing = Listing(self._invocation, key, limit, page=_LINKING_PAGE, screenful=_LINKING_PAGE)
        for rows in listing.rows(lambda most, cursor: self._ask(key, most, cursor)):
            for note in rows:
                self._print_linking(note, noun)
        if not listing.printed:
            tell(none)
        elif listing.is_cut:
            tell_more(listing.printed, listing.total, "note")
        warn(listing.warnings())

    def end(self) -> None:
        """Print the reply if JSON is wanted."""
        if self._invocation.json:
            data = {key: reply.envelope["data"] for key, reply in self._replies.items()}
            envelope(data, distinct_warnings(self._replies.values()))

    def _keep(self, key: str, limit: int | None) -> None:
        most = _PAGE if key == "links" else _LINKING_PAGE
        self._replies[key] = self._ask(key, limit and min(limit, most), None)

    def _ask(self, key: str, limit: int | None, cursor: str | None) -> Reply:
        call, note_id, options = self._client.call, self._note_id, self._options
        if key == "links":
            kinds = ",".join(options["kinds"]) or None
            return call(
                "GET /notes/{noteId}/links",
                note_id=note_id,
                status=options["status"],
                kind=kinds,
                limit=limit,
                cursor=cursor,
            )
        if key == "mentions":
            return call("GET /notes/{noteId}/mentions", note_id=note_id, limit=limit)
        contexts = None if is_terminal(sys.stdout) or self._invocation.json else _MOST_CONTEXTS
        return call(
            "GET /notes/{noteId}/backlinks",
            note_id=note_id,
            limit=limit,
            contexts=contexts,
            cursor=cursor,
        )

    def _print_out(self, links: Sequence[dict[str, Any]]) -> None:
        if self._options["only_paths"]:
            for path in dict.fromkeys(link["path"] for link in links if link.get("path")):
                say(clean(path))
            return
        at_terminal = is_terminal(sys.stdout)
        columns = max((len(str(link["line"])) for link in links), default=0)
        for link in links:
            place = f"{link['line']:>{columns}}  "
            in_pipe = f"{clean(self._path)}:{link['line']}:{self._from_it}"
            _print_link(link, place if at_terminal else in_pipe)
        self._is_first = self._is_first and not links

    def _print_linking(self, note: dict[str, Any], noun: str) -> None:
        path = clean(note["path"])
        if self._options["only_paths"]:
            say(path)
            return
        if not is_terminal(sys.stdout):
            for place in note["places"]:
                text = place["snippet"] or _where(place)
                say(line_of(path, place["line"], self._to_it + clean(" ".join(text.split()))))
            return
        if not self._is_first:
            say()
        self._is_first = False
        say(f"{style(path, 'strong')}  {counted(note['count'], noun)}")
        for place in note["places"]:
            _print_place(place)


def _note_or_attachment(
    invocation: Invocation, client: Client, text: str
) -> tuple[str, str | None]:
    """Return the ID of a note and its path, or the ID of an attachment and None."""
    try:
        place = find(invocation, client, text)
    except NotFound as error:
        if error.code != "NOTE_NOT_FOUND":
            raise
        attachment = _attachment(invocation, client, text)
        if attachment is None:
            raise
        return identify(attachment), None
    path = place.path
    if path is None:
        path = client.call("GET /notes/{noteId}", note_id=place.note_id).envelope["data"]["path"]
    return place.note_id, path


def _attachment(invocation: Invocation, client: Client, text: str) -> str | None:
    """Return the attachment with this path, or the only one whose path ends so.

    Raises:
        NotFound: `NOTE_AMBIGUOUS` with `details.notes`.
    """
    if (exact := find_attachment(invocation, client, text)) is not None:
        return exact
    paths = _ending_in(client, choose_vault(invocation, client, text))
    if len(paths) > 1:
        files = [{"noteId": identify(path), "path": path} for path in paths]
        what = f"{len(paths)} attachments have this name."
        raise NotFound("NOTE_AMBIGUOUS", what, {"notes": files})
    return paths[0] if paths else None


def _ending_in(client: Client, end: str) -> list[str]:
    """Return the paths of the attachments of the client's vault that end so, shortest first."""
    name = end.rpartition("/")[2]
    try:
        reply = client.call("GET /suggest", q=name, kinds="attachment", limit=50)
    except (Busy, IndexUnavailable, InvalidRequest, NotFound):
        return []
    paths = [suggestion.path or "" for suggestion in reply.read(Suggestions).suggestions]
    if end in paths:
        return [end]
    ending = [path for path in paths if f"/{path}".endswith(f"/{end}")]
    return sorted(ending, key=lambda path: (len(path), path))


def _print_link(link: dict[str, Any], begin: str) -> None:
    if link["status"] != _EXTERNAL:
        say(f"{begin}{written(link)}{_destination(link)}")
        return
    text = clean(link.get("text") or "")
    more = f"  {style(text, 'faint')}" if text and text != link["target"] else ""
    say(f"{begin}{clean(link['target'])}{more}")


def _where(place: dict[str, Any]) -> str:
    """Return the part of a note in which a link stands: a heading, or its frontmatter."""
    return "in its frontmatter" if place["chunkIndex"] is None else place["heading"] or ""


def _print_place(place: dict[str, Any]) -> None:
    say(_MARGIN + style(f"line {place['line']}  {clean(_where(place))}".rstrip(), "faint"))
    if place["snippet"]:
        for line in fitted(marked(place["snippet"], place["matches"]), margin=len(_MARGIN) + 2):
            say(f"{_MARGIN}  {line}")


def written(link: dict[str, Any]) -> str:
    """Return a link roughly as it is written in the note, cleaned for a terminal."""
    target = link["target"]
    if link.get("fragment"):
        target = f"{target}#{link['fragment']}"
    kind, text = link["kind"], link.get("text") or ""
    if kind == _EXTERNAL:
        markup = f"[{text}]({target})" if text and text != target else f"<{target}>"
    elif kind in ("markdown", "image"):
        markup = f"{'!' * (kind == 'image')}[{text}]({target})"
    else:
        markup = f"{'!' * (kind == 'embed')}[[{target}{'|' * bool(text)}{text}]]"
    return clean(markup)


def _destination(link: dict[str, Any]) -> str:
    """Return where a link leads, as it is printed after the link."""
    if link["status"] == "unresolved":
        return "  " + style("unresolved", "warning")
    target = link["target"]
    whole = "/" in target and link["path"] in (target, f"{target}.md")
    path = "" if whole else f"  → {clean(link['path'])}"
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
@click.pass_obj
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
        reply = client.call("GET /links/broken", kinds=",".join(kinds), limit=_PAGE)
        first = reply
        while True:
            data = reply.envelope["data"]
            links += (link for link in data["links"] if _is_below(link["path"], folders))
            if not data["hasMore"]:
                break
            reply = client.call(
                "GET /links/broken", kinds=",".join(kinds), limit=_PAGE, cursor=data["nextCursor"]
            )
    most = limit or len(links)
    if invocation.json:
        envelope({"findings": links[:most], "total": len(links)}, distinct_warnings([first]))
    else:
        most = limit or (SCREENFUL if is_terminal(sys.stdout) else most)
        for link in links[:most]:
            place = f"{clean(link['path'])}:{link['line']}:{link['column']}"
            say(f"{style(place, 'strong')}: {_fault(link)} {written(link)}{_candidates(link)}")
        if len(links) > most:
            tell_more(most, len(links), "finding")
    tell(_summary(links, kinds))
    warn(first.warnings)
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


def _summary(links: Sequence[dict[str, Any]], kinds: Sequence[str]) -> str:
    if not links and not {*FAULTS} <= {*kinds}:
        return f"None of this kind: {', '.join(kinds)}"
    if not links:
        return "No broken links."
    counts = Counter(clean(link["fault"]) for link in links)
    parts = ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items()))
    return f"{counted(len(links), 'finding')}: {parts}."
