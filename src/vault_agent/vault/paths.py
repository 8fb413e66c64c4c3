"""Rules about paths, by name alone: which are valid, which may be created, which are ignored.

Nothing here accesses the disk. `validate` is the first of two checks: it refuses paths that are
malformed or lead out of the vault. The second, `VaultRoot`, is safe for any path, even without the
first.

One rule for new names holds on every system, so that a vault stays portable. Notes and folders that
exist keep their names, whatever these are. Whether a name is taken is decided on the disk, with
`vault_agent.text.names.fold` as the form in which names are compared.

Hidden names are always excluded. Folders of the default list are excluded unless a pattern of the
user includes them again. The user's patterns follow gitignore, relative to the vault root: the last
match decides, and nothing below an excluded folder can be included again. What lies outside an
agent's folder is excluded from the agent's index, whatever the patterns say.
"""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import unquote_to_bytes

from vault_agent.errors import Forbidden, InvalidRequest, Misconfigured
from vault_agent.model.scope import EVERYTHING, Scope
from vault_agent.text.gitignore import IgnorePattern, ignore_pattern, is_pattern
from vault_agent.text.names import CONTROLS, MOVING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MAX_PATH_BYTES = 4096
MAX_NAME_LENGTH = 255
# A name with this many encoding levels is an attack.
_MAX_DECODINGS = 8

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_DRIVE = re.compile(r"[A-Za-z]:")
_ESCAPED = re.compile(r"%[0-9A-Fa-f]{2}")
_ESCAPED_UTF16 = re.compile(r"%[uU][0-9A-Fa-f]{4}")
_DEVICE = re.compile(
    r"\A(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³]) *(?=\.|\Z)", re.IGNORECASE
)


def outermost(paths: Iterable[str]) -> list[str]:
    """Return the paths that do not lie below another, sorted, without duplicates."""
    every = set(paths)
    return sorted(path for path in every if not any(folder in every for folder in folders_of(path)))


def folders_of(path: str) -> Iterator[str]:
    """Yield the folders that contain a path, innermost first, without the vault itself."""
    while end := path.rfind("/") + 1:
        path = path[: end - 1]
        yield path


def validate(path: str) -> str:
    """Return `path` unchanged if it is a valid vault-relative path.

    The messages of the errors do not contain the path.

    Raises:
        Forbidden: PATH_OUTSIDE_VAULT if it leads out of the vault, as written or after any number
            of URL decodings.
        InvalidRequest: INVALID_PATH if it is otherwise malformed: empty, too long, or with control
            characters, backslashes, or empty, `.` or `..` segments.
    """
    try:
        encoded = path.encode("utf-8")
    except UnicodeEncodeError:
        raise _invalid("is not valid Unicode") from None
    if not path:
        raise _invalid("is empty")
    if len(encoded) > MAX_PATH_BYTES:
        raise _invalid("is too long")
    spellings = _decodings(path)
    for spelling in spellings:
        _check_inside(spelling)
    for spelling in spellings:
        _check_segments(spelling)
    # An encoded separator is refused even if the decoded path is harmless.
    if spellings[-1].count("/") != path.count("/"):
        raise _invalid("has an encoded separator")
    if any(len(name) > MAX_NAME_LENGTH for name in path.split("/")):
        raise _invalid("has a name that is too long")
    if os.name == "nt":
        check_windows_name(path)
    return path


def check_windows_name(path: str) -> None:
    """Refuse names with another meaning on Windows: streams, devices, trailing dots or spaces.

    Raises:
        InvalidRequest: INVALID_PATH.
    """
    for name in path.split("/"):
        if ":" in name or _DEVICE.match(name) or name != name.rstrip(" ."):
            raise _invalid("has a name that Windows reserves")


def _decodings(path: str) -> list[str]:
    """Return the path and the results of URL-decoding it repeatedly until nothing changes.

    A percent sign is valid in a name (`my%20image.png`, `100%.png`), so a path is refused only if
    decoding would change its structure.
    """
    spellings = [path]
    while _ESCAPED.search(path):
        if len(spellings) > _MAX_DECODINGS:
            raise _invalid("is encoded too often")
        try:
            path = unquote_to_bytes(path).decode("utf-8")
        except UnicodeDecodeError:
            raise _invalid("has escapes that are not UTF-8") from None
        spellings.append(path)
    if _ESCAPED_UTF16.search(path):
        raise _invalid("has escapes of an unknown kind")
    return spellings


def _check_inside(path: str) -> None:
    """Refuse a spelling that is absolute or leads above its start, on any system."""
    segments = path.replace("\\", "/").split("/")
    depth = 0
    for segment in segments:
        trimmed = segment.rstrip(" ")
        if trimmed == "..":
            depth -= 1
        elif trimmed not in ("", "."):
            depth += 1
        if depth < 0:
            raise _outside()
    if not segments[0] or _DRIVE.match(path):
        raise _outside()


