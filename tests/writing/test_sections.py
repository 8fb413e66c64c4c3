"""Writes of sections and tags: hashes, repetitions, what the reply says."""

from __future__ import annotations

from functools import partial
from hashlib import sha256
from typing import Any

import pytest
from tests.writing.opened import Vault, write

from vault_agent.errors import Conflict, InvalidRequest, NotFound
from vault_agent.markdown import section_edit
from vault_agent.markdown.address import PartAddress
from vault_agent.markdown.tag_edit import edit_tags
from vault_agent.model.writing import Right, Written
from vault_agent.writing.plan import Costly
from vault_agent.writing.sections import change_section

NOTE = "# A\n\n## Log\n\none\n\n## Next\n"
LOG = sha256(b"## Log\n\none\n\n").hexdigest()


async def edited(vault: Vault, action: Any, content: str, *heading: str, **options: Any) -> Written:
    extra = {name: options.pop(name) for name in ("expected_hash", "dry_run") if name in options}
    address = PartAddress(heading or ("Log",))
    work = partial(
        section_edit.edit_section, address=address, action=action, content=content, **options
    )
    made = write("section", Right.EDIT, **extra)
    return await change_section(vault.writer, "a.md", made, action, work)


async def test_a_section_is_edited_and_the_reply_has_its_hash(vault: Vault):
    vault.put("a.md", NOTE)
    written = await edited(vault, "append", "two")
    assert vault.bytes("a.md") == NOTE.replace("one\n", "one\ntwo\n").encode()
    assert written.changed
    assert not written.created
    assert written.spans == 1
    assert written.section_hash == sha256(b"## Log\n\none\ntwo\n\n").hexdigest()


@pytest.mark.parametrize("digits", [16, 64])
async def test_the_hash_is_that_of_the_section_or_of_the_note(vault: Vault, digits: int):
    for known in (LOG, sha256(NOTE.encode()).hexdigest()):
        vault.put("a.md", NOTE)
        await edited(vault, "replace", "new", expected_hash=known[:digits])
        assert b"new" in vault.bytes("a.md")


async def test_another_hash_changes_nothing(vault: Vault):
    vault.put("a.md", NOTE)
    for action in ("append", "replace", "renameHeading"):
        with pytest.raises(Conflict) as error:
            await edited(vault, action, "new", expected_hash="0" * 16)
        assert error.value.code == "HASH_MISMATCH"
        assert error.value.details["currentSectionHash"] == LOG
    assert vault.bytes("a.md") == NOTE.encode()


async def test_the_hash_of_a_section_still_fits_after_a_change_elsewhere(vault: Vault):
    vault.put("a.md", NOTE.replace("## Next\n", "## Next\nmore\n"))
    await edited(vault, "replace", "new", expected_hash=LOG)
    assert vault.bytes("a.md").endswith(b"\n\nnew\n\n## Next\nmore\n")


async def test_replacing_needs_a_hash_except_in_a_dry_run(vault: Vault):
    vault.put("a.md", NOTE)
    with pytest.raises(InvalidRequest) as error:
        await edited(vault, "replace", "new")
    assert error.value.code == "EXPECTED_HASH_REQUIRED"
    written = await edited(vault, "replace", "new", dry_run=True)
    assert "-one" in written.diff
    assert vault.bytes("a.md") == NOTE.encode()


async def test_the_same_text_is_appended_as_often_as_it_is_sent(vault: Vault):
    vault.put("a.md", NOTE)
    for count in (1, 2):
        assert (await edited(vault, "append", "two\nthree\n")).changed
        assert vault.bytes("a.md").count(b"two\nthree\n") == count


async def test_a_heading_is_made_only_if_asked_for(vault: Vault):
    vault.put("a.md", NOTE)
    with pytest.raises(NotFound) as error:
        await edited(vault, "append", "x", "Log", "Todo")
    assert error.value.code == "HEADING_NOT_FOUND"
    assert vault.bytes("a.md") == NOTE.encode()
    written = await edited(vault, "append", "x", "Log", "Todo", create_if_missing=True)
    assert written.created
    assert vault.bytes("a.md") == NOTE.replace("one\n", "one\n\n### Todo\nx\n").encode()
    written = await edited(vault, "append", "y", "Log", "Todo", create_if_missing=True)
    assert not written.created


async def test_tags_are_one_write(vault: Vault):
    vault.put("a.md", "---\ntags: [a]\n---\ntext #b\n")
    made = write("tags", Right.EDIT, may_replan=True)
    tags = Costly(partial(edit_tags, add=["c"], remove=["a", "b"], where="both"))
    written = await vault.writer.edit("a.md", made, tags)
    assert vault.bytes("a.md") == b"---\ntags: [c]\n---\ntext\n\n#c\n"
    assert written.changed
    again = await vault.writer.edit("a.md", made, tags)
    assert not again.changed
    await vault.undo(written.write_id)
    assert vault.bytes("a.md") == b"---\ntags: [a]\n---\ntext #b\n"
