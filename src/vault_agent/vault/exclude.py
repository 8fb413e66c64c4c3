"""What a vault holds that is none of the product's business, decided by name alone.

Hidden names are always out. Folders of the default list are out unless a pattern of the user
takes them back. The user's patterns are gitignore's, read from the vault root: the last one that
matches decides, and nothing below an excluded folder can be taken back.
"""

from __future__ import annotations

import hashlib
import re
import warnings
from enum import StrEnum
from typing import TYPE_CHECKING

from pathspec import GitIgnoreSpec

from vault_agent.errors import Misconfigured

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Whole names, letter case as written: tools write these in lower case, and a person's `Build` or
# `Output` is more likely notes. Left out on purpose because people keep notes there: archive,
# bin, data, docs, env, lib, logs, public, site, temp, tmp, vendor.
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
        # what systems and archivers leave behind
        "__MACOSX",
        "$RECYCLE.BIN",
        "System Volume Information",
        "lost+found",
        "@eaDir",
        "#recycle",
    }
)
# Part of every fingerprint: raise it when the same patterns come to mean something else.
_RULES_VERSION = 1


class Verdict(StrEnum):
    """Why a name is excluded."""

    HIDDEN = "hidden"
    DEFAULT = "default"
    PATTERN = "pattern"


class Exclusions:
    """The default exclusions and the user's patterns. Immutable; safe to share and to pickle."""

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        """Compile `patterns`; a bad one raises Misconfigured CONFIG_INVALID with its position."""
        self.patterns = tuple(patterns)
        # Last pattern first, since the last match decides.
        self._rules = tuple(reversed(list(_compile(self.patterns))))
        self._any = _union([regex for regex, _ in self._rules])

    def __reduce__(self) -> tuple[type[Exclusions], tuple[tuple[str, ...]]]:
        return Exclusions, (self.patterns,)

    @property
    def fingerprint(self) -> str:
        """A short text that differs where other files would be excluded."""
        rules = repr((_RULES_VERSION, sorted(DEFAULT_FOLDERS), self.patterns))
        return hashlib.sha256(rules.encode()).hexdigest()[:16]

    @property
    def by_pattern(self) -> bool:
        """Whether the user has patterns; without, a file is judged by its first character."""
        return self._any is not None

    def excludes(self, path: str, is_dir: bool = False) -> bool:
        """Whether the path, or a folder it lies in, is excluded. Never touches the disk."""
        start = 0
        while (end := path.find("/", start)) >= 0:
            if self.verdict(path[:end], path[start:end], is_dir=True):
                return True
            start = end + 1
        return self.verdict(path, path[start:], is_dir=is_dir) is not None

    def verdict(self, path: str, name: str, *, is_dir: bool) -> Verdict | None:
        """Judge one entry whose folder is not excluded: why it is out, or None.

        `name` is the last segment of `path`: a walk has both at hand.
        """
        if name.startswith("."):
            return Verdict.HIDDEN
        if self._any is not None:
            candidate = path + "/" if is_dir else path
            if self._any.match(candidate):
                for regex, include in self._rules:
                    if _matches(regex, candidate):
                        return Verdict.PATTERN if include else None
        if is_dir and name in DEFAULT_FOLDERS:
            return Verdict.DEFAULT
        return None


def _compile(patterns: Sequence[str]) -> Iterator[tuple[re.Pattern[str], bool]]:
    for position, pattern in enumerate(patterns, start=1):
        if not pattern.strip() or pattern.startswith("#"):
            continue  # blank lines and comments, as in a .gitignore
        try:
            with warnings.catch_warnings():
                # re foresees a meaning for `[[`; gitignore has none for it.
                warnings.simplefilter("ignore", FutureWarning)
                (compiled,) = GitIgnoreSpec.from_lines([pattern]).patterns
        except (ValueError, re.error):
            raise _bad_pattern(position) from None
        # pathspec gives no regex for a pattern that can never match, such as `[` or `/`.
        if not isinstance(compiled.regex, re.Pattern) or compiled.include is None:
            raise _bad_pattern(position)
        yield compiled.regex, compiled.include


def _matches(regex: re.Pattern[str], candidate: str) -> bool:
    """Whether the pattern names this very entry, not merely a folder above it.

    pathspec lets `build/` match everything below it. Walks judge level by level, and `!build/`
    must not take back `build/node_modules`: so the match has to reach the entry's own end.
    """
    match = regex.match(candidate)
    if match is None:
        return False
    mark = match.groupdict().get("ps_d")
    return mark is None or match.end("ps_d") == len(candidate)


def _union(regexes: Sequence[re.Pattern[str]]) -> re.Pattern[str] | None:
    """Join the patterns into one, so that most entries are settled by a single match."""
    if not regexes:
        return None
    return re.compile("|".join(f"(?:{r.pattern})".replace("?P<ps_d>", "?:") for r in regexes))


def _bad_pattern(position: int) -> Misconfigured:
    return Misconfigured(
        "CONFIG_INVALID",
        f"Pattern {position} of vault.exclude is not a valid gitignore pattern. Correct or "
        "remove it.",
        {"setting": "vault.exclude", "position": position},
    )
