"""`init` and `vaults`, and searches from inside a project."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from urllib.parse import unquote

import orjson
import pytest
from tests.cli.fake import FakeServer, Run
from tests.support.systems import posix

from vault_agent.config.project import path_of, read_project_file
from vault_agent.config.rules import vault_identity
from vault_agent.model.search import SearchQuery

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="modes and links")
UID = "0123456789abcdef" * 2


@pytest.fixture
def home(environment: dict[str, str]) -> Path:
    return Path(os.path.realpath(environment["HOME"]))


@pytest.fixture
def project(home: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a repository, and run commands in a folder of it."""
    folder = home / "work" / "shop"
    (folder / ".git").mkdir(parents=True)
    (folder / "src").mkdir()
    monkeypatch.chdir(folder / "src")
    (home / "notes").mkdir()
    environment["VAULT_AGENT_VAULT_ROOT"] = str(home / "notes")
    return folder


def files(folder: Path) -> dict[str, bytes | None]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def clone(project: Path, uid: str = UID) -> None:
    """Write what a clone of somebody's repository may hold."""
    vault = project / ".vault-agent" / "vault"
    (vault / "decisions").mkdir(parents=True)
    (vault / "decisions" / "a.md").write_text("# A\n")
    (vault / "b.md").write_text("---\ntype: bug\n---\n# B\n")
    path_of(project).write_text(
        f'[vault]\nuid = "{uid}"\n[vaults]\nenabled = true\n[embedding]\nenabled = true\n'
    )


def searched(server: FakeServer) -> tuple[str, tuple[str, ...]]:
    """Return the path and the vaults of the last request."""
    _, path, body = server.asked[-1]
    assert isinstance(body, SearchQuery)
    return path, body.vaults


async def listed(run: Run) -> list[dict[str, str]]:
    """Return the vaults of the list, without the user's own notes."""
    ended = await run("vaults", "--json")
    assert ended.code == 0, ended.err
    vaults = orjson.loads(ended.out)["data"]["vaults"]
    return [vault for vault in vaults if vault["role"] != "default"]


async def problem_of(run: Run) -> str:
    """Return what `doctor` says of the list of vaults, or an empty text."""
    checks = orjson.loads((await run("doctor", "--json")).out)["data"]["checks"]
    return next((check["found"] for check in checks if check["name"] == "vaults"), "")


async def test_init_makes_what_a_project_needs_and_says_how_to_undo_it(
    run: Run, project: Path, home: Path
):
    ended = await run("init", "--yes")
    assert ended.code == 0, ended.err
    vault = project / ".vault-agent" / "vault"
    assert vault.is_dir()
    assert read_project_file(project).name == "shop"
    assert [each["name"] for each in await listed(run)] == ["project:shop", "global"]
    assert (await run("config", "get", "vaults.enabled")).out == "true\n"
    for undo in ("vaults forget project:shop", "vaults forget global", "vaults.enabled false"):
        assert undo in ended.out
    assert str(vault) in ended.out
    assert "Nothing was added to git" in ended.err
    if sys.platform != "win32":
        for folder in (home / ".vault-agent", home / ".vault-agent" / "vault"):
            assert folder.stat().st_mode & 0o777 == 0o700
    before = files(home)
    again = await run("init", "--yes")
    assert (again.code, again.out) == (0, "")
    assert "Nothing was changed" in again.err
    assert files(home) == before


@posix("a terminal is made by a POSIX call")
@pytest.mark.parametrize("answer", ["", "no\n"], ids=["leaves", "says no"])
async def test_who_leaves_init_at_its_question_leaves_nothing_behind(
    run_at_terminal: Run, project: Path, home: Path, answer: str
):
    before = files(home)
    ended = await run_at_terminal("init", stdin=answer or "\x04", VAULT_AGENT_PROJECT=str(project))
    assert "Turn on the memory of agents" in ended.err
    if answer:
        assert (ended.code, (project / ".vault-agent" / "vault").is_dir()) == (0, True)
    else:
        assert (ended.code, files(home)) == (130, before)


