"""What the page reads: notes as HTML, files, suggestions, numbers and positions."""

from __future__ import annotations

import hashlib
import re
import struct
from pathlib import Path

import pytest
import pytest_asyncio
from tests.support.waiting import eventually_async

from vault_agent.model.identifiers import identify
from vault_agent.system.workers import TextWorkers

from .page import KEY, page_server

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(200))
NOTES: dict[str, str | bytes] = {
    "Garden/Frost.md": (
        "---\ntags: [cold]\nup: '[[Garden]]'\ntype: Bug\n---\n# Late frost\n\nSee [[Garden]] and"
        " ![[photo.png]] and ![[Beds#Fleece]]\n\n- [ ] cover ^task\n"
    ),
    "Garden/Garden.md": "---\naliases: [Plot, The allotment]\n---\n# Our garden\n\n[[Frost]]\n",
    "Garden/Beds.md": "# Beds\n\nno\n\n# Fleece\n\nkeeps [[Frost|warm]]\n",
    "Kitchen/Garden.md": "another\n",
    "Design notes.md": "---\naliases: [DESIGN Notes]\n---\ntext #cold\n",
    "Maße.md": "---\naliases: [MASSE]\n---\nlengths\n",
    "Garden/photo.png": PNG,
    "drawing.svg": b"<?xml version='1.0'?><!-- c --><svg xmlns='x'><script>1</script></svg>",
    "page.png": b"<html><script>alert(1)</script>",
    "paper.pdf": b"%PDF-1.7 text",
}
FROST = identify("Garden/Frost.md")


pytestmark = pytest.mark.asyncio(loop_scope="module")  # that of `page`


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def page(tmp_path_factory: pytest.TempPathFactory):
    """Serve the notes, for all tests that change nothing."""
    async with page_server(tmp_path_factory.mktemp("page"), NOTES) as server:
        yield server


@pytest_asyncio.fixture(loop_scope="module")
async def own_page(tmp_path: Path):
    """Serve the notes, in `tmp_path / "vault"`, for a test that changes them."""
    async with page_server(tmp_path, NOTES) as server:
        yield server


async def data(server, path: str, **options):
    status, body, _ = await server.ask("GET", path, **options)
    assert status == 200, body
    return body["data"]


async def test_a_note_is_html_with_what_belongs_to_it(page):
    found = await data(page, f"/notes/{FROST}/html")
    assert found["title"] == "Late frost"
    assert found["contentHash"] == hashlib.sha256(NOTES["Garden/Frost.md"].encode()).hexdigest()
    assert found["outline"] == [
        {"level": 1, "text": "Late frost", "id": "n-h-late-frost", "line": 6}
    ]
    garden = identify("Garden/Garden.md")
    assert found["properties"][1] == {
        "key": "up", "values": [{"text": "[[Garden]]", "noteId": garden}], "isList": False,
    }  # fmt: skip
    assert found["assets"][0]["path"] == "Garden/photo.png"
    assert f'data-note="{garden}"' in found["html"]
    assert '<div class="embed"' in found["html"]
    assert ">warm</a>" in found["html"]
    assert 'id="n-b-task"' in found["html"]


async def test_nested_properties_keep_the_names_of_their_values(page):
    text = "---\nplace:\n  name: Shed\n  rows: [1, 2]\n  by: '[[Garden]]'\n---\n# Shed\n"
    body = {"text": text, "path": "Shed.md"}
    status, reply, _ = await page.ask("POST", "/render", json=body)
    assert status == 200, reply
    values = [(each["text"], each["noteId"]) for each in reply["data"]["properties"][0]["values"]]
    assert values == [
        ("name: Shed", None),
        ("rows: 1", None),
        ("rows: 2", None),
        ("by: [[Garden]]", identify("Garden/Garden.md")),
    ]


async def test_html_is_not_sent_again_while_it_is_the_same(page):
    _, _, headers = await page.ask("GET", f"/notes/{FROST}/html")
    same = {"If-None-Match": headers["ETag"]}
    async with page.request("GET", f"/notes/{FROST}/html", headers=same) as reply:
        assert reply.status == 304
    async with page.request("GET", f"/notes/{FROST}/html?embeds=0", headers=same) as reply:
        assert reply.status == 200
        assert 'class="embed"' not in await reply.text()


