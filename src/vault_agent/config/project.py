"""Finds the project of a folder, and its vault. Git is not run for this.

A project is a folder with a vault: `.vault-agent/vault`, or `.synk/vault`, which is served as it
lies. The search goes upwards from a folder. It ends below the home folder, at another file system,
and after 64 levels. All linked worktrees of a repository have the project of its main checkout.
Only the command line and hooks search: a server opens only what is registered.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from vault_agent.config.keys import PROJECT_ENV
from vault_agent.errors import Forbidden
from vault_agent.system.files import expanded, is_folder, read_regular

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from vault_agent.model.warning import Warning

MAX_LEVELS: Final = 64
OURS: Final = ".vault-agent"
THEIRS: Final = ".synk"
VAULT: Final = "vault"
_MAX_GIT_FILE: Final = 4_096


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
    folder: Path | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    home: Path | None = None,
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
    for level in _upwards(_in_main_checkout(start), _home(home)):
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
        warnings = (_two_vaults(),) if is_folder(theirs) else ()
        return Project(folder, _inside(ours, folder), warnings)
    if is_folder(theirs):
        return Project(folder, _inside(theirs, folder))
    return None


def project_folder(folder: Path | None = None, *, home: Path | None = None) -> Path:
    """Return the folder that a new project vault of a folder belongs to.

    It is the top of its repository, or else the folder itself.
    """
    start = _in_main_checkout(_resolved(folder if folder is not None else Path.cwd()))
    for level in _upwards(start, _home(home)):
        if (level / ".git").exists():
            return level
    return start


def is_home(folder: Path) -> bool:
    """Whether this is the home folder, which is no project."""
    return _resolved(folder) == _home(None)


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
    device = _device(start)
    for _, folder in zip(range(MAX_LEVELS), (start, *start.parents), strict=False):
        if _device(folder) != device:
            return start
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


def _two_vaults() -> Warning:
    from vault_agent.model.warning import Warning

    what = f"The project has {OURS}/{VAULT} and {THEIRS}/{VAULT}. Only the first one is used."
    return Warning("TWO_PROJECT_VAULTS", what)


def _home(home: Path | None) -> Path | None:
    try:
        return _resolved(home if home is not None else Path.home())
    except RuntimeError:
        return None  # the user has no home folder


def _resolved(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _device(folder: Path) -> int | None:
    try:
        return folder.stat().st_dev
    except OSError:
        return None
