"""MCP over the project of a relay's folder: its vault, and the global one by `global:`."""

from __future__ import annotations

import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.mcp.conftest import META, Agent
from tests.support.clocks import PATIENCE
from tests.support.program import PROGRAM

from vault_agent.config.rules import vault_identity
from vault_agent.mcp.relay import VAULT_HEADER

KEY = "k" * 40
NOTE = "---\ntype: decision\n---\n# Parse costs\n\nStreamed output has no fixed structure.\n"


class Here(Agent):
    """A server with a project `shop`, whose tools are about that project."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        for name, value in (
            ("VAULTS_ENABLED", "true"),
            ("MEMORY_ENABLED", "true"),
            ("SERVER_API_KEY", KEY),
        ):
            self.variables[f"VAULT_AGENT_{name}"] = value
        self.shop = self.home / "shop"
        (self.shop / ".git").mkdir(parents=True)
        self.in_shop("init", "--yes")
        root = self.shop / ".vault-agent/vault"
        (root / "decisions").mkdir(exist_ok=True)
        (root / "decisions/costs.md").write_text(NOTE)
        shared = self.home / ".vault-agent/vault/patterns"
        shared.mkdir()
        (shared / "retry.md").write_text("# Retry\n\nStreamed output may end early: try again.\n")
        self.write("Bread.md", "# Bread\n\nStreamed output of an oven.\n")
        self.identity = vault_identity(root)

    def in_shop(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        done = self.run(*arguments, at=self.shop)
        assert done.returncode == 0, done.stderr
        return done

    def post(
        self, body: object, headers: dict[str, str] | None = None, path: str = "/mcp"
    ) -> tuple[int, dict[str, Any] | None, dict[str, str]]:
        named = {VAULT_HEADER: self.identity, "Authorization": f"Bearer {KEY}"}
        return super().post(body, {**named, **(headers or {})}, path)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Here]:
    with Here(tmp_path_factory.mktemp("projects")) as made:
        made.start("--mcp")
        made.tool("vault_list")  # waits for the first index
        made.tool("vault_list", path="global:patterns")
        yield made


def test_a_search_covers_the_project_and_the_global_vault(here: Here):
    text = here.tool("vault_search", query="streamed output")
    assert "decisions/costs.md:" in text
    assert "global:patterns/retry.md:" in text
    assert "Bread.md" not in text
    only = here.tool("vault_search", query="streamed output", path="global:patterns")
    assert "global:patterns/retry.md:" in only
    assert "costs.md" not in only


def test_paths_say_which_vault_they_are_of(here: Here):
    assert "decisions/costs.md" in here.tool("vault_list")
    assert "global:patterns/retry.md" in here.tool("vault_list", path="global:patterns")
    assert "fixed structure" in here.tool("vault_read", path="Parse costs")
    assert "try again" in here.tool("vault_read", path="global:patterns/retry.md")
    assert here.failing("vault_read", path="global:Parse costs").startswith("NOTE_NOT_FOUND")
    assert here.failing("vault_read", path="Bread.md").startswith("NOTE_NOT_FOUND")


def relayed(here: Here, *calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the results of calls through a relay in the project."""
    relay = subprocess.Popen(
        [*PROGRAM, "mcp", "--no-start"],
        cwd=here.shop,
        env=here.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    replies = {}
    for number, (method, params) in enumerate(calls):
        line = {
            "jsonrpc": "2.0",
            "id": number,
            "method": method,
            "params": {**params, "_meta": META},
        }
        relay.stdin.write(json.dumps(line) + "\n")
        relay.stdin.flush()
        reply = json.loads(relay.stdout.readline())
        replies[reply["id"]] = reply["result"]
    relay.stdin.close()
    relay.wait(PATIENCE)
    relay.stdout.close()
    return [replies[number] for number in range(len(calls))]


def test_a_relay_in_the_project_is_about_it(here: Here):
    """The relay names the vault; a model promotes with nothing but a path."""
    promote = {"name": "promote_note_to_global", "arguments": {"path": "decisions/costs.md"}}
    listed, promoted = relayed(here, ("tools/list", {}), ("tools/call", promote))
    names = [each["name"] for each in listed["tools"]]
    assert "promote_note_to_global" in names
    assert "vault_write" not in names  # writing is off
    first = promoted["content"][0]["text"].splitlines()[0]  # a busy machine indexes it later
    assert first == "copied to global:decisions/parse-costs.md"


def test_a_relay_in_a_project_without_its_vault_answers_from_no_other_one(here: Here):
    vault = here.shop / ".vault-agent/vault"
    vault.rename(away := here.shop / "away")
    try:
        (found,) = relayed(here, ("tools/call", {"name": "vault_list", "arguments": {}}))
    finally:
        away.rename(vault)
    text = found["content"][0]["text"]
    assert "Bread.md" not in text
    assert "VAULT_NOT_FOUND" in text or "decisions" in text  # the vault may still be open


@pytest.mark.fault(
    "Several vaults",
    "an MCP request names an unknown vault or a folder",
    "404 `VAULT_UNKNOWN`",
)
def test_an_unknown_vault_is_refused(here: Here):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
    for name in ("project:other", "/etc", "..%2F"):
        status, reply, _ = here.post(body, {VAULT_HEADER: name})
        assert status == 404
        assert "no vault of this name" in reply["error"]["message"]


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., list[Any]]]:
    """Return a function that searches a project by the tool of synk."""
    made = Here(tmp_path_factory.mktemp("search"))
    made.variables["VAULT_AGENT_MCP_TOOLSET"] = "synk"
    root = made.shop / ".vault-agent/vault"
    (root / "notes").mkdir(exist_ok=True)
    for name, head, text in (
        ("old", "id: note-old\nupdated: 2020-01-01\ncreated: 2019-12-31", "Streamed bytes end."),
        ("new", "id: note-new\nupdated: 2999-01-01", "Streamed bytes end."),
        ("tagged", "tags: [parsing]\nupdated: 2020-01-01", "Nothing of that."),
        ("filed", "files: [src/parse.py]\nstatus: superseded\nupdated: 2020-01-01", "Nothing."),
        ("long", "updated: 2020-01-01", "\n\n".join(f"## {n}\n\nstreamed {n}" for n in range(9))),
    ):
        note = root / f"notes/{name}.md"
        note.write_text(f"---\n{head}\n---\n# Note {name}\n\n{text}\n")
        os.utime(note, (0, 0))  # so that `updated` is the property's date
    made.start("--mcp")
    made.tool("list_vault_notes")  # waits for the first index
    made.tool("get_vault_note", noteId="global:patterns/retry.md")

    def ask(**arguments: Any) -> list[Any]:
        found = json.loads(made.tool("search_vault", **arguments))
        assert "warnings" not in found
        return found["results"]

    yield ask
    made.close()


