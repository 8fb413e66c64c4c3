"""Edit every note of real vaults in every way, and compare all bytes that must not change.

Nothing is written: the editors are functions of bytes. Each note is edited as it is, and as four
mutants: with CR LF, with a byte order mark, without a final line end, and in NFD. For each edit

- the bytes outside the edited lines are the same, by lines found without the editors' help,
- the splices, reversed, give the original bytes,
- what was set reads back, and the inverse edit gives the original bytes where there is one.

Prints a Markdown table. The exit code is 1 if an edit was wrong.

    python -m benchmarks exactness FOLDER...
    python -m benchmarks exactness FOLDER --sections 1000
"""

from __future__ import annotations

import argparse
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from benchmarks.figures import table
from vault_agent.errors import VaultAgentError
from vault_agent.markdown.address import PartAddress
from vault_agent.markdown.document import Document
from vault_agent.markdown.edit import Splice, append, editable, overwrite, prepend, spliced
from vault_agent.markdown.frontmatter_edit import read_keys, set_keys
from vault_agent.markdown.replace import replace
from vault_agent.markdown.section_edit import edit_section
from vault_agent.markdown.tag_edit import edit_tags
from vault_agent.markdown.task_edit import Status, TaskAddress, new_line, set_status
from vault_agent.model.writing import AddTaskBody

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