def _check_segments(path: str) -> None:
    """Refuse a spelling that is not a plain sequence of names."""
    if "\\" in path:
        raise _invalid("has a backslash; separate folders with /")
    if _CONTROL.search(path):
        raise _invalid("has control characters")
    # Dots and spaces alone: `.`, `..`, `...`, `.. `. Windows drops them from the end of a name.
    if any(not segment.strip(" .") for segment in path.split("/")):
        raise _invalid("has an empty or dotted segment")


def _invalid(why: str) -> InvalidRequest:
    return InvalidRequest("INVALID_PATH", f"The path {why}.")


def _outside() -> Forbidden:
    return Forbidden(
        "PATH_OUTSIDE_VAULT",
        "The path leads out of the vault.",
    )


MAX_NAME_BYTES = 240
"""Of a name with its extension. Leaves room for the suffix of a temporary file or a copy."""
MAX_NEW_PATH_BYTES = 1_000
MAX_DEPTH = 20
"""Folders above a note."""
NOTE_SUFFIX = ".md"

_LONGEST_SHOWN = 60

# An extension has a letter: `v1.2` and `Dr. Smith` have none, `photo.jpeg` and `Node.js` have one.
_EXTENSION = re.compile(r"(?<=.)\.(?=[A-Za-z0-9]*[A-Za-z])[A-Za-z0-9]{1,10}\Z")
_LIKE_DRIVE = re.compile(r"[A-Za-z]:(?![/\\])")


class _Rule(NamedTuple):
    """What a name must not have, and what is put in its place to suggest another."""

    pattern: re.Pattern[str]
    instead: str
    what: str


_RULES = (
    _Rule(re.compile(r"[\ud800-\udfff]"), "", "has a surrogate without its pair"),
    _Rule(re.compile(f"[{CONTROLS}]"), " ", "has a control character"),
    _Rule(
        re.compile(f"[{MOVING}]"), "", "has a character that hides text or changes its direction"
    ),
    _Rule(
        re.compile(r'[<>:"|?*\\]'), "-", 'has one of < > : " | ? * \\, which some systems refuse'
    ),
    _Rule(re.compile(r"[#^\[\]]"), "-", "has one of # ^ [ ], which no wikilink can contain"),
    _Rule(re.compile(r"\A[. ]+"), "", "begins with a dot or a space"),
    _Rule(re.compile(r"[. ]+\Z"), "", "ends with a dot or a space"),
    _Rule(_DEVICE, r"\1_", "is a device on Windows"),
)


def note_path(path: str) -> str:
    """Return the path of a note that is to be created or, if it exists, to be changed.

    `.md` is added if it is missing. The names are not checked: see `check_new`.

    Raises:
        Forbidden: PATH_OUTSIDE_VAULT if the path leads out of the vault.
        InvalidRequest: INVALID_NOTE_NAME if it ends in another extension. INVALID_PATH if it is
            malformed.
    """
    _validate(path, NOTE_SUFFIX)
    *above, name = path.split("/")
    what = _broken_extension(name, NOTE_SUFFIX)
    if what:
        raise _bad_name(what, _suggestion([*above, name], NOTE_SUFFIX, len(above)))
    return "/".join([*above, _with_suffix(name, NOTE_SUFFIX)])


def check_new(path: str, existing: int) -> None:
    """Check the names of a file that is created, and of its folders that do not exist.

    Args:
        path: relative to the vault, with the extension, in NFC.
        existing: the number of folders at the start of the path that exist.

    Raises:
        InvalidRequest: INVALID_NOTE_NAME if a name breaks a rule: the message has the rule, and
            `details.suggestion` a path that would do.
    """
    extension = _EXTENSION.search(path.rpartition("/")[2])
    _check(path, extension[0] if extension else "", existing, is_folder=False)


def new_path(
    path: str, suffix: str = NOTE_SUFFIX, *, existing: int = 0, is_folder: bool = False
) -> str:
    """Return the path of a file or folder that may be created, in NFC and with its extension.

    Args:
        path: relative to the vault. The extension is added where it is missing.
        suffix: the extension that the file must have, such as `.png` for an image that moves; ""
            for a folder.
        existing: the number of folders at the start of the path that exist. These are not checked
            and not changed, so give them as they are on the disk.
        is_folder: whether a folder is created.

    Raises:
        Forbidden: PATH_OUTSIDE_VAULT if the path leads out of the vault.
        InvalidRequest: INVALID_NOTE_NAME if a new name breaks a rule: the message has the rule, and
            `details.suggestion` a path that would do. INVALID_PATH if the path is malformed.
    """
    _validate(path, suffix, existing, is_folder=is_folder)
    return validate(_check(path, suffix, existing, is_folder=is_folder))


def _validate(path: str, suffix: str, existing: int = 0, *, is_folder: bool = False) -> None:
    try:
        validate(path)
    except InvalidRequest:
        # A name that breaks a rule has a better message than the malformed path that it makes.
        if all(name.strip(" .") for name in path.split("/")):
            _check(path, suffix, existing, is_folder=is_folder)
        raise
    except Forbidden:
        # `a:b` leads out only on Windows. The rule against the colon says more.
        if _LIKE_DRIVE.match(path) and ".." not in path:
            _check(path, suffix, existing, is_folder=is_folder)
        raise


