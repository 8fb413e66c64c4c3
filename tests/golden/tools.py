"""What is asked over MCP: every tool of every toolset, and its common errors."""

from __future__ import annotations

import re
from typing import Any

from tests.golden.house import Case, House
from tests.mcp.conftest import META, MODERN

LIST = "tools/list"
ENDPOINTS = {"agentiso": "/iso", "obsidian-vault-mcp": "/third", "co-cli": "/co"}
"""Where a toolset is, below /mcp: that of an agent, or of the owner."""


_TEXT = "reply.text.0"
_WRITTEN = re.compile("The journal of session golden-session-2 is being written: journals/.*")
"""The reply once the journal has its place: what is listed later has it."""


def use(
    tool: str,
    what: str = "",
    *,
    project: bool = False,
    varying: tuple[str, ...] = (),
    until: tuple[str, Any] | None = None,
    **arguments: Any,
) -> Case:
    """Return the case of a tool of ours; in the vault of the project if `project`."""
    return Case(tool, arguments, what, until=until, project=project, varying=varying)


def of(toolset: str, *cases: Case) -> tuple[Case, ...]:
    """Return the cases of a toolset, with the list of its tools first."""
    where = ENDPOINTS.get(toolset, "")
    return tuple(
        Case(case.of, case.sent, case.what, case.keep, case.until, endpoint=where,
             project=case.project, varying=case.varying)
        for case in cases
    )  # fmt: skip


def recorded(house: House, case: Case) -> dict[str, Any]:
    """Return the result of a call, or the JSON-RPC error."""
    method, params = (LIST, {}) if case.of == LIST else (
        "tools/call", {"name": case.of, "arguments": house.named(case.sent)},
    )  # fmt: skip
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method, "Accept": "application/json"}
    if params:
        headers["Mcp-Name"] = case.of
    if case.project:
        headers["Vault-Agent-Vault"] = house.kept["project:shop"]
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}
    _, reply, _ = house.ask("POST", f"/mcp{case.endpoint}", body, headers)
    if "error" in reply:
        return {"error": reply["error"]}
    result = reply["result"]
    if case.of == LIST:
        return {"reply": result}
    assert set(result) <= {"resultType", "content", "isError", "structuredContent", "_meta"}, result
    assert len(result["content"]) == 1
    text = result["content"][0]["text"]
    shown = {"text": text.split("\n")} if "structuredContent" not in result else {}
    return {"reply": {
        **{name: value for name, value in result.items() if name != "content"}, **shown,
    }}  # fmt: skip


