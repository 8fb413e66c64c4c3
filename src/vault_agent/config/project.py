"""Finds the project of a folder, and its vault. Git is not run for this.

A project is a folder with a vault: `.vault-agent/vault`, or `.synk/vault`, which is served as it
lies. The search goes upwards from a folder. It ends below the home folder, at another file system,
and after 64 levels. All linked worktrees of a repository have the project of its main checkout.
Only the command line and hooks search: a server opens only what is registered.

`.vault-agent/config.toml` has the few settings that a project shares with everybody who clones it.
A clone's file is untrusted. It can name the project, identify its vault and leave folders out. It
can never set an address, a folder outside, a key or a switch: other keys are ignored.

Trust belongs to a folder and to the `uid` that its project has. A vault without our config file,
such as that of `.synk`, has no `uid` of its own: then the folder alone counts.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from vault_agent.config.setting_names import PROJECT_ENV
from vault_agent.config.vault_list import Role, clean_name, is_uid, new_uid
from vault_agent.errors import Forbidden
from vault_agent.system.files import expanded, is_folder, read_regular

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from vault_agent.config.vault_list import Registered
    from vault_agent.model.warning import Warning

MAX_LEVELS: Final = 64
OURS: Final = ".vault-agent"
THEIRS: Final = ".synk"
VAULT: Final = "vault"
_MAX_GIT_FILE: Final = 4_096
_TWO_VAULTS: Final = (
    f"The project has {OURS}/{VAULT} and {THEIRS}/{VAULT}. Only the first one is used."
)


class Project(NamedTuple):
    """A folder with a vault. Both paths are resolved."""

    folder: Path
    vault: Path
    warnings: tuple[Warning, ...] = ()

    @property
    def is_ours(self) -> bool:
        """Whether the vault has our layout, and a config file beside it."""
        return self.vault == self.folder / OURS / VAULT


def find_project(
    folder: Path | None = None, *, environ: Mapping[str, str] | None = None
) -> Project | None:
    """Return the project of a folder, by default the current one, or None if it has none.

    `VAULT_AGENT_PROJECT` names a folder instead, and only that one is looked at.

    Raises:
        Forbidden: `VAULT_NOT_TRUSTED` if the vault is a link to a folder outside the project.
    """
    named = (os.environ if environ is None else environ).get(PROJECT_ENV)
    if named:
        return project_at(_resolved(expanded(named)))
    start = _resolved(folder if folder is not None else Path.cwd())
    for level in _upwards(_in_main_checkout(start), _home()):
        project = project_at(level)
        if project is not None:
            return project
        if _is_submodule(level):
            return None  # a project of its own, without a vault yet
    return None


def project_at(folder: Path) -> Project | None:
    """Return the project with exactly this folder, or None if it has no vault.

    Raises:
        Forbidden: `VAULT_NOT_TRUSTED` if the vault is a link to a folder outside the project.
    """
    ours, theirs = folder / OURS / VAULT, folder / THEIRS / VAULT
    if is_folder(ours):
        warnings = (_warning("TWO_PROJECT_VAULTS", _TWO_VAULTS),) if is_folder(theirs) else ()
        return Project(folder, _inside(ours, folder), warnings)
    if is_folder(theirs):
        return Project(folder, _inside(theirs, folder))
    return None


def project_folder(folder: Path | None = None) -> Path:
    """Return the folder that a new project vault of a folder belongs to.

    It is the top of its repository, or else the folder itself.
    """
    start = _in_main_checkout(_resolved(folder if folder is not None else Path.cwd()))
    for level in _upwards(start, _home()):
        if (level / ".git").exists():
            return level
    return start


def is_home(folder: Path) -> bool:
    """Whether this is the home folder, which is no project."""
    return _resolved(folder) == _home()


def global_vault(chosen: Path | None) -> Path:
    """Return the folder of the global vault, whether or not it exists.

    `chosen` is `vaults.global_root`.
    """
    if chosen is not None:
        return _resolved(chosen)
    ours, theirs = Path.home() / OURS / VAULT, Path.home() / THEIRS / VAULT
    return _resolved(theirs if is_folder(theirs) and not is_folder(ours) else ours)


def _upwards(start: Path, home: Path | None) -> Iterator[Path]:
    """Yield a folder and those above it, as far as a project may be."""
    device = _device(start)
    folder = start
    for _ in range(MAX_LEVELS):
        if folder == home or _device(folder) != device:
            return
        yield folder
        if folder.parent == folder:
            return
        folder = folder.parent


def _in_main_checkout(start: Path) -> Path:
    """Return the folder of the main checkout that corresponds to one of a linked worktree.

    Any other folder is returned as it is. Where the main checkout has no such folder, the nearest
    one above it is taken.
    """
    for folder in _upwards(start, None):
        marker = folder / ".git"
        if is_folder(marker):
            return start
        if _text_of(marker) is not None:
            main = _main_checkout(folder)
            if main is None:
                return start
            below = main / start.relative_to(folder)
            while not below.is_dir() and below != main:
                below = below.parent
            return below
    return start


def _main_checkout(worktree: Path) -> Path | None:
    """Return the main checkout of a linked worktree, or None if this is none.

    As git does, it follows `.git` only to a folder that names this worktree in turn. So no folder
    can pass for a worktree of another repository.
    """
    git = _git_folder(worktree)
    if git is None or (common := _text_of(git / "commondir")) is None:
        return None
    back = _text_of(git / "gitdir")
    if back is None or _resolved(git / back) != _resolved(worktree / ".git"):
        return None
    repository = _resolved(git / common)
    # A bare repository has no checkout.
    return repository.parent if repository.name == ".git" and is_folder(repository) else None


def _is_submodule(folder: Path) -> bool:
    git = _git_folder(folder)
    return git is not None and _text_of(git / "commondir") is None


def _git_folder(folder: Path) -> Path | None:
    """Return the folder that a file `.git` names, or None if there is no such file."""
    text = _text_of(folder / ".git")
    if text is None or not text.startswith("gitdir:"):
        return None
    return _resolved(folder / text.removeprefix("gitdir:").strip())


def _text_of(path: Path) -> str | None:
    """Return the text of a small regular file, or None. A link or a pipe is not opened."""
    data = read_regular(path, _MAX_GIT_FILE)
    return data.decode("utf-8", "surrogateescape").strip() if data is not None else None


def _inside(vault: Path, folder: Path) -> Path:
    resolved = _resolved(vault)
    if not resolved.is_relative_to(folder):
        raise Forbidden(
            "VAULT_NOT_TRUSTED",
            "The project's vault is a link to a folder outside the project. It is not opened.",
            remedy="Replace the link by a folder.",
        )
    return resolved


def _home() -> Path | None:
    try:
        return _resolved(Path.home())
    except RuntimeError:
        return None  # the user has no home folder


def _resolved(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _device(folder: Path) -> int | None:
    try:
        return folder.stat().st_dev
    except OSError:
        return None


PROJECT_KEYS: Final = ("project.name", "vault.uid", "journal.exclude", "memory.exclude_types")
MAX_BYTES: Final = 64 * 1024
_MAX_ITEMS: Final = 200
_MAX_CHARACTERS: Final = 500


class ProjectFile(NamedTuple):
    """The settings of a project. `uid` is None if it has none yet."""

    name: str | None = None
    uid: str | None = None
    journal_exclude: tuple[str, ...] = ()
    memory_exclude_types: tuple[str, ...] = ()
    warnings: tuple[Warning, ...] = ()


def read_project_file(folder: Path) -> ProjectFile:
    """Return the settings of the project in this folder. Never raises.

    What cannot be used is ignored, with the warning `PROJECT_CONFIG_IGNORED`.
    """
    text = _settings_text(path_of(folder))
    if text is None:
        return ProjectFile()
    try:
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        what = "The project's config file is not valid TOML."
        return ProjectFile(warnings=(_warning("PROJECT_CONFIG_IGNORED", what),))
    values = {
        f"{section}.{option}": value
        for section, table in tables.items()
        for option, value in (table.items() if isinstance(table, dict) else [("", table)])
    }
    used = {name: value for name, value in values.items() if _is_valid(name, value)}
    ignored = len(values) - len(used)
    warnings: tuple[Warning, ...] = ()
    if ignored:
        what = f"Settings of the project's config file that are ignored: {ignored}. It may only"
        what += f" have {', '.join(PROJECT_KEYS)}."
        warnings = (_warning("PROJECT_CONFIG_IGNORED", what, ignored=ignored),)
    name = used.get("project.name")
    return ProjectFile(
        name=clean_name(name) if name is not None else None,
        uid=used.get("vault.uid"),
        journal_exclude=tuple(used.get("journal.exclude", ())),
        memory_exclude_types=tuple(used.get("memory.exclude_types", ())),
        warnings=warnings,
    )


def ensure_project_file(folder: Path, name: str) -> ProjectFile:
    """Return the settings of a project, after giving it a `uid` if it has none.

    A file that exists keeps its other lines and comments.

    Raises:
        OSError: if the file cannot be written.
    """
    settings = read_project_file(folder)
    if settings.uid is not None:
        return settings
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    from vault_agent.system.files import replace_file

    path = path_of(folder)
    try:
        document = tomlkit.parse(_settings_text(path) or "")
    except TOMLKitError:
        document = tomlkit.document()  # it was ignored anyway
    for section, option, value in (("project", "name", name), ("vault", "uid", new_uid())):
        table: Any = document.setdefault(section, tomlkit.table())
        if not isinstance(table, dict):
            document[section] = table = tomlkit.table()
        if not _is_valid(f"{section}.{option}", table.get(option)):
            table[option] = value
    replace_file(path, tomlkit.dumps(document).encode(), mode=0o644)
    return read_project_file(folder)


def path_of(folder: Path) -> Path:
    """Return the file of the project in this folder, whether or not it exists."""
    return folder / OURS / "config.toml"


def _is_valid(name: str, value: object) -> bool:
    if name == "project.name":
        return isinstance(value, str) and 0 < len(value.strip()) <= _MAX_CHARACTERS
    if name == "vault.uid":
        return is_uid(value)
    if name in PROJECT_KEYS:
        return (
            isinstance(value, list)
            and len(value) <= _MAX_ITEMS
            and all(isinstance(item, str) and len(item) <= _MAX_CHARACTERS for item in value)
        )
    return False


def _warning(code: str, what: str, **details: int) -> Warning:
    from vault_agent.model.warning import Warning

    return Warning(code, what, details)


def _settings_text(path: Path) -> str | None:
    """Return the text of the file, or None if it is missing, too large or no regular file."""
    data = read_regular(path, MAX_BYTES + 1)
    return data.decode("utf-8", "replace") if data is not None and len(data) <= MAX_BYTES else None


def is_trusted(entry: Registered) -> bool:
    """Whether the folder of an entry is a real one and still has the entry's `uid`."""
    if not entry.is_there:
        return False
    if entry.role is not Role.PROJECT or entry.root.parts[-2:] != (OURS, VAULT):
        return True
    return read_project_file(entry.root.parent.parent).uid == entry.uid


def trusted_entry(project: Project, entries: Iterable[Registered]) -> Registered | None:
    """Return the entry of a project's vault if it is trusted, else None."""
    for entry in entries:
        if entry.root == project.vault and is_trusted(entry):
            return entry
    return None


def missing_entry(project: Project | None, entries: Iterable[Registered]) -> Registered | None:
    """Return the entry of a project around here whose vault is missing, else None.

    Here is the current folder, or the one that `VAULT_AGENT_PROJECT` names. If `project` was found
    here, an entry counts only if it is nearer.
    """
    named = os.environ.get(PROJECT_ENV)
    here = Path(os.path.realpath(named or Path.cwd()))
    around = {here} if named else {here, *here.parents, project_folder(here)}
    gone = [
        entry
        for entry in entries
        if entry.role is Role.PROJECT
        and not is_folder(entry.root)
        and (top := entry.root.parent.parent) in around
        and (project is None or (top != project.folder and top.is_relative_to(project.folder)))
    ]
    return max(gone, key=lambda entry: len(entry.root.parts), default=None)
