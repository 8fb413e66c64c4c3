"""Inside a project all commands speak of the same vaults: its own, the global and the default."""

from __future__ import annotations

import json
import subprocess
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.support.program import Program
from tests.support.waiting import eventually

NOTES = {
    "project:shop": ("decisions/Prices.md", "# Prices\n\nKeep flour prices in cents. #money\n"),
    "global": ("patterns/Rounding.md", "# Rounding\n\nRound flour sums once. #money #maths\n"),
    "default": ("Bread.md", "# Bread\n\nFlour, water, salt. #baking\n\n- [ ] Buy flour\n"),
    "Recipes": ("Pancakes.md", "# Pancakes\n\nEggs and milk, beaten flour.\n"),
}
ADDRESSES = ["decisions/Prices.md", "global:patterns/Rounding.md", "default:Bread.md"]


class World:
    """A project in a home with four vaults, served."""

    def __init__(self, program: Program) -> None:
        self.program = program
        program.variables["VAULT_AGENT_VAULTS_ENABLED"] = "true"
        self.shop = program.home / "shop"
        (self.shop / ".git").mkdir(parents=True)
        recipes = program.home / "Recipes"
        recipes.mkdir()
        self.done("config", "set", "vault.root", str(program.vault))
        self.done("init", "--yes")
        self.done("vaults", "add", str(recipes))
        roots = {
            "project:shop": self.shop / ".vault-agent/vault",
            "global": program.home / ".vault-agent/vault",
            "default": program.vault,
            "Recipes": recipes,
        }
        for name, (path, text) in NOTES.items():
            (roots[name] / path).parent.mkdir(exist_ok=True)
            (roots[name] / path).write_text(text)
        program.start()
        for name in NOTES:
            ended = eventually(  # its first use may have begun a job
                partial(self.run, "index", "--vault", name),
                lambda ended: "INDEX_BUSY" not in ended.stderr,
            )
            assert ended.returncode == 0, ended.stderr

    def run(self, *arguments: str, at: Path | None = None) -> subprocess.CompletedProcess[str]:
        return self.program.run(*arguments, at=at or self.shop)

    def done(self, *arguments: str) -> str:
        ended = self.run(*arguments)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def data(self, *arguments: str) -> Any:
        return json.loads(self.done(*arguments, "--json"))["data"]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    program = Program(tmp_path_factory.mktemp("scope"))
    try:
        yield World(program)
    finally:
        program.close()


def test_a_copy_of_a_graph_is_stale_once_a_note_of_the_global_vault_is_another(world: World):
    shared = world.program.home / ".vault-agent/vault/patterns/Shared.md"
    notes = world.shop / ".vault-agent/vault/decisions/Uses.md"
    address = world.program.endpoint + "/vaults/project:shop/graph?format=objects"
    key = {"Authorization": f"Bearer {world.data('config', 'reveal-api-key')['apiKey']}"}
    shared.write_text("# Before\n")
    notes.write_text("[[global:Shared]]\n")
    try:
        world.done("index", "--vault", "global")
        world.done("index", "--vault", "project:shop")
        asked = urllib.request.Request(address, headers=key)
        with urllib.request.urlopen(asked) as reply:
            tag, labels = reply.headers["ETag"], json.loads(reply.read())["data"]["nodes"]
        assert "Before" in [node["label"] for node in labels]
        shared.write_text("# Afterwards\n")
        world.done("index", "--vault", "global")
        asked = urllib.request.Request(address, headers={**key, "If-None-Match": tag})
        with urllib.request.urlopen(asked) as reply:
            assert b"Afterwards" in reply.read()
    finally:
        shared.unlink()
        notes.unlink()
        world.done("index", "--vault", "global")
        world.done("index", "--vault", "project:shop")


def test_search_finds_the_notes_of_the_three_vaults(world: World):
    found = world.data("search", "flour")["results"]
    assert {(each["vault"], each["path"]) for each in found} == {
        (name, NOTES[name][0]) for name in ("project:shop", "global", "default")
    }


