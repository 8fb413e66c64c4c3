"""The page of faults, made from the tests that are marked with one."""

from __future__ import annotations

import ast
from pathlib import Path

from docs.make.markdown import joined, table

TESTS = Path(__file__).parents[2] / "tests"
_AREAS = (
    "Paths",
    "HTTP and access",
    "Note contents",
    "Attachments",
    "Queries",
    "Links and the graph",
    "The index",
    "Watching",
    "Jobs",
    "The embedding endpoint",
    "The reranker",
    "Agents",
    "Writing",
    "Names, tasks, templates",
    "Several vaults",
    "Sessions, journals and memory of agents",
    "Commands",
    "The web page",
    "Secrets and logs",
)
"""The sections of the page: the first argument of `@pytest.mark.fault`."""

_HEAD = """\
# Faults

The cases that can go wrong, each with its outcome. In every case the error has a stable
[code](../docs/reference/codes.md), and its message contains no note text and no absolute path. The
notes stay unchanged, and the last complete index is kept. `make docs` writes this page from the
tests: each line has one or more."""


def page() -> str:
    """Return the page."""
    faults = [fault for file in sorted(TESTS.rglob("test_*.py")) for fault in _faults(file)]
    unknown = {area for area, _, _ in faults} - set(_AREAS)
    assert not unknown, f"sections of no page: {unknown}"
    parts = [_HEAD]
    for area in _AREAS:
        rows = [fault[1:] for fault in faults if fault[0] == area]
        parts += [f"## {area}", table(("Case", "What happens"), rows)]
    return joined(parts)


def _faults(file: Path) -> list[tuple[str, ...]]:
    """Return the section, the case and what happens, of each mark in a file."""
    text = file.read_text("utf-8")
    if "mark.fault(" not in text:
        return []
    return [
        tuple(ast.literal_eval(value) for value in decorator.args)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for decorator in node.decorator_list
        if isinstance(decorator, ast.Call)
        and isinstance(decorator.func, ast.Attribute)
        and decorator.func.attr == "fault"
    ]
