"""The notes that a journal leads to: modules it changed, what it speaks of, what came before."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from vault_agent.memory.candidates import type_of
from vault_agent.memory.safe_text import one_line
from vault_agent.memory.score import file_key
from vault_agent.model.link_resolver import LinkResolver
from vault_agent.model.notes import LinkKind
from vault_agent.store.index import facts
from vault_agent.text.words import fold_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from vault_agent.vaults.open_vault import OpenVault

MAX_RELATED: Final = 12
MAX_TAGS: Final = 8
_NAMED_TYPES: Final = frozenset({"decision", "pattern", "bug"})
_NOT_IN_LINKS = re.compile(r"[\[\]|#^\\\n\r]")
_WORDS = re.compile(r"\w+")
_SCOPE = re.compile(r"^[a-z]+\(([\w./-]{2,40})\)!?:", re.IGNORECASE)


class LinkTarget(NamedTuple):
    """A note of the vault. `updated` is ISO 8601."""

    path: str
    title: str
    type: str
    updated: str = ""
    aliases: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


class Related(NamedTuple):
    """A note to link to, and why. `target` is what stands in the link."""

    target: str
    title: str
    why: str


def related(
    notes: Sequence[LinkTarget],
    *,
    own: str,
    files: Iterable[str],
    text: str,
    project: str,
    before: str,
) -> list[Related]:
    """Return the notes that a journal should link to, at most 12, the modules first.

    `own` is the path of the journal itself, `text` all that it says, and `before` the time at which
    its session began: only earlier journals count.
    """
    changed = list(dict.fromkeys(map(file_key, files)))
    usable = [note for note in notes if note.path != own and not _NOT_IN_LINKS.search(note.path)]
    found: dict[str, Related] = {}

    def add(note: LinkTarget, why: str) -> None:
        target = note.path.removesuffix(".md")
        title = one_line(_NOT_IN_LINKS.sub(" ", note.title))
        found.setdefault(note.path, Related(target, title, why))

    for module in _modules([note for note in usable if note.type == "module"], changed):
        add(module, "module that was changed")
    said = f" {' '.join(_WORDS.findall(fold_words(text)))} "
    for note in sorted(usable):
        if note.type in _NAMED_TYPES and _is_named(note, said):
            add(note, f"{note.type} that is mentioned")
    earlier = [
        note
        for note in usable
        if note.type == "journal" and note.updated < before and _shares(note, changed)
    ]
    if earlier:
        add(max(earlier, key=lambda note: (note.updated, note.path)), "earlier session")
    for note in usable:
        if fold_words(note.title) == fold_words(project) and note.type != "journal":
            add(note, "project")
            break
    return list(found.values())[:MAX_RELATED]


def tags_of(
    notes: Sequence[LinkTarget], linked: Iterable[Related], *, title: str, subjects: Iterable[str]
) -> list[str]:
    """Return tags: the names of changed modules, scopes of commits, and known tags in the title."""
    modules = {note.path.removesuffix(".md"): note for note in notes if note.type == "module"}
    found: dict[str, None] = {}
    for each in linked:
        if each.target in modules:
            found.setdefault(each.target.rpartition("/")[2].lower())
    for subject in subjects:
        scope = _SCOPE.match(subject)
        if scope is not None:
            found.setdefault(scope[1].lower())
    known: Mapping[str, str] = {fold_words(tag): tag for note in notes for tag in note.tags}
    for word in _WORDS.findall(fold_words(title)):
        if word in known:
            found.setdefault(known[word])
    usable = (re.sub(r"[^\w/-]+", "-", tag).strip("-/") for tag in found)
    return list(dict.fromkeys(tag for tag in usable if tag and not tag.isdecimal()))[:MAX_TAGS]


def related_section(linked: Iterable[Related]) -> str:
    """Return the list of links."""
    return "\n".join(
        f"- [[{each.target}|{each.title}]] — {each.why}"
        if each.title
        else f"- [[{each.target}]] — {each.why}"
        for each in linked
    )


def _modules(modules: Sequence[LinkTarget], changed: Sequence[str]) -> list[LinkTarget]:
    """Return the modules with a changed file, or with the longest folder of one."""
    by_file: dict[str, list[LinkTarget]] = {}
    for module in modules:
        for file in module.files:
            by_file.setdefault(file_key(file).rstrip("/"), []).append(module)
    hits: dict[str, int] = {}
    named: dict[str, LinkTarget] = {}
    for path in changed:
        place = path
        while place and place not in by_file:
            place = place.rpartition("/")[0]
        for module in by_file.get(place, ()):
            hits[module.path] = hits.get(module.path, 0) + 1
            named[module.path] = module
    return sorted(named.values(), key=lambda module: (-hits[module.path], module.path))


def _is_named(note: LinkTarget, said: str) -> bool:
    for name in (note.title, *note.aliases):
        words = _WORDS.findall(fold_words(name))
        if len(words) > 1 and f" {' '.join(words)} " in said:
            return True
    return False


def _shares(note: LinkTarget, changed: Sequence[str]) -> bool:
    own = set(map(file_key, note.files))
    return any(path in own for path in changed)


class VaultNotes(NamedTuple):
    """The notes of a vault: what a journal may link to."""

    notes: Sequence[LinkTarget]
    is_known: Callable[[str], bool]


async def notes_of(vault: OpenVault) -> VaultNotes:
    """Return the notes of a vault.

    Raises:
        IndexUnavailable: if there is no index, or it cannot be read.
    """
    async with vault.snapshot() as snapshot:
        rows = await snapshot.read(facts.read_facts)
        named = dict(await snapshot.threads.run(snapshot.names))
    resolver = LinkResolver(named.items())
    notes = [
        LinkTarget(
            row.path,
            row.title,
            type_of(row),
            row.updated,
            tuple(each for each in named.get(row.path, ()) if each.isprintable()),
            row.files,
            row.tags,
        )
        for row in rows
        if (row.status or "").lower() != "superseded" and not row.path.startswith("templates/")
    ]

    def is_known(target: str) -> bool:
        return resolver.resolve("", target, LinkKind.WIKILINK).is_note

    return VaultNotes(notes, is_known)


async def journal_of(vault: OpenVault, session_id: str) -> str | None:
    """Return the path of the journal of a session in a vault, as its index knows it.

    Raises:
        IndexUnavailable: if there is no index, or it cannot be read.
    """
    async with vault.snapshot() as snapshot:
        rows = await snapshot.read(facts.read_facts)
    found = (row.path for row in rows if row.session == session_id and type_of(row) == "journal")
    return next(found, None)
