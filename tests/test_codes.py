"""Every error, warning and page agrees with the table of codes."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from vault_agent import errors
from vault_agent.api.operations import OPERATIONS
from vault_agent.cli.command import Exit, exit_code
from vault_agent.codes import CODES, Remedy
from vault_agent.errors import Misconfigured, VaultAgentError, error_of, explained
from vault_agent.mcp.text import for_models
from vault_agent.store.failures import disk_full

PACKAGE = Path(__file__).parent.parent / "src" / "vault_agent"
CLASSES = {
    name
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, VaultAgentError)
}
WARNINGS = {"Warning", "Notice", "WarningData", "notice"}
# A command line that a message tells the user to run.
COMMAND = re.compile(r"vault-agent (index|reindex|serve|jobs|config|search|get|status)\b")
# The command line's help.
SAYS_COMMANDS = "cli/"


def calls() -> list[tuple[str, str, str]]:
    """Return every call with a code, as (place, function name, code)."""
    found = []
    for module in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(module.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            first = node.args[0]
            if name in CLASSES | WARNINGS | {"explained"} and isinstance(first, ast.Constant):
                place = f"{module.relative_to(PACKAGE).as_posix()}:{node.lineno}"
                found.append((place, name, str(first.value)))
    return found


def test_every_error_has_a_listed_code_and_its_class():
    raised = [each for each in calls() if each[1] in CLASSES]
    assert len(raised) > 50
    for place, name, code in raised:
        kind = CODES[code].error
        assert kind is not None, place
        assert kind == name, f"{place}: {code} is {kind}"


def test_a_message_before_a_remedy_is_a_sentence():
    for module in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(module.read_text("utf-8"))):
            name = getattr(getattr(node, "func", None), "id", "")
            if name not in CLASSES | {"explained"} or len(node.args) < 2:
                continue
            code, what = node.args[:2]
            what = what.values[-1] if isinstance(what, ast.JoinedStr) else what
            if not isinstance(code, ast.Constant) or not isinstance(what, ast.Constant):
                continue
            if CODES[code.value].remedy and not any(each.arg == "remedy" for each in node.keywords):
                assert what.value.endswith((".", "?")), f"{module.name}:{node.lineno}"


def test_every_warning_has_a_listed_code():
    warned = [(place, code) for place, name, code in calls() if name in WARNINGS | {"explained"}]
    assert len(warned) > 10
    assert {code for _, code in warned} <= CODES.keys()


def test_only_the_commands_name_commands_to_run():
    for module in sorted(PACKAGE.rglob("*.py")):
        name = module.relative_to(PACKAGE).as_posix()
        if name.startswith(SAYS_COMMANDS):
            continue
        for node in ast.walk(ast.parse(module.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not COMMAND.search(node.value), f"{name}:{node.lineno}"


def test_a_remedy_is_a_sentence_with_commands_in_backquotes():
    for code, known in CODES.items():
        for remedy in filter(None, (known.remedy, known.indexing)):
            for text in filter(None, remedy if isinstance(remedy, Remedy) else (remedy,)):
                assert text[0].isupper(), code
                assert text.endswith("."), code
                assert not COMMAND.search(re.sub(r"`[^`]*`", "", text)), code


def test_only_a_terminal_is_told_of_commands():
    for code, known in CODES.items():
        sent = known.error is None or known.status is not None
        for remedy in (known.remedy, known.indexing):
            told = remedy.http if isinstance(remedy, Remedy) else remedy
            assert not (sent and "`vault-agent " in told), code
            tools = remedy.tools if isinstance(remedy, Remedy) else ""
            assert "`vault-agent " not in tools + known.for_tools, code


def test_a_remedy_names_fields_that_a_request_takes():
    fields = {field.key for operation in OPERATIONS for field in operation.fields}
    named = re.compile(r"`([a-z]+[A-Z]?[A-Za-z]*)(?:: [^`]*)?`|\b([a-z]+[A-Z][A-Za-z]*)\b")
    for code, known in CODES.items():
        for remedy in (known.remedy, known.indexing):
            text = remedy.http if isinstance(remedy, Remedy) else remedy
            for match in named.finditer(re.sub(r"\{\w+\}", "", text)):
                assert (match[1] or match[2]) in {*fields, "contentHash"}, code


def test_an_error_is_worded_where_it_is_shown():
    error = Misconfigured("FEATURE_DISABLED", "This is off.", {"setting": "web.enabled"})
    message, details = error.over_http()
    assert message == "This is off. Set web.enabled to true."
    assert error_of("FEATURE_DISABLED", message, details).message == error.message
    assert error.message == "This is off. Run `vault-agent enable web`."
    assert for_models(error.code, message, details) == "This is off. Ask the user to turn it on."
    assert error.again().over_http() == (message, details)


def test_every_class_and_exit_code_of_the_table_is_defined():
    assert {known.error for known in CODES.values() if known.error} <= CLASSES
    assert {known.exit for known in CODES.values() if known.exit} <= set(Exit)


@pytest.mark.parametrize(
    ("code", "expected"), [("HASH_MISMATCH", 7), ("NOTE_BUSY", 7), ("OF_TOMORROW", 1)]
)
def test_an_error_gives_the_listed_exit_code(code: str, expected: int):
    assert exit_code(error_of(code, "")) == expected


def test_a_raise_can_replace_or_omit_the_remedy():
    assert Misconfigured("VAULT_NOT_FOUND", "Gone.", remedy="Mount it.").message == (
        "Gone. Mount it."
    )
    assert Misconfigured("VAULT_NOT_FOUND", "Gone.", remedy="").message == "Gone."


def test_while_a_job_runs_the_remedy_is_to_wait():
    assert explained("INDEX_STALE", "Old.") == (
        "Old. Run `vault-agent index` to bring the index up to date."
    )
    assert explained("INDEX_STALE", "Old.", indexing=True) == (
        "Old. The running job brings the index up to date."
    )


def test_a_remedy_without_its_detail_is_omitted():
    assert explained("INDEX_BUSY", "A job runs.") == "A job runs."
    assert "jobs follow j-1" in explained("INDEX_BUSY", "A job runs.", {"jobId": "j-1"})


def test_a_full_disk_does_not_promise_an_index_where_there_may_be_none():
    assert disk_full().message == (
        "There is no room left for the index. An index that was complete before still serves."
        " Free some space, then run `vault-agent index` again."
    )
