"""Links and the graph, over HTTP and in the terminal."""

from __future__ import annotations

import gzip
import json
import urllib.error
import urllib.request
from collections.abc import Iterator

import orjson
import pytest
from tests.product.conftest import small_vault
from tests.support.program import Program

from vault_agent.model.graph import GraphObjects, WholeGraph
from vault_agent.model.identifiers import identify
from vault_agent.model.values import read

BREAD, STARTER = identify("Bread.md"), identify("Starter.md")


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """Return a running program whose vault the tests of this file only read."""
    with Program(tmp_path_factory.mktemp("linked")) as made:
        small_vault(made)
        started(made)
        yield made


def fetch(program: Program, path: str, **headers: str) -> tuple[int, bytes, dict[str, str]]:
    """Return status, body and headers of a GET request."""
    request = urllib.request.Request(program.endpoint + path, headers=headers)
    try:
        with urllib.request.urlopen(request) as reply:
            return reply.status, reply.read(), dict(reply.headers)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(), dict(error.headers)


def started(program: Program) -> None:
    program.write(
        "Links.md",
        "# Links\n\n[[Bread]] [[Nowhere]] [x](https://user:secret-word@shop.example/?key=hidden)\n"
        "[[Bread#Crumb]] [[evil\u202e\u0007name]] ]]> <script>\n",
    )
    program.start()
    program.index()


def test_the_graph_is_sent_once_and_compressed(program: Program):
    started(program)
    status, body, headers = fetch(program, "/graph?member=true&unresolved=true")
    assert (status, "Content-Encoding" in headers) == (200, False)
    data = read(WholeGraph, orjson.loads(body)["data"])
    assert list(data.nodes.title[:4]) == ["Bread", "Links", "Starter", "東京"]
    assert len({data.nodes.community[0], data.nodes.community[2]}) == 1
    assert fetch(program, "/graph?member=true&unresolved=true")[1] == body
    status, packed, headers = fetch(program, "/graph", **{"Accept-Encoding": "gzip"})
    assert headers["Content-Encoding"] == "gzip"
    assert headers["Vary"] == "Accept-Encoding"
    etag = headers["ETag"]
    plain = fetch(program, "/graph")
    assert (gzip.decompress(packed), plain[2]["ETag"] != etag) == (plain[1], True)
    again = {"Accept-Encoding": "gzip", "If-None-Match": etag}
    assert fetch(program, "/graph", **again)[:2] == (304, b"")
    assert fetch(program, "/graph?minDegree=1", **again)[0] == 200
    objects = fetch(program, "/graph?format=objects")[1]
    assert len(read(GraphObjects, orjson.loads(objects)["data"]).edges) == 3
    program.write("New.md", "[[Bread]]\n")
    program.index()
    assert fetch(program, "/graph", **again)[0] == 200


def test_a_copy_is_stale_once_a_link_leads_elsewhere(program: Program):
    program.write("From.md", "[[To]] and ![[Part]]\n")
    program.write("Part.md", "a part\n")
    program.start()
    program.index()
    routes = (f"/notes/{identify('From.md')}", f"/notes/{identify('From.md')}/html")
    tags = {route: fetch(program, route)[2]["ETag"] for route in routes}
    for route, tag in tags.items():
        assert fetch(program, route, **{"If-None-Match": tag})[0] == 304
    program.write("Part.md", "another part\n")  # HTML has it before an index run
    assert fetch(program, routes[1], **{"If-None-Match": tags[routes[1]]})[0] == 200
    program.write("Sub/To.md", "# To\n")
    program.index()
    for route, tag in tags.items():
        assert fetch(program, route, **{"If-None-Match": tag})[0] == 200


@pytest.mark.fault(
    "Links and the graph",
    "`limit=50001`, `depth=6`, an unknown kind or measure, a bad date",
    "400 `INVALID_LIMIT` or `INVALID_REQUEST`",
)
def test_limits_and_filters_out_of_range_are_refused(linked: Program):
    for path, code in (
        ("/graph?limit=50001", "INVALID_LIMIT"),
        (f"/notes/{BREAD}/graph?depth=6", "INVALID_LIMIT"),
        (f"/notes/{BREAD}/links?limit=0", "INVALID_LIMIT"),
        (f"/notes/{BREAD}/links?status=gone", "INVALID_REQUEST"),
        (f"/notes/{BREAD}/links?kind=wikilink,none", "INVALID_REQUEST"),
        ("/links/broken?kinds=", "INVALID_REQUEST"),
        ("/graph?after=yesterday", "INVALID_REQUEST"),
        ("/graph/path?from=x&to=y", "INVALID_ID"),
        ("/tags?depth=1&depth=2", "INVALID_REQUEST"),
    ):
        refused = linked.call("GET", path)
        assert (refused.status, refused.code) == (400, code), path


