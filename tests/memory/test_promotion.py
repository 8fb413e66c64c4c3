"""Notes that are promoted to the global vault: the copy, the marks, and the way back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.one_task import in_one_task
from tests.support.registered_vaults import RegisteredVaults, indexed

from vault_agent.api import graph, links
from vault_agent.api.caller import OWNER as CALLER
from vault_agent.api.caller import CallContext
from vault_agent.api.graph import LocalGraphRequest
from vault_agent.api.links import LinksRequest
from vault_agent.api.operation import perform
from vault_agent.api.requests import parse_strings
from vault_agent.app import App
from vault_agent.config.vault_list import Role
from vault_agent.errors import Forbidden, InvalidRequest, NotFound, VaultAgentError
from vault_agent.markdown.frontmatter_edit import read_keys
from vault_agent.model.identifiers import identify
from vault_agent.model.memory import Demoted, Promoted, RecallQuery
from vault_agent.model.search import SearchQuery
from vault_agent.model.writing import Author

OWNER = Author()
JOURNAL = """\
---
id: journal-2026-02-13-abc12345
type: journal
title: Parse costs with a regex
updated: 2026-02-13T10:00:00Z
tags: [parsing]
links: [modules/costs]
files: [src/costs.py]
model: tiny
status: complete
---

# Parse costs with a regex