async def test_text_that_is_not_saved_is_rendered_at_its_path(page):
    body = {"text": "# New\n\n[[Frost]] ![[Beds]]", "path": "Kitchen/New.md"}
    status, reply, _ = await page.ask("POST", "/render", json=body)
    assert status == 200
    assert reply["data"]["noteId"] is None
    assert f'data-note="{FROST}"' in reply["data"]["html"]
    large = {"text": "x" * 500_000, "path": "a.md"}
    assert (await page.ask("POST", "/render", json=large))[0] == 200
    too_large = {"text": "x" * 600_000, "path": "a.md"}
    assert await page.refusal("POST", "/render", json=too_large) == (413, "BODY_TOO_LARGE")
    # The limit is larger on this route only.
    assert (await page.refusal("POST", "/search", json=large))[0] == 413


async def test_a_note_over_1_mib_is_not_rendered(tmp_path: Path):
    async with page_server(tmp_path, {"Long.md": "word " * 250_000}) as server:
        refusal = await server.refusal("GET", f"/notes/{identify('Long.md')}/html")
        assert refusal == (413, "NOTE_TOO_LARGE_TO_RENDER")


async def test_a_large_note_is_read_in_a_worker_as_a_small_one_is_here(tmp_path: Path):
    """The two ways differ in nothing but the size of the note."""
    head = "---\nup: '[[Garden]]'\n---\n# One\n\n[[Frost]] ![[Beds#Fleece]] ![[photo.png]]\n\n"
    long = head + "## Long\n\n" + "word " * 60_000
    async with page_server(tmp_path, {**NOTES, "Short.md": head, "Long.md": long}) as server:
        short, whole = [
            await data(server, f"/notes/{identify(each)}/html") for each in ("Short.md", "Long.md")
        ]
        assert whole["html"].startswith(short["html"])
        assert (whole["assets"], whole["properties"]) == (short["assets"], short["properties"])
        assert 'class="embed"' in whole["html"]
        outline = await data(server, f"/notes/{identify('Long.md')}/outline")
        assert [each["text"] for each in outline["headings"]] == ["One", "Long"]


async def test_a_note_that_takes_too_long_is_refused_and_can_be_read_by_lines(tmp_path: Path):
    notes = {"Hostile.md": "^[a] " * 60_000, "Other.md": "# Other\n"}
    async with page_server(tmp_path, notes) as server:
        note = identify("Hostile.md")
        async with TextWorkers(cpu_seconds=0.01) as text_workers:
            server.engine.web_view._text_workers = server.engine.text_workers = text_workers
            refusal = await server.refusal("GET", f"/notes/{note}/html")
            assert refusal == (413, "NOTE_TOO_LARGE_TO_RENDER")
            refusal = await server.refusal("GET", f"/notes/{note}/outline")
            assert refusal == (413, "NOTE_TOO_LARGE")
            read = await data(server, f"/notes/{note}?allowLarge=true")
            assert read["content"].startswith("^[a] ")
            assert "<h1" in (await data(server, f"/notes/{identify('Other.md')}/html"))["html"]


async def signed(server, name: str) -> str:
    """Return the signed address of a file, as a note that shows it has it."""
    body = {"text": f"![[{name}]]", "path": "a.md"}
    _, reply, _ = await server.ask("POST", "/render", json=body, headers=OWNER)
    return reply["data"]["assets"][0]["url"]


OWNER = {"Authorization": f"Bearer {KEY}"}


