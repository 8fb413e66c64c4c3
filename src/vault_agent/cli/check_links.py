"""Runs `vault-agent links check`: collects the findings, compares them with a baseline, prints."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from vault_agent.cli.exits import Exit
from vault_agent.cli.linking import written
from vault_agent.cli.terminal import clean, counted, envelope, say, style, tell, warn
from vault_agent.client import calls
from vault_agent.errors import Failed, InvalidRequest, NotFound
from vault_agent.system.files import replacing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vault_agent.cli.command import Invocation
    from vault_agent.model.warning import Warning as Notice

_MOST_FINDINGS = 1_000  # of one reply
_HEADER = "# Broken links that `vault-agent links check --baseline` leaves out.\n"


class _Findings(NamedTuple):
    """All findings by path and line, and the paths of the notes if they are known."""

    links: list[dict[str, Any]]
    notes: tuple[str, ...] | None
    warnings: tuple[Notice, ...]


async def check_links(
    invocation: Invocation,
    paths: Sequence[str],
    *,
    kinds: Sequence[str],
    baseline: Path | None,
    write_baseline: Path | None,
    vault_root: str | None,
) -> int:
    """Print the broken links and return the exit code.

    Raises:
        InvalidRequest: if a baseline cannot be read.
        NotFound: `NOTE_NOT_FOUND` if a path is neither a note nor a folder with notes.
        Failed: `OUTPUT_FAILED` if one cannot be written.
    """
    known = _read_baseline(baseline) if baseline is not None else Counter()
    if vault_root is None:
        found = await _from_server(invocation, paths, kinds)
    else:
        found = _from_files(invocation, vault_root, kinds)
        for number, path in enumerate(paths, 1):
            if not any(_is_below(note, [path]) for note in found.notes or ()):
                raise _no_notes(number)
    links = [link for link in found.links if not paths or _is_below(link["path"], paths)]
    if write_baseline is not None:
        _write_baseline(write_baseline, links)
    new = []
    for link in links:
        line = _line(link)
        known[line] -= 1
        if known[line] < 0:
            new.append(link)
    if invocation.json:
        envelope({"findings": new, "total": len(new), "inBaseline": len(links) - len(new)})
    else:
        for link in new:
            place = f"{clean(link['path'])}:{link['line']}:{link['column']}"
            say(f"{style(place, 'strong')}: {_name(link)} {written(link)}{_candidates(link)}")
    tell(_summary(new, len(links) - len(new), found.notes))
    if write_baseline is not None:
        tell(f"The baseline has {counted(len(links), 'finding')}.")
        return Exit.SUCCESS
    warn(found.warnings)
    return Exit.LINKS_FOUND if new else Exit.SUCCESS


async def _from_server(
    invocation: Invocation, paths: Sequence[str], kinds: Sequence[str]
) -> _Findings:
    found: list[dict[str, Any]] = []
    warnings: tuple[Notice, ...] = ()
    async with invocation.client() as client:
        for number, path in enumerate(map(_folder, paths), 1):
            if path:
                notes = await client.call(calls.NOTES, path=path, limit=1)
                if not notes.envelope["data"]["total"]:
                    raise _no_notes(number)
        cursor, more = None, True
        while more:
            reply = await client.call(
                calls.BROKEN_LINKS, kinds=",".join(kinds), limit=_MOST_FINDINGS, cursor=cursor
            )
            data = reply.envelope["data"]
            found += data["links"]
            warnings = warnings or reply.warnings
            cursor, more = data.get("nextCursor"), data["hasMore"]
    return _Findings(found, None, warnings)


def _from_files(invocation: Invocation, vault_root: str, kinds: Sequence[str]) -> _Findings:
    # These rooms belong to the server. They are imported here because this works without one.
    from vault_agent.config import build_config
    from vault_agent.indexing.check_links import check_links as check
    from vault_agent.vault.exclude import Exclusions
    from vault_agent.vault.root import VaultRoot

    config = build_config(invocation.layers({"vault.root": vault_root}))
    with VaultRoot.open(config.vault.root or "", Exclusions(config.vault.exclude)) as root:
        typed = _has_note_types(Path(root.path))
        checked = check(root, config.index.max_note_bytes, typed=typed)
    links = [finding._asdict() for finding in checked.findings if finding.fault in kinds]
    return _Findings(links, checked.notes, checked.warnings)


def _has_note_types(root: Path) -> bool:
    """Whether links find notes of a vault by `id` and type. A clone's vault is in no list yet."""
    from vault_agent.config.project import is_project_vault
    from vault_agent.config.registry import read_registry

    entry = next((each for each in read_registry() if each.root == root), None)
    return entry.has_note_types if entry is not None else is_project_vault(root)


def _is_below(path: str, wanted: Iterable[str]) -> bool:
    return any(
        not folder or path == folder or path.startswith(f"{folder}/")
        for folder in map(_folder, wanted)
    )


def _folder(path: str) -> str:
    """Return a typed path as paths of the vault are written. The vault itself is empty."""
    return "" if path == "." else path.removeprefix("./").strip("/")


def _no_notes(number: int) -> NotFound:
    return NotFound(
        "NOTE_NOT_FOUND",
        f"Path {number} is neither a note of the vault nor a folder with notes.",
        remedy="Type paths as they are in the vault, with .md.",
    )


def _name(link: dict[str, Any]) -> str:
    fault = clean(link["fault"])
    return fault if fault == "ambiguous" else f"unresolved-{fault}"


def _candidates(link: dict[str, Any]) -> str:
    return f"  ({', '.join(map(clean, link['candidates']))})" if link.get("candidates") else ""


def _line(link: dict[str, Any]) -> str:
    """Return a finding as a line of a baseline, which has no line number."""
    return f"{clean(link['path'])}: {_name(link)} {written(link)}"


def _summary(new: Sequence[dict[str, Any]], known: int, notes: tuple[str, ...] | None) -> str:
    counts = Counter(map(_name, new))
    parts = ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items()))
    found = f"{counted(len(new), 'finding')}: {parts}" if new else "No broken links"
    where = f" in {counted(len(notes), 'note')}" if notes is not None else ""
    left_out = f", and {known:,} in the baseline" if known else ""
    return f"{found}{where}{left_out}."


def _read_baseline(path: Path) -> Counter[str]:
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise InvalidRequest("INVALID_REQUEST", "The baseline cannot be read.") from None
    return Counter(line for line in lines if line and not line.startswith("#"))


def _write_baseline(path: Path, links: Iterable[dict[str, Any]]) -> None:
    text = _HEADER + "".join(f"{line}\n" for line in sorted(map(_line, links)))
    try:
        with replacing(path, mode=0o644, keep_mode=True, durable=False) as file:
            file.write(text.encode())
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise Failed("OUTPUT_FAILED", f"the baseline cannot be written: {reason}") from None
