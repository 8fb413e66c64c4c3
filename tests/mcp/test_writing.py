"""Tools that write, on a real server: what is listed, what they do, what they reply."""

from __future__ import annotations

import json
import os
import random
import re
import socket
import threading
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from tests.mcp.conftest import Agent
from tests.mcp.test_relay import relay
from tests.support.clocks import PATIENCE
from tests.support.waiting import eventually

from vault_agent.mcp.relay import Relay, ServerAt
from vault_agent.mcp.tool import TOOL_SWITCHES, ClientTools, reading_tools, tools_for
from vault_agent.mcp.toolsets import TOOLSETS
from vault_agent.model.writing import Right

KEY = "k" * 40
BREAD = "---\ntags: [baking]\n---\n# Bread\n\nFlour. See [[Starter]].\n\n## Crust\n\nSteam.\n"
CONFIG = f"""
[index]
attachments = ["text"]
[server]
api_key = "{KEY}"
[mcp]
enabled = true
[write]
enabled = true
folders = ["."]
allow = ["create", "append", "edit", "overwrite", "move", "delete"]
quiet_seconds = 0
[agents.own]
folder = "claude"
write = ["create", "append"]
deny = ["claude/private"]
[agents.mover]
folder = "claude"
write = ["create", "move"]
[agents.two]
toolset = "obsidian-vault-mcp"
folders = ["claude", "Two/inner"]
write = ["create", "append", "edit", "delete"]
[agents.reader]
folder = "."
[agents.new]
folder = "made/later"
write = ["create"]
[agents.iso]
folder = "."
toolset = "agentiso"
write = ["create", "append", "edit", "overwrite", "delete"]
[agents.synk]
folder = "."
toolset = "synk"
write = ["create", "append", "edit", "overwrite", "delete"]
[agents.co]
folder = "."
toolset = "co-cli"
[agents.third]
toolset = "obsidian-vault-mcp"
folder = "claude"
write = ["create", "append", "edit", "delete"]
"""


class Writers(Agent):
    """A server that may change notes, and agents with other rights."""

    def ask(
        self, agent: str, method: str, headers: dict[str, str] | None = None, **params: Any
    ) -> dict[str, Any]:
        given = {"Authorization": f"Bearer {KEY}", "User-Agent": "some-client/1.0"}
        return super().ask(agent, method, {**given, **(headers or {})}, **params)

    def tools(self, agent: str) -> dict[str, Any]:
        listed = self.ask(agent, "tools/list")["result"]["tools"]
        return {tool["name"]: tool for tool in listed}

    def last_write(self) -> dict[str, Any]:
        """Return the newest entry of the log."""
        request = urllib.request.Request(
            self.endpoint + "/writes?limit=1", headers={"Authorization": f"Bearer {KEY}"}
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
            (entry,) = json.loads(reply.read())["data"]["writes"]
        return dict(entry)

    def text(self, path: str) -> str:
        return (self.vault / path).read_text()

    def shown_hash(self, path: str, **more: str) -> str:
        """Return the hash that reading shows."""
        found = re.search(
            r"[hH]ash: (\w{16})$", self.use("", "vault_read", path=path, **more), re.MULTILINE
        )
        assert found
        return found[1]


@pytest.fixture(scope="module")
def writers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Writers]:
    with Writers(tmp_path_factory.mktemp("writers")) as made:
        made.private.add("the key", KEY)
        made.write("Notes/Bread.md", BREAD)
        made.write("Notes/Starter.md", "# Starter\n")
        made.write("Notes/rye.txt", "Flour of rye.\n")
        made.write("claude/log.md", "# Log\n")
        made.write("claude/private/secret.md", "# Secret\n")
        config = made.home / "config.toml"
        config.write_text(CONFIG)
        made.variables = {"VAULT_AGENT_CONFIG": str(config)}
        made.start()
        eventually(  # the first index is being built, attachments last
            lambda: made.ask("", "tools/call", name="vault_search", arguments={"query": "rye"}),
            lambda reply: "rye.txt" in reply["result"]["content"][0]["text"],
        )
        yield made


# --- what is listed ---------------------------------------------------------------------------