DAY = date(2025, 5, 6)
BOM = b"\xef\xbb\xbf"
TEXT = "One line — of é 字 😀.\nAnother `one`."
WORD = re.compile(r"\w{4,}")
FRONTMATTER = re.compile(r"---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)


class Wrong(Exception):
    """An edit did something else than it promises."""


class Tally:
    """The outcomes of all edits, by operation."""

    def __init__(self) -> None:
        self.edits: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.codes: Counter[str] = Counter()
        self.wrong: defaultdict[str, list[str]] = defaultdict(list)

    def run(self, operation: str, name: str, work: Callable[[], None]) -> None:
        """Run the check of one edit and count its outcome."""
        self.edits[operation] += 1
        try:
            work()
        except VaultAgentError as error:
            if error.code == "EDIT_NOT_PROVEN":
                self.wrong[operation].append(f"{name}: {error.message}")
            self.refused[operation] += 1
            self.codes[error.code] += 1
        except Exception as error:  # noqa: BLE001
            self.wrong[operation].append(f"{name}: {type(error).__name__} {error}")

    def print(self) -> None:
        """Print a Markdown table of all operations, and the totals."""
        rows = [
            (operation, count, self.refused[operation], len(self.wrong[operation]))
            for operation, count in self.edits.items()
        ]
        wrong = sum(map(len, self.wrong.values()))
        rows.append(("**all**", self.edits.total(), self.refused.total(), wrong))
        print(table(("edit", "edits", "refused", "wrong"), *rows))
        print(f"\nRefused: {dict(self.codes)}")


def mutants(note: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield a note and its four mutants, each once."""
    seen = set()
    text = note.removeprefix(BOM).decode("utf-8", "surrogateescape")
    plain = text.replace("\r\n", "\n")
    kinds = {
        "as it is": note,
        "CR LF": plain.replace("\n", "\r\n").encode("utf-8", "surrogateescape"),
        "BOM": BOM + note.removeprefix(BOM),
        "open": note.rstrip(b"\r\n"),
        "NFD": unicodedata.normalize("NFD", text).encode("utf-8", "surrogateescape"),
    }
    for kind, mutant in kinds.items():
        if mutant not in seen:
            seen.add(mutant)
            yield kind, mutant


def decoded(note: bytes) -> str:
    """Return the text of a note, without the byte order mark."""
    return note.removeprefix(BOM).decode()


def check(*, right: bool, what: str) -> None:
    """Raise `Wrong` if something is not right."""
    if not right:
        raise Wrong(what)


def edited(note: bytes, splices: Iterable[Splice]) -> bytes:
    """Return the edited note, after checking that the reversed splices undo the edit."""
    splices = [*splices]
    after = spliced(note, splices)
    back, shift = [], 0
    for splice in splices:
        start = splice.start + shift
        end = start + len(splice.text)
        back.append(Splice(start, end, note[splice.start : splice.end]))
        shift = end - splice.end
    check(right=spliced(after, back) == note, what="the reversed edit is not the original")
    return after


def between(note: bytes, after: bytes, start: int, end: int) -> None:
    """Check that only the bytes [start, end) of a note have changed."""
    check(right=after.startswith(note[:start]), what="bytes before the place changed")
    check(right=after.endswith(note[end:]), what="bytes after the place changed")
    check(right=len(after) >= start + len(note) - end, what="the places overlap")


_DELETED = re.compile(r"(🏁|onCompletion::)\s*delete", re.IGNORECASE)
"""The mark of a task that is removed when it is done."""


class Check:
    """The checks of one note."""

    def __init__(self, tally: Tally, note: bytes, name: str, sections: int) -> None:
        self.tally, self.note, self.name, self.sections = tally, note, name, sections

    def run(self) -> None:
        """Edit the note in every way."""
        try:
            self.text = self.note.removeprefix(BOM).decode()
        except UnicodeDecodeError:
            self.do("not UTF-8", lambda: self.edit(append, TEXT))
            return
        self.origin = len(self.note) - len(self.text.encode())
        self.do("append", self.append)
        self.do("prepend", self.prepend)
        self.do("overwrite", self.overwrite)
        self.do("replace", self.replace)
        self.keys()
        self.do("add and remove a tag", self.tags)
        self.do("add and remove a tag in the text", self.inline_tags)
        self.outline()
        self.tasks()

    def do(self, operation: str, work: Callable[[], None]) -> None:
        """Count one check."""
        self.tally.run(operation, self.name, work)

    def edit(self, editor: Callable[..., Any], *args: Any, **options: Any) -> bytes:
        """Return the note after one edit."""
        made = editor(self.note, *args, **options)
        return edited(self.note, getattr(made, "splices", made))

    def byte(self, offset: int) -> int:
        """Return the byte of a character."""
        return self.origin + len(self.text[:offset].encode())

    def append(self) -> None:
        """Append: the old bytes are the start."""
        after = self.edit(append, TEXT)
        between(self.note, after, len(self.note), len(self.note))
        own = TEXT.replace("\n", "\r\n" if b"\r\n" in self.note else "\n").encode()
        mixed = b"\r" in self.note.replace(b"\r\n", b"") or self.note.count(b"\n") != (
            self.note.count(b"\r\n") or self.note.count(b"\n")
        )
        check(right=mixed or after.endswith(own), what="the text is not at the end")

    def prepend(self) -> None:
        """Prepend: only at one place, and never before the frontmatter."""
        after = self.edit(prepend, TEXT)
        match = FRONTMATTER.match(self.text)
        try:
            has_keys = match is not None and isinstance(yaml.compose(match[1]), yaml.MappingNode)
        except yaml.YAMLError:
            has_keys = False
        at = self.byte(match.end() if match and has_keys else 0)
        check(right=after[:at] == self.note[:at], what="bytes before the place changed")
        check(right=len(after) > len(self.note), what="nothing was added")

    def overwrite(self) -> None:
        """Overwrite, and back: all bytes are those of the original."""
        after = self.edit(overwrite, TEXT)
        if "\r" not in self.text.replace("\r\n", "") and self.text.count("\n") in (
            self.text.count("\r\n"),
            self.text.count("\n") * ("\r" not in self.text),
        ):
            again = spliced(after, overwrite(after, self.text))
            if "\r" in self.text:  # the text in between had its own line ends
                again = again.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
            check(right=again == self.note, what="overwriting back is not the original")

    def replace(self) -> None:
        """Replace a word that is there once, and back."""
        match = FRONTMATTER.match(self.text)
        counts = Counter(WORD.findall(self.text, match.end() if match else 0))
        whole = Counter(WORD.findall(self.text))
        word = next(
            (word for word in counts if whole[word] == 1 and self.text.count(word) == 1), None
        )
        if word is None:
            return
        new = "\u2603new\u2603"
        after = self.edit(replace, word, new)
        start = self.byte(self.text.index(word))
        between(self.note, after, start, start + len(word.encode()))
        back = spliced(after, replace(after, new, word))
        check(right=back == self.note, what="replacing back is not the original")

    # --- frontmatter --------------------------------------------------------------------------

    def keys(self) -> None:
        """Set and delete each key, and add one."""
        lines = self.key_lines()
        try:
            values = read_keys(self.note)
        except VaultAgentError:
            values = {}
        for name, (start, end) in lines.items():
            self.do("set a key", lambda n=name, s=start, e=end: self.set_key(n, values[n], s, e))
            self.do("delete a key", lambda n=name, s=start, e=end: self.delete_key(n, s, e))
        self.do("add a key", lambda: self.add_key(bool(values)))

    def key_lines(self) -> dict[str, tuple[int, int]]:
        """Return the range of bytes from each key to the next one or to the closing fence.

        It is found by the composed nodes, not by the events that the editors use.
        """
        match = FRONTMATTER.match(self.text)
        if match is None:
            return {}
        try:
            root = yaml.compose(match[1])
        except yaml.YAMLError:
            return {}
        if not isinstance(root, yaml.MappingNode) or root.flow_style:
            return {}
        keys = [key for key, _ in root.value]
        starts = [match.start(1) + key.start_mark.index for key in keys]
        ends = [*starts[1:], match.end(1)]
        places = {}
        for key, start, end in zip(keys, starts, ends, strict=True):
            if isinstance(key.value, str) and key.value not in places:
                places[key.value] = (self.byte(start), self.byte(end))
        return places

    def set_key(self, name: str, value: Any, start: int, end: int) -> None:
        """Set a key to another value of its type."""
        if isinstance(value, bool):
            new: Any = not value
        elif isinstance(value, (int, float)):
            new = value + 1
        elif isinstance(value, list):
            new = [*value[1:], "exact: 1"]
        elif isinstance(value, str):
            new = f"{value} # é: \U0001f600"
        else:
            new = "2024-05-06" if value is None else {"a": [1, "b"]}
        after = self.edit(set_keys, {name: new})
        between(self.note, after, start, end)
        check(right=read_keys(after)[name] == new, what="another value reads back")

    def delete_key(self, name: str, start: int, end: int) -> None:
        """Delete a key: only bytes of its lines go."""
        after = self.edit(set_keys, {}, [name])
        between(self.note, after, start, end)
        left = self.note[start : start + len(after) - len(self.note) + end - start]
        check(right=name not in read_keys(after) or not left, what="the key is still there")

    def add_key(self, has_keys: bool) -> None:
        """Add a key, and delete it again."""
        name = "exactness test"
        after = self.edit(set_keys, {name: "yes"})
        check(right=read_keys(after)[name] == "yes", what="another value reads back")
        back = spliced(after, set_keys(after, {}, [name]))
        if has_keys:
            check(right=back == self.note, what="adding and deleting is not the original")
        else:
            check(right=back.endswith(self.note[self.origin :]), what="the body changed")

    def tags(self) -> None:
        """Add a tag to the frontmatter, and remove it again."""
        tag = "exactness/test"
        after = self.edit(edit_tags, [tag], [])
        values = {key.lower(): value for key, value in read_keys(self.note).items()}
        back = spliced(after, edit_tags(after, [], [tag]))
        if values.get("tags") or ("tags" not in values and values.get("tag")):
            check(right=back == self.note, what="adding and removing is not the original")
        if not {"tags", "tag"} & values.keys():
            only = spliced(after, set_keys(after, {}, ["tags"]))
            kept = only == self.note or (not values and only.endswith(self.note[self.origin :]))
            check(right=kept, what="the body changed")

    def inline_tags(self) -> None:
        """Add a tag to the text, and remove it again."""
        after = self.edit(edit_tags, ["exactness/test"], [], "inline")
        back = spliced(after, edit_tags(after, [], ["exactness/test"], "inline"))
        check(right=back.rstrip() == self.note.rstrip(), what="removing is not the original")

    # --- sections -----------------------------------------------------------------------------

    def outline(self) -> None:
        """Edit the first sections and blocks in every way."""
        document = Document(self.text)
        step = max(1, len(document.sections) // self.sections)
        for section in document.sections[::step][: self.sections]:
            start, end = self.byte(section.start), self.byte(section.end)
            for action in ("append", "prepend", "replace", "insertBefore", "insertAfter"):
                self.do(
                    f"section: {action}",
                    lambda a=action, s=section, b=start, e=end: self.section(a, s, b, e),
                )
            self.do("section: renameHeading", lambda s=section, b=start: self.rename(s, b))
        for block in document.blocks[: self.sections]:
            start, end = self.byte(block.start), self.byte(block.end)
            for action in ("append", "replace", "insertAfter"):
                self.do(
                    f"block: {action}",
                    lambda a=action, k=block, b=start, e=end: self.block(a, k, b, e),
                )

    def section(self, action: Any, section: Any, start: int, end: int) -> None:
        """Edit one section. Nothing outside of it changes, and its heading stays one."""
        address = PartAddress(heading_id=section.id)
        after = self.edit(edit_section, address, action, TEXT)
        between(self.note, after, start, end)
        text = decoded(after)
        # Its lines, not its text: that may depend on a definition in the section.
        lines = self.text[section.start : section.content].strip()
        sections = Document(text).sections
        headings = ((new.level, text[new.start : new.content].strip()) for new in sections)
        check(right=(section.level, lines) in headings, what="the heading is gone")

    def rename(self, section: Any, start: int) -> None:
        """Rename a heading, and back."""
        address = PartAddress(heading_id=section.id)
        after = self.edit(edit_section, address, "renameHeading", "Exactness `1`")
        between(self.note, after, start, self.byte(section.content))
        index = int(section.id.split(":")[1])
        new = Document(decoded(after)).sections[index]
        check(right=new.text == "Exactness 1", what="another text reads back")
        written = self.text[section.start : section.content].strip()
        if written.startswith("#") and "^" not in written and not written.endswith("#"):
            raw = written.lstrip("#").strip(" \t")
            again = edit_section(after, PartAddress(heading_id=new.id), "renameHeading", raw)
            check(
                right=spliced(after, again.splices) == self.note,
                what="renaming back is not the original",
            )

    def block(self, action: Any, block: Any, start: int, end: int) -> None:
        """Edit one block. Nothing outside of it changes, and its ID stays."""
        address = PartAddress(block_id=block.id)
        after = self.edit(edit_section, address, action, TEXT)
        between(self.note, after, start, end)
        check(right=f"^{block.id}".encode() in after, what="the ID is gone")

    # --- tasks --------------------------------------------------------------------------------

    def tasks(self) -> None:
        """Add a task, and complete, cancel and open those that are there."""
        self.do("add a task", self.add_task)
        for task in Document(self.text).tasks[: 20 * self.sections]:
            for status in Status:
                self.do(f"task: {status}", lambda t=task, to=status: self.task(t, to))

    def add_task(self) -> None:
        """Add a task at the end: the old bytes are the start."""
        task = AddTaskBody(path="x.md", text="Exact", due="2025-05-06", priority="high")
        line = new_line(editable(self.note), task)
        after = self.edit(append, line)
        between(self.note, after, len(self.note), len(self.note))
        check(right=after.endswith(line.encode()), what="the task is not at the end")

    def task(self, task: Any, status: Any) -> None:
        """Set the status of one task, and set it back."""
        place, wanted = task, TaskAddress(task.line)
        line = self.text[place.start : place.end]
        after = self.edit(set_status, wanted, status, DAY)
        start, end = self.byte(place.start), self.byte(place.end)
        if _DELETED.search(line) and status in (Status.DONE, Status.TOGGLE):
            # It goes with its line end, or the next occurrence takes its place.
            rest = self.note[end:]
            between(self.note, after, start, end + len(rest) - len(rest.lstrip(b"\r\n")))
            return
        between(self.note, after, start, end)
        now = next(
            other
            for other in Document(decoded(after)).tasks
            if other.line == task.line + after.count(b"\n") - self.note.count(b"\n")
        )
        symbol = decoded(after)[now.symbol]
        if status is not Status.TOGGLE:
            expected = {Status.DONE: "xX", Status.CANCELLED: "-"}.get(status)
            check(
                right=symbol in expected if expected else symbol not in "xX-",
                what="another status reads back",
            )
        # A task without dates of its end, and without a next one, can be opened again.
        plain = not any(mark in line for mark in ("✅", "❌", "🔁", "::"))
        if plain and self.text[place.symbol] == " " and after != self.note:
            back = spliced(after, set_status(after, wanted, Status.OPEN, DAY).splices)
            check(right=back == self.note, what="opening again is not the original")


def main() -> None:
    """Check the vaults that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--sections", type=int, default=3, help="of each note (default: 3)")
    args = parser.parse_args()
    tally, notes, files = Tally(), 0, 0
    for folder in args.folders:
        for path in sorted(folder.rglob("*.md")):
            if not path.is_file():
                continue
            notes += 1
            for kind, note in mutants(path.read_bytes()):
                files += 1
                Check(tally, note, f"{path} ({kind})", args.sections).run()
    print(f"{notes:,} notes, {files:,} with mutants\n")
    tally.print()
    for operation, edits in tally.wrong.items():
        for edit in edits[:10]:
            print(f"{operation}: {edit}")
    sys.exit(any(tally.wrong.values()))


if __name__ == "__main__":
    main()