async def test_a_picture_is_shown_without_a_key(tmp_path: Path):
    async with page_server(tmp_path, NOTES, server={"api_key": KEY}) as server:
        address = await signed(server, "photo.png")
        async with server.request("GET", address) as reply:
            assert reply.status == 200
            assert await reply.read() == PNG
            assert reply.content_type == "image/png"
            assert reply.headers["Content-Disposition"] == "inline"
            assert reply.headers["Content-Security-Policy"] == (
                "default-src 'none'; style-src 'unsafe-inline'; sandbox"
            )
            assert reply.headers["X-Content-Type-Options"] == "nosniff"
            assert "X-Vault-Id" not in reply.headers
        async with server.request("GET", address, headers={"Range": "bytes=0-3"}) as reply:
            assert reply.status == 206
            assert await reply.read() == PNG[:4]
        path, _, key = address.partition("?k=")
        expiry, mac = key.split(".")
        for wrong in (
            f"{path}?k={key[:-1]}", f"{path}?k={int(expiry) + 1}.{mac}", f"{path}?k=1.{mac}",
            f"/ui/files/page.png?k={key}", f"{path}?k=x",
        ):  # fmt: skip
            assert await server.refusal("GET", wrong) == (401, "UNAUTHORIZED"), wrong
        assert await server.refusal("GET", path) == (400, "INVALID_REQUEST")


@pytest.mark.fault(
    "The web page",
    "HTML named `.png`, SVG with a script, polyglots",
    "a download by its first bytes; SVG only as an image",
)
@pytest.mark.parametrize(
    ("name", "media", "disposition", "policy"),
    [
        ("drawing.svg", "image/svg+xml", "attachment", "sandbox"),
        ("page.png", "application/octet-stream", "attachment", "sandbox"),
        ("paper.pdf", "application/pdf", "inline", "frame-ancestors 'self'"),
    ],
)
async def test_a_file_is_what_its_first_bytes_say(
    page, name: str, media: str, disposition: str, policy: str
):
    async with page.request("GET", await signed(page, name)) as reply:
        assert reply.content_type == media
        assert reply.headers["Content-Disposition"].startswith(disposition)
        assert reply.headers["Content-Security-Policy"].endswith(policy)
        headers = {"If-None-Match": reply.headers["ETag"]}
    async with page.request("GET", await signed(page, name), headers=headers) as unchanged:
        assert unchanged.status == 304  # its headers replace those of the browser's copy
        assert unchanged.headers["Content-Security-Policy"].endswith(policy)
        assert unchanged.headers["X-Content-Type-Options"] == "nosniff"


async def test_notes_and_hidden_files_are_never_shown_as_files(page):
    keys = page.engine.web_view._keys
    for path in ("Garden/Frost.md", ".obsidian/app.json", "../outside.png", "none.png"):
        status, _ = await page.refusal("GET", keys.address(path).replace("../", "..%2f"))
        assert status in (400, 403, 404)


async def suggestions(server, query: str):
    return (await data(server, f"/suggest?{query}"))["suggestions"]


async def test_names_are_suggested_best_first(page):
    found = await suggestions(page, "q=fros")
    assert found[0]["label"] == "Frost" or found[0]["label"] == "Late frost"
    assert found[0]["noteId"] == FROST
    assert (await suggestions(page, "q=gard"))[0]["label"] == "Garden"
    alias = (await suggestions(page, "q=allotment"))[0]
    assert alias["label"] == "The allotment"
    assert alias["match"] == [[4, 13]]
    assert alias["insert"].endswith("|The allotment")
    assert (await suggestions(page, "q=dn"))[0]["path"] == "Design notes.md"
    assert (await suggestions(page, "q=desgin+nots"))[0]["path"] == "Design notes.md"
    assert (await suggestions(page, "q=notes+des"))[0]["path"] == "Design notes.md"
    assert len(await suggestions(page, "q=&limit=3")) == 3
    assert await suggestions(page, "q=zzzz") == []


async def test_the_shortest_link_that_leads_there_is_inserted(page):
    by_path = {each["path"]: each["insert"] for each in await suggestions(page, "q=garden")}
    assert by_path["Garden/Garden.md"] == "Garden/Garden"
    assert by_path["Kitchen/Garden.md"] == "Kitchen/Garden"
    near = f"q=garden&from={identify('Kitchen/Garden.md')}"
    by_path = {each["path"]: each["insert"] for each in await suggestions(page, near)}
    assert by_path["Kitchen/Garden.md"] == "Garden"
    photo = (await suggestions(page, "q=photo&kinds=attachment"))[0]
    assert photo["insert"] == "photo.png"
    named = (await suggestions(page, "q=DESIGN+N"))[0]
    assert named["insert"] == named["label"], (
        "an alias that names the file needs no text of its own"
    )
    other = (await suggestions(page, "q=MASSE"))[0]
    assert other["insert"] == "Maße|MASSE", "a file of that name would be another one"


