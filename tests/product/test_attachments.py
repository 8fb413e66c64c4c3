"""The text of attachments by the real program: read in worker processes, searched and opened."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.mcp.conftest import Agent
from tests.support.pdfs import pdf, slow_pdf
from tests.support.waiting import eventually

PAGES = ["The kettle was on the stove.", "Nothing here.", "A marmalade recipe\nfrom Seville."]
LOOP = pdf(["x"]).replace(b"/Kids [5 0 R]", b"/Kids [2 0 R]")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    with Agent(tmp_path_factory.mktemp("attachments")) as made:
        made.variables = {"VAULT_AGENT_INDEX_ATTACHMENTS": "pdf,text"}
        made.write("Notes/Jam.md", "# Jam\n\nOranges for marmalade: see [[manual.pdf]].\n")
        made.write("Papers/manual.pdf", pdf(PAGES))
        made.write("Papers/list.txt", "first line\nquince jelly\n")
        made.start("--mcp", "--watch")
        made.finish_first()
        yield made


def test_a_search_names_the_page(served: Agent):
    [hit] = served.search("Seville").data["results"]
    assert (hit["path"], hit["page"], hit["kind"]) == ("Papers/manual.pdf", 3, "pdf")
    chunk = served.call("GET", f"/chunks/{hit['noteId']}/{hit['chunkIndex']}").data
    assert (chunk["content"], chunk["page"]) == ("A marmalade recipe\nfrom Seville.\n", 3)
    whole = served.call("GET", f"/notes/{hit['noteId']}").data
    assert whole["content"] == "\n".join([*PAGES, ""])
    assert whole["contentType"] == "text/plain; charset=utf-8"
    jam = served.search("marmalade").data["results"]
    assert {each["path"] for each in jam} == {"Papers/manual.pdf", "Notes/Jam.md"}
    assert ["page" in each for each in jam if each["path"].endswith(".md")] == [False]


def test_commands_print_the_passage_and_the_text(served: Agent):
    assert "Papers/manual.pdf:4:" in served.run("search", "Seville").stdout
    assert served.run("get", "note", "Papers/list.txt").stdout == "first line\nquince jelly\n"
    shown = json.loads(served.run("get", "chunk", "manual.pdf", "--json").stdout)["data"]
    assert (shown["content"], shown["page"]) == ("The kettle was on the stove.\n", 1)
    related = json.loads(served.run("related", "manual.pdf", "--json").stdout)["data"]
    assert [each["path"] for each in related["results"]] == ["Notes/Jam.md"]


def test_an_agent_reads_a_page(served: Agent):
    found = served.tool("vault_search", query="Seville")
    assert "Papers/manual.pdf:3-4 > Page 3" in found
    page = served.tool("vault_read", path="Papers/manual.pdf", section="Page 3")
    assert "A marmalade recipe\nfrom Seville." in page
    assert "kettle" not in page
    assert "hash" not in page.lower()
    assert "1: Page 1\n2: Page 2\n3: Page 3" in served.tool(
        "vault_read", path="manual.pdf", view="outline"
    )
    assert "HEADING_NOT_FOUND" in served.failing("vault_read", path="manual.pdf", section="Page 9")


def test_lists_and_counts_are_of_notes(served: Agent):
    assert served.call("GET", "/health").data["index"]["notes"] == 1
    assert [each["path"] for each in served.call("GET", "/notes").data["notes"]] == ["Notes/Jam.md"]
    listed = served.call("GET", "/notes?path=Papers").data
    assert (listed["notes"], listed["total"]) == ([], 0)


def test_a_change_is_noticed(served: Agent):
    served.write("Papers/list.txt", "a damson tree\n")
    eventually(lambda: served.search("damson").data["results"])
    served.write("Papers/more.pdf", pdf(["A bullace hedge"]))
    [hit] = eventually(lambda: served.search("bullace").data["results"])
    (served.vault / "Papers/more.pdf").unlink()
    eventually(lambda: not served.search("bullace").data["results"])
    assert hit["page"] == 1


@pytest.mark.fault(
    "Attachments",
    "a PDF with a loop, or 10,000 pages",
    "it ends as a warning: its beginning is searched, or its name only",
)
def test_hostile_files_end_as_warnings(served: Agent):
    served.write("Hostile/loop.pdf", LOOP)
    served.write("Hostile/long.pdf", pdf(["a medlar tree"] * 10_000))
    served.write("Hostile/good.pdf", pdf(["a rowan tree"]))
    assert served.index()["state"] == "succeeded"
    found = eventually(lambda: served.search("rowan").data["results"])
    assert [each["path"] for each in found] == ["Hostile/good.pdf"]
    assert served.search("medlar").data["results"][0]["page"] == 1
    assert served.search("loop").data["results"][0]["path"] == "Hostile/loop.pdf"


@pytest.mark.fault(
    "Attachments",
    "reading an attachment takes long",
    "notes are indexed and searched meanwhile",
)
def test_saved_notes_and_searches_do_not_wait_for_an_attachment(tmp_path: Path):
    made = Agent(tmp_path)
    made.variables = {"VAULT_AGENT_INDEX_ATTACHMENTS": "pdf,text"}
    made.write("Jam.md", "# Jam\n\nOranges for marmalade.\n")
    made.write("a list.txt", "quince jelly\n")
    made.write("slow.pdf", slow_pdf())
    made.start("--watch")
    try:
        eventually(lambda: made.search("marmalade"), lambda reply: reply.status == 200)
        assert made.search("marmalade").data["results"]
        made.write("Tea.md", "# Tea\n\nA kettle.\n")
        eventually(lambda: made.search("kettle").data["results"])
        made.write("a list.txt", "damson jelly\n")
        # The first index ends with the slow one, which the job reads, or the watch before it.
        [job] = made.call("GET", "/jobs").data["jobs"]
        assert job["state"] == "running"
    finally:
        made.close()