def _check(path: str, suffix: str, existing: int, *, is_folder: bool) -> str:
    names = path.split("/")
    normal = [*names[:existing], *(unicodedata.normalize("NFC", name) for name in names[existing:])]
    what = _broken_extension(normal[-1], suffix)
    place = len(normal) - 1
    if not what:
        normal[-1] = _with_suffix(normal[-1], suffix)
        for place in range(existing, len(normal)):
            what = _find_broken_rule(normal[place], suffix if place == len(normal) - 1 else "")
            if what:
                break
    if not what and _size("/".join(normal)) > MAX_NEW_PATH_BYTES:
        what = f"path is over {MAX_NEW_PATH_BYTES} bytes"
    if not what and len(normal) - (not is_folder) > MAX_DEPTH:
        what = f"path has over {MAX_DEPTH} folders"
    if what:
        suggestion = _suggestion(normal, suffix, existing, MAX_DEPTH - is_folder)
        raise _bad_name(what, suggestion, place)
    return "/".join(normal)


def _broken_extension(name: str, suffix: str) -> str:
    """Return what is wrong with the extension of a file's name, or ""."""
    extension = _EXTENSION.search(name)
    if not suffix or extension is None or extension[0].lower() == suffix.lower():
        return ""
    kind = "note" if suffix == NOTE_SUFFIX else "file"
    return f"name of the {kind} must end in {suffix}"


def _with_suffix(name: str, suffix: str) -> str:
    return name if name.lower().endswith(suffix.lower()) else name + suffix


def _find_broken_rule(name: str, suffix: str) -> str:
    """Return which rule a name breaks, or ""."""
    # Without its extension too: [[a ]] names no note `a .md`.
    parts = (name, name[: -len(suffix)]) if suffix and name.endswith(suffix) else (name,)
    for rule in _RULES:
        if any(rule.pattern.search(part) for part in parts):
            return f"name {rule.what}"
    if not parts[-1]:
        return "name is empty"
    return f"name is over {MAX_NAME_BYTES} bytes" if _size(name) > MAX_NAME_BYTES else ""


def _suggestion(names: list[str], suffix: str, existing: int, depth: int = MAX_DEPTH) -> str:
    """Return a path like `names` that breaks no rule, below at most `depth` folders."""
    *folders, last = names
    if suffix and last.lower().endswith(suffix.lower()):
        last = last[: -len(suffix)]
    kept = [
        *folders[:existing],
        *(_mend(folder, MAX_NAME_BYTES) for folder in folders[existing:]),
    ]
    mended = _mend(last, MAX_NAME_BYTES - len(suffix.encode()))
    # Too deep or too long: the innermost new folders are left out.
    while len(kept) > existing and (
        len(kept) > depth or _size("/".join([*kept, mended + suffix])) > MAX_NEW_PATH_BYTES
    ):
        kept.pop()
    return "/".join([*kept, mended + suffix])


def _mend(name: str, limit: int) -> str:
    for _ in range(3):  # one replacement can leave a dot or a space at an end
        for rule in _RULES:
            name = rule.pattern.sub(rule.instead, name)
        name = name.encode()[:limit].decode("utf-8", "ignore")
        name = unicodedata.normalize("NFC", " ".join(name.split(" ")))
    return name or "Untitled"


def _bad_name(what: str, suggestion: str, place: int = -1) -> InvalidRequest:
    """Return the error that shows the name at one place of the suggestion."""
    names = suggestion.split("/")
    name = names[place] if place < len(names) else names[-1]
    if len(name) > _LONGEST_SHOWN:
        name = f"{name[:_LONGEST_SHOWN]}…"
    return InvalidRequest(
        "INVALID_NOTE_NAME", f"The {what}.", {"suggestion": suggestion, "name": name}
    )


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


_LINES = Path(__file__).with_name("default_folders.txt").read_text("utf-8").splitlines()
DEFAULT_FOLDERS = frozenset(line for line in _LINES if line and not line.startswith("# "))
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
        """Whether the path, or a folder it lies in, is excluded. Does not access the disk."""
        return self.reason(path, is_dir=is_dir) is not None

    def reason(self, path: str, *, is_dir: bool = False) -> tuple[str, Verdict] | None:
        """Return the first excluded name of a path and why it is, or None if `excludes` is false.

        The time is linear in the path's length, apart from the user's patterns.
        """
        start = 0
        if not self._is_unseen(path, is_dir=is_dir):  # an unseen path is excluded as a whole
            while (end := path.find("/", start)) >= 0:
                name = path[start:end]
                if (verdict := self._judge(path, end + 1, name, is_dir=True)) is not None:
                    return name, verdict
                start = end + 1
        verdict = self.verdict(path, path[start:], is_dir=is_dir)
        return None if verdict is None else (path[start:], verdict)

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
                raise Misconfigured(
                    "CONFIG_INVALID",
                    f"Pattern {position} of vault.exclude is not a valid gitignore pattern. "
                    "Correct or remove it.",
                    {"setting": "vault.exclude", "position": position},
                )
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
