"""A note is found by whatever a person or a link calls it."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from tests.search.opened import indexed
from tests.support.index_runs import Vault

from vault_agent.errors import VaultAgentError
from vault_agent.model.identifiers import identify
from vault_agent.model.names import NamedNotes
from vault_agent.model.scope import Scope
from vault_agent.search.resolve import MAX_NOTES, resolve
from vault_agent.store.current import Snapshot

pytestmark = pytest.mark.asyncio(loop_scope="module")  # that of `snapshot`

ROOT = "/home/ada/Notes"

NOTES = {
    "Garden/Beds/Late frost.md": "---\naliases: [Cold snap, TCP/IP]\n---\n# Fleece\n",
    "Garden/index.md": "# Garden\n",
    "Kitchen/index.md": "# Kitchen\n",
    "Fleece.md": "# Sheep\n",
    unicodedata.normalize("NFD", "Café.md"): "# Coffee\n",
    "日記 2025/日記.markdown": "# 日記\n",
    "C#.md": "# C sharp\n",
    "Tools/Obsidian.md": "# Vault\n",
}


async def found(snapshot: Snapshot, name: str) -> list[str]:
    return [note.path for note in (await resolve(snapshot, name, roots=[ROOT])).notes]


async def test_each_path_of_a_note_leads_to_it(tmp_path: Path):
    """Other programs make such names. What a list shows can be given back."""
    vault = Vault(tmp_path)
    paths = ["a\nb.md", " lead.md", "back\\slash.md", "tab\t.md", "\u2028line.md", "d\x1b[2J/in.md"]
    for path in (*paths, "lead.md", "back/slash.md"):
        vault.write(path, "# Odd\n")
    async with indexed(vault) as opened:
        assert [await found(opened, path) for path in paths] == [[path] for path in paths]
        assert await found(opened, "back\\slash") == ["back/slash.md"]
        assert await found(opened, " lead") == [" lead.md"]
        assert await found(opened, "lead ") == ["lead.md"]


FROST = "Garden/Beds/Late frost.md"


@pytest.mark.parametrize(
    ("name", "path", "match"),
    [
        (identify(FROST), FROST, "id"),
        (f"{identify(FROST)}:0", FROST, "id"),
        (FROST, FROST, "path"),
        ("Obsidian", "Tools/Obsidian.md", "name"),
        ("/Garden/Beds/Late frost", FROST, "path"),
        ("./garden//BEDS/late FROST.md/", FROST, "path"),
        ("Garden\\Beds\\Late frost.md", FROST, "path"),
        ("Garden/x/../Beds/Late frost", FROST, "path"),
        ("Beds/Late frost", FROST, "name"),
        ("late frost", FROST, "name"),
        ("cold SNAP", FROST, "alias"),
        ("tcp/ip", FROST, "alias"),
        ("Fleece", "Fleece.md", "path"),
        ("sheep", "Fleece.md", "title"),
        ("[[Late frost]]", FROST, "name"),
        ("![[Beds/Late frost|the frost]]", FROST, "name"),
        ("caf\u00e9", unicodedata.normalize("NFD", "Café.md"), "path"),
        ("日記", "日記 2025/日記.markdown", "name"),
        ("C#", "C#.md", "path"),
        (f"{ROOT}/{FROST}", FROST, "path"),
        (f"file://{ROOT}/Garden/Beds/Late%20frost.md", FROST, "path"),
        ("obsidian://open?vault=Notes&file=Garden%2FBeds%2FLate%20frost", FROST, "path"),
        (f"obsidian://open?path={ROOT}/Garden/Beds/Late%20frost.md", FROST, "path"),
        ("obsidian://vault/Notes/Late%20frost", FROST, "name"),
        (f"obsidian://{ROOT}/Fleece.md", "Fleece.md", "path"),
    ],
)
async def test_one_note_is_found(snapshot: Snapshot, name: str, path: str, match: str):
    (note,) = (await resolve(snapshot, name, roots=[ROOT])).notes
    assert (note.path, note.match) == (path, match)
    assert note.note_id == identify(path)


async def test_a_name_of_several_notes_finds_them_all(snapshot: Snapshot):
    assert await found(snapshot, "index") == ["Garden/index.md", "Kitchen/index.md"]
    assert await found(snapshot, "Kitchen/index") == ["Kitchen/index.md"]


async def test_the_notes_of_one_name_are_bounded(tmp_path: Path):
    vault = Vault(tmp_path)
    for number in range(MAX_NOTES + 5):
        vault.write(f"{number:02}/README.md", "# Same title\n")
    async with indexed(vault) as snapshot:
        for name in ("readme", "same title"):
            named = await resolve(snapshot, name)
            assert (len(named.notes), named.has_more) == (MAX_NOTES, True)
            assert named.notes[0].path == "00/README.md"


async def test_the_place_in_a_name_is_returned(snapshot: Snapshot):
    def place(named: NamedNotes) -> tuple[str, int | None, str | None]:
        return named.notes[0].path, named.line, named.heading

    assert place(await resolve(snapshot, "Late frost.md:12")) == (FROST, 12, None)
    assert place(await resolve(snapshot, "Beds/Late frost.md:12-30")) == (FROST, 12, None)
    assert place(await resolve(snapshot, "[[late frost#A#B]]")) == (FROST, None, "A#B")
    address = "obsidian://open?vault=Notes&file=Fleece%23Wool"
    assert place(await resolve(snapshot, address, roots=[ROOT])) == ("Fleece.md", None, "Wool")


@pytest.mark.fault(
    "Paths",
    "`../../etc/passwd`, NUL, `C:\\`, or an address of another vault where a note is named",
    "`PATH_OUTSIDE_VAULT`, `INVALID_PATH` or `NOTE_NOT_FOUND`; the name is not repeated",
)
@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("../../etc/passwd", "PATH_OUTSIDE_VAULT"),
        ("Garden/../../x", "PATH_OUTSIDE_VAULT"),
        ("[[..\\..\\x]]", "PATH_OUTSIDE_VAULT"),
        ("Fleece.md\0.txt", "INVALID_PATH"),
        ("file:///etc/passwd", "NOTE_NOT_FOUND"),
        (f"file://{ROOT}/../other/Fleece.md", "PATH_OUTSIDE_VAULT"),
        ("obsidian://open?vault=Other&file=Fleece", "NOTE_NOT_FOUND"),
        ("obsidian://[", "NOTE_NOT_FOUND"),
        ("C:\\", "NOTE_NOT_FOUND"),
        ("/", "NOTE_NOT_FOUND"),
        ("[[]]", "NOTE_NOT_FOUND"),
        (identify("none"), "NOTE_NOT_FOUND"),
        ("x" * 4_096, "NOTE_NOT_FOUND"),
        ("\ud800", "NOTE_NOT_FOUND"),
    ],
)
async def test_a_name_of_no_note_is_an_error(snapshot: Snapshot, name: str, code: str):
    with pytest.raises(VaultAgentError) as refused:
        await resolve(snapshot, name, roots=[ROOT])
    assert refused.value.code == code
    assert name not in refused.value.message


async def test_similar_names_are_suggested(snapshot: Snapshot):
    with pytest.raises(VaultAgentError) as refused:
        await resolve(snapshot, "Beds/Lite frosts.md")
    assert refused.value.details["suggestions"] == [FROST]


@pytest.mark.parametrize("name", ["Lost fort", "Frostbite", "Flowers", "indoor"])
async def test_names_that_have_only_some_letters_in_common_are_not_suggested(
    snapshot: Snapshot, name: str
):
    with pytest.raises(VaultAgentError) as refused:
        await resolve(snapshot, name)
    assert refused.value.details["suggestions"] == []


async def test_a_link_means_what_it_leads_to_in_its_note(tmp_path: Path):
    vault = Vault(tmp_path)
    for path in ("a/x.md", "b/x.md", "100% rye.md", "b/deep/from.md"):
        vault.write(path, "# One\n\n## Two\n")

    async def led(now: Snapshot, link: str) -> tuple[str, str | None]:
        found = await resolve(now, link, source=identify("b/deep/from.md"))
        return found.notes[0].path, found.heading

    async with indexed(vault) as now:
        assert await led(now, "[[a/x#Two]]") == ("a/x.md", "Two")
        assert await led(now, "[x](../x.md#two)") == ("b/x.md", "two")
        assert await led(now, "[x](</100%25 rye.md>)") == ("100% rye.md", None)
        assert await led(now, "[[100% rye]]") == ("100% rye.md", None)
        assert await led(now, "[[#Two]]") == ("b/deep/from.md", "Two")
    vault.scope = Scope(("b",))
    await vault.index(rebuild=True)
    async with indexed(vault) as now:
        assert await led(now, "[[x]]") == ("x.md", None)
        with pytest.raises(VaultAgentError):
            await led(now, "[[a/x]]")