async def test_equally_good_names_are_suggested_in_the_order_of_the_kinds(page):
    for kinds in (["attachment", "note"], ["note", "attachment"]):
        found = await suggestions(page, f"q=&kinds={','.join(kinds)}")
        assert list(dict.fromkeys(each["kind"] for each in found)) == kinds
    # The folder of a file is not as good as a name.
    found = [each["path"] for each in await suggestions(page, "q=gar&kinds=attachment,note")]
    photo = found.index("Garden/photo.png")
    assert {"Garden/Garden.md", "Kitchen/Garden.md"} <= set(found[:photo])


async def test_headings_blocks_tags_and_folders_are_suggested(page):
    headings = await suggestions(page, "q=Beds%23fl&kinds=heading")
    assert [each["insert"] for each in headings] == ["Beds#Fleece"]
    assert headings[0]["line"] == 5
    own = await suggestions(page, f"q=%23&kinds=heading&from={FROST}")
    assert [each["insert"] for each in own] == ["#Late frost"]
    blocks = await suggestions(page, "q=Frost%23%5E&kinds=heading,block")
    assert [each["insert"] for each in blocks] == ["Frost#^task"]
    assert [each["insert"] for each in await suggestions(page, "q=co&kinds=tag")] == ["cold"]
    folders = await suggestions(page, "q=kit&kinds=folder")
    assert [each["label"] for each in folders] == ["Kitchen"]
    anywhere = await suggestions(page, "q=fleece&kinds=heading")
    assert [(each["label"], each["insert"]) for each in anywhere] == [("Fleece", "Beds#Fleece")]


async def test_new_names_are_suggested_after_a_run(own_page, tmp_path: Path):
    assert await suggestions(own_page, "q=brandnew") == []
    (tmp_path / "vault" / "Brandnew.md").write_text("x")
    await own_page.engine.runs.index_paths(["Brandnew.md"])
    await eventually_async(lambda: suggestions(own_page, "q=brandnew"))


async def layout_of(server) -> tuple[bytes, str]:
    async def computed() -> tuple[bytes, str] | None:
        async with server.request("GET", "/graph/layout") as reply:
            if reply.status == 200:
                return await reply.read(), reply.headers["ETag"]
            body = await reply.json()
            assert reply.status == 409
            assert body["error"]["code"] == "LAYOUT_PENDING"
            assert body["error"]["details"]["retryAfter"] > 0
            return None

    return await eventually_async(computed)


async def test_positions_are_those_of_the_graph(own_page, tmp_path: Path):
    body, etag = await layout_of(own_page)
    graph = await data(own_page, "/graph")
    count = len(graph["nodes"]["id"])
    magic, nodes, digest = struct.unpack_from("<4sI8s", body)
    assert (magic, nodes) == (b"VAL1", count)
    assert digest == hashlib.sha256(graph["revision"].encode()).digest()[:8]
    assert etag == f'"{graph["revision"]}"'
    assert len(body) == 16 + 8 * count
    before = dict(zip(graph["nodes"]["id"], places(body, count), strict=True))
    assert len(set(before.values())) == count
    async with own_page.request("GET", "/graph/layout", headers={"If-None-Match": etag}) as reply:
        assert reply.status == 304
    # After a run there is another picture, in which the known notes are where they were.
    (tmp_path / "vault" / "New.md").write_text("[[Frost]]")
    await own_page.engine.runs.index_paths(["New.md"])
    body, _ = await layout_of(own_page)
    graph = await data(own_page, "/graph")
    assert len(graph["nodes"]["id"]) == count + 1
    assert re.match(rb"VAL1", body)


def places(body: bytes, count: int) -> list[tuple[float, float]]:
    x = struct.unpack_from(f"<{count}f", body, 16)
    y = struct.unpack_from(f"<{count}f", body, 16 + 4 * count)
    return list(zip(x, y, strict=True))