def test_search_vault_takes_all_that_synk_sends(searched: Callable[..., list[Any]]):
    [found] = searched(
        text="streamed bytes",
        filePaths=["src/parse.py"],
        tags=["parsing"],
        project="all",
        maxResults=1,
        recencyBoostDays=14,
    )
    assert (
        found.items()
        >= {
            "noteId": "note-new",
            "filePath": "notes/new.md",
            "title": "Note new",
            "type": "note",
            "matchType": "semantic",
            "createdAt": None,
        }.items()
    )
    assert 0 < found["score"] <= 1
    assert "Streamed bytes end." in found["excerpt"]


def test_files_and_tags_raise_the_score_and_exclude_nothing(searched: Callable[..., list[Any]]):
    def types(**more: Any) -> dict[str, str]:
        found = searched(text="streamed", maxResults=20, **more)
        return {each["filePath"]: each["matchType"] for each in found}

    plain = types()
    assert plain.keys() == {
        *("notes/old.md", "notes/new.md", "notes/long.md", "decisions/costs.md"),
        "global:patterns/retry.md",
    }
    assert set(plain.values()) == {"semantic"}
    assert types(tags=["#parsing", "unknown"]) == {**plain, "notes/tagged.md": "tag"}
    assert types(filePaths=["src/parse.py"]) == {**plain, "notes/filed.md": "tag"}
    ids = {each["filePath"]: each["noteId"] for each in searched(text="streamed", maxResults=20)}
    assert ids["notes/old.md"] == "note-old"
    assert ids["global:patterns/retry.md"].startswith("global:")
    tagged = searched(tags=["parsing"], maxResults=20)
    assert [each["filePath"] for each in tagged] == ["notes/tagged.md"]
    with pytest.raises(AssertionError, match="must have text, files or tags"):
        searched()
    first = searched(text="nothing", filePaths=["src/parse.py"])[0]
    assert (first["filePath"], first["matchType"]) == ("notes/filed.md", "both")


