"""What the server writes by itself: in project and global vaults only, by its own switch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.registered_vaults import RegisteredVaults

from vault_agent.api import note_writes
from vault_agent.api.caller import OWNER, CallContext
from vault_agent.api.note_writes import WriteNoteBody
from vault_agent.api.operation import perform
from vault_agent.config.server_key import changes_notes, require_key
from vault_agent.config.vault_list import Role
from vault_agent.errors import Forbidden, Misconfigured, Unauthorized
from vault_agent.model.writing import Right, Write
from vault_agent.vaults.open_vault import OpenVault

OWN = Write(operation="promote", right=Right.CREATE, by_server=True)
ON: dict[str, Any] = {"memory": {"enabled": True}}
WRITABLE = ("project:shop", "global")


@pytest.fixture
def world(tmp_path: Path) -> RegisteredVaults:
    made = RegisteredVaults(tmp_path)
    made.write(made.default, {"Bread.md": "# Bread\n"})
    made.project("shop", {"notes/Costs.md": "# Costs\n"})
    made.registered(Role.GLOBAL, "global", {"patterns/Retry.md": "# Retry\n"})
    made.registered(Role.OTHER, "recipes", {"Cake.md": "# Cake\n"})
    return made


def files(world: RegisteredVaults) -> set[str]:
    return {each.relative_to(world.folder).as_posix() for each in world.folder.rglob("*.md")}


async def refused(vault: OpenVault) -> None:
    with pytest.raises(Forbidden) as caught:
        _ = vault.write_access.server_writer
    assert caught.value.code == "VAULT_READ_ONLY"


@pytest.mark.fault(
    "Several vaults",
    "the server's own writes while `write.enabled` is false, or in `vault.root`",
    "only project and global vaults, only with their switch; operations stay refused",
)
async def test_it_writes_where_writing_operations_stay_refused(world: RegisteredVaults):
    request = WriteNoteBody(mode="create", path="notes/Mine.md", content="x\n")
    async with world.app(**ON) as app:
        for name in WRITABLE:
            vault = await app.vaults.open(name)
            own = vault.write_access.server_writer
            await own.ready()
            made = await own.create("notes/Own.md", OWN, b"# Own\n")
            assert made.undoable
            assert not (await vault.health()).write.enabled
            with pytest.raises(Misconfigured) as caught:
                await perform(note_writes.write_note, CallContext(app, vault, OWNER), request)
            assert caught.value.details == {"setting": "write.enabled"}
            with pytest.raises(Misconfigured):
                _ = vault.writer
    assert files(world) >= {
        "projects/shop/.vault-agent/vault/notes/Own.md",
        "global/notes/Own.md",
    }


async def test_it_never_writes_the_default_vault_or_one_without_a_role(world: RegisteredVaults):
    before = files(world)
    async with world.app(**ON) as app:
        await refused(app.vaults.default)
        vault = await app.vaults.open("recipes")
        await refused(vault)
    assert files(world) == before


@pytest.mark.parametrize("sections", [{}, {**ON, "vaults": {"enabled": False}}])
async def test_without_its_switches_it_writes_nowhere(
    world: RegisteredVaults, sections: dict[str, Any]
):
    async with world.app(**sections) as app:
        await refused(app.vaults.default)
        if app.vaults.has_several:
            for name in WRITABLE:
                vault = await app.vaults.open(name)
                await refused(vault)


async def test_the_folders_and_rights_of_the_default_vault_do_not_limit_it(world: RegisteredVaults):
    write = {"enabled": True, "folders": ["Inbox"], "allow": ["append"]}
    async with world.app(**ON, write=write) as app:
        vault = await app.vaults.open("global")
        await vault.write_access.server_writer.ready()
        await vault.write_access.server_writer.create("patterns/Own.md", OWN, b"# Own\n")


def test_its_switches_need_a_key_as_writing_does(world: RegisteredVaults, tmp_path: Path):
    assert not changes_notes(world.config())
    assert not changes_notes(world.config(**ON, vaults={"enabled": False}))
    config = world.config(**ON)
    assert changes_notes(config)
    with pytest.raises(Unauthorized):
        require_key(config, tmp_path / "other.toml")
