"""Every failure gives its exit code, a line on stderr and, with --json, an envelope."""

from __future__ import annotations

import asyncio

import orjson
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from tests.cli.fake import NOTE, PROGRAM, FakeServer, Run

from vault_agent.cli.command import Invocation
from vault_agent.errors import for_http

FAILURES = {
    "INVALID_LIMIT": 2,
    "UNAUTHORIZED": 3,
    "ATTACHMENT_NOT_ALLOWED": 1,
    "NOTE_NOT_FOUND": 4,
    "INDEX_NOT_FOUND": 4,
    "INDEX_INCOMPATIBLE": 4,
    "INDEX_BUSY": 5,
    "HASH_MISMATCH": 7,
    "FEATURE_DISABLED": 2,
    "NOTE_TOO_LARGE": 1,
    "INTERNAL_ERROR": 1,
    "EMBEDDING_UNAVAILABLE": 1,
    "A_CODE_OF_TOMORROW": 1,
}


async def test_a_server_error_code_gives_its_exit_code(run: Run, server: FakeServer):
    server.errors = {f"{number:032x}": code for number, code in enumerate(FAILURES)}
    ended = await asyncio.gather(*(run("get", "note", note) for note in server.errors))
    for each, (code, expected) in zip(ended, FAILURES.items(), strict=True):
        assert (each.code, each.out) == (expected, ""), code
        assert each.err.startswith(f"{code}: Told by the server.")


@pytest.mark.parametrize(
    ("code", "option"),
    [
        ("NOTE_TOO_LARGE", "--allow-large"),
        ("ATTACHMENT_TOO_LARGE", "--allow-large"),
        ("EXPECTED_HASH_REQUIRED", "--expected-hash"),
        ("CONFIRM_REQUIRED", "--yes"),
        ("NOTE_EXISTS", "--mode append"),
        ("WRITE_OUTSIDE_SCOPE", "--folder"),
        ("HEADING_AMBIGUOUS", "--heading-id"),
        ("MATCH_COUNT_MISMATCH", "--count"),
    ],
)
async def test_a_remedy_of_the_server_names_the_option_of_the_command(
    run: Run, server: FakeServer, code: str, option: str
):
    message, details = for_http(code, "It is refused.", {})
    assert option not in message
    server.error = (400, code, message, details)
    ended = await run("get", "note", NOTE)
    assert ended.err.startswith(f"{code}: It is refused. ")
    assert option in ended.err


async def test_what_is_typed_wrongly_names_the_option(run: Run):
    wrong_day = await run("search", "x", "--after", "someday")
    assert "Invalid value for '--after': not a date: YYYY-MM-DD" in wrong_day.err
    two_places = await run("edit", "section", "x", "--heading", "A", "--block", "b", "-t", "c")
    assert "--heading, --heading-id or --block" in two_places.err
    assert {wrong_day.code, two_places.code} == {2}


async def test_with_json_the_error_is_an_envelope_on_stdout_and_a_line_on_stderr(
    run: Run, server: FakeServer
):
    server.error = (404, "NOTE_NOT_FOUND", "No such note.", {})
    ended = await run("get", "note", NOTE, "--json")
    assert orjson.loads(ended.out) == {
        "error": {
            "code": "NOTE_NOT_FOUND",
            "message": "No such note.",
            "details": {"requestId": "r-1"},
        }
    }
    assert ended.err == "NOTE_NOT_FOUND: No such note.\n"


async def test_a_missing_server_is_reported_with_the_serve_command(run: Run):
    ended = await run("search", "x", "--endpoint", "http://127.0.0.1:9", "--json")
    assert ended.code == 1
    assert ended.err.startswith("SERVER_UNAVAILABLE: ")
    assert "vault-agent serve" in ended.err
    assert orjson.loads(ended.out)["error"]["code"] == "SERVER_UNAVAILABLE"


async def test_without_settings_the_error_says_to_set_a_vault(run: Run):
    new, settled = await asyncio.gather(
        run("search", "x", VAULT_AGENT_SERVER_PORT="9"),
        run("status", VAULT_AGENT_SERVER_PORT="9", VAULT_AGENT_VAULT_ROOT="/n"),
    )
    assert "First run `vault-agent setup`" in new.err
    assert "vault-agent setup" not in settled.err


async def test_misuse_exits_with_2_and_suggests_a_correction(run: Run):
    misuse = {
        "sarch": 'No such command: "sarch" (did you mean search?).',
        "search": "Missing query",
        "search x --limt 3": 'No such option: "--limt" (did you mean --limit?).',
        "get noet x": "did you mean note?",
        "get note x y": "Too many arguments",
        "search x --mode magic": "lexical",
        "search x -n many": "not a valid integer",
        "get attachment a.png --download": "--download needs --output FILE",
        "get attachment a.png --output -": "--json cannot print beside them",
        "config set server.prot 1": "did you mean server.port?",
        "demo": "no --json",
        "completion": "Choose from: bash, zsh, fish.",
        "search frost -greenhouse": "quote the query",
    }
    all_ended = await asyncio.gather(*(run(*line.split(), "--json") for line in misuse))
    for ended, says in zip(all_ended, misuse.values(), strict=True):
        assert ended.code == 2
        assert says in ended.err
        assert len(ended.err.splitlines()) == 1
        assert orjson.loads(ended.out)["error"]["code"] in {"INVALID_REQUEST", "CONFIG_INVALID"}