@pytest.mark.fault(
    "Secrets and logs",
    "a web address with a password or token in a note",
    "the secret is in no reply, output or log",
)
@pytest.mark.fault(
    "Note contents",
    "link text with control characters or direction marks",
    "escaped in the terminal and in JSON",
)
def test_commands_show_links(linked: Program):
    shown = linked.run("links", "Links.md")
    assert "Links.md:3:[[Bread]]  → Bread.md\n" in linked.run("links", "Links.md", "--out").stdout
    both = linked.run("links", "Bread.md").stdout.splitlines()
    assert "Bread.md:7:[[Starter]]  → Starter.md" in both
    assert any(line.startswith("Starter.md:5:") for line in both)
    assert "[[Bread#Crumb]]  → Bread.md  no such heading or block" in shown.stdout
    assert "[[evil\\u202e\\x07name]]  unresolved" in shown.stdout
    assert "shop.example" not in shown.stdout
    for flags in (("--external", "--out"), ("--kind", "external"), ("--status", "external")):
        outside = linked.run("links", "Links.md", *flags).stdout
        assert "Links.md:3:[x](https://shop.example/)" in outside.splitlines()
        assert "secret-word" not in outside
    back = linked.run("links", "Bread.md", "--in").stdout
    assert back.startswith("Links.md:3:")
    assert "Starter.md:" in back
    assert linked.run("links", "Bread.md", "--in", "-l").stdout == "Links.md\nStarter.md\n"
    both = linked.run("links", "Bread.md", "-l").stdout.splitlines()
    assert both == ["Starter.md", "Links.md", "Starter.md"]
    assert linked.run("links", STARTER, "--mentions").stdout == ""
    assert linked.run("graph", BREAD).stdout.splitlines()[0] == "Bread.md"
    assert linked.run("graph", "path", "Links", "Starter").stdout.splitlines() == [
        "Links.md", "Bread.md", "Starter.md",
    ]  # fmt: skip
    assert linked.run("list", "--orphans").stdout == "日記/東京.md\n"
    assert linked.run("tags").stdout == "1  baking\n"
    assert linked.run("tags", "#baking").stdout == "Bread.md\n"
    tags = linked.run("tags", "Bread")
    assert tags.stdout == "baking\n"
    assert tags.stderr == 'No note has the tag "Bread". These are the tags of Bread.md:\n'
    page = linked.run("links", "check", "-n", "1")
    assert (page.returncode, len(page.stdout.splitlines())) == (6, 1)
    assert " more: --limit " in page.stderr
    alone = linked.run("links", "東京")
    assert alone.stderr == (
        "It links to no note. Its links to the web: --external\nNo note links to it.\n"
    )
    assert linked.run("list", "--folders").stdout == "1  日記\n"
    assert "FOLDER_NOT_FOUND" in linked.run("list", "none", "--orphans").stderr
    export = linked.run("graph", "export", "--output", "-", "--objects")
    assert len(json.loads(export.stdout)["data"]["nodes"]) == 4
    tagged = linked.run("graph", "export", "--output", "-", "--objects", "--tag", "#baking")
    assert len(json.loads(tagged.stdout)["data"]["nodes"]) == 1
    written = linked.vault.parent / "graph.json"
    assert linked.run("graph", "export", "--output", str(written)).returncode == 0
    assert json.loads(written.read_text())["data"]["counts"]["notes"] == 4
    assert linked.run("links", "none").returncode == 4


@pytest.mark.fault(
    "Links and the graph",
    "a mistyped path for `links check`",
    "exit 4, with and without a server",
)
def test_a_check_of_links_fails_for_what_is_asked(linked: Program):
    checked = linked.run("links", "check")
    assert checked.returncode == 6
    assert "Links.md:3:11: no note [[Nowhere]]\n" in checked.stdout
    assert "Links.md:4:1: no heading [[Bread#Crumb]]\n" in checked.stdout
    assert checked.stderr == "3 findings.\n"
    assert linked.run("links", "check", "./日記/").returncode == 0
    missing = linked.run("links", "check", "日記", "none")
    assert missing.returncode == 4
    assert "neither a note none nor" in missing.stderr
    of_kind = linked.run("links", "check", "--fail-on", "block")
    assert (of_kind.returncode, of_kind.stderr) == (0, "0 findings.\n")
    assert linked.run("links", "check", "--fail-on", "web").returncode == 2
    found = json.loads(linked.run("links", "check", "--json", "Links.md").stdout)["data"]
    assert (found["total"], found["findings"][0]["target"]) == (3, "Nowhere")
    assert linked.run("links", "check", "--vault-root", "/no/such/folder").returncode == 2