async def test_init_names_the_hooks_of_agents_and_changes_their_settings_only_if_asked(
    run: Run, project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text("{}")
    ended = await run("init", "--yes")
    assert "vault-agent agent connect claude-code" in ended.err
    assert settings.read_text() == "{}"
    assert "The hooks are in " in (await run("agent", "connect", "claude-code")).out
    assert "claude-code" not in (await run("init", "--yes")).err
    listed = orjson.loads((await run("agent", "--json")).out)["data"]["clients"]
    assert {each["name"]: each["hooks"] for each in listed}["claude-code"] == "installed"
    assert (await run("agent", "disconnect", "claude-code")).code == 0
    assert not settings.exists()


async def test_init_without_consent_turns_nothing_on(run: Run, project: Path):
    ended = await run("init")
    assert ended.code == 0, ended.err
    assert "vault-agent enable memory" in ended.err
    assert (await run("config", "get", "vaults.enabled")).out == "false\n"
    assert (project / ".vault-agent" / "vault").is_dir()


@pytest.mark.parametrize(
    ("option", "line"), [("--private", "*"), ("--private-journals", "vault/journals/")]
)
async def test_init_keeps_a_private_vault_out_of_git(
    run: Run, project: Path, option: str, line: str
):
    for _ in range(2):
        assert (await run("init", "--yes", option)).code == 0
    assert (project / ".vault-agent" / ".gitignore").read_text() == f"{line}\n"


@POSIX
async def test_init_writes_through_no_link_of_a_clone(run: Run, project: Path, home: Path):
    (home / "theirs").write_text("kept\n")
    (project / ".vault-agent").mkdir()
    (project / ".vault-agent" / ".gitignore").symlink_to(home / "theirs")
    ended = await run("init", "--yes", "--private")
    assert ended.code == 2
    assert "is a link" in ended.err
    assert (home / "theirs").read_text() == "kept\n"


@POSIX
async def test_init_refuses_a_vault_that_leads_out_of_the_project(
    run: Run, project: Path, home: Path
):
    (home / "secrets").mkdir()
    (project / ".vault-agent").mkdir()
    (project / ".vault-agent" / "vault").symlink_to(home / "secrets")
    ended = await run("init", "--yes")
    assert ended.code == 1
    assert ended.err.startswith("VAULT_NOT_TRUSTED:")
    assert await listed(run) == []


async def test_a_clone_is_described_before_it_is_trusted(run: Run, project: Path):
    clone(project)
    for command in (("vaults", "add"), ("init",)):
        asked = await run(*command)
        assert asked.code == 2
        assert "2 notes" in asked.out
        assert "Add --yes" in asked.err
    assert "has its own" in (await run("vaults", "add", "--yes", "--name", "Mine")).err
    assert await listed(run) == []
    trusted = await run("vaults", "add", "--yes")
    assert trusted.code == 0, trusted.err
    assert "PROJECT_CONFIG_IGNORED" in trusted.err
    (entry,) = await listed(run)
    assert (entry["name"], entry["uid"], entry["state"]) == ("project:shop", UID, "ok")
    assert "already" in (await run("vaults", "add")).err


async def test_a_clone_cannot_switch_anything_on(run: Run, project: Path):
    clone(project)
    assert (await run("config", "get", "vaults.enabled")).out == "false\n"
    await run("vaults", "add", "--yes")
    assert (await run("config", "get", "embedding.enabled")).out == "false\n"


async def test_another_project_in_the_same_folder_must_be_trusted_again(run: Run, project: Path):
    clone(project)
    await run("vaults", "add", "--yes")
    path_of(project).write_text(f'[vault]\nuid = "{UID[::-1]}"\n')
    assert [each["state"] for each in await listed(run)] == ["not trusted"]
    assert "vault-agent vaults add" in await problem_of(run)
    assert (await run("vaults", "add", "--yes")).code == 0
    assert await problem_of(run) == ""
    assert len(await listed(run)) == 1


async def test_outside_a_project_there_is_nothing_to_trust(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
):
    (home / "plain").mkdir()
    monkeypatch.chdir(home / "plain")
    ended = await run("vaults", "add", "--yes")
    assert ended.code == 4
    assert ended.err == (
        "VAULT_UNKNOWN: This folder is in no project with a vault. Run `vault-agent init` to make"
        " one, or name a folder of notes: `vault-agent vaults add FOLDER`.\n"
    )


async def test_a_folder_is_added_and_forgotten(run: Run, home: Path):
    (home / "Recipes").mkdir()
    added = await run("vaults", "add", str(home / "Recipes"))
    assert added.code == 0
    assert added.err == "Recipes is added.\n"
    assert added.out == "Next: vault-agent --vault Recipes search what I look for\n"
    assert (await run("config", "get", "vaults.enabled")).out == "true\n"
    assert [each["name"] for each in await listed(run)] == ["Recipes"]
    again = await run("vaults", "add", str(home / "Recipes"))
    assert again.err == "Recipes is on the list already.\n"
    renamed = await run("vaults", "add", str(home / "Recipes"), "--name", "Food")
    assert renamed.err == "Food is on the list already.\n"
    assert (await run("vaults", "add", str(home / "Recipes"))).err == renamed.err
    (home / "Food").mkdir()
    for name in ((), ("--name", "Food")):
        refused = await run("vaults", "add", str(home / "Food"), *name)
        assert (refused.code, "~/Recipes has this name." in refused.err) == (2, True)
    await run("vaults", "add", str(home / "Recipes"), "--name", "Recipes")
    assert (await run("vaults", "add", str(home / "Recipes"), "--name", "global")).code == 2
    assert (await run("vaults", "add", str(home / "nothing"))).code == 2
    refused = await run("vaults", "forget", "recipes")
    assert refused.code == 4
    assert 'Did you mean "Recipes"?' in refused.err
    assert (await run("vaults", "forget", "Recipes")).code == 0
    assert await listed(run) == []
    assert (home / "Recipes").is_dir()


@pytest.mark.fault(
    "Several vaults",
    "a registered vault is missing or unmounted",
    "`VAULT_NOT_FOUND` for it; nothing is removed",
)
async def test_a_missing_vault_is_reported_with_what_to_do(run: Run, home: Path):
    (home / "Recipes").mkdir()
    await run("vaults", "add", str(home / "Recipes"))
    (home / "Recipes").rmdir()
    problem = await problem_of(run)
    assert problem.startswith("Recipes: ")
    assert "vault-agent vaults forget Recipes" in problem
    assert "(missing)" in (await run("vaults")).out


async def test_a_search_names_the_vaults_of_the_project(
    run: Run, project: Path, server: FakeServer
):
    await run("init", "--yes")
    await run("search", "flour")
    assert searched(server) == ("/search", ("project:shop", "global", "default"))
    await run("search", "flour", "--all-vaults")
    assert searched(server) == ("/search", ("default", "project:shop", "global"))
    assert (await run("search", "flour", "--all-vaults", "--vault", "global")).code == 2
    twice = await run("search", "flour", "--vault", "global", "--vault", "default")
    assert (twice.code, searched(server)) == (0, ("/search", ("global", "default")))
    both = await run("search", "flour", "--all-vaults", "--vault", "global", "--vault", "default")
    assert both.code == 2
    for line in (
        "--vault global --vault default search flour",
        "--vault global search flour --vault default",
    ):
        assert (await run(*line.split())).code == 0
        assert searched(server) == ("/search", ("global", "default")), line
    for line in (
        "list --vault global --vault default",
        "--vault global --vault default list",
        "--vault global list --vault default",
        "--vault global vaults --vault default",
        "--vault global links check --vault default",
    ):
        assert "--vault is given twice" in (await run(*line.split())).err, line
    empty = await run("--vault", "", "list")
    assert (empty.code, "--vault is empty" in empty.err) == (2, True)
    await run("search", "flour", "--vault", "project:shop")
    assert searched(server) == ("/vaults/project%3Ashop/search", ())
    await run("search", "flour", VAULT_AGENT_VAULTS_ENABLED="false")
    assert searched(server) == ("/search", ())


@pytest.mark.fault(
    "Several vaults",
    "a clone brings a vault and settings",
    "not indexed, not searched; its settings can switch nothing on",
)
async def test_a_vault_that_is_not_trusted_is_not_searched(
    run: Run, project: Path, server: FakeServer
):
    clone(project)
    ended = await run("search", "flour", VAULT_AGENT_VAULTS_ENABLED="true")
    assert searched(server) == ("/search", ())
    assert ended.err.count("VAULT_NOT_TRUSTED") == 1


IN_PROJECT = (
    ("memory", "show", "flour and water"),
    ("memory", "journal", "make", "--all"),
    ("index", "--detach"),
    ("list",),
    ("search", "flour"),
)


async def about(run: Run, server: FakeServer, *words: str) -> str:
    """Return the vault that a command is about."""
    server.asked.clear()
    await run(*words)
    _, path, body = server.asked[-1]
    if isinstance(body, SearchQuery) and body.vaults:
        return body.vaults[0]
    return unquote(path.split("/")[2]) if path.startswith("/vaults/") else "default"


@pytest.mark.parametrize("words", IN_PROJECT, ids=" ".join)
async def test_of_two_projects_of_one_name_each_has_its_own_vault(
    run: Run, project: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch, words
):
    other = project.parent / "elsewhere" / "shop"
    (other / ".git").mkdir(parents=True)
    for folder in (other, project):
        monkeypatch.chdir(folder)
        await run("init", "--yes")
    assert await about(run, server, *words) == vault_identity(project / ".vault-agent" / "vault")


@pytest.mark.parametrize("words", IN_PROJECT, ids=" ".join)
async def test_a_project_whose_vault_is_missing_is_not_answered_from_another_one(
    run: Run, project: Path, server: FakeServer, words
):
    await run("init", "--yes")
    (project / ".vault-agent" / "vault").rename(project / "away")
    assert await about(run, server, *words) == "project:shop"
    assert await about(run, server, *words, "--vault", "default") == "default"


@pytest.mark.usefixtures("notes")
async def test_a_damaged_list_of_vaults_is_named_and_the_default_vault_answers(
    run: Run, home: Path, server: FakeServer
):
    await run("config", "set", "vaults.enabled", "true")
    config = Path((await run("config", "path")).out.strip())
    config.with_name("vaults.toml").write_text("[[")
    for words in (("search", "flour"), ("status",), ("jobs",)):
        ended = await run(*words)
        assert (ended.code, ended.err.count("CONFIG_INVALID: vaults.toml")) == (0, 1), ended.err
    for words in (("search", "flour", "--all-vaults"), IN_PROJECT[0]):
        assert (await run(*words)).code == 2


@pytest.mark.parametrize("words", IN_PROJECT[:2], ids=" ".join)
async def test_what_is_of_a_project_is_not_asked_of_another_vault_without_trust(
    run: Run, project: Path, server: FakeServer, words
):
    clone(project)
    ended = await run(*words, VAULT_AGENT_VAULTS_ENABLED="true")
    assert ended.code != 0
    assert "VAULT_NOT_TRUSTED" in ended.err
    assert server.asked == []


async def test_outside_a_project_the_default_vault_is_searched(
    run: Run, home: Path, project: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
):
    await run("init", "--yes")
    monkeypatch.chdir(home)
    await run("search", "flour")
    assert searched(server) == ("/search", ())


async def test_new_notes_and_graphs_are_about_the_vault_of_the_project(
    run: Run, project: Path, server: FakeServer
):
    await run("init", "--yes")
    for words in (
        ("context", "--search", "flour"),
        ("new", "--type", "bug", "--title", "Twice"),
        ("list", "--orphans"),
    ):
        await run(*words)
        assert server.asked[-1][1].startswith("/vaults/project%3Ashop/"), words
    await run("list", "--vault", "default")
    assert server.asked[-1][1].startswith("/vaults/default/notes")
    await run("list", VAULT_AGENT_VAULTS_ENABLED="false")
    assert server.asked[-1][1].startswith("/notes")


@pytest.mark.parametrize(
    ("typed", "vault"),
    [
        ("assets/plan.png", "project:shop"),
        ("global:assets/plan.png", "global"),
        ("Beds/One.md", "project:shop"),
        ("global:Beds/One.md", "global"),
    ],
)
@pytest.mark.usefixtures("project")
async def test_a_file_that_is_not_indexed_is_deleted_in_its_own_vault(
    run: Run, server: FakeServer, typed: str, vault: str
):
    await run("init", "--yes")
    server.named = []
    await run("delete", typed, "--yes")
    assert unquote(server.asked[-1][1]) == f"/vaults/{vault}/write/delete"
    assert server.bodies[-1]["path"] == typed.removeprefix("global:")
    assert server.bodies[-1]["waitMs"] == 10_000  # a busy server may need it to be found
    await run("delete", typed, "--yes", "--no-wait")
    assert server.bodies[-1]["waitMs"] == 0


@pytest.mark.parametrize(
    ("typed", "vault"), [("Beds/One.md", "project:shop"), ("global:Beds/One.md", "global")]
)
@pytest.mark.usefixtures("project")
async def test_a_file_is_moved_in_the_vault_of_the_project_or_the_one_that_is_named(
    run: Run, server: FakeServer, typed: str, vault: str
):
    await run("init", "--yes")
    await run("move", typed, "Two", "--yes")
    moves = [unquote(path) for _, path, _ in server.asked if path.endswith("/write/move")]
    assert moves == [f"/vaults/{vault}/write/move"] * 2
    first, second = server.bodies
    assert first["path"] == "Beds/One.md"
    assert second["path"] == "Kitchen/Stock.md"  # what the name means


async def test_a_file_that_no_vault_has_is_not_looked_for_in_the_trash(
    run: Run, project: Path, server: FakeServer
):
    await run("init", "--yes")
    server.named = []
    server.without_attachments = ("project:shop",)
    for typed in ("Release 2.O", "assets/plan.png"):
        ended = await run("delete", typed, "--yes")
        assert "Kitchen/Stock.md" in ended.err, typed
        assert not any("delete" in path for _, path, _ in server.asked), typed
    for typed, path in (("Release 2.0", "Release 2.0.md"), ("plan.png", "plan.png")):
        await run("delete", typed, "--yes", "--missing-ok")
        assert server.asked[-1][1] == "/vaults/project%3Ashop/write/delete"
        assert server.bodies[-1]["path"] == path


@pytest.mark.parametrize("typed", ["Late frost", "7"])
async def test_without_an_index_nothing_is_guessed(
    run: Run, project: Path, server: FakeServer, typed: str
):
    await run("init", "--yes")
    server.error = (503, "INDEX_NOT_FOUND", "There is no index.", {})
    ended = await run("delete", typed, "--missing-ok", "--yes")
    assert ended.code != 0
    assert "INDEX_NOT_FOUND" in ended.err
    assert not any("delete" in path for _, path, _ in server.asked)


async def test_backlinks_of_an_attachment_are_those_of_its_vault(
    run: Run, project: Path, server: FakeServer
):
    await run("init", "--yes")
    server.named = []
    await run("links", "global:assets/plan.png")
    path = server.asked[-1][1]
    assert path.startswith("/vaults/global/notes/"), path
    assert "/backlinks" in path
    server.error = (503, "INDEX_NOT_FOUND", "There is no index.", {})
    server.asked.clear()
    await run("links", "assets/plan.png")
    assert not any("suggest" in path for _, path, _ in server.asked)