def test_only_tools_are_listed_that_the_client_may_use(writers: Writers):
    every = writers.tools("")
    assert len(every) == 15
    own = writers.tools("own")
    assert list(own)[6:] == ["vault_write", "task_add"]
    assert own["vault_write"]["inputSchema"]["properties"]["mode"]["enum"] == [
        "create",
        "append",
        "upsert",
    ]
    assert len(writers.tools("reader")) == 6
    prompts = writers.ask("reader", "prompts/list")["result"]["prompts"]
    assert [each["name"] for each in prompts] == ["ask_vault", "task_context"]
    assert len(writers.ask("own", "prompts/list")["result"]["prompts"]) == 4


def test_an_unlisted_tool_does_not_exist(writers: Writers):
    error = writers.ask("own", "tools/call", name="vault_undo", arguments={})["error"]
    assert error["code"] == -32602
    assert error["message"].startswith("No such tool. There are: vault_search, ")


def test_the_schemas_of_six_tools_fit_into_1000_tokens_and_of_all_into_2100(writers: Writers):
    tools = list(writers.tools("").values())
    assert len(tools) == 15
    # 4.4 characters a token, as measured with o200k_base on these schemas.
    assert len(json.dumps(tools[:6])) / 4.4 < 1_000
    assert len(json.dumps(tools)) / 4.4 < 2_100


def test_a_restarted_relay_knows_which_tools_only_read():
    for toolset in TOOLSETS:
        for rights in (frozenset(), frozenset(Right)):
            for tool in tools_for(
                ClientTools(toolset, rights, TOOL_SWITCHES, is_named_agent=False)
            ):
                if tool.name in reading_tools():
                    assert not tool.writes, tool.name


# --- what the tools do ------------------------------------------------------------------------


@pytest.mark.fault(
    "Writing",
    "a section's hash is used for the whole note",
    "`HASH_MISMATCH`",
)
def test_the_hash_of_a_section_is_good_for_that_section_only(writers: Writers):
    writers.write("Parts.md", "# Parts\n\n## A\n\none\n\n## B\n\ntwo\n")
    writers.use("", "vault_write", path="Parts.md", content="- x\n", mode="append", section="A")
    # A busy machine brings the index up to date later.
    known = eventually(lambda: writers.shown_hash("Parts.md", section="A"), retry=(AssertionError,))
    whole = {"path": "Parts.md", "content": "all", "mode": "overwrite"}
    refused = writers.refuse("", "vault_write", **whole, expectedHash=known)
    assert refused.startswith("HASH_MISMATCH")
    sent = {"path": "Parts.md", "content": "## A\n\nnew\n\n", "mode": "overwrite", "section": "A"}
    assert writers.refuse("", "vault_write", **sent).startswith("EXPECTED_HASH_REQUIRED")
    assert "sectionHash: " in writers.use("", "vault_write", **sent, expectedHash=known)
    assert writers.text("Parts.md") == "# Parts\n\n## A\n\nnew\n\n## B\n\ntwo\n"
    missing = writers.refuse(
        "", "vault_write", path="Parts.md", content="x", mode="append", section="C"
    )
    assert missing.startswith("HEADING_NOT_FOUND: ")
    assert "\n- ## " in missing
    writers.use("", "vault_write", path="Parts.md", content="x\n", mode="upsert", section="C")
    assert "C\n" in writers.text("Parts.md")


def test_paths_are_exact_for_writing(writers: Writers):
    refused = writers.refuse("", "vault_write", path="notes/bread", content="x", mode="append")
    assert refused == (
        "NOTE_NOT_FOUND: no such note. Writing takes the exact path:\n- Notes/Bread.md"
    )


# --- agents -----------------------------------------------------------------------------------


