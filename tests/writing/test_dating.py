"""An edit keeps `updated` true in notes that have it, where notes have types."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.registered_vaults import RegisteredVaults, indexed

from vault_agent.api.caller import OWNER, CallContext
from vault_agent.api.operation import perform
from vault_agent.api.operations import OPERATIONS
from vault_agent.markdown import edit
from vault_agent.markdown.edit import Splice, spliced
from vault_agent.markdown.frontmatter_edit import read_keys, set_keys
from vault_agent.model.identifiers import content_hash
from vault_agent.writing.write_steps import dating

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
SET = "2026-05-04T12:00:00Z"
NOTE = b"---\ntitle: A\nupdated: 2020-01-01T00:00:00Z\ntags: [x]\n---\n# A\n\n- [ ] task\n"


@pytest.mark.parametrize(
    ("plan", "updated"),
    [
        (lambda note: edit.append(note, "More\n"), SET),
        (lambda note: edit.prepend(note, "First\n"), SET),
        (lambda note: edit.overwrite(note, note.decode().replace("task", "done")), SET),
        (lambda note: edit.overwrite(note, note.decode().replace("[x]", "[x, y]")), SET),
        (lambda note: edit.overwrite(note, note.decode().replace("title: A", "title: B")), SET),
        (lambda note: set_keys(note, {"status": "done"}), SET),
        (lambda note: set_keys(note, {}, ["title"]), SET),
        (lambda note: set_keys(note, {"updated": "2021-01-01"}), "2021-01-01"),
        (lambda note: set_keys(note, {}, ["updated"]), None),
        (lambda note: edit.overwrite(note, "# A\n"), None),
        (lambda _: (), "2020-01-01T00:00:00Z"),
        (lambda note: edit.overwrite(note, note.decode()), "2020-01-01T00:00:00Z"),
    ],
)
def test_an_edit_sets_the_date_unless_it_is_about_the_date(
    plan: Callable[[bytes], Sequence[Splice]], updated: str | None
):
    wanted = spliced(NOTE, plan(NOTE))
    after = spliced(NOTE, dating(plan, NOW)(NOTE).splices)
    assert read_keys(after).get("updated") == updated
    line = re.compile(rb"^updated: .*$", re.MULTILINE)
    assert line.sub(b"", after) == line.sub(b"", wanted)


@pytest.mark.parametrize(
    ("note", "changed"),
    [
        (b"# A\n", b"# A\nMore\n"),
        (b"---\ntitle: A\n---\n", b"---\ntitle: A\n---\nMore\n"),
        (b"---\nupdated: [1]\n---\n", b"---\nupdated: [1]\n---\nMore\n"),
        (b"---\nupdated: 2020-01-01\n---\n", b"---\nupdated: 2026-05-04\n---\nMore\n"),
        (
            b"---\r\nupdated: 2020-01-01\r\n---\r\n",
            b"---\r\nupdated: 2026-05-04\r\n---\r\nMore\r\n",
        ),
        (b"---\nupdated: 1\nx: {\n---\n", b"---\nupdated: 1\nx: {\n---\nMore\n"),
    ],
)
def test_only_a_date_that_is_there_is_kept(note: bytes, changed: bytes):
    plan = dating(lambda each: edit.append(each, "More\n"), NOW)
    assert spliced(note, plan(note).splices) == changed


@pytest.mark.parametrize(
    ("sent", "whole", "updated"),
    [
        ("2020-01-01T00:00:00Z", True, SET),
        ("2019-12-31T23:00:00-02:00", True, "2019-12-31T23:00:00-02:00"),
        ("2020-01-01T01:00:00+02:00", True, SET),
        ("2019-06-01", True, SET),
        ("2030-01-01T00:00:00Z", True, "2030-01-01T00:00:00Z"),
        ("soon", True, "soon"),
        ("2019-06-01", False, "2019-06-01"),
    ],
)
def test_a_whole_text_does_not_put_an_earlier_date_back(sent: str, whole: bool, updated: str):
    """The web page sends the text that it opened, with the time from before its first save."""
    text = NOTE.decode().replace("2020-01-01T00:00:00Z", sent).replace("task", "done")
    plan = dating(lambda note: edit.overwrite(note, text), NOW, whole=whole)
    after = spliced(NOTE, plan(NOTE).splices)
    assert read_keys(after)["updated"] == updated
    line = re.compile(r"^updated: .*$", re.MULTILINE)
    assert line.sub("", after.decode()) == line.sub("", text)


async def test_each_save_of_a_text_that_was_opened_once_sets_the_date(tmp_path: Path):
    world = RegisteredVaults(tmp_path)
    world.write(world.default, {})
    shop = world.project("shop", {"A.md": NOTE.decode()})
    [operation] = [each for each in OPERATIONS if each.name == "write_note"]
    write = {"enabled": True, "folders": ["."], "quiet_seconds": 0}
    async with world.app(write=write) as app:
        vault = await app.vaults.open("shop")
        await indexed(vault)
        await vault.writer.ready()
        text = NOTE.decode()
        for number in range(3):
            text += f"More {number}\n"
            note = (shop / "A.md").read_bytes()
            body = {"path": "A.md", "content": text, "mode": "overwrite"}
            body["expected_hash"] = content_hash(note).hex()
            await perform(operation, CallContext(app, vault, OWNER), operation.request(**body))
            updated = read_keys((shop / "A.md").read_bytes())["updated"]
            assert updated != "2020-01-01T00:00:00Z"


@given(st.text(alphabet="ab:-\n \r#[", max_size=40), st.text(alphabet="ab\n", min_size=1))
def test_the_rest_of_a_note_is_as_without_it(body: str, more: str):
    note = f"---\nupdated: 2020-01-01\n---\n{body}".encode()

    def plan(each: bytes) -> Sequence[Splice]:
        return edit.append(each, more)

    wanted = spliced(note, plan(note))
    after = spliced(note, dating(plan, NOW)(note).splices)
    assert after.replace(b"2026-05-04", b"2020-01-01", 1) == wanted


async def test_a_project_keeps_the_date_and_the_vault_of_a_person_is_left_as_it_is(tmp_path: Path):
    world = RegisteredVaults(tmp_path)
    world.write(world.default, {"A.md": NOTE.decode()})
    shop = world.project("shop", {"A.md": NOTE.decode()})
    [operation] = [each for each in OPERATIONS if each.name == "write_note"]
    body: dict[str, Any] = {"path": "A.md", "content": "More\n", "mode": "append"}
    write = {"enabled": True, "folders": ["."], "quiet_seconds": 0}
    async with world.app(write=write) as app:
        for name, root, is_kept in (("default", world.default, False), ("shop", shop, True)):
            vault = await app.vaults.open(name)
            await indexed(vault)
            await vault.writer.ready()
            await perform(operation, CallContext(app, vault, OWNER), operation.request(**body))
            updated = read_keys((root / "A.md").read_bytes())["updated"]
            assert (updated != "2020-01-01T00:00:00Z") is is_kept
