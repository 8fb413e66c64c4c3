"""New notes of projects: from a type and a title, by the templates of project and global vault."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.support.registered_vaults import RegisteredVaults, indexed

from vault_agent.api import authoring, note_writes
from vault_agent.api.caller import OWNER, CallContext
from vault_agent.api.note_writes import WriteNoteBody
from vault_agent.api.operation import perform
from vault_agent.api.requests import NoParams
from vault_agent.app import App
from vault_agent.config.vault_list import Role
from vault_agent.errors import Forbidden, InvalidRequest
from vault_agent.markdown.frontmatter_edit import read_keys
from vault_agent.model.writing import Right, TemplateBody, Write
from vault_agent.vaults.open_vault import OpenVault

WRITE = {"enabled": True, "folders": ["."], "quiet_seconds": 0}
BUG = "---\ntype: bug\nseverity: high\nfound: {{project}}\n---\n# {{title}}\n\nOurs {{id}}.\n"


async def made(app: App, vault: OpenVault, root: Path, **body: Any) -> tuple[str, str]:
    await vault.writer.ready()
    call = CallContext(app, vault, OWNER)
    path = (await perform(authoring.new_from_template, call, TemplateBody(**body))).reply.data.path
    return path, (root / path).read_text()


async def test_a_type_and_a_title_are_enough_in_a_project(tmp_path: Path):
    world = RegisteredVaults(tmp_path)
    shop = world.project("shop", {"templates/Bug.md": BUG})
    world.registered(
        Role.GLOBAL,
        "global",
        {"templates/bug.md": "# Hidden\n", "templates/decision.md": "# Ours: {{title}}\n"},
    )
    async with world.app(write=WRITE) as app:
        vault = await app.vaults.open("project:shop")
        await indexed(vault)
        path, text = await made(app, vault, shop, type="bug", title="Costs: twice")
        assert path == "bugs/costs-twice.md"
        values = read_keys(text.encode())
        assert list(values)[:3] == ["id", "type", "title"]
        assert re.fullmatch(r"bug-\d{4}-\d\d-\d\d-[a-z2-7]{6}", str(values["id"]))
        assert values["title"] == "Costs: twice"
        assert (values["severity"], values["project"], values["found"]) == ("high", "shop", "shop")
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", str(values["created"]))
        assert text.endswith(f"# Costs: twice\n\nOurs {values['id']}.\n")
        # A name that is taken gets a number.
        again, _ = await made(app, vault, shop, type="bug", title="Costs: twice")
        assert again == "bugs/costs-twice-2.md"
        # The template of the global vault hides the built-in one.
        path, text = await made(app, vault, shop, type="decision", title="Beds")
        assert (path, text.partition("---\n# ")[2]) == ("decisions/beds.md", "Ours: Beds\n")
        # A type without a template, and a path that is given.
        path, text = await made(app, vault, shop, type="idea", path="notes/Later", variables={})
        assert path == "notes/Later.md"
        assert read_keys(text.encode())["type"] == "idea"
        path, text = await made(
            app, vault, shop, template="journal", title="Done", variables={"session": "s-1"}
        )
        values = read_keys(text.encode())
        assert (path, values["session"], values["project"]) == ("journals/done.md", "s-1", "shop")
        listed = (
            await perform(authoring.templates, CallContext(app, vault, OWNER), NoParams())
        ).reply.data.templates
        assert {each.name: each.path for each in listed if each.path} == {
            "Bug": "templates/Bug.md",
            "decision": "templates/decision.md",
        }
        assert {"brainstorm", "journal"} <= {each.name for each in listed}


async def test_the_default_vault_keeps_to_templates_and_paths(tmp_path: Path):
    world = RegisteredVaults(tmp_path)
    world.write(world.default, {"Templates/Mine.md": "# {{title}} {{id}}\n"})
    async with world.app(write=WRITE) as app:
        vault = app.vaults.default
        path, text = await made(app, vault, world.default, template="Mine", path="A")
        assert (path, text) == ("A.md", "# A {{id}}\n")
        for body in ({"type": "bug", "title": "x"}, {"template": "bug"}):
            with pytest.raises(InvalidRequest):
                await made(app, vault, world.default, **body)


async def test_notes_of_a_project_are_written_while_the_vault_of_a_person_stays_closed(
    tmp_path: Path,
):
    world = RegisteredVaults(tmp_path)
    world.write(world.default, {"A.md": "# A\n"})
    shop = world.project("shop", {})
    append = WriteNoteBody(path="A.md", content="More\n", mode="append")
    async with world.app(write={"enabled": True, "quiet_seconds": 0}) as app:
        vault = await app.vaults.open("project:shop")
        await indexed(vault)
        path, _ = await made(app, vault, shop, type="bug", title="Twice")
        assert (shop / path).is_file()
        with pytest.raises(Forbidden, match="VAULT_READ_ONLY"):
            await perform(
                note_writes.write_note, CallContext(app, app.vaults.default, OWNER), append
            )
    assert (world.default / "A.md").read_text() == "# A\n"


async def test_links_by_type_and_name_follow_a_renamed_note(tmp_path: Path):
    world = RegisteredVaults(tmp_path)
    shop = world.project(
        "shop",
        {
            "modules/parser.md": "# Parser\n",
            "decisions/a.md": "See [[module-parser]] and [[parser]].\n",
        },
    )
    async with world.app(write=WRITE) as app:
        vault = await app.vaults.open("project:shop")
        await indexed(vault)
        await vault.writer.ready()
        asked = Write(operation="move", right=Right.MOVE)
        await vault.files.move("modules/parser.md", "modules/reader.md", asked)
        assert (shop / "decisions/a.md").read_text() == "See [[module-reader]] and [[reader]].\n"