The [[modules/costs|cost module]] reads streamed output. See [[retry]] and ![[chart.png]].
"""
COPY = "patterns/parse-costs-with-a-regex.md"
ON: dict[str, Any] = {"memory": {"enabled": True}, "write": {"quiet_seconds": 0}}


class Vaults:
    """A project `shop`, another one, and the global vault."""

    def __init__(self, world: RegisteredVaults, app: App) -> None:
        self.world, self.app = world, app
        self.shop = world.folder / "projects/shop/.vault-agent/vault"
        self.shared = world.folder / "global"

    async def promote(self, path: str = "journals/costs.md", **how: Any) -> Promoted:
        vault = await self.app.vaults.open("project:shop")
        return await self.app.promotion.promote(vault, identify(path), OWNER, **how)

    async def undo(self, path: str = "journals/costs.md", **how: Any) -> Demoted:
        vault = await self.app.vaults.open("project:shop")
        return await self.app.promotion.undo(vault, identify(path), OWNER, **how)

    async def refused(self, code: str, **how: Any) -> VaultAgentError:
        with pytest.raises(VaultAgentError) as caught:
            await self.promote(**how)
        assert caught.value.code == code
        return caught.value

    async def add(self, path: str, text: str, *, name: str = "project:shop") -> None:
        root = self.shop if name == "project:shop" else self.shared
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
        vault = await self.app.vaults.open(name)
        await vault.runs.index_paths([path])

    def copies(self) -> list[str]:
        return sorted(
            each.relative_to(self.shared).as_posix()
            for each in self.shared.rglob("*.md")
            if ".trash" not in each.parts
        )

    def original(self) -> dict[str, Any]:
        return dict(read_keys((self.shop / "journals/costs.md").read_bytes()))


@pytest.fixture
async def vaults(tmp_path: Path) -> AsyncIterator[Vaults]:
    world = RegisteredVaults(tmp_path)
    world.write(world.default, {"Bread.md": "# Bread\n"})
    world.project("shop", {"journals/costs.md": JOURNAL, "modules/costs.md": "# Costs\n"})
    world.project("other", {"notes/x.md": "# Something else\n"})
    world.registered(Role.GLOBAL, "global", {"patterns/retry.md": "# Retry\n\nTry again.\n"})
    async with in_one_task(world.app(**ON)) as app:
        for name in ("project:shop", "global"):
            vault = await app.vaults.open(name)
            await indexed(vault)
        yield Vaults(world, app)


async def test_a_promoted_note_is_found_from_another_project(vaults: Vaults):
    done = await vaults.promote()
    assert done.created
    assert done.copy.path == COPY
    vault = await vaults.app.vaults.open("global")
    await vault.runs.index_paths([COPY])
    found = await vaults.app.federated.search(
        ["project:other", "global"], SearchQuery("streamed output regex")
    )
    first = found.results[0]
    assert (first.vault, first.path) == ("global", COPY)
    both = await vaults.app.federated.search(
        ["project:shop", "global"], SearchQuery("streamed output regex")
    )
    [hit] = [
        each for each in both.results if "regex" in each.path or each.path.startswith("journals")
    ]
    assert (hit.vault, hit.also[0].note_id) == ("project:shop", done.copy.note_id)
    # The copy knows its origin, and its text is that of the original.
    text = (vaults.shared / COPY).read_text()
    values = read_keys(text.encode())
    assert str(values["id"]).startswith("pattern-")
    assert (values["type"], values["project"]) == ("pattern", "shop")
    assert values["tags"] == ["parsing", "project/shop"]
    assert values["source_files"] == ["src/costs.py"]
    assert str(values["promoted_from"]).endswith(":journal-2026-02-13-abc12345")
    assert not {"files", "model", "status", "promoted", "links"} & set(values)
    assert text.partition("\n---\n")[2] == JOURNAL.partition("\n---\n")[2]
    # The original names its copy, and keeps its body.
    text = (vaults.shop / "journals/costs.md").read_text()
    assert text.partition("\n---\n")[2] == JOURNAL.partition("\n---\n")[2]
    values = vaults.original()
    assert (values["promoted"], values["promoted_to"]) == (True, f"global:{COPY}")
    assert values["links"] == ["modules/costs", f"global:{COPY}"]
    # Again it changes nothing.
    before = (vaults.shop / "journals/costs.md").read_bytes()
    again = await vaults.promote()
    assert (again.created, again.copy) == (False, done.copy)
    assert (vaults.shop / "journals/costs.md").read_bytes() == before
    assert vaults.copies() == [COPY, "patterns/retry.md"]


async def test_the_copy_of_a_note_without_an_id_is_not_recalled_beside_it(vaults: Vaults):
    await vaults.add("patterns/hail.md", "---\ntags: [hail]\n---\n# Hail\n\nCover it.\n")
    done = await vaults.promote("patterns/hail.md")
    for name in ("project:shop", "global"):
        vault = await vaults.app.vaults.open(name)
        await indexed(vault)
    vault = await vaults.app.vaults.open("project:shop")
    query = RecallQuery(tags=("hail",), explain=True)
    found = await vaults.app.memory.recall(vault, query)
    assert [(each.vault, each.path) for each in found.notes] == [
        ("project:shop", "patterns/hail.md")
    ]
    left = {each.note_id: each.left_out for each in found.left_out if each.vault == "global"}
    assert left[done.copy.note_id] == "duplicate"


@pytest.mark.fault(
    "Several vaults",
    "somebody changes a promoted note or its copy",
    "promoting again replaces nothing; undo keeps the edit, and the copy in the trash",
)
async def test_a_copy_that_a_person_has_edited_is_never_lost(vaults: Vaults):
    await vaults.promote()
    edited = (vaults.shared / COPY).read_text() + "Mine.\n"
    await vaults.add(COPY, edited, name="global")
    marked = (vaults.shop / "journals/costs.md").read_text()
    await vaults.add("journals/costs.md", marked + "\nMore insight.\n")
    again = await vaults.promote()
    assert (again.created, again.copy.path) == (False, COPY)
    assert (vaults.shared / COPY).read_text() == edited
    done = await vaults.undo()
    assert (vaults.shared / str(done.trash_path)).read_text() == edited


async def test_undo_gives_back_the_same_bytes(vaults: Vaults):
    await vaults.promote()
    done = await vaults.undo()
    assert done.changed
    assert (vaults.shared / str(done.trash_path)).is_file()
    assert vaults.copies() == ["patterns/retry.md"]
    assert (vaults.shop / "journals/costs.md").read_text() == JOURNAL
    assert not (await vaults.undo()).changed
    assert (await vaults.promote()).created


@pytest.mark.fault(
    "Several vaults",
    "a note of a clone says that it was promoted to another note of the global vault",
    "only its own marks go; the other note stays, whatever either of them says",
)
@pytest.mark.parametrize("says_so_too", [False, True])
async def test_undo_takes_back_only_what_the_log_says_was_copied(
    vaults: Vaults, *, says_so_too: bool
):
    marks = "id: forged\npromoted: true\npromoted_to: global:patterns/retry.md\n"
    await vaults.add("notes/forged.md", f"---\n{marks}---\n# Forged\n")
    vault = await vaults.app.vaults.open("project:shop")
    entry = vaults.app.vaults.entry_of(vault)
    said = f"---\npromoted_from: {entry.uid}:forged\n---\n" if says_so_too else ""
    victim = f"{said}# Retry\n\nMy own pattern.\n"
    await vaults.add("patterns/retry.md", victim, name="global")
    done = await vaults.undo("notes/forged.md")
    assert (done.changed, done.trash_path) == (True, None)
    assert (vaults.shared / "patterns/retry.md").read_text() == victim
    assert "promoted" not in (vaults.shop / "notes/forged.md").read_text()


async def test_a_promotion_makes_its_own_copy_whatever_the_note_says(vaults: Vaults):
    marks = "promoted: true\npromoted_to: global:patterns/retry.md\n"
    await vaults.add("notes/forged.md", f"---\n{marks}---\n# Forged\n")
    done = await vaults.promote("notes/forged.md")
    assert done.created
    assert done.copy.path == "notes/forged.md"


async def test_the_type_of_a_note_does_not_lead_its_copy_elsewhere(vaults: Vaults):
    await vaults.add("notes/odd.md", "---\ntype: ../../etc/x\n---\n# Odd\n\nWords.\n")
    done = await vaults.promote("notes/odd.md")
    assert done.copy.path == "notes/odd.md"
    assert str(done.copy.id).startswith("etc-x-")


async def test_undo_keeps_what_was_written_meanwhile(vaults: Vaults):
    await vaults.promote()
    marked = (vaults.shop / "journals/costs.md").read_text()
    changed = marked.replace("links: [modules/costs,", "links: [modules/costs, x,") + "More.\n"
    await vaults.add("journals/costs.md", changed)
    await vaults.undo()
    values = vaults.original()
    assert not {"promoted", "promoted_to"} & set(values)
    assert values["links"] == ["modules/costs", "x"]
    assert (vaults.shop / "journals/costs.md").read_text().endswith("More.\n")


@pytest.mark.fault(
    "Several vaults",
    "a note with secrets, or one whose frontmatter cannot be edited, is promoted",
    "refused before anything is written; the error has no secret",
)
async def test_a_note_that_may_not_be_promoted_stays_where_it_is(vaults: Vaults):
    secret = "password: " + "hunter2x9\n"
    await vaults.add("notes/keys.md", f"# Keys\n\nfine\n{secret}")
    error = await vaults.refused("PROMOTE_SECRETS", path="notes/keys.md", force=True)
    assert error.details["secrets"] == [{"kind": "password", "line": 4}]
    assert "hunter2x9" not in error.message
    assert vaults.copies() == ["patterns/retry.md"]
    await vaults.add("notes/broken.md", "---\ntitle: [a\n---\n# Broken\n")
    await vaults.refused("FRONTMATTER_INVALID", path="notes/broken.md")
    assert vaults.copies() == ["patterns/retry.md"]
    promotion = vaults.app.promotion
    with pytest.raises(Forbidden):
        await promotion.promote(vaults.app.vaults.default, identify("Bread.md"), OWNER)
    vault = await vaults.app.vaults.open("global")
    with pytest.raises(InvalidRequest):
        await promotion.promote(vault, identify("patterns/retry.md"), OWNER)
    with pytest.raises(NotFound):
        await vaults.promote(path="nothing.md")


async def test_a_note_like_one_of_the_global_vault_needs_force(vaults: Vaults):
    words = " ".join(f"word{number}" for number in range(60))
    await vaults.add("patterns/again.md", f"# Other words\n\n{words}\n", name="global")
    await vaults.add("notes/same.md", f"# A title\n\n{words} more\n")
    await vaults.add("patterns/retry.md", "# Retry\n\nQuite different.\n")
    by_text = await vaults.refused("PROMOTE_SIMILAR", path="notes/same.md")
    assert [(each["path"], each["by"]) for each in by_text.details["similar"]] == [
        ("patterns/again.md", "text")
    ]
    short = "Try an idempotent request again three times, with a longer wait each time."
    await vaults.add("patterns/short.md", f"# Waits\n\n{short}\n", name="global")
    await vaults.add("notes/other.md", f"# Another title\n\n{short} Then stop.\n")
    of_few_words = await vaults.refused("PROMOTE_SIMILAR", path="notes/other.md")
    assert [each["path"] for each in of_few_words.details["similar"]] == ["patterns/short.md"]
    by_title = await vaults.refused("PROMOTE_SIMILAR", path="patterns/retry.md")
    assert [each["by"] for each in by_title.details["similar"]] == ["title"]
    done = await vaults.promote(path="patterns/retry.md", force=True)
    assert done.copy.path == "patterns/retry-2.md"


@pytest.mark.fault(
    "Several vaults",
    "a crash between the two writes of a promotion, or before the copy is in the index",
    "the next promotion completes it; one copy",
)
async def test_what_a_crash_left_is_completed_by_the_next_promotion(vaults: Vaults):
    await vaults.promote()
    (vaults.shop / "journals/costs.md").write_text(JOURNAL)  # the second write never happened
    done = await vaults.promote()
    assert not done.created
    assert vaults.original()["promoted_to"] == f"global:{COPY}"
    assert vaults.copies() == [COPY, "patterns/retry.md"]


async def test_a_copy_that_no_index_knows_is_found_by_its_place(vaults: Vaults):
    copy = (await vaults.promote()).copy
    text = (vaults.shared / COPY).read_bytes()
    await vaults.undo()
    (vaults.shared / COPY).write_bytes(text)  # as after a crash before it was indexed
    done = await vaults.promote()
    assert (done.created, done.copy) == (False, copy)
    assert vaults.original()["promoted_to"] == f"global:{COPY}"


async def test_links_into_the_global_vault_are_edges_of_the_graph(vaults: Vaults):
    copy = (await vaults.promote()).copy
    text = (vaults.shop / "journals/costs.md").read_text()
    await vaults.add("journals/costs.md", text + "\n[[global:retry]] and [[global:none]].\n")
    asked = {"noteId": identify("journals/costs.md")}
    vault = await vaults.app.vaults.open("project:shop")
    sent = parse_strings(LocalGraphRequest, asked)
    near_graph = (
        await perform(graph.local_graph, CallContext(vaults.app, vault, CALLER), sent)
    ).reply.data
    sent = parse_strings(LinksRequest, asked)
    note_links = (
        await perform(links.links, CallContext(vaults.app, vault, CALLER), sent)
    ).reply.data.links
    near = {node.path: (node.vault, node.distance) for node in near_graph.nodes}
    assert near[copy.path] == ("global", 1)
    assert near["patterns/retry.md"] == ("global", 1)
    pairs = {(near_graph.nodes[a].path, near_graph.nodes[b].path) for a, b in near_graph.edges}
    assert ("journals/costs.md", copy.path) in pairs
    assert len(near_graph.edges) == len(near_graph.weights)
    where = {link.target: (link.status, link.vault) for link in note_links}
    assert where["global:retry"] == ("resolved", "global")
    assert where["global:none"] == ("unresolved", None)


SESSION = (
    JOURNAL
    + """