READING = {
    "vault-agent": of("vault-agent",
        Case(LIST),
        use("vault_search", query="sourdough rye", limit=2),
        use("vault_search", "lines", query="rye|oven", match="regex", limit=2),
        use("vault_search", "nothing found", query="zzzz"),
        use("vault_search", "no query", query=""),
        use("vault_search", "another server's argument", q="oven"),
        use("vault_search", "no embeddings", query="oven", mode="embedding"),
        use("vault_read", path="Bread"),
        use("vault_read", "a section", path="Starter.md", section="Feeding"),
        use("vault_read", "two such sections", path="Bread", section="Log"),
        use("vault_read", "lines", path="Bread", lines="13-15"),
        use("vault_read", "outline", path="Bread", view="outline"),
        use("vault_read", "properties", path="Bread", view="properties"),
        use("vault_read", "unknown", path="Brad"),
        use("vault_read", "ambiguous", path="Same"),
        use("vault_read", "outside", path="../x.md"),
        use("vault_read", "an unknown section", path="Bread", section="Crusts"),
        use("vault_list", path="Drafts", limit=2),
        use("vault_list", "tags", kind="tags"),
        use("vault_list", "folders", kind="folders"),
        use("vault_related", path="Bread", limit=2),
        use("vault_context", queries=[{"query": "crust steam"},
            {"kind": "read", "query": "Starter"}]),
        use("vault_context", "an unknown argument", queries=[{"query": "a", "limit": 1}]),
        use("task_list", limit=2),
        use("task_list", "none", path="adr"),
        use("get_agent_memory", project=True, prompt="round prices in src/costs.py"),
        use("none", "unknown"),
    ),
    "agentiso": of("agentiso",
        Case(LIST),
        use("vault_read", path="Bread.md"),
        use("vault_read", "as JSON", path="Bread.md", format="json"),
        use("vault_read", "unknown", path="none.md"),
        use("vault_search", query="sourdough rye", max_results=2),
        use("vault_search", "lines", query="rye|oven", regex=True, max_results=2),
        use("vault_list", path="Drafts"),
        use("vault_frontmatter", path="Bread.md"),
        use("vault_tags", path="Bread.md"),
    ),
    "obsidian-vault-mcp": of("obsidian-vault-mcp",
        Case(LIST),
        use("note_read", repository_name="house", path="devlog/lamp.md"),
        use("note_read", "unknown", repository_name="house", path="none.md"),
        use("note_read", "outside", repository_name="house", path="../x.md"),
        use("vault_search", repository_name="house", query="lamp"),
        use("task_list", repository_name="house"),
    ),
    "co-cli": of("co-cli",
        Case(LIST),
        use("search_notes", query="sourdough rye", limit=2),
        use("list_notes", tag="baking"),
        use("read_note", filename="Starter"),
        use("read_note", "unknown", filename="Brad"),
    ),
}  # fmt: skip
HERE, THEIRS = "Drafts/Agent.md", "Drafts/Seeds.md"
LAMP = {"repository_name": "house", "path": "devlog/lamp.md"}
WRITING = {
    "vault-agent": of("vault-agent",
        use("vault_write", path="Drafts/Made.md", content="# Made\n"),
        use("vault_write", "it exists", path="Drafts/Made.md", content="# Made\n"),
        use("vault_write", "no hash", path=HERE, content="x", mode="overwrite"),
        use("vault_write", "a section", path=HERE, content="More.", mode="append", section="Log"),
        use("vault_replace", path=HERE, search="Old", replace="New"),
        use("vault_replace", "none", path=HERE, search="Old", replace="New"),
        use("vault_frontmatter", path=HERE, action="set", key="rank", value=2),
        use("vault_frontmatter", "get", path=HERE, action="get", key="rank"),
        use("vault_tags", path=HERE, action="add", tag="made"),
        use("vault_tags", "list", path=HERE, action="list",
            until=("reply.text", ["#draft", "#made"])),
        use("task_add", path=HERE, text="Second step", section="Tasks", due="2026-03-01"),
        use("task_set", path=HERE, line=12, text="First step", status="cancelled"),
        use("task_set", "another task", path=HERE, line=12, text="Third step", status="done"),
        use("vault_move", path="Drafts/Made.md", to="Drafts/There.md",
            expectedHash="«hash Drafts/Made.md»"),
        use("vault_delete", "another hash", path="Drafts/There.md", confirm=True,
            expectedHash="0" * 16),
        use("vault_delete", path="Drafts/There.md", confirm=True,
            expectedHash="«hash Drafts/There.md»"),
        use("vault_undo"),
        use("generate_session_journal", project=True, title="Mine", sections={"Goal": "Prices."},
            sessionId="golden-session-2", until=(_TEXT, _WRITTEN)),
        use("generate_session_journal", "unknown", project=True, sessionId="none"),
        use("promote_note_to_global", project=True, path="modules/Cost tracker.md"),
    ),
    "agentiso": of("agentiso",
        use("vault_write", path="Drafts/Iso.md", content="# Iso\n"),
        use("vault_replace", path=THEIRS, search="Old", replace="New"),
        use("vault_frontmatter", "set", path=THEIRS, action="set", key="rank", value=2),
        use("vault_tags", "add", path=THEIRS, action="add", tag="made"),
        use("vault_delete", path="Drafts/Iso.md", confirm=True),
    ),
    "obsidian-vault-mcp": of("obsidian-vault-mcp",
        use("note_upsert", repository_name="house", path="Made.md", content="# Made\n",
            frontmatter={"a": 1}),
        use("task_add", **LAMP, text="Buy a lamp"),
        use("task_done", **LAMP, line=5),
        use("task_toggle", **LAMP, line=5),
        use("task_done", "no task", **LAMP, line=1),
        use("note_delete", repository_name="house", path="Made.md"),
    ),
}  # fmt: skip
SYNK = {
    "synk": of("synk",
        Case(LIST),
        # Of one type: notes that were written within a second are in the order of their paths.
        use("list_vault_notes", project=True, type="decision"),
        use("get_vault_note", project=True, noteId="modules/Cost tracker.md"),
        use("get_vault_note", "unknown", project=True, noteId="none.md"),
        use("search_vault", project=True, text="round prices", maxResults=2),
        use("get_vault_graph", project=True),
        use("get_agent_memory", project=True, prompt="round prices in src/costs.py"),
        use("create_vault_note", project=True, type="bug", title="Twice", content="# Twice\n"),
        use("update_vault_note", project=True, noteId="modules/Cost tracker.md", title="Costs"),
        use("delete_vault_note", project=True, noteId="bugs/twice.md"),
        use("promote_note_to_global", project=True, path="decisions/Round prices.md"),
        use("generate_session_journal", project=True, title="Mine", sections={"Goal": "Prices."},
            sessionId="golden-session-2"),
        use("rebuild_vault_index", project=True),
        use("generate_session_journal", "superseding", project=True, sessionId="golden-session-2",
            supersedes=["decisions/Round prices.md"]),
    ),
}  # fmt: skip
