"""A project is found by walking upwards, and nothing else of a clone is believed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from vault_agent.config.project import (
    MAX_LEVELS,
    ensure_project_file,
    find_project,
    global_vault,
    is_trusted,
    path_of,
    project_folder,
    read_project_file,
    trusted_entry,
)
from vault_agent.config.vault_list import (
    Registered,
    Role,
    add_vault,
    clean_name,
    forget_vault,
    new_uid,
    read_registry,
)
from vault_agent.errors import Forbidden, Misconfigured, NotFound

UID = "0123456789abcdef" * 2
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="symbolic links, modes and pipes")


@pytest.fixture
def home(home: Path) -> Path:
    (home / ".vault-agent" / "vault").mkdir(parents=True)  # the global one
    return Path(os.path.realpath(home))


def made(folder: Path, *, theirs: bool = False) -> Path:
    vault = folder / (".synk" if theirs else ".vault-agent") / "vault"
    vault.mkdir(parents=True)
    return vault


def found(folder: Path, home: Path) -> Path | None:
    project = find_project(folder, environ={})
    return None if project is None else project.vault


def git(*arguments: str, at: Path) -> None:
    identity = ("-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false")
    allowed = ("-c", "protocol.file.allow=always")
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(
        ["git", *identity, *allowed, *arguments],
        cwd=at,
        check=True,
        capture_output=True,
        env=environ,
    )


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git("init", "-q", at=folder)
    (folder / "file").write_text("text")
    git("add", "file", at=folder)
    git("commit", "-qm", "First", at=folder)
    return folder


# --- the walk -----------------------------------------------------------------------------------


def test_the_nearest_vault_above_a_folder_is_found(home: Path):
    outer, inner = home / "work", home / "work" / "app"
    deep = inner / "src" / "core"
    deep.mkdir(parents=True)
    assert found(deep, home) is None
    outer_vault = made(outer)
    assert found(deep, home) == outer_vault
    inner_vault = made(inner)
    assert found(deep, home) == inner_vault
    assert found(inner_vault, home) == inner_vault
    assert found(outer, home) == outer_vault


def test_the_home_folder_is_no_project(home: Path):
    (home / "plain").mkdir()
    assert found(home / "plain", home) is None
    assert found(home, home) is None
    assert found(home / ".vault-agent" / "vault", home) is None


def test_the_vault_of_the_seed_is_used_as_it_lies(home: Path):
    theirs = made(home / "app", theirs=True)
    before = sorted((home / "app").rglob("*"))
    project = find_project(home / "app", environ={})
    assert (project.vault, project.is_ours, project.warnings) == (theirs, False, ())
    assert sorted((home / "app").rglob("*")) == before


def test_of_two_vaults_ours_is_used_with_a_warning(home: Path):
    made(home / "app", theirs=True)
    ours = made(home / "app")
    project = find_project(home / "app", environ={})
    assert project.vault == ours
    assert [each.code for each in project.warnings] == ["TWO_PROJECT_VAULTS"]


def test_the_walk_ends_after_64_levels(home: Path):
    made(home / "top")
    folder = home / "top"
    for _ in range(MAX_LEVELS - 1):
        folder /= "d"
    (folder / "d").mkdir(parents=True)
    assert found(folder, home) is not None
    assert found(folder / "d", home) is None


def test_the_walk_ends_at_another_file_system(home: Path, monkeypatch: pytest.MonkeyPatch):
    vault = made(home / "app")
    mounted = home / "app" / "mounted"
    mounted.mkdir()
    stat = Path.stat

    def other_device(path: Path, **options: bool) -> os.stat_result:
        values = stat(path, **options)
        if not path.is_relative_to(mounted):
            return values
        return os.stat_result((*values[:2], values.st_dev + 1, *values[3:10]))

    assert found(mounted, home) == vault
    monkeypatch.setattr(Path, "stat", other_device)
    assert found(mounted, home) is None


def test_the_environment_names_a_project(home: Path):
    vault = made(home / "app")
    elsewhere = home / "elsewhere"
    elsewhere.mkdir()
    named = {"VAULT_AGENT_PROJECT": str(home / "app")}
    project = find_project(elsewhere, environ=named)
    assert project.vault == vault
    # Only that folder counts, not those above it.
    inside = {"VAULT_AGENT_PROJECT": str(elsewhere)}
    assert find_project(home / "app", environ=inside) is None


@pytest.mark.fault(
    "Several vaults",
    "a vault folder links out of its project; `.git` is a pipe or forged",
    "refused, or no project",
)
@POSIX
@pytest.mark.parametrize("linked", [".vault-agent", ".vault-agent/vault"])
def test_a_vault_that_links_out_of_its_project_is_refused(home: Path, linked: str):
    outside = home / "outside" / "vault"
    outside.mkdir(parents=True)
    link = home / "app" / linked
    link.parent.mkdir(parents=True)
    link.symlink_to(outside if linked.endswith("vault") and "/" in linked else outside.parent)
    with pytest.raises(Forbidden, match="VAULT_NOT_TRUSTED"):
        find_project(home / "app", environ={})


@POSIX
def test_a_link_within_the_project_is_followed(home: Path):
    real = home / "app" / "docs"
    real.mkdir(parents=True)
    (home / "app" / ".vault-agent").mkdir()
    (home / "app" / ".vault-agent" / "vault").symlink_to(real)
    assert found(home / "app", home) == real


# --- git ----------------------------------------------------------------------------------------


def test_linked_worktrees_have_the_vault_of_the_main_checkout(home: Path):
    main = repository(home / "main")
    vault = made(main)
    (vault / "note.md").write_text("committed")
    git("add", "-Af", at=main)
    git("commit", "-qm", "Vault", at=main)
    tree = home / "trees" / "feature"
    git("worktree", "add", "-q", str(tree), at=main)
    (tree / "src").mkdir()
    assert (tree / ".vault-agent" / "vault" / "note.md").is_file()  # its own copy is passed over
    assert found(tree, home) == vault
    assert found(tree / "src", home) == vault
    assert project_folder(tree / "src") == main


def test_a_project_inside_a_worktree_is_that_of_the_main_checkout(home: Path):
    main = repository(home / "main")
    made(main)
    inner = made(main / "packages" / "app")
    git("worktree", "add", "-q", str(home / "tree"), at=main)
    (home / "tree" / "packages" / "app" / "src").mkdir(parents=True)
    assert found(home / "tree" / "packages" / "app" / "src", home) == inner


def test_a_submodule_is_a_project_of_its_own(home: Path):
    library = repository(home / "library")
    outer = repository(home / "outer")
    outer_vault = made(outer)
    git("submodule", "add", "-q", str(library), "sub", at=outer)
    assert found(outer, home) == outer_vault
    assert found(outer / "sub", home) is None
    assert project_folder(outer / "sub") == outer / "sub"
    own = made(outer / "sub")
    assert found(outer / "sub", home) == own


def test_a_forged_worktree_does_not_lead_to_another_project(home: Path):
    """A folder that names a repository, which does not name it in turn, is no worktree of it."""
    main = repository(home / "main")
    made(main)
    git("worktree", "add", "-q", str(home / "tree"), at=main)
    forged = home / "forged"
    forged.mkdir()
    (forged / ".git").write_text((home / "tree" / ".git").read_text())
    assert found(forged, home) is None


@POSIX
def test_a_pipe_or_a_folder_loop_does_not_hold_the_search_up(home: Path):
    folder = home / "app"
    folder.mkdir()
    os.mkfifo(folder / ".git")
    (folder / "loop").symlink_to("loop")
    (folder / ".vault-agent").symlink_to("loop")
    assert found(folder, home) is None


# --- the project's file ---------------------------------------------------------------------------


def test_a_projects_file_may_hold_four_settings_only(home: Path):
    path_of(home).write_text(
        f'[project]\nname = "App"\n[vault]\nuid = "{UID}"\nroot = "/etc"\n'
        '[journal]\nexclude = ["tmp"]\nenabled = true\n'
        '[memory]\nexclude_types = ["bug"]\n[embedding]\nendpoint = "http://evil.example"\n'
    )
    found = read_project_file(home)
    assert (found.name, found.uid) == ("App", UID)
    assert (found.journal_exclude, found.memory_exclude_types) == (("tmp",), ("bug",))
    (warning,) = found.warnings
    assert warning.code == "PROJECT_CONFIG_IGNORED"
    assert dict(warning.details) == {"ignored": 3}
    assert "evil" not in warning.message


@pytest.mark.parametrize(
    "text", ["[project\n", 'vault = "x"', "a = 1\n" * 20_000, "[[[[", '[vault]\nuid = "short"']
)
def test_a_hostile_projects_file_gives_nothing(home: Path, text: str):
    path_of(home).write_text(text)
    found = read_project_file(home)
    assert (found.name, found.uid) == (None, None)


def test_a_project_gets_its_uid_once_and_keeps_its_comments(home: Path):
    path_of(home).write_text('# ours\n[project]\nname = "App"  # short\n')
    first = ensure_project_file(home, "other")
    text = path_of(home).read_text()
    assert ensure_project_file(home, "another") == first
    assert path_of(home).read_text() == text
    assert first.name == "App"
    assert text.startswith('# ours\n[project]\nname = "App"  # short\n')


# --- the list of vaults --------------------------------------------------------------------------


def test_the_list_is_private_and_keeps_one_entry_a_folder(tmp_path: Path):
    path = tmp_path / "config" / "vaults.toml"
    root = tmp_path / "notes"
    root.mkdir()
    first = add_vault(Registered(root, Role.OTHER, "notes", UID), path)
    again = add_vault(Registered(root, Role.OTHER, "renamed", UID), path)
    assert read_registry(path) == (again,)
    assert again.added == first.added
    if sys.platform != "win32":
        assert path.stat().st_mode & 0o777 == 0o600
    assert forget_vault("renamed", path) == again
    assert read_registry(path) == ()
    with pytest.raises(NotFound, match="VAULT_UNKNOWN"):
        forget_vault("renamed", path)


def test_a_moved_vault_replaces_its_entry_and_a_copy_does_not(tmp_path: Path):
    path = tmp_path / "vaults.toml"
    old, new, copy = (tmp_path / name for name in ("old", "new", "copy"))
    for folder in (old, copy):
        folder.mkdir()
    add_vault(Registered(old, Role.PROJECT, "app", UID), path)
    add_vault(Registered(copy, Role.PROJECT, "app", UID), path)
    assert len(read_registry(path)) == 2
    old.rename(new)
    add_vault(Registered(new, Role.PROJECT, "app", UID), path)
    assert {each.root for each in read_registry(path)} == {new, copy}


@pytest.mark.parametrize(
    "text",
    [
        "[[vault]\n",
        "[[vault]]\nroot = 1\n",
        f'[[vault]]\nroot = "relative"\nrole = "other"\nname = "x"\nuid = "{UID}"\nadded = ""\n',
        f'[[vault]]\nroot = "/x"\nrole = "admin"\nname = "x"\nuid = "{UID}"\nadded = ""\n',
    ],
)
def test_a_damaged_list_is_an_error_that_quotes_nothing(tmp_path: Path, text: str):
    path = tmp_path / "vaults.toml"
    path.write_text(text)
    with pytest.raises(Misconfigured, match="CONFIG_INVALID") as refusal:
        read_registry(path)
    assert "relative" not in refusal.value.message


def test_names_can_be_typed_and_shown():
    assert clean_name("My App") == "My App"
    assert clean_name("a/b\\c:d\x1b[31m\u202e") == "a-b-c-d-[31m"
    assert clean_name("...") == "vault"
    assert len(clean_name("x" * 500)) == 64


# --- trust --------------------------------------------------------------------------------------


def test_trust_belongs_to_the_folder_and_the_uid(home: Path):
    vault = made(home / "app")
    uid = ensure_project_file(home / "app", "app").uid or ""
    entry = Registered(vault, Role.PROJECT, "app", uid)
    project = find_project(home / "app", environ={})
    assert project is not None
    assert trusted_entry(project, [entry]) == entry
    assert trusted_entry(project, []) is None
    path_of(home / "app").write_text(f'[vault]\nuid = "{new_uid()}"\n')  # another project
    assert not is_trusted(entry)
    path_of(home / "app").unlink()
    assert not is_trusted(entry)


@POSIX
def test_a_folder_that_became_a_link_is_not_trusted(home: Path):
    root = home / "plain"
    root.mkdir()
    entry = Registered(root, Role.OTHER, "plain", UID)
    assert is_trusted(entry)
    root.rename(home / "moved")
    root.symlink_to(home / "moved")
    assert not is_trusted(entry)


def test_the_global_vault_is_where_the_setting_says(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Path, "home", lambda: home)
    assert global_vault(None) == home / ".vault-agent" / "vault"
    (home / ".vault-agent" / "vault").rmdir()
    theirs = made(home, theirs=True)
    assert global_vault(None) == theirs
    assert global_vault(home / "chosen") == home / "chosen"
