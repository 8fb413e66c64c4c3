"""`--json` prints one document: the data with the warnings of the server, or an error."""

from __future__ import annotations

import ast
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import asyncclick as click
import pytest
from tests.support.homes import at_home

from vault_agent.cli.command import Exit, Invocation
from vault_agent.cli.run import program, run
from vault_agent.cli.uninstall import Step, end
from vault_agent.errors import Failed

CLI = Path(__file__).parent.parent.parent / "src" / "vault_agent" / "cli"
SERVES = {"serve", "mcp", "demo", "setup", "ui"}
"""Top commands that start a server, or ask the system for one."""
HOOK = ("memory", "hook")
"""It speaks to agents, in their form."""
REFUSAL = {"error": {"code": "FORBIDDEN", "message": "Refused.", "details": {}}}


def leaves(group: click.Group, *names: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield each command with its names."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from leaves(command, *names, name)
        elif command is not None and not SERVES & {*names, name}:
            yield (*names, name), command


LEAVES = dict(leaves(program))


def arguments(command: click.Command) -> list[str]:
    """Return a text for each argument that must be there."""
    return [
        parameter.type.choices[0] if isinstance(parameter.type, click.Choice) else "x"
        for parameter in command.params
        if isinstance(parameter, click.Argument) and parameter.required
    ]


@pytest.fixture(scope="module")
def refusing() -> Iterator[str]:
    """Run a server that refuses everything, and return its address."""

    class Refusing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(REFUSAL).encode()
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(403)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_DELETE = do_PUT = do_GET  # noqa: N815 - their names

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("names", [names for names in LEAVES if names != HOOK], ids=" ".join)
def test_every_command_prints_one_document(
    names: tuple[str, ...],
    refusing: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
):
    for name, value in at_home(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("VAULT_AGENT_SERVER_ENDPOINT", refusing)
    monkeypatch.chdir(tmp_path)
    code = run(["--json", *names, *arguments(LEAVES[names])])
    (document,) = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert set(document) in ({"data", "warnings"}, {"error"})
    assert "data" in document or code != Exit.SUCCESS


@pytest.mark.parametrize("group", ["edit", "get", "get note"])
def test_a_group_without_a_command_is_one_error(group: str, capfd: pytest.CaptureFixture[str]):
    assert run(["--json", *group.split()]) == Exit.USAGE
    error = json.loads(capfd.readouterr().out)["error"]
    assert error["code"] == "INVALID_REQUEST"
    assert error["message"].endswith(f" See `vault-agent {group} --help`.")


WITHOUT_WARNINGS = {"get.attachment", "graph.export", "setup._show"}
"""Functions whose document says what was done here, with the bytes of a reply."""


def test_no_document_drops_the_warnings_of_a_reply():
    for module in sorted(CLI.glob("*.py")):
        for function in ast.walk(ast.parse(module.read_text("utf-8"))):
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            place = f"{module.stem}.{function.name}"
            names = [n.attr for n in ast.walk(function) if isinstance(n, ast.Attribute)]
            names += [n.id for n in ast.walk(function) if isinstance(n, ast.Name)]
            asks = {"call", "calls", "reply", "replies", "ask_each", "_context"} & set(names)
            for call in ast.walk(function):
                if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "envelope":
                    told = len(call.args) == 2 or not asks or place in WITHOUT_WARNINGS
                    assert told, f"{place}:{call.lineno}"


def test_what_could_not_be_removed_is_in_the_one_document(capfd: pytest.CaptureFixture[str]):
    done, failed = (Step("a file", place, lambda: None) for place in ("~/gone", "~/there"))
    with pytest.raises(Failed) as refused:
        end(Invocation(json=True), [done], [failed], ["your notes"])
    assert capfd.readouterr().out == ""  # the error is the document
    assert refused.value.details == {
        "removed": [{"what": "a file", "place": "~/gone"}],
        "stays": ["your notes", "~/there"],
    }
