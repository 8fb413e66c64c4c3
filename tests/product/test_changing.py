"""Notes are changed by the real program: by commands and over HTTP."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import pytest
from tests.product.conftest import small_vault
from tests.support.folders import below
from tests.support.program import Program
from tests.support.waiting import eventually
from tests.support.writable_program import WritableProgram

from vault_agent.server.routes import ROUTES

HASH = "0" * 64


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WritableProgram]:
    with WritableProgram(tmp_path_factory.mktemp("changing")) as made:
        small_vault(made)
        made.start()
        made.index()
        yield made


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# --- commands ---------------------------------------------------------------------------------


def test_text_comes_from_a_file(server: WritableProgram, tmp_path):
    (tmp_path / "text").write_bytes(b"Line\r\n")
    server.done("write", "From file", "--file", str(tmp_path / "text"))
    assert (server.vault / "From file.md").read_bytes() == b"Line\r\n"
    missing = server.run("write", "From file", "--file", str(tmp_path / "no"))
    assert missing.returncode == 2


def test_a_note_that_is_renamed_by_its_name_stays_in_its_folder(server: WritableProgram):
    server.write("Work/Draft.md", "# Draft\n")
    server.write("Archive/Old.md", "# Old\n")
    server.index()
    for source, to, moved in (
        ("Draft", "Plan", "Work/Draft.md -> Work/Plan.md"),
        ("Plan", "Archive", "Work/Plan.md -> Archive/Plan.md"),
        ("Archive/Plan.md", "Plan", "Archive/Plan.md -> Plan.md"),
    ):
        ended = eventually(  # a busy machine indexes the last move later
            lambda source=source, to=to: server.run("move", source, to, "--yes"),
            lambda ended: "NOTE_NOT_FOUND" not in ended.stderr,
        )
        assert ended.stdout.startswith(f"moved {moved}  ")
    same = server.run("move", "Plan.md", "Plan.md", "--yes")
    assert (same.stdout, same.stderr) == ("unchanged Plan.md\n", "")
    code, shown = server.at_a_terminal("move", "Old", "Older", answers=["n\n"])
    assert code == 1
    assert "Move it to Archive/Older.md? [y/N]" in shown


def test_a_dry_run_says_what_would_be_done(server: WritableProgram):
    tried = server.run("write", "Tried", "-t", "x\u2028-y\n", "--dry-run")
    assert tried.stderr == (
        "would be created Tried.md  +1 -0\nNothing was written, because of --dry-run.\n"
    )
    assert not (server.vault / "Tried.md").exists()
    server.done("write", "Kept", "-t", "x\n")
    undone = server.run("undo", "--dry-run")
    assert undone.stderr.startswith("would be undone Kept.md  +0 -1\n")
    assert server.text("Kept.md") == "x\n"


def test_undo_of_a_move_counts_no_lines_of_several_files(server: WritableProgram):
    server.done("write", "Goal", "-t", "x\n")
    for name in ("One", "Two"):
        server.done("write", name, "-t", "[x](Goal.md)\n")
    server.done("move", "Goal.md", "Far/Goal.md", "--yes")
    undone = server.done("undo")
    assert undone.startswith("undone Far/Goal.md -> Goal.md ")
    assert " +" not in undone
    assert server.text("One.md") == "[x](Goal.md)\n"


def test_the_copy_of_an_undo_is_a_new_note(server: WritableProgram):
    server.done("write", "Rye", "-t", "one\n")
    server.done("edit", "replace", "Rye.md", "one", "two")
    server.write("Rye.md", "three\n")
    server.write("New today.md", "a\n")  # the index does not have it
    server.done("edit", "replace", "New today.md", "a", "b")
    assert server.done("undo").startswith("undone New today.md  ")
    copied = server.run("undo", "--copy")
    assert copied.stdout.startswith("created Rye (before undo).md  +1 -0  ")
    assert "Nothing was taken back: the text before is beside it." in copied.stderr


def test_a_list_of_writes_of_an_unknown_agent_is_an_error(server: WritableProgram):
    refused = server.run("undo", "--list", "--agent", "nobody")
    assert (refused.returncode, refused.stdout) == (4, "")
    assert refused.stderr.startswith("AGENT_NOT_FOUND: ")


def test_an_empty_pipe_is_not_written(server: WritableProgram):
    refused = server.run("write", "Empty", "--file", "-")
    assert refused.returncode == 2
    assert "Standard input is empty. For an empty note: --text ''" in refused.stderr
    assert not (server.vault / "Empty.md").exists()
    server.done("write", "Empty", "-t", "")
    assert server.text("Empty.md") == ""


def test_what_can_hide_text_is_not_done_without_an_answer(server: WritableProgram):
    server.write("Asked.md", "one\n")
    server.index()
    for command in (
        ("write", "Asked", "--mode", "overwrite", "-t", "x"),
        ("delete", "Asked"),
        ("move", "Asked", "Other"),
        ("edit", "replace", "Asked", "o.e", "x", "--regex"),
    ):
        refused = server.run(*command)
        assert (refused.returncode, refused.stderr.split(":")[0]) == (2, "CONFIRM_REQUIRED")
    assert server.text("Asked.md") == "one\n"


def test_who_declines_to_uninstall_loses_nothing(program: Program):
    assert program.run("config", "set", "search.recency", "0.5").returncode == 0
    code, shown = program.at_a_terminal("uninstall", "--settings", answers=["n\n"])
    assert code == 1, shown
    assert "Nothing was removed." in shown
    assert program.run("config", "unset", "search.recency").stdout == "search.recency removed\n"


def test_at_a_terminal_the_difference_is_shown_before_the_question(server: WritableProgram):
    server.write("Shown.md", "one\ntwo\n")
    server.index()
    command = ("write", "Shown", "--mode", "overwrite", "-t", "one\nthree\n")
    code, shown = server.at_a_terminal(*command, answers=["maybe\n", "n\n"])
    assert code == 1
    assert "Answer y or n." in shown
    assert shown.index("-two") < shown.index("+three") < shown.index("Overwrite Shown? [y/N]")
    assert "Nothing was changed." in shown
    assert server.text("Shown.md") == "one\ntwo\n"
    code, shown = server.at_a_terminal(*command, answers=["maybe\n"] * 3)
    assert (code, server.text("Shown.md")) == (2, "one\ntwo\n")
    assert "CONFIRM_REQUIRED: No answer was y or n." in shown
    code, shown = server.at_a_terminal(*command, answers=["y\n"])
    assert code == 0, shown
    assert server.text("Shown.md") == "one\nthree\n"


@pytest.mark.fault(
    "Writing",
    "the note changes between the question at a terminal and the answer",
    "nothing is written, exit 7",
)
def test_only_what_was_shown_is_overwritten(server: WritableProgram):
    note = server.write("Race.md", "one\ntwo\n")
    server.index()
    code, shown = server.at_a_terminal(
        *("write", "Race", "--mode", "overwrite", "-t", "mine\n"),
        answers=[lambda: note.write_text("one\nand theirs\n"), "y\n"],
    )
    assert code == 7
    assert "HASH_MISMATCH" in shown
    assert server.text("Race.md") == "one\nand theirs\n"


# --- HTTP -------------------------------------------------------------------------------------


def test_the_hash_of_a_note_is_its_etag_and_goes_into_if_match(server: WritableProgram):
    server.write("Tag.md", "one\n")
    server.index()
    note = server.send("GET", "/resolve?name=Tag.md").data["notes"][0]["noteId"]
    assert server.send("GET", f"/notes/{note}").data["contentHash"] == sha("one\n")
    body = {"noteId": note, "mode": "overwrite", "content": "two\n"}
    assert server.post("note", **body).code == "EXPECTED_HASH_REQUIRED"
    stale = server.send("POST", "/write/note", body, {"If-Match": f'"{HASH}"'})
    assert (stale.status, stale.code) == (412, "HASH_MISMATCH")
    assert stale.body["error"]["details"]["currentHash"] == sha("one\n")
    odd = server.send("POST", "/write/note", body, {"If-Match": "*"})
    assert odd.code == "INVALID_REQUEST"
    two = {**body, "expectedHash": HASH}
    both = server.send("POST", "/write/note", two, {"If-Match": f'"{sha("x")}"'})
    assert both.code == "INVALID_REQUEST"
    done = server.send("POST", "/write/note", body, {"If-Match": f'"{sha("one" + chr(10))[:16]}"'})
    assert done.data["hashAfter"] == sha("two\n")


def test_the_same_key_writes_once(server: WritableProgram):
    key = {"Idempotency-Key": "once-1"}
    body = {"path": "Once.md", "mode": "upsert", "content": "line\n"}
    first = server.send("POST", "/write/note", body, key).data
    again = server.send("POST", "/write/note", body, key).data
    for reply in (first, again):  # a busy machine indexes it later
        assert reply.pop("index")["state"] in ("indexed", "pending")
    assert again == {**first, "replayed": True}
    assert server.text("Once.md") == "line\n"
    other = server.send("POST", "/write/note", {**body, "content": "other\n"}, key)
    assert (other.status, other.code) == (422, "IDEMPOTENCY_KEY_REUSED")


def test_an_attachment_is_added_once(server: WritableProgram):
    octets = {"Content-Type": "application/octet-stream"}
    content = bytes(range(256)) * 500  # more than a JSON body may have
    path = "/write/attachment?path=Pictures/a%20b.png"
    assert server.send("POST", path, content, octets).data["path"] == "Pictures/a b.png"
    assert (server.vault / "Pictures/a b.png").read_bytes() == content
    assert server.send("POST", path, b"x", octets).code == "NOTE_EXISTS"
    assert server.send("POST", path, b"x").code == "UNSUPPORTED_MEDIA_TYPE"
    note = server.send("POST", "/write/attachment?path=a.md", b"x", octets)
    assert note.code == "INVALID_NOTE_NAME"


def test_a_write_may_be_larger_than_other_requests(server: WritableProgram):
    large = server.post("note", path="Large.md", content="x" * 200_000)
    assert large.data["bytesAfter"] == 200_000
    assert server.post("note", path="Larger.md", content="x" * 1_100_000).code == "BODY_TOO_LARGE"
    assert server.send("POST", "/search", {"query": "x" * 70_000}).code == "BODY_TOO_LARGE"


def test_the_log_names_who_wrote(server: WritableProgram):
    server.post("note", path="Earlier.md", content="x")
    server.done("write", "By command", "-t", "x")
    server.post("note", path="By HTTP.md", content="x")
    writes = server.send("GET", "/writes?limit=2").data
    assert [each["client"] for each in writes["writes"]] == ["http", "cli"]
    more = server.send("GET", f"/writes?limit=2&cursor={writes['nextCursor']}").data["writes"]
    assert not {each["writeId"] for each in writes["writes"]} & {each["writeId"] for each in more}
    one = server.send("GET", f"/writes/{writes['writes'][0]['writeId']}").data
    assert one["changedSince"] is False
    (server.vault / "By HTTP.md").write_text("y")
    one = server.send("GET", f"/writes/{writes['writes'][0]['writeId']}").data
    assert one["changedSince"] is True


# --- rights -----------------------------------------------------------------------------------


def test_while_writing_is_off_nothing_of_it_runs(tmp_path):
    program = Program(tmp_path)
    small_vault(program)
    program.start()
    try:
        writing = [route for route in ROUTES if route.needs == "write.enabled"]
        assert len(writing) > 15
        for route in writing:
            path = route.path.replace("{writeId}", "x")
            refused = program.call(route.method, path, {} if route.method == "POST" else None)
            if not route.octets:
                assert (refused.status, refused.code) == (403, "FEATURE_DISABLED"), path
                assert refused.body["error"]["details"]["setting"] == "write.enabled"
        refused = program.run("write", "x", "-t", "y")
        assert refused.returncode == 2
        assert "vault-agent enable write" in refused.stderr
        assert not list(below(program.indexes, "writes*"))
    finally:
        program.close()
