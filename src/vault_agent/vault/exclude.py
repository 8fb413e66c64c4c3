"""Which paths are ignored, by name alone.

What lies outside an agent's folders is excluded from the agent's index, whatever the patterns say.

Hidden names are always excluded. Folders of the default list are excluded unless a pattern of the
user includes them again. The user's patterns follow gitignore, relative to the vault root: the last
match decides, and nothing below an excluded folder can be included again.
"""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from vault_agent.errors import Misconfigured
from vault_agent.model.scope import EVERYTHING, Scope
from vault_agent.text.gitignore import IgnorePattern, ignore_pattern, is_pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Sequence

# Whole names, in exact letter case: tools use lower case, and a person's `Build` or `Output` more
# likely contains notes. Not in this list, because people keep notes there: archive, bin, data,
# docs, env, lib, logs, public, site, temp, tmp, vendor.
DEFAULT_FOLDERS = frozenset(
    {
        # packages and environments
        "node_modules",
        "bower_components",
        "site-packages",
        "venv",
        # build and output
        "build",
        "_build",
        "dist",
        "out",
        "output",
        "target",
        "_site",
        # caches and generated data
        "cache",
        "__pycache__",
        "coverage",
        "htmlcov",
        # created by operating systems and archivers
        "__MACOSX",
        "$RECYCLE.BIN",
        "System Volume Information",
        "lost+found",
        "@eaDir",
        "#recycle",
    }
)
FOLDER_MARK: Final = "ps_d"
"""The group in pathspec's expressions that ends where the entry named by a pattern ends."""

# Part of every fingerprint. Increase it when the meaning of a pattern changes.
_RULES_VERSION = 1


class Verdict(StrEnum):
    """Why a name is excluded."""

    HIDDEN = "hidden"
    DEFAULT = "default"
    PATTERN = "pattern"
    UNSEEN = "unseen"


class Exclusions:
    """The default exclusions and the user's patterns. Immutable; safe to share and to pickle."""

    def __init__(self, patterns: Sequence[str] = (), scope: Scope = EVERYTHING) -> None:
        """Compile `patterns`. Everything outside `scope` is excluded, too.

        Raises:
            Misconfigured: CONFIG_INVALID with the position of an invalid pattern.
        """
        self.patterns = tuple(patterns)
        self.scope = scope
        # Last pattern first, since the last match decides.
        self._rules = tuple(reversed(list(_compile(self.patterns))))

    def __reduce__(self) -> tuple[type[Exclusions], tuple[tuple[str, ...], Scope]]:
        return Exclusions, (self.patterns, self.scope)

    @property
    def fingerprint(self) -> str:
        """A short hash of the rules. It changes whenever other files may be excluded."""
        seen = () if self.scope == EVERYTHING else (*self.scope.folders, self.scope.deny)
        rules = repr((_RULES_VERSION, sorted(DEFAULT_FOLDERS), self.patterns, *seen))
        return hashlib.sha256(rules.encode()).hexdigest()[:16]

    @property
    def by_pattern(self) -> bool:
        """Whether the name of a file may exclude it, not only its first character."""
        return bool(self._rules) or self.scope != EVERYTHING

    def excludes(self, path: str, is_dir: bool = False) -> bool:
        """Whether the path, or a folder it lies in, is excluded. Does not access the disk.

        The time is linear in the path's length, apart from the user's patterns.
        """
        if self._is_unseen(path, is_dir=is_dir):
            return True
        if not self._rules:
            *folders, last = path.split("/")
            return (
                path.startswith(".")
                or "/." in path
                or not DEFAULT_FOLDERS.isdisjoint(folders)
                or (is_dir and last in DEFAULT_FOLDERS)
            )
        start = 0
        while (end := path.find("/", start)) >= 0:
            if self._judge(path, end + 1, path[start:end], is_dir=True):
                return True
            start = end + 1
        return self.verdict(path, path[start:], is_dir=is_dir) is not None

    def reason(self, path: str, *, is_dir: bool = False) -> tuple[str, Verdict] | None:
        """Return the first excluded name of a path and why it is, or None if `excludes` is false.

        Does not access the disk.
        """
        names = path.split("/")
        for count, name in enumerate(names, 1):
            folder = is_dir or count < len(names)
            verdict = self.verdict("/".join(names[:count]), name, is_dir=folder)
            if verdict is not None:
                return name, verdict
        return None

    def verdict(self, path: str, name: str, *, is_dir: bool) -> Verdict | None:
        """Return why an entry is excluded, or None. Its folder must not be excluded.

        `name` is the last segment of `path`. A walk already has both.
        """
        if self._is_unseen(path, is_dir=is_dir):
            return Verdict.UNSEEN
        if is_dir and self._rules:
            path += "/"
        return self._judge(path, len(path), name, is_dir=is_dir)

    def _is_unseen(self, path: str, *, is_dir: bool) -> bool:
        return not (self.scope.contains(path) or (is_dir and self.scope.reaches(path)))

    def _judge(self, path: str, end: int, name: str, *, is_dir: bool) -> Verdict | None:
        """Return the verdict on the entry path[:end]. A folder ends in "/", as in patterns.

        The path is not sliced, because that would be slow for deep folders.
        """
        if name.startswith("."):
            return Verdict.HIDDEN
        for rule in self._rules:
            if _matches(rule.regex, path, end):
                return Verdict.PATTERN if rule.excludes else None
        if is_dir and name in DEFAULT_FOLDERS:
            return Verdict.DEFAULT
        return None


def _compile(patterns: Sequence[str]) -> Iterator[IgnorePattern]:
    for position, text in enumerate(patterns, start=1):
        if is_pattern(text):
            pattern = ignore_pattern(text)
            if pattern is None:
                raise _bad_pattern(position)
            yield pattern


def _matches(regex: re.Pattern[str], candidate: str, end: int) -> bool:
    """Whether the pattern names candidate[:end] itself, not merely a folder above it.

    pathspec lets `build/` match everything below it. Walks decide level by level, and `!build/`
    must not include `build/node_modules` again, so the match must reach the entry's own end.
    pathspec marks that end by a named group. The name is not documented, hence the upper bound in
    pyproject.toml and a test.
    """
    match = regex.match(candidate, 0, end)
    if match is None:
        return False
    mark = match.groupdict().get(FOLDER_MARK)
    return mark is None or match.end(FOLDER_MARK) == end


def _bad_pattern(position: int) -> Misconfigured:
    return Misconfigured(
        "CONFIG_INVALID",
        f"Pattern {position} of vault.exclude is not a valid gitignore pattern. Correct or "
        "remove it.",
        {"setting": "vault.exclude", "position": position},
    )