@pytest.mark.fault(
    "Writing",
    "an agent names a path outside its folder to a tool that writes",
    "refused; it learns nothing of what is there",
)
def test_an_agent_writes_in_its_folder_only(writers: Writers):
    writers.use("own", "vault_write", path="day.md", content="x\n")
    assert writers.text("claude/day.md") == "x\n"
    for path in ("../Notes/Bread.md", "/Notes/Bread.md", "..", "a/../../b.md"):
        refused = writers.refuse("own", "vault_write", path=path, content="x", mode="upsert")
        assert refused.partition(":")[0] in ("INVALID_PATH", "PATH_OUTSIDE_VAULT")
    eventually(lambda: "day.md" in writers.use("own", "vault_list"))  # the index is built
    denied = writers.refuse(
        "own", "vault_write", path="private/secret.md", content="x", mode="append"
    )
    unknown = writers.refuse("own", "vault_write", path="nowhere.md", content="x", mode="append")
    assert denied.splitlines()[0].partition(".")[0] == unknown.splitlines()[0].partition(".")[0]
    assert "secret" not in denied


def test_a_move_that_needs_notes_outside_says_what_to_do(writers: Writers):
    writers.use("mover", "vault_write", path="Far.md", content="far\n")
    writers.use("", "vault_write", path="Notes/Links.md", content="[[Far]]\n")
    eventually(lambda: "Links.md" in writers.use("", "vault_search", query="Far"))
    known = writers.shown_hash("claude/Far.md")
    refused = writers.refuse(
        "mover", "vault_move", path="Far.md", to="Farther.md", expectedHash=known
    )
    assert refused.startswith("LINKS_OUTSIDE_SCOPE: links in notes that you may not write")
    assert "rewriting links" not in refused


def test_a_value_that_is_nested_too_deeply_is_refused(writers: Writers):
    value = json.loads("[" * 300 + "]" * 300)
    refused = writers.refuse(
        "", "vault_frontmatter", path="Notes/Bread.md", action="set", key="deep", value=value
    )
    assert refused.startswith("INVALID_REQUEST: ")


def test_the_folder_of_an_agent_is_made_at_its_first_write(writers: Writers):
    assert not (writers.vault / "made").exists()
    writers.use("new", "vault_write", path="first.md", content="x\n")
    assert writers.text("made/later/first.md") == "x\n"


def test_the_log_names_the_agent_and_its_program(writers: Writers):
    writers.use("own", "vault_write", path="logged.md", content="x\n")
    entry = writers.last_write()
    assert (entry["agent"], entry["client"]) == ("own", "mcp:some-client")
    assert entry["files"][0]["path"] == "claude/logged.md"


def test_the_log_takes_the_name_that_a_request_carries(writers: Writers):
    named = {"io.modelcontextprotocol/clientInfo": {"name": "named-client", "version": "1"}}
    sent = {"name": "vault_write", "arguments": {"path": "named.md", "content": "x\n"}}
    writers.ask("own", "tools/call", **sent, more=named)
    assert writers.last_write()["client"] == "mcp:named-client"


# --- the tools of other servers ---------------------------------------------------------------


def test_agentiso_creates_with_every_mode_and_needs_no_hash(writers: Writers):
    writers.use("iso", "vault_write", path="iso.md", content="one\n")
    writers.use("iso", "vault_write", path="iso.md", content="two two\n", mode="overwrite")
    writers.use("iso", "vault_write", path="iso.md", content="end\n", mode="append")
    writers.use("iso", "vault_write", path="iso.md", content="top\n", mode="prepend")
    writers.use("iso", "vault_replace", path="iso.md", search="two", replace="2")
    assert writers.text("iso.md") == "top\n2 2\nend\n"
    writers.use("iso", "vault_frontmatter", path="iso.md", action="set", key="k", value=3)
    assert writers.use("iso", "vault_frontmatter", path="iso.md") == '{"k": 3}'
    writers.use("iso", "vault_tags", path="iso.md", action="add", tag="q")
    # The list of tags is read from the index, which a busy machine brings up to date later.
    eventually(lambda: writers.use("iso", "vault_tags", path="iso.md"), lambda tags: tags == "#q")
    writers.use("iso", "vault_delete", path="iso.md", confirm=True)
    assert not (writers.vault / "iso.md").exists()