## Key Decisions
- **User:** a regex, no structured parsing

### Why
The output is streamed.

## Open Questions
- TOKEN
"""
)
DECISIONS = "patterns/parse-costs-with-a-regex-key-decisions.md"


async def test_a_section_is_promoted_alone_and_both_sides_say_so(vaults: Vaults):
    secret = "Password: correct-horse-battery"
    await vaults.add("journals/costs.md", SESSION.replace("TOKEN", secret))
    done = await vaults.promote(section="key decisions")
    assert (done.created, done.copy.path) == (True, DECISIONS)
    copy = (vaults.shared / DECISIONS).read_text()
    assert "## Key Decisions" in copy
    assert "The output is streamed." in copy  # a heading below it belongs to it
    assert "cost module" not in copy
    assert secret not in copy
    assert read_keys(copy.encode())["promoted_from"].endswith("#key-decisions")
    original = vaults.original()
    assert (original["promoted"], original.get("promoted_to")) == (True, None)
    assert original["links"] == ["modules/costs", f"global:{DECISIONS}"]
    vault = await vaults.app.vaults.open("global")
    await vault.runs.index_paths([DECISIONS])
    again = await vaults.promote(section="Key Decisions")
    assert (again.created, again.copy.path) == (False, DECISIONS)
    await vaults.refused("PROMOTE_SECRETS", section="Open Questions")
    await vaults.refused("PROMOTE_SECRETS")
    await vaults.refused("HEADING_NOT_FOUND", section="Nothing")
    undone = await vaults.undo(section="Key Decisions")
    assert undone.changed
    assert undone.trash_path is not None
    assert (vaults.shop / "journals/costs.md").read_text() == SESSION.replace("TOKEN", secret)


async def test_a_section_that_is_there_is_warned_of_and_leaves_the_marks_of_the_whole(
    vaults: Vaults,
):
    await vaults.add("journals/costs.md", SESSION)
    body = "## Key Decisions\n- **User:** a regex, no structured parsing\n\n### Why\n"
    await vaults.add("patterns/old.md", f"{body}The output is streamed.\n", name="global")
    refused = await vaults.refused("PROMOTE_SIMILAR", section="Key Decisions")
    assert [note["path"] for note in refused.details["similar"]] == ["patterns/old.md"]
    await vaults.promote(force=True)
    await vaults.promote(section="Key Decisions", force=True)
    vault = await vaults.app.vaults.open("global")
    await vault.runs.index_paths([DECISIONS])
    await vaults.undo(section="Key Decisions")
    original = vaults.original()
    assert (original["promoted"], original["promoted_to"]) == (True, f"global:{COPY}")
    assert original["links"] == ["modules/costs", f"global:{COPY}"]
