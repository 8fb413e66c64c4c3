"""Trace all system calls of the whole suite, and find what changes a vault while writing is off.

    python -m tests.faults.traced run FOLDER [ARGUMENTS OF PYTEST]      needs strace
    python -m tests.faults.traced check FOLDER...

`run` runs tests under strace. `check` looks at every process of the program among them: servers,
commands, relays, and the processes they start. Tests write into vaults themselves, so what the
processes of pytest do is not looked at.

A tree of processes may write if one of them has opened the log of writes, which only
`write.enabled` does. What every other tree changes in a vault is printed. Vaults are all folders
that a server was started for, or below which the program has opened files as it opens notes: by
openat2.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from posixpath import join, normpath
from typing import TYPE_CHECKING

from vault_agent.vault.paths import folders_of, outermost

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHANGING = (
    "creat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,link,linkat,symlink,"
    "symlinkat,truncate,ftruncate,fchmod,fchmodat,chmod,fchown,fchownat,chown,utimensat,setxattr,"
    "fsetxattr,lsetxattr,removexattr,fremovexattr,mknodat"
)
_CALLS = f"execve,clone,clone3,fork,vfork,open,openat,openat2,{_CHANGING}"
_STRACE = (
    *("strace", "-f", "-ff", "-y", "-qq", "-s", "4096", "--seccomp-bpf"),
    *("-e", f"trace={_CALLS}", "-e", "status=successful"),
)
_NAME = re.compile(r"(\w+)\(")
_TO_CHANGE = re.compile(r"O_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND)")
_PLACE = re.compile(
    r'(?:AT_FDCWD|\d+)<((?:[^<>\\]|\\.)*)>(?:, "((?:[^"\\]|\\.)*)")?|"((?:[^"\\]|\\.)*)"'
)
_CHILD = re.compile(r"= (\d+)(?:<.*>)?$")
_ARGUMENT = re.compile(r'"((?:[^"\\]|\\.)*)"')
_PROGRAM = re.compile(r"(?:^|[/. ])vault[_-]agent(?:\.|$| )")
_ESCAPE = re.compile(r"\\([0-7]{1,3}|x[0-9a-f]{2}|.)")


@dataclass
class Process:
    """A process or a thread, and what it changed."""

    parent: int | None = None
    arguments: list[str] = field(default_factory=list)
    changed: list[tuple[str, str]] = field(default_factory=list)  # calls, and paths
    opened: set[str] = field(default_factory=set)  # folders below which it has opened files
    has_log: bool = False

    @property
    def is_program(self) -> bool:
        return any(_PROGRAM.search(each) for each in self.arguments[:6])


def unescaped(text: str) -> str:
    """Return a text of strace as it was."""

    def byte(match: re.Match[str]) -> str:
        what = match[1]
        if what[0] in "01234567":
            return chr(int(what, 8))
        if what[0] == "x":
            return chr(int(what[1:], 16))
        return {"n": "\n", "t": "\t", "r": "\r"}.get(what, what)

    return _ESCAPE.sub(byte, text).encode("latin-1", "replace").decode("utf-8", "replace")


def places(line: str) -> Iterator[str]:
    """Yield the paths that a call names."""
    arguments = line[line.index("(") + 1 :].rpartition(" = ")[0]
    for folder, name, alone in _PLACE.findall(arguments):
        if alone:
            yield unescaped(alone)
        else:
            yield normpath(join(unescaped(folder), unescaped(name))) if name else unescaped(folder)


def processes(folder: Path) -> dict[int, Process]:
    """Read the traces of one run."""
    found: defaultdict[int, Process] = defaultdict(Process)
    for file in sorted(folder.glob("t.*")):
        number = int(file.suffix[1:])
        process = found[number]
        with file.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                match = _NAME.match(line)
                if match is None:
                    continue
                name = match[1]
                if name in ("clone", "clone3", "fork", "vfork"):
                    child = _CHILD.search(line.rstrip())
                    if child is not None:
                        found[int(child[1])].parent = number
                elif name == "execve":
                    process.arguments = [unescaped(each) for each in _ARGUMENT.findall(line)][1:]
                elif name == "openat2":
                    process.opened.add(unescaped(_PLACE.findall(line)[0][0]))
                elif name not in ("open", "openat") or _TO_CHANGE.search(line):
                    for place in places(line):
                        process.changed.append((name, place))
                        process.has_log |= place.endswith("/writes.db")
    return found


def trees(found: dict[int, Process]) -> dict[int, list[int]]:
    """Return the processes of the program by the first one of each tree."""
    first: dict[int, int | None] = {}

    def root(number: int) -> int | None:
        if number in first:
            return first[number]
        process = found[number]
        above = root(process.parent) if process.parent is not None else None
        inherits = not process.arguments or process.is_program or is_worker(process)
        mine = above if above is not None and inherits else None
        if mine is None and process.is_program:
            mine = number
        first[number] = mine
        return mine

    made: defaultdict[int, list[int]] = defaultdict(list)
    for number in found:
        if (top := root(number)) is not None:
            made[top].append(number)
    return made


def is_worker(process: Process) -> bool:
    return any("multiprocessing" in each for each in process.arguments)


def vaults(found: dict[int, Process]) -> set[str]:
    """Return the folders that the program has served or read as vaults, the outermost ones."""
    named = {
        normpath(value)
        for process in found.values()
        for option, value in pairwise(process.arguments)
        if option == "--vault-root" and value.startswith("/")
    }
    return set(outermost(named.union(*(process.opened for process in found.values()))))


def check(folders: list[Path]) -> int:
    """Print what trees without the log of writes have changed in vaults, and return of how many."""
    counts: Counter[str] = Counter()
    odd: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for folder in folders:
        found = processes(folder)
        roots = vaults(found)
        counts["vaults"] += len(roots)
        for top, numbers in trees(found).items():
            counts["trees of processes"] += 1
            counts["processes and threads"] += len(numbers)
            if any(found[each].has_log for each in numbers):
                counts["trees with writing on"] += 1
                continue
            for each in numbers:
                for name, place in found[each].changed:
                    counts["changing calls of trees with writing off"] += 1
                    if not roots.isdisjoint(folders_of(place)):
                        odd[name, place].add(" ".join(found[top].arguments)[:300])
    for name, count in counts.items():
        print(f"{count:>9,} {name}")
    for (name, place), commands in sorted(odd.items()):
        print(f"{name} {place}\n    {min(commands)}")
    print(f"{len(odd)} changes of a vault while writing is off")
    return len(odd)


def main(arguments: list[str]) -> int:
    """Run tests under strace, or check their traces."""
    what, folder, *more = arguments
    if what == "check":
        return 1 if check([Path(folder), *map(Path, more)]) else 0
    Path(folder).mkdir(parents=True, exist_ok=True)
    pytest = (sys.executable, "-m", "pytest", "-n0", "-q", "-o", "faulthandler_timeout=0", *more)
    return subprocess.run([*_STRACE, "-o", f"{folder}/t", *pytest], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