def test_obsidian_vault_mcp_appends_to_a_note_and_says_what_it_ignores(writers: Writers):
    def ask(name: str, **arguments: Any) -> Any:
        given = {"repository_name": "shop", "path": "devlog/lamp.md", **arguments}
        return writers.ask("third", "tools/call", name=name, arguments=given)["result"]

    ask("note_upsert", content="one", frontmatter={"topic": "lamp"})
    again = ask("note_upsert", content="two", frontmatter={"x": 1})
    assert again["structuredContent"] == {
        "created": False,
        "warnings": ["FRONTMATTER_IGNORED: The note exists, so only the text was appended."],
    }
    assert writers.text("claude/shop/devlog/lamp.md") == "---\ntopic: lamp\n---\none\ntwo"
    deleted = [ask("note_delete")["structuredContent"] for _ in range(2)]
    assert deleted == [{"deleted": True}, {"deleted": False}]


# --- whole notes ------------------------------------------------------------------------------


def make(writers: Writers, path: str, content: str) -> None:
    """Create a note and wait until it can be read: it is indexed a moment later."""
    writers.use("", "vault_write", path=path, content=content)
    named = {"name": "vault_read", "arguments": {"path": path, "lines": "1"}}
    eventually(lambda: not writers.ask("", "tools/call", **named)["result"]["isError"])


def reads(writers: Writers, agent: str, name: str, **named: str) -> list[dict[str, Any]]:
    """Return the replies that a note comes in, as an agent gets them that follows each cursor."""
    replies = [json.loads(writers.use(agent, name, **named))]
    while "next" in replies[-1]:
        cursor = replies[-1]["next"]
        replies.append(json.loads(writers.use(agent, name, cursor=cursor, **named)))
    return replies


def notes_of_any_length() -> list[str]:
    """Return texts of notes on both sides of what fits, with all that escapes differ about."""
    chosen = random.Random(11)
    pieces = (
        "plain words ",
        "ä€𝄞",
        '"quoted" \\ ',
        "\t",
        "\n",
        "\r\n",
        "\x0c\x01\x7f\x85",
        "\u2028",
    )
    notes = []
    for length in (0, 1, 5_000, 21_000, 22_300, 22_600, 24_000, 50_000, 90_000):
        kinds = [chosen.choice(pieces) for _ in range(chosen.randrange(1, 5))]
        text = ""
        while len(text.encode()) < length:
            text += chosen.choice(kinds) * chosen.randrange(1, 40)
        notes.append(text)
    return [*notes, "x" * 60_000, "\x01" * 30_000, "a\n" * 30_000]


@pytest.mark.parametrize("number", range(len(notes_of_any_length())))
def test_what_comes_as_whole_is_whole_and_parts_make_the_whole_to_the_byte(writers, number):
    path = f"claude/whole/n{number}.md"
    content = f"---\nk: 1\n---\n{notes_of_any_length()[number]}"
    make(writers, path, content)
    stored = (writers.vault / path).read_bytes().decode()
    head = re.match(r"---\r?\nk: 1\r?\n---\r?\n", stored)
    assert head is not None
    for agent, name, named in (
        ("iso", "vault_read", {"path": path, "format": "json"}),
        ("third", "note_read", {"repository_name": "whole", "path": f"n{number}.md"}),
        ("synk", "get_vault_note", {"noteId": path}),
    ):
        replies = reads(writers, agent, name, **named)
        text = "".join(each.get("content", each.get("part")) for each in replies)
        assert text == (stored if agent == "third" else stored[head.end() :]), (agent, name)
        assert ("content" in replies[0]) == (len(replies) == 1 and "hash" not in replies[0])
        assert all("content" not in each for each in replies) or len(replies) == 1