def test_a_list_names_notes_as_other_commands_take_them(world: World):
    assert world.done("list").splitlines() == ADDRESSES[:1]
    for name, address in zip(NOTES, ADDRESSES, strict=False):
        assert world.done("get", "note", address) == NOTES[name][1]
    found = world.done("search", "flour", "-l").splitlines()
    assert sorted(found) == sorted(ADDRESSES)
    found = world.done("search", "flour", "-l", "--all-vaults").splitlines()
    assert sorted(found) == sorted([*ADDRESSES, "Recipes:Pancakes.md"])
    found = world.done("search", "flour", "-l", "--vault", "Recipes", "--vault", "global")
    assert sorted(found.splitlines()) == ["Recipes:Pancakes.md", ADDRESSES[1]]
    for name in ("project:shop", "global"):
        line = world.done("grep", "flour|Flour", "--vault", name).splitlines()[0]
        assert line.startswith(f"{NOTES[name][0]}:"), line
    assert world.done("tasks", "--vault", "default") == "Bread.md:5:[ ] Buy flour\n"


def test_a_list_is_about_the_vault_of_the_project(world: World):
    assert world.done("tags") == world.done("tags", "--vault", "project:shop")
    assert world.done("list", "--folders") == "1  decisions\n"
    assert [note["path"] for note in world.data("list")["notes"]] == [NOTES["project:shop"][0]]


@pytest.mark.parametrize("name", ["Prices", "default:Bread", "global:Rounding.md"])
def test_a_note_of_each_vault_can_be_named(world: World, name: str):
    assert world.done("get", "note", name)
    assert world.run("related", name).returncode == 0
    assert world.run("links", name).returncode == 0


def test_a_name_means_a_note_of_the_vault_of_the_project(world: World):
    refused = world.run("show", "Bread")
    assert refused.returncode == 4
    assert "vault-agent search Bread" in refused.stderr
    assert world.done("show", "Bread", "--vault", "default") == NOTES["default"][1]


def test_an_attachment_of_each_vault_can_be_named(world: World):
    assert world.run("get", "attachment", "none.png").returncode == 4
    for number, root in enumerate((world.program.vault, world.shop / ".vault-agent/vault"), 7):
        (root / "jar.png").write_bytes(b"x" * number)
    assert "7 bytes" in world.done("get", "attachment", "default:jar.png")
    assert "8 bytes" in world.done("get", "attachment", "jar.png")


def test_what_is_left_out_is_said_with_its_count(world: World):
    nothing = world.run("search", "eggs")
    assert nothing.stdout == ""
    assert nothing.stderr.startswith("No results in project:shop, global and default.")
    assert nothing.stderr.endswith("Not searched: 1 other vault (--all-vaults)\n")
    outside = world.run("search", "cents", at=world.program.home)
    assert "Not searched: 3 other vaults (--all-vaults)\n" in outside.stderr
    assert world.run("list", "--property", "status=none").stderr == "No notes.\n"
    status = world.run("status").stdout
    assert "project:shop (1 note), global (1 note), default (1 note)" in status


def test_one_vault_that_cannot_be_read_does_not_hide_the_others(world: World):
    shared = world.program.home / ".vault-agent"
    shared.rename(shared.with_name("away"))
    try:
        found = world.done("search", "flour", "-l").splitlines()
        assert sorted(found) == sorted([ADDRESSES[0], ADDRESSES[2]])
    finally:
        shared.with_name("away").rename(shared)


def test_new_notes_and_context_stay_in_the_project(world: World):
    section = world.done("context", "--search", "flour")
    assert "Prices" in section
    assert "Bread" not in section


def test_jobs_are_those_of_the_vault_that_index_is_about(world: World):
    started = world.data("index", "--detach")["job"]["id"]
    assert world.run("jobs", "follow", started).returncode == 0
    assert world.data("jobs")["jobs"][0]["id"] == started
    assert world.done("jobs", started).startswith(started)


@pytest.mark.parametrize("name", list(NOTES))
def test_a_job_of_any_vault_is_found_by_its_id(world: World, name: str):
    job = world.data("jobs", "--vault", name)["jobs"][0]["id"]
    assert world.data("jobs", job)["job"]["id"] == job
    assert world.run("jobs", "0" * 20).returncode == 4