def test_late_changes_count_more_the_fewer_days_are_given(searched: Callable[..., list[Any]]):
    def scores(days: int) -> list[float]:
        found = searched(text="streamed bytes", recencyBoostDays=days, maxResults=20)
        by_path = {each["filePath"]: each["score"] for each in found}
        return [by_path["notes/new.md"], by_path["notes/old.md"]]

    (new, old), (same, older) = scores(36_500), scores(1)
    assert new == same > old > older


def test_a_search_is_of_one_project_if_it_is_named(searched: Callable[..., list[Any]]):
    found = searched(text="streamed", project="shop", maxResults=20)
    assert not [each for each in found if each["filePath"].startswith("global:")]
    assert len(found) == 4
    with pytest.raises(AssertionError, match="VAULT_UNKNOWN"):
        searched(text="streamed", project="none")


@pytest.fixture(scope="module")
def journaled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Here]:
    """Return a server with journals and the tools of synk, whose global vault has a copied note."""
    with Here(tmp_path_factory.mktemp("journaled")) as made:
        made.variables["VAULT_AGENT_MCP_TOOLSET"] = "synk"
        made.variables["VAULT_AGENT_JOURNAL_ENABLED"] = "true"
        copied = made.home / ".vault-agent/vault/patterns/copied.md"
        copied.write_text("---\nid: pattern-copied\nproject: shop\npromoted: true\n---\n# Copied\n")
        made.start("--mcp")
        made.tool("list_vault_notes")  # waits for the first index
        yield made


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/memory/sessions", None),
        ("/journals", None),
        ("/memory", {"prompt": "streamed output of costs"}),
    ],
)
def test_every_route_knows_a_project_by_the_same_names(journaled: Here, path: str, body):
    def status(project: str) -> tuple[int, str | None]:
        key = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
        asked = f"{path}?project={project}" if body is None else path
        data = None if body is None else json.dumps({**body, "project": project}).encode()
        request = urllib.request.Request(journaled.endpoint + asked, data, key)
        try:
            with urllib.request.urlopen(request) as reply:
                return reply.status, None
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.loads(error.read())["error"]["code"]

    assert status("shop") == status("project:shop") == (200, None)
    assert status("other") == status("project:other") == (404, "VAULT_UNKNOWN")


def test_a_note_is_superseded_only_by_who_may_edit_it(journaled: Here):
    note = journaled.shop / ".vault-agent/vault/decisions/costs.md"
    event = {
        "version": 1, "agent": "claude-code", "event": "prompt", "name": "prompt",
        "prompt": "parse", "sessionId": "s-1", "cwd": str(journaled.shop), "at": time.time(),
        "vault": journaled.identity,
    }  # fmt: skip
    assert journaled.post(event, path="/sessions/events")[0] == 202
    told = journaled.failing(
        "generate_session_journal", sessionId="s-1", sections={}, supersedes=["decisions/costs.md"]
    )
    assert told.startswith("WRITE_NOT_ALLOWED")
    assert note.read_text() == NOTE
    assert not list(note.parents[1].glob("journals/*"))


def test_the_same_note_has_the_same_project_in_each_reply(journaled: Here):
    path = "global:patterns/copied.md"
    got = json.loads(journaled.tool("get_vault_note", noteId=path))
    assert (got["filePath"], got["project"]) == (path, "global")
    costs = json.loads(journaled.tool("get_vault_note", noteId="decisions/costs.md"))
    listed = json.loads(journaled.tool("list_vault_notes", type="decision"))["notes"]
    assert {note["project"] for note in listed} == {costs["project"]} == {"shop"}


def test_a_tool_knows_a_project_by_the_same_names(journaled: Here):
    for project in ("shop", "project:shop"):
        journaled.tool("search_vault", text="streamed output", project=project)
    for project in ("other", "project:other"):
        text = journaled.failing("search_vault", text="streamed output", project=project)
        assert text.startswith("VAULT_UNKNOWN")