@pytest.mark.fault(
    "Secrets and logs",
    "a mistyped command contains a query or a key",
    "the error repeats names, and no values",
)
@pytest.mark.parametrize(
    "line",
    [
        "search x -n canary",
        "search x --mode canary",
        "get note x canary",
        "get attachment a canary --json",
        "jobs show 1 canary",
        "config set server.api_key canary-key canary",
        "config get server.port canary",
        "config set vault.canary x",
        "index canary",
        "serve canary --json",
        "serve --port canary",
        "search x --json=canary",
        "--api-key canary search",
        "search --limt=canary x",
        "search --limt canary",
    ],
)
async def test_misuse_errors_do_not_repeat_values(run: Run, line: str):
    ended = await run(*line.split())
    assert ended.code == 2
    assert "canary" not in ended.out + ended.err.replace("vault.canary", "")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ls", 'No such command: "ls" (did you mean list?).'),
        ("rm x", 'No such command: "rm" (did you mean delete?).'),
        ("vaults zzz", 'No such command: "zzz".'),
        ("new --title Idea", "Give a TEMPLATE and the PATH"),
        ("--foo", 'No such option: "--foo".'),
        ("a\x1b[31mb", 'No such command: "a\\x1b[31mb".'),
        ("list -n 0", "not a number from 1"),
        ("tags -n 5000", "not a number from 1 to 1000"),
        ("list --sort", "`vault-agent list --help`"),
        ("context frost", "`context` takes no argument."),
        ("links --broken", 'No such option: "--broken" (did you mean links check?).'),
        ("links --check", 'No such option: "--check" (did you mean links check?).'),
        ("list --folder x", 'No such option: "--folder" (did you mean --folders?).'),
        ("tasks done 1", "ame the task by its note and line"),
    ],
)
async def test_an_unknown_command_or_option_is_repeated_safely(run: Run, line: str, said: str):
    ended = await run(*line.split(" "))
    assert ended.code == 2
    assert said in ended.err


async def test_show_is_get_note(run: Run, server: FakeServer):
    asked = []
    for words in (("get", "note"), ("show",)):
        server.asked.clear()
        await run(*words, "Stock")
        asked.append([path for _, path, _ in server.asked])
    assert asked[0] == asked[1] != []


def test_a_traceback_does_not_contain_the_key():
    assert "canary" not in repr(Invocation(api_key="canary"))


async def test_a_busy_index_error_says_how_to_follow_the_job(run: Run, server: FakeServer):
    server.error = (409, "INDEX_BUSY", *for_http("INDEX_BUSY", "A job runs.", {"jobId": "job-7"}))
    ended = await run("index")
    assert ended.code == 5
    assert "vault-agent jobs follow job-7" in ended.err


async def test_a_bad_setting_exits_with_2_and_names_its_key_and_rule(run: Run):
    ended = await run("search", "x", VAULT_AGENT_SERVER_PORT="loud")
    assert ended.code == 2
    assert ended.err == (
        "CONFIG_INVALID: server.port (VAULT_AGENT_SERVER_PORT) must be a port from 1 to 65535,"
        " or 0 for any free one.\n"
    )


async def test_help_and_version_exit_with_0(run: Run):
    asked = (["--help"], ["-h"], [], ["get"], ["search", "-h"], ["--version"])
    for ended in await asyncio.gather(*(run(*arguments) for arguments in asked)):
        assert ended.code == 0
        assert ended.out
        assert ended.err == ""


async def test_an_internal_error_shows_its_location_without_private_text(
    run_apart: Run, server: FakeServer
):
    broken = (
        "import vault_agent.cli.search as search\n"
        "def fail(*_, **__): raise KeyError('canary')\n"
        "search.show = fail\n"
        "from vault_agent.cli.main import main; main()"
    )
    ended = await run_apart("search", "canary", program=(*PROGRAM[:3], broken))
    assert ended.code == 1
    assert ended.err.startswith("INTERNAL_ERROR: ")
    assert "KeyError" in ended.err
    assert "canary" not in ended.err


FOREIGN = (
    {"data": {"x": 1}, "warnings": []},
    {"data": {"results": [{"x": 1}], "job": {}, "jobs": 5, "content": 5}},
    {"data": {"results": [], "job": {"id": "j"}, "content": ""}, "warnings": 5},
    {"data": [], "warnings": []},
)


@pytest.mark.parametrize("reply", FOREIGN, ids=range(len(FOREIGN)))
async def test_a_foreign_reply_is_not_taken_for_one_of_vault_agent(run: Run, reply: object):
    async def answer(_request: web.Request) -> web.Response:
        return web.json_response(reply)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with TestServer(app) as foreign:
        endpoint = str(foreign.make_url("")).rstrip("/")
        asked = (("search", "x"), ("index",), ("jobs",), ("get", "note", NOTE))
        for ended in await asyncio.gather(*(run(*each, "--endpoint", endpoint) for each in asked)):
            assert ended.code == 1
            assert ended.err.startswith(
                f"SERVER_UNAVAILABLE: What answers at {endpoint} is not vault-agent. "
            )