@pytest.mark.fault(
    "Agents",
    "an agent writes a part of a long note back as the whole, or a copy of a reply",
    "refused, with what to do",
)
@pytest.mark.parametrize(
    ("agent", "read", "write", "name"),
    [
        ("iso", "vault_read", "vault_write", "path"),
        ("synk", "get_vault_note", "update_vault_note", "noteId"),
    ],
)
def test_a_part_of_a_note_cannot_be_written_back_as_the_whole(writers, agent, read, write, name):
    path = f"long by {agent}.md"
    lines = "".join(f"Line {number} of lamps.\n" for number in range(3_000))
    make(writers, path, lines)
    form = {"format": "json"} if agent == "iso" else {}
    replies = reads(writers, agent, read, **{name: path}, **form)
    assert len(replies) > 2
    part = replies[0]["part"].replace("Line 1 ", "The first line ")
    mode = {"mode": "overwrite"} if agent == "iso" else {}
    wrong = writers.refuse(agent, write, **{name: path}, content=part, **mode)
    assert wrong.startswith("INVALID_REQUEST: the note is longer than a reply")
    assert "expectedHash" in wrong
    assert writers.text(path) == lines
    # Who has read all of it has the hash.
    known = replies[-1]["hash"]
    writers.use(agent, write, **{name: path}, content="short\n", expectedHash=known, **mode)
    assert writers.text(path) == "short\n"
    lost = writers.refuse(agent, write, **{name: path}, content="x", expectedHash=known, **mode)
    assert lost.startswith("HASH_MISMATCH: ")
    # A note that fits into a reply needs none.
    writers.use(agent, write, **{name: path}, content="other\n", **mode)
    assert writers.text(path) == "other\n"


@pytest.mark.parametrize("agent", ["", "iso"])
def test_a_copy_of_a_reply_is_not_written_as_a_note(writers, agent):
    path = f"copied{agent}.md"
    make(writers, path, "Text.\n")
    shown = writers.use(agent, "vault_read", path=path)
    assert shown.startswith("<note ")
    for mode in ("append", "overwrite"):
        wrong = writers.refuse(agent, "vault_write", path=path, content=shown, mode=mode)
        assert "a copy of a reply" in wrong
    assert writers.text(path) == "Text.\n"


def test_frontmatter_of_agentiso_keeps_types_and_letter_case(writers):
    text = '---\nAuthor: Me\nn: 3\nok: true\nf: 1.5\nlst: [1, true, "3"]\n---\nBody.\n'
    make(writers, "typed.md", text)
    expected = {"Author": "Me", "n": 3, "ok": True, "f": 1.5, "lst": [1, True, "3"]}
    got = json.loads(writers.use("iso", "vault_frontmatter", path="typed.md"))
    assert got == expected
    assert [type(each) for each in got["lst"]] == [int, bool, str]
    read = json.loads(writers.use("iso", "vault_read", path="typed.md", format="json"))
    assert read["frontmatter"] == expected
    assert writers.use("iso", "vault_frontmatter", path="typed.md", key="author") == '"Me"'
    assert writers.use("iso", "vault_frontmatter", path="typed.md", key="none") == "null"
    for key, value in got.items():
        writers.use("iso", "vault_frontmatter", path="typed.md", action="set", key=key, value=value)
    assert writers.text("typed.md") == text


def test_a_value_of_frontmatter_keeps_the_order_of_its_keys(writers):
    make(writers, "order.md", "---\nzo: {z: 1, a: 2, m: 3}\n---\nBody.\n")
    got = json.loads(writers.use("iso", "vault_frontmatter", path="order.md", key="zo"))
    assert list(got) == ["z", "a", "m"]
    changed = {**got, "z": 9}
    sent = {"action": "set", "key": "zo", "value": changed}
    writers.use("iso", "vault_frontmatter", path="order.md", **sent)
    assert "zo: {z: 9, a: 2, m: 3}" in writers.text("order.md")


def test_a_number_that_would_lose_digits_is_refused(writers):
    make(writers, "number.md", "---\nn: 123456789012345678901\n---\nBody.\n")
    n = json.loads(writers.use("iso", "vault_frontmatter", path="number.md", key="n"))
    sent = {"path": "number.md", "action": "set", "key": "n", "value": n}
    reply = writers.ask("iso", "tools/call", name="vault_frontmatter", arguments=sent)
    assert "over 64 bits" in reply["error"]["message"]
    assert f"n: {n}\n" in writers.text("number.md")


def test_agentiso_reads_a_note_whose_frontmatter_is_no_yaml(writers):
    text = "---\nkey: [1,\n---\nBody.\n"
    make(writers, "broken.md", text)
    read = json.loads(writers.use("iso", "vault_read", path="broken.md", format="json"))
    assert (read["frontmatter"], read["content"]) == (None, text)
    wrong = writers.refuse("iso", "vault_frontmatter", path="broken.md")
    assert wrong.startswith("FRONTMATTER_INVALID")


