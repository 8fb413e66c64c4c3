"""The output of each command. Note text cannot control the terminal."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import sys
from contextlib import ExitStack
from pathlib import Path

import orjson
import pytest
from tests.cli.fake import NOTE, PROGRAM, FakeServer, Run, job, result
from tests.support.clocks import PATIENCE

from vault_agent.cli.terminal import clean, complain
from vault_agent.config.rules import vault_identity
from vault_agent.model.jobs import PhaseProgress
from vault_agent.model.modes import Linked
from vault_agent.model.warning import Warning

STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

HOSTILE = "a\x1b[31m\x07\u202eb\u2066\r\x9b2J"


needs_pty = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX")


async def test_a_result_in_a_pipe_is_one_line(run: Run, server: FakeServer):
    server.results = [result(line=7, snippet="simmer\nthe bones"), result(path="Soup.md")]
    ended = await run("search", "bones")
    assert ended.out == "Kitchen/Stock.md:7:simmer the bones\nSoup.md:1:simmer the bones slowly\n"
    assert ended.err == ""
    assert (await run("search", "bones", "-l")).out == "Kitchen/Stock.md\nSoup.md\n"
    assert NOTE in (await run("search", "bones", "--json")).out


async def test_a_query_comes_from_a_pipe_and_is_cut_if_it_is_long(run: Run, server: FakeServer):
    ended = await run("search", "-", stdin="late\nfrost " + "x" * 2_000)
    assert server.asked[-1][2].query == "late frost " + "x" * 989
    assert "first 1,000 characters" in ended.err


async def test_results_of_filters_alone_show_no_score(run: Run, server: FakeServer):
    server.results = [
        result(score=0.0, explanation={"votes": {}}),
        result(explanation={"votes": {"body": 2.5, "heading": 0.2}}),
    ]
    explained = (await run("search", "tag:x", "--explain")).out
    assert explained.endswith("      votes: body 2.5, heading 0.2\n")


async def test_warnings_go_to_stderr_with_their_code(run: Run, server: FakeServer):
    server.warnings = [Warning(code="INDEX_STALE", message="Run vault-agent index.")]
    files = {"paths": ["A.canvas"], "links": [{"path": "B.md", "line": 3}]}
    server.warnings.append(Warning("LINKS_BROKEN", "Links: 1.", files))
    ended = await run("search", "bones")
    lines = "INDEX_STALE: Run vault-agent index.\nLINKS_BROKEN: Links: 1.\n  A.canvas\n  B.md:3\n"
    assert ended.err == lines


async def test_no_results_leave_stdout_empty(run: Run, server: FakeServer):
    server.results = []
    ended = await run("search", "bones")
    assert (ended.code, ended.out, ended.err) == (0, "", "No results.\n")
    server.indexed_at = "2020-02-03T12:00:00Z"
    ended = await run("search", "--path", "a")
    assert ended.out == ""
    assert ended.err.startswith("No results. Last index run: 2020-02-0")
    assert ended.err.endswith(".\nTo add newer notes: vault-agent index\n")


async def test_a_search_without_results_names_no_needless_step(run: Run, server: FakeServer):
    server.results, server.indexed_at = [], "2020-02-03T12:00:00Z"
    filters = ("--path", "a", "--type", "x", "--after", "2025-01-01")
    ended = await run("search", *filters, "bones")
    assert ended.err.startswith("No results.")
    assert "vault-agent index" in ended.err
    server.watches = True
    assert "vault-agent index" not in (await run("search", *filters, "bones")).err


async def test_a_hit_by_its_title_has_a_text_in_a_pipe(run: Run, server: FakeServer):
    server.results = [result(snippet="", matches=(), line=None)]
    assert (await run("search", "stock")).out == "Kitchen/Stock.md:1:Stock\n"


async def test_a_number_that_no_terminal_has_shown_says_where_numbers_come_from(
    run: Run, server: FakeServer
):
    await run("search", "bones")
    server.named = []
    refused = await run("show", "1")
    assert "Your last search at a terminal has no result 1." in refused.err


async def test_an_undo_names_how_to_take_back_the_write_of_another(run: Run, server: FakeServer):
    what = "You have no write to take back. The last write of the vault is by the agent desk."
    server.error = (404, "WRITE_NOT_FOUND", what, {"writeId": "01a2", "what": what})
    refused = await run("undo")
    assert refused.err.endswith("To take it back: `vault-agent undo 01a2`\n")


async def test_search_options_reach_the_server(run: Run, server: FakeServer):
    await run(
        "search", "two", "words", "-n", "3", "-m", "lexical", "--path", "A", "--path", "B",
        "--tag", "#x", "--type", "log", "--after", "2025-01-01", "--before", "2025-02-01",
        "--explain",
    )  # fmt: skip
    body = server.asked[0][2]
    assert body.query == "two words"
    assert (body.limit, body.mode, body.explain) == (3, "lexical", True)
    assert body.filters.paths == ("A", "B")
    assert body.filters.tags == ("x",)
    assert body.filters.types == ("log",)
    assert (body.filters.after, body.filters.before) == ("2025-01-01", "2025-02-01")


async def test_a_query_can_start_with_a_dash_after_a_double_dash(run: Run, server: FakeServer):
    assert (await run("search", "--", "-x")).code == 0
    assert server.asked[-1][2].query == "-x"


async def test_related_takes_an_id(run: Run, server: FakeServer):
    assert (await run("related", f"{NOTE}:2", "--limit", "2")).code == 0
    assert server.asked[-1][2].id == f"{NOTE}:2"
    assert server.asked[-1][2].linked is Linked.INCLUDE
    await run("related", NOTE, "--unlinked")
    assert server.asked[-1][2].linked is Linked.EXCLUDE


@pytest.mark.parametrize("place", ["before", "after"])
async def test_global_options_may_stand_before_or_after_the_command(
    run: Run, server: FakeServer, place: str
):
    server.key = "the-key"
    flags = ["--api-key", "the-key", "--json", "--endpoint", server.endpoint]
    arguments = [*flags, "search", "x"] if place == "before" else ["search", "x", *flags]
    ended = await run(*arguments)
    assert ended.code == 0
    assert orjson.loads(ended.out)["data"]


async def test_the_key_can_come_from_the_environment(run: Run, server: FakeServer):
    server.key = "the-key"
    assert (await run("search", "x", VAULT_AGENT_SERVER_API_KEY="the-key")).code == 0
    refused = await run("search", "x", VAULT_AGENT_SERVER_API_KEY="another")
    assert refused.code == 3
    assert "another" not in refused.err + refused.out


# --- escaping ---------------------------------------------------------------------------------


async def test_json_has_no_character_that_steers_a_terminal_or_hides(run: Run, server: FakeServer):
    odd = f"{HOSTILE}\u200e\xad\ufff9\U000e0041"
    server.content = odd
    server.warnings = [Warning("INDEX_STALE", odd)]
    got = await run("--json", "get", "note", NOTE)
    assert orjson.loads(got.out)["data"]["content"] == odd
    server.error = (409, "INDEX_BUSY", odd, {"jobId": odd})
    refused = await run("--json", "search", "x")
    assert orjson.loads(refused.out)["error"]["details"]["jobId"] == odd
    for text in (got.out, refused.out):
        assert not re.search(
            "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u200e\u202a-\u202e\ufff9\U000e0041]", text
        )


@pytest.mark.parametrize(
    "character",
    ["\x00", "\x07", "\x08", "\x1b", "\r", "\x7f", "\x85", "\x9b", "\u061c", "\u200e", "\u200f",
     "\u2028", "\u202a", "\u202e", "\u2066", "\u2069", "\ufeff", "\udc80"],
)  # fmt: skip
def test_control_and_direction_characters_are_escaped(character: str):
    for lines in (False, True):
        cleaned = clean(f"a{character}b", lines=lines)
        assert character not in cleaned
        assert cleaned.startswith("a\\")
        assert cleaned.endswith("b")


def test_text_of_any_script_is_not_escaped():
    text = "naïve 味噌 حمص 👩‍🌾 Борщ re\u0301sume\u0301"
    assert clean(text) == text
    assert clean("a\r\n\tb\n", lines=True) == "a\n\tb\n"
    assert clean("a\nb") == "a\\x0ab"


async def test_hostile_text_in_results_is_escaped(run: Run, server: FakeServer):
    length = len(HOSTILE)
    server.results = [
        result(
            id=HOSTILE,
            path=f"{HOSTILE}.md",
            heading_path=(HOSTILE,),
            snippet=HOSTILE * 3,
            matches=matches,
            explanation={HOSTILE: HOSTILE},
        )
        for matches in ((), ((1, 3),), ((length, length * 2),))
    ]
    server.warnings = [Warning(code=HOSTILE, message=HOSTILE, details={"path": HOSTILE})]
    ended = await run("search", "x", "--explain")
    assert ended.out.count("\\x1b") == 3 * 6
    assert not STEERING.search(ended.out + ended.err)
    described = await run("get", "attachment", f"{HOSTILE}.png")
    assert "\\x1b" in described.out
    assert not STEERING.search(described.out + described.err)


@pytest.mark.parametrize("state", ["running", "succeeded", "failed"])
async def test_hostile_text_in_jobs_is_escaped(run: Run, server: FakeServer, state: str):
    warning = Warning(code=HOSTILE, message=HOSTILE, details={"path": HOSTILE})
    phase = PhaseProgress(name=HOSTILE, done=1, total=4)
    hostile = {
        "job_id": HOSTILE, "created_at": HOSTILE, "phase": HOSTILE, "phases": (phase,),
        "warnings": (warning,), "warning_count": 1,
        "error": {"code": HOSTILE, "message": HOSTILE} if state == "failed" else None,
    }  # fmt: skip
    server.jobs, server.history = [job(state, **hostile)], [job(state, **hostile)]
    commands = [["jobs"], ["jobs", "job-1"], ["index", "--detach"]]
    if state != "running":  # a running job would be followed forever
        server.history.insert(0, job("running", **hostile))
        commands.append(["jobs", "follow"])
    for command in commands:
        ended = await run(*command)
        assert not STEERING.search(ended.out + ended.err), command
    server.error = (409, "INDEX_BUSY", "A job runs.", {"jobId": HOSTILE})
    ended = await run("index")
    assert not STEERING.search(ended.out + ended.err)


async def test_hostile_text_in_settings_is_escaped(run: Run):
    pattern = HOSTILE.replace("[", "")  # a bracket could make the pattern invalid
    settings = {"VAULT_AGENT_VAULT_ROOT": f"/{HOSTILE}", "VAULT_AGENT_VAULT_EXCLUDE": pattern}
    for command in (
        ["config", "get"],
        ["config", "get", "vault.root"],
        ["config", "set", "vault.root", f"/{HOSTILE}"],
        ["config", "path", "--config", f"/{HOSTILE}"],
        ["serve", "--port", "0"],
    ):
        ended = await run(*command, **settings if "path" not in command else {})
        assert not STEERING.search(ended.out + ended.err), command
        assert command[1] != "get" or "\\x1b" in ended.out


async def test_hostile_text_in_server_errors_is_escaped(run: Run, server: FakeServer):
    server.error = (500, f"X{HOSTILE}", HOSTILE, {})
    ended = await run("search", "x")
    assert not STEERING.search(ended.err)


async def test_a_note_is_piped_byte_for_byte(run: Run, server: FakeServer):
    server.content = f"# One\r\n{HOSTILE}\n\n"
    ended = await run("get", "note", NOTE)
    assert ended.out == server.content
    assert (await run("get", "chunk", f"{NOTE}:2")).out == server.content
    assert server.asked[-1][1] == f"/chunks/{NOTE}/2"


@needs_pty
async def test_a_note_on_a_terminal_is_escaped(run_at_terminal: Run, server: FakeServer):
    server.content = f"# One\r\n{HOSTILE}\n\n"
    seen = (await run_at_terminal("get", "note", NOTE)).err
    assert seen == "# One\na\\x1b[31m\\x07\\u202eb\\u2066\\x0d\\x9b2J\n"


@needs_pty
async def test_matches_are_highlighted_unless_colour_is_disabled(
    run_at_terminal: Run, server: FakeServer
):
    marked = (await run_at_terminal("search", "bones")).err
    assert "simmer the \x1b[33m\x1b[1mbones\x1b[0m slowly" in marked
    for refusal in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b" not in (await run_at_terminal("search", "bones", **refusal)).err


@needs_pty
async def test_bytes_are_not_sent_to_a_terminal(run_at_terminal: Run, server: FakeServer):
    arguments = ("get", "attachment", "a.png", "--download", "--output", "-")
    assert "not for a terminal" in (await run_at_terminal(*arguments)).err


async def test_a_closed_output_pipe_is_not_an_error(
    environment: dict[str, str], server: FakeServer
):
    server.content = "line\n" * 200_000
    process = await asyncio.create_subprocess_exec(
        *PROGRAM, "get", "note", NOTE,
        env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    await process.stdout.readline()
    process.stdout._transport.close()
    err = await process.stderr.read()
    assert await process.wait() == 141
    assert err == b""


@pytest.mark.parametrize("words", [(), ("",), ("  ",)])
async def test_a_search_without_words_or_filters_asks_for_a_query(
    run: Run, server: FakeServer, words: tuple[str, ...]
):
    ended = await run("search", *words)
    assert ended.code == 2
    assert "give a filter such as --tag" in " ".join(ended.err.split())
    assert server.asked == []


# --- attachments ------------------------------------------------------------------------------


async def test_an_attachment_shows_its_metadata(run: Run, server: FakeServer):
    ended = await run("get", "attachment", "Pictures/泡菜 #1?.png")
    assert ended.out.startswith("Pictures/泡菜 #1?.png  image/png  4,000 bytes  changed 202")
    assert server.asked[-1][1] == "/attachments/Pictures/%E6%B3%A1%E8%8F%9C%20%231%3F.png"


async def test_an_attachment_is_saved_completely(run: Run, server: FakeServer, tmp_path):
    target = tmp_path / "a.png"
    ended = await run(
        "get", "attachment", "a.png", "--download", "--output", str(target), "--allow-large"
    )
    assert ended.code == 0
    assert target.read_bytes() == b"\x00\x1bPNG" * 1000
    assert server.asked[-1][1] == "/attachments/a.png?download=true&allowLarge=true"


@pytest.mark.skipif(os.name == "nt", reason="modes mean little there")
@pytest.mark.parametrize("mode", [0o644, 0o600, 0o664])
async def test_a_download_keeps_the_mode_of_the_file_it_replaces(
    run: Run, server: FakeServer, tmp_path, mode: int
):
    target = tmp_path / "a.png"
    target.write_bytes(b"old")
    target.chmod(mode)
    assert (await run("get", "attachment", "a.png", "--output", str(target))).code == 0
    assert target.read_bytes() == b"\x00\x1bPNG" * 1000
    assert target.stat().st_mode & 0o777 == mode
    assert list(tmp_path.glob(".*")) == []


@pytest.mark.skipif(os.name == "nt", reason="modes mean little there")
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
async def test_a_downloaded_file_follows_the_umask(
    run: Run, server: FakeServer, tmp_path, umask: int, mode: int
):
    target = tmp_path / "a.png"
    before = os.umask(umask)  # the program inherits it
    try:
        assert (await run("get", "attachment", "a.png", "--output", str(target))).code == 0
    finally:
        os.umask(before)
    assert target.stat().st_mode & 0o777 == mode


async def test_a_failed_download_leaves_no_file(run: Run, server: FakeServer, tmp_path):
    server.error = (404, "ATTACHMENT_NOT_FOUND", "None.", {})
    folder = tmp_path / "out"
    folder.mkdir()
    ended = await run("get", "attachment", "a.png", "--download", "--output", str(folder / "a"))
    assert ended.code == 4
    assert list(folder.iterdir()) == []
    nowhere = str(tmp_path / "none" / "a")
    server.error = None
    ended = await run("get", "attachment", "a.png", "--download", "--output", nowhere)
    assert ended.code == 1
    assert ended.err.startswith("OUTPUT_FAILED: ")


async def test_an_attachment_can_be_piped(run: Run, server: FakeServer):
    ended = await run("get", "attachment", "a.png", "--download", "--output", "-")
    assert ended.out.encode() == b"\x00\x1bPNG" * 1000


@needs_pty
@pytest.mark.parametrize("typed", [b"%s\n", b"\x04", b"\x03"])
async def test_the_key_prompt_does_not_show_the_key(
    run: Run, environment: dict[str, str], typed: bytes
):
    import pty

    key = "k" * 40
    leader, follower = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        *PROGRAM, "config", "set", "server.api_key", "-",
        env=environment, stdin=follower, stdout=follower, stderr=follower, start_new_session=True,
    )  # fmt: skip
    os.close(follower)
    seen = b""
    while b"server.api_key: " not in seen:
        seen += await asyncio.to_thread(os.read, leader, 65536)
    if typed == b"\x03":  # without a controlling terminal it is a character like any other
        process.send_signal(signal.SIGINT)
    else:
        os.write(leader, typed.replace(b"%s", key.encode()))
    async with asyncio.timeout(PATIENCE):
        code = await process.wait()
    seen += await asyncio.to_thread(os.read, leader, 65536)
    os.close(leader)
    assert key.encode() not in seen
    assert b"Traceback" not in seen
    stored = (await run("config", "reveal-api-key")).out.strip()
    expected = {b"%s\n": (0, key), b"\x04": (2, ""), b"\x03": (130, "")}[typed]
    assert (code, stored) == expected


@needs_pty
@pytest.mark.parametrize("command", ["search x", "serve --port 0 --vault-root {vault}"])
async def test_ctrl_c_at_the_key_prompt_ends_the_line(
    environment: dict[str, str], tmp_path: Path, command: str
):
    import pty

    (tmp_path / "vault").mkdir()
    arguments = command.format(vault=tmp_path / "vault").split()
    leader, follower = pty.openpty()
    # Nothing replies there.
    with socket.create_server(("127.0.0.1", 0)) as mute, ExitStack() as open_until_then:
        environment["VAULT_AGENT_SERVER_ENDPOINT"] = f"http://127.0.0.1:{mute.getsockname()[1]}"
        process = await asyncio.create_subprocess_exec(
            *PROGRAM, *arguments, env=environment, stdin=follower, stdout=follower, stderr=follower
        )
        os.close(follower)
        if arguments[0] == "search":
            asked, _ = await asyncio.to_thread(mute.accept)
            open_until_then.enter_context(asked)
            await asyncio.to_thread(asked.recv, 65536)  # it waits for the reply now
        else:
            seen = b""
            while not seen.endswith(b'look for"\r\n') and b"--endpoint" not in seen:
                seen += await asyncio.to_thread(os.read, leader, 65536)
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(PATIENCE):
            await process.wait()
    said = await asyncio.to_thread(os.read, leader, 65536)
    os.close(leader)
    assert said.endswith(b"\r\n")
    assert b"Traceback" not in said


READS = (("search", "bones"), ("related", NOTE), ("get", "note", NOTE), ("jobs",))


@pytest.mark.fault(
    "HTTP and access",
    "the server at the address serves another vault",
    "`VAULT_MISMATCH` on standard error",
)
@pytest.mark.parametrize("command", READS, ids=" ".join)
async def test_a_server_with_another_vault_causes_a_warning(
    run: Run, server: FakeServer, tmp_path: Path, command: tuple[str, ...]
):
    server.vault = vault_identity(tmp_path / "other")
    (tmp_path / "mine").mkdir()
    ended = await run(*command, VAULT_AGENT_VAULT_ROOT=str(tmp_path / "mine"))
    assert ended.code == 0
    (line,) = [line for line in ended.err.splitlines() if line.startswith("VAULT_MISMATCH: ")]
    assert server.endpoint in line
    assert "vault-agent serve" in line
    assert str(tmp_path) not in line
    assert "VAULT_MISMATCH" not in ended.out
    as_json = await run(*command, "--json", VAULT_AGENT_VAULT_ROOT=str(tmp_path / "mine"))
    orjson.loads(as_json.out)
    assert "VAULT_MISMATCH: " in as_json.err


@pytest.mark.parametrize("command", ["index", "reindex"])
async def test_no_job_is_started_for_another_vault_unless_the_endpoint_is_typed(
    run: Run, server: FakeServer, tmp_path: Path, command: str
):
    server.vault = vault_identity(tmp_path / "other")
    mine = {"VAULT_AGENT_VAULT_ROOT": str(tmp_path / "mine")}
    ended = await run(command, "--json", **mine)
    assert ended.code == 2
    assert orjson.loads(ended.out)["error"]["code"] == "VAULT_MISMATCH"
    assert ended.err.startswith(
        f"VAULT_MISMATCH: The server at {server.endpoint} serves another vault than"
        " vault.root names. To serve yours instead: "
    )
    assert [method for method, *_ in server.asked] == ["GET"]
    typed = await run(command, "--endpoint", server.endpoint, **mine)
    assert typed.code == 0
    assert typed.err.count("VAULT_MISMATCH: ") == 1


@pytest.mark.parametrize("settings", ["the same vault", "a link to it", "no vault", "not named"])
async def test_a_server_with_the_configured_vault_causes_no_warning(
    run: Run, server: FakeServer, tmp_path: Path, settings: str
):
    vault, link = tmp_path / "mine", tmp_path / "link"
    vault.mkdir()
    link.symlink_to(vault)
    roots = {"a link to it": str(link), "no vault": ""}
    if settings != "not named":
        server.vault = vault_identity(vault)
    root = roots.get(settings, str(vault))
    ended = await run("search", "bones", VAULT_AGENT_VAULT_ROOT=root)
    assert (ended.code, ended.err) == (0, "")


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("no server answers", "No server answers"),
        ("An index job runs.", "An index job runs."),
        ("server.port must be a port", "server.port must be a port"),
        ("config.toml:2:8 is not valid TOML", "config.toml:2:8 is not valid TOML"),
        ("vault-agent itself failed", "vault-agent itself failed"),
        ("--download needs --output", "--download needs --output"),
        ("notes/a.md: skipped", "notes/a.md: skipped"),
        ("", ""),
    ],
)
def test_messages_start_with_a_capital_or_a_name(
    capsys: pytest.CaptureFixture[str], message: str, shown: str
):
    complain("CODE", message)
    assert capsys.readouterr().err == f"CODE: {shown}\n"


async def test_the_script_for_completion_is_an_envelope_with_json(run: Run):
    done = await run("--json", "completion", "bash")
    assert orjson.loads(done.out)["data"]["script"].startswith("_vault_agent_completion()")