def test_a_note_of_obsidian_vault_mcp_has_one_name_in_all_of_its_tools(writers):
    def ask(name: str, **arguments: Any) -> Any:
        sent = {"repository_name": "names", "path": "plain", **arguments}
        return json.loads(writers.use("third", name, **sent))

    assert ask("note_upsert", content="- [ ] one\n") == {"created": True}
    eventually(lambda: ask("note_read")["exists"])  # it is indexed a moment later
    assert ask("note_read") == {"content": "- [ ] one\n", "exists": True}
    assert ask("task_done", line=1)["changed"] is True
    assert ask("note_delete") == {"deleted": True}
    assert ask("note_read") == {"content": "", "exists": False}


def test_obsidian_vault_mcp_for_an_agent_with_two_folders_stays_in_them(writers):
    def refusal(repository: str, path: str) -> str:
        sent = {"repository_name": repository, "path": path, "content": "new\n"}
        return writers.refuse("two", "note_upsert", **sent)

    for repository, path in (("claude", "of two"), ("Two", "inner/of two")):
        sent = {"repository_name": repository, "path": path}
        assert json.loads(writers.use("two", "note_upsert", content="new\n", **sent))["created"]
        eventually(lambda sent=sent: json.loads(writers.use("two", "note_read", **sent))["exists"])
    for repository, path in (("Two", "outer"), ("Notes", "Bread"), ("Notes", "New")):
        assert refusal(repository, path).startswith("WRITE_OUTSIDE_SCOPE")
    missing = writers.use("two", "note_read", repository_name="Notes", path="Bread")
    assert json.loads(missing)["exists"] is False


# --- the relay --------------------------------------------------------------------------------


def test_the_relay_writes_for_an_agent(writers: Writers):
    writers.variables["VAULT_AGENT_SERVER_ENDPOINT"] = writers.endpoint
    with relay(writers, "--agent", "own") as pipe:
        text = pipe.call(1, "vault_write", path="by relay.md", content="x" * 100_000)
    assert text.startswith("created by relay.md · 100,000 bytes")


class Dying:
    """A server that closes each connection after it has read a request, and may reply before."""

    def __init__(self, replies: int) -> None:
        self.replies = replies
        self.asked = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._ended = False
        self._serving = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Dying:
        self._serving.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        socket.create_connection(self._listener.getsockname()).close()  # so that `accept` returns
        self._serving.join(PATIENCE)
        self._listener.close()

    def _serve(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            with connection:
                if self._ended:
                    return
                connection.recv(65536)
                self.asked += 1
                if self.asked > self.replies:
                    continue
                body = b'{"jsonrpc": "2.0", "id": 1, "result": {}}'
                head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n"
                connection.sendall(f"{head}Content-Type: application/json\r\n\r\n".encode() + body)


def through(server: Dying, tool: str) -> str:
    """Return the line that a relay replies to a call."""
    to_relay, ours = os.pipe()
    theirs, from_relay = os.pipe()
    running = Relay(lambda _: ServerAt(server.endpoint, None), "/mcp", to_relay, from_relay)
    relaying = threading.Thread(target=running.run, daemon=True)
    relaying.start()
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool}}
    os.write(ours, json.dumps(call).encode() + b"\n")
    with os.fdopen(theirs, "rb") as replies:
        line = replies.readline().decode()
    os.close(ours)
    relaying.join(PATIENCE)
    for descriptor in (to_relay, from_relay):
        os.close(descriptor)
    return line


@pytest.mark.fault(
    "Writing",
    "the server dies during a tool's call that may write",
    "not repeated: `WRITE_OUTCOME_UNKNOWN`",
)
def test_a_write_is_not_repeated_when_the_server_dies():
    with Dying(replies=0) as server:
        reply = json.loads(through(server, "vault_write"))
        assert reply["result"]["isError"] is True
        assert reply["result"]["content"][0]["text"].startswith("WRITE_OUTCOME_UNKNOWN: ")
        assert server.asked == 1
    with Dying(replies=0) as reading:
        assert "SERVER_UNAVAILABLE" in through(reading, "vault_read")
        assert reading.asked == 2
