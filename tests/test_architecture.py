"""The architecture rules: layered imports and restricted modules."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.abc import AbstractStreamWriter

PACKAGE = Path(__file__).parent.parent / "src" / "vault_agent"
MODULES = sorted(PACKAGE.rglob("*.py"))

# Imports point down, and rooms on one floor never import each other. A room that is not named here
# fails the test, so that a new one gets a deliberate place. TYPE_CHECKING imports count: a type
# is a dependency too.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("codes", "text"),
    ("errors",),
    ("model", "system"),
    (
        "vault",
        "store",
        "models",
        "extract",
        "markdown",
        "config",
    ),
    ("search", "indexing", "writing"),
    ("vaults",),
    ("memory",),
    ("app",),
    ("api",),
    ("mcp", "web", "client"),
    ("cli", "server"),
    ("__main__",),
)
FLOOR_OF = {room: number for number, floor in enumerate(FLOORS) for room in floor}
# Some rooms may import only part of what is below them.
SPEAKS_HTTP = {"codes", "errors", "model", "system"}
ONLY: dict[str, set[str]] = {
    "client": SPEAKS_HTTP,
    "cli": SPEAKS_HTTP | {"client", "config", "text"},
    "__main__": {"cli"},
}
# Only the composition root and the entry points read settings.
READS_SETTINGS = {"vaults", "memory", "app", "server", "cli"}
# Groups of modules within `store`: they share its other modules, and nothing else.
STORE_GROUPS = {"index", "fulltext", "vectors", "jobs", "write_log"}
# Only these commands start a server, and only inside a function: the others start quickly.
LAZY_SERVER = {"cli/serve.py", "cli/demo.py"}
# The relay for agents must start faster than the SDK can be imported.
ONLY_RELAY = {"cli/relay.py"}
RELAY = {f"vault_agent.mcp.{name}" for name in ("relay", "handshake", "tool")}
# These ask a model themselves, because they work without a server. One checks an endpoint by the
# server's own rule when it is set.
LAZY_MODELS = {"cli/doctor.py", "cli/config.py"}
# These read and keep events of sessions themselves, because they work without a server.
LAZY_EVENTS = {"cli/hook.py", "cli/memory.py"}

LAZY = {
    "server": LAZY_SERVER,
    "models": LAZY_MODELS,
    "memory": LAZY_EVENTS,
}

# Third-party and standard modules that belong to one room.
# `text` uses only tantivy's stemmer: notes and queries must use the same one.
OWNED_BY = {"aiosqlite": {"store"}, "sqlite3": {"store"}, "tantivy": {"store", "text"}}
PURE = {"markdown"}
IMPURE = {"aiohttp", "anyio", "asyncio", "io", "os", "pathlib", "shutil", "socket", "subprocess"}


# Documented despite the underscore: namedtuple's methods and os._exit.
DOCUMENTED = {"_asdict", "_exit", "_field_defaults", "_fields", "_make", "_replace"}
# Uses of private names: module, name -> the package it belongs to. None is the standard library.
# Every such package needs an upper bound in pyproject.toml.
PRIVATE_USES: dict[tuple[str, str], str | None] = {
    ("store/database.py", "_thread"): "aiosqlite",
    ("store/database.py", "_conn"): "aiosqlite",
    ("store/database.py", "_execute"): "aiosqlite",
}
# Undocumented parts that are used, although they have no underscore.
UNDOCUMENTED = {"aiohttp": "server/connection.py", "mcp": "mcp/exchange.py"}


def room_of(module: Path) -> str:
    """Return the top-level name a module belongs to: its folder's, or its own."""
    return module.relative_to(PACKAGE).with_suffix("").parts[0]


def imports(tree: ast.AST, module: Path) -> list[tuple[str, int, int]]:
    """Return every imported dotted name, absolute, with its line and column."""
    package = ("vault_agent", *module.relative_to(PACKAGE).parent.parts)
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno, node.col_offset) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            name = ".".join((*base, *((node.module,) if node.module else ())))
            # `from vault_agent import model` names a room as surely as `from vault_agent.model`.
            names = [f"{name}.{a.name}" for a in node.names] if name == "vault_agent" else [name]
            found += [(each, node.lineno, node.col_offset) for each in names]
    return found


def may_import(room: str, target: str) -> bool:
    """Whether modules of `room` may import modules of the room `target`."""
    if target == "config" and room not in READS_SETTINGS:
        return False
    if room in ONLY and target not in ONLY[room]:
        return False
    return FLOOR_OF.get(target, len(FLOORS)) < FLOOR_OF.get(room, -1)


def crosses_groups(module: Path, name: str) -> bool:
    """Whether a module of one group of `store` imports another group."""
    _, *own = module.relative_to(PACKAGE).with_suffix("").parts
    groups = [part for part in (own[0], *name.split(".")[2:3]) if part in STORE_GROUPS]
    return len(set(groups)) > 1


def violations(module: Path, source: str) -> list[str]:
    """Return what a module imports against the rules, one line each."""
    room, place = room_of(module), module.relative_to(PACKAGE).as_posix()
    found = [] if room in FLOOR_OF else [f"{place}: FLOORS gives {room} no place"]
    for name, line, column in imports(ast.parse(source), module):
        top, _, rest = name.partition(".")
        if top == "vault_agent":
            target = rest.partition(".")[0]
            own = target in ("", room, "__version__")
            places = LAZY.get(target, set())
            lazy = place in places and column > 0
            relay = name in RELAY and place in ONLY_RELAY
            allowed = own or lazy or relay or may_import(room, target)
            if room == target == "store" and crosses_groups(module, name):
                allowed = False
        else:
            allowed = room in OWNED_BY.get(top, {room}) and not (room in PURE and top in IMPURE)
        if not allowed:
            found.append(f"{place}:{line} imports {name}")
    return found


def test_imports_follow_the_layers():
    wrong = [
        each
        for module in MODULES
        if room_of(module) != "__init__"
        for each in violations(module, module.read_text("utf-8"))
    ]
    assert wrong == []


def file_imports() -> dict[str, set[str]]:
    """Return the files that each file of the package imports, by dotted names."""
    files = {}
    for module in MODULES:
        *parents, last = ("vault_agent", *module.relative_to(PACKAGE).with_suffix("").parts)
        files[".".join(parents if last == "__init__" else (*parents, last))] = module
    found: dict[str, set[str]] = {}
    for file, module in files.items():
        tree = ast.parse(module.read_text("utf-8"))
        named = found[file] = set()
        for node in ast.walk(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                for name, _, _ in imports(node, module):
                    # `from a import b` means the file `a/b.py` where there is one, else `a`.
                    whole = {f"{name}.{alias.name}" for alias in node.names}
                    named |= (whole & files.keys()) or ({name} & files.keys())
        named.discard(file)
    return found


def circles(graph: dict[str, set[str]]) -> set[frozenset[str]]:
    """Return the groups of files that import each other, also over others."""
    reached: dict[str, set[str]] = {}
    for start in graph:
        seen: set[str] = set()
        left = [start]
        while left:
            new = graph[left.pop()] - seen
            seen |= new
            left += new
        reached[start] = seen
    return {
        frozenset({other for other in reached[file] if file in reached[other]})
        for file in graph
        if file in reached[file]
    }


def test_no_files_import_each_other():
    assert not circles(file_imports())


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        ({"a": {"b"}, "b": {"c"}, "c": set()}, set()),
        ({"a": {"b"}, "b": {"c"}, "c": {"b"}}, {frozenset("bc")}),
        ({"a": {"b"}, "b": {"c"}, "c": {"a"}}, {frozenset("abc")}),
    ],
)
def test_a_circle_is_found(graph: dict[str, set[str]], expected: set[frozenset[str]]):
    assert circles(graph) == expected


BUDGETS = Path(__file__).parent.parent / "docs" / "architecture.md"
_ROW = re.compile(r"^\| \d+ \| `(\w+)/?` \| ([\d,]+) \|", re.MULTILINE)


def code_lines(module: Path) -> int:
    """Return the lines of a module that are not blank, and no comments, docstrings or imports."""
    text = module.read_text("utf-8")
    skipped: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        is_docstring = (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        )
        if is_docstring or isinstance(node, ast.Import | ast.ImportFrom):
            skipped |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(map(str.strip, text.splitlines()), 1)
    return sum(bool(line) and not line.startswith("#") and n not in skipped for n, line in lines)


def test_no_module_defines_a_constant_twice():
    """The second value would be that of all functions, also of those above it."""
    twice = []
    for module in MODULES:
        names = [
            name.id
            for statement in ast.parse(module.read_text("utf-8")).body
            if isinstance(statement, ast.Assign)
            for name in statement.targets
            if isinstance(name, ast.Name)
        ]
        twice += [(module.name, name) for name in set(names) if names.count(name) > 1]
    assert twice == []


def test_no_room_is_over_its_budget():
    """A change that makes a room smaller lowers its budget in docs/architecture.md."""
    rows = _ROW.findall(BUDGETS.read_text("utf-8"))
    budgets = {room: int(lines.replace(",", "")) for room, lines in rows}
    sizes: dict[str, int] = {}
    for module in MODULES:
        room = room_of(module)
        sizes[room] = sizes.get(room, 0) + code_lines(module)
    del sizes["__init__"], sizes["__main__"]
    assert sizes.keys() == budgets.keys()
    assert {room: size for room, size in sizes.items() if size > budgets[room]} == {}


@pytest.mark.parametrize(
    ("place", "source"),
    [
        ("markdown/links.py", "from vault_agent.store import layout"),  # siblings
        ("store/index/notes.py", "from ...vault import paths"),
        ("store/index/notes.py", "from vault_agent.store.fulltext import reader"),  # groups
        ("store/jobs.py", "from vault_agent.store.index import notes"),
        ("model/notes.py", "from vault_agent import store"),  # upwards
        ("search/search.py", "from vault_agent.vaults import jobs"),
        ("indexing/index.py", "from vault_agent.search import lexical"),
        ("search/rank.py", "if TYPE_CHECKING:\n    from vault_agent.indexing import index"),
        ("attic/new.py", "import json"),  # a room without a place
        ("cli/search.py", "def run():\n    from vault_agent.server import app"),  # not lazily
        ("cli/serve.py", "from vault_agent.server import app"),  # not at the top
        ("cli/search.py", "from vault_agent.vaults import jobs"),  # past the client
        ("search/search.py", "from vault_agent.config.settings import Config"),  # reads settings
        ("server/app.py", "import sqlite3"),  # another room's trade
        ("vaults/vaults.py", "import tantivy"),
        ("markdown/parse.py", "from pathlib import Path"),  # I/O in a pure room
    ],
)
def test_a_wrong_import_is_reported(place: str, source: str):
    assert violations(PACKAGE / place, source)


def test_the_version_needs_no_import():
    """`vault_agent` itself imports nothing, so that `--version` is fast."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text("utf-8"))
    assert imports(tree, PACKAGE / "__init__.py") == []


def is_private(name: str | None) -> bool:
    return bool(name) and name.startswith("_") and not name.startswith("__")


def own_names(trees: Iterable[ast.AST]) -> set[str]:
    """Return every name that our definitions, assignments and parameters introduce."""
    names = set()
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
    return names


def private_uses(tree: ast.AST, own: set[str]) -> set[str]:
    """Return the private names of other packages that a module uses."""
    used = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            used.add(node.attr)
        elif isinstance(node, ast.keyword):
            used.add(node.arg)
        elif isinstance(node, ast.ImportFrom) and not (node.module or "").startswith("vault_agent"):
            used |= {alias.name for alias in node.names}
    return {name for name in used if is_private(name)} - own - DOCUMENTED


def test_private_names_of_libraries_are_used_only_as_listed():
    trees = {module: ast.parse(module.read_text("utf-8")) for module in MODULES}
    own = own_names(trees.values())
    used = {
        (module.relative_to(PACKAGE).as_posix(), name)
        for module, tree in trees.items()
        for name in private_uses(tree, own)
    }
    assert used <= PRIVATE_USES.keys()


@pytest.mark.parametrize(
    "source",
    [
        "thing._private()",
        "thing.other._private = thing._other",
        "make(_private=1)",
        "from lib import _private",
    ],
)
def test_a_private_name_is_reported(source: str):
    assert private_uses(ast.parse(source), set())


def test_packages_with_undocumented_uses_have_an_upper_bound():
    project = tomllib.loads((PACKAGE.parents[1] / "pyproject.toml").read_text("utf-8"))
    bounded = {
        requirement.partition(">=")[0]
        for requirement in project["project"]["dependencies"]
        if "<" in requirement
    }
    assert {*filter(None, PRIVATE_USES.values()), *UNDOCUMENTED} <= bounded


def test_the_undocumented_parts_of_aiohttp_still_exist():
    """The library documents none of this; server/connection.py, gate.py and body.py rely on it."""
    finish = inspect.signature(web.RequestHandler.finish_response)
    assert list(finish.parameters) == ["self", "request", "resp", "start_time"]
    assert inspect.iscoroutinefunction(web.RequestHandler.finish_response)
    made_with = inspect.signature(web.RequestHandler).parameters
    wanted = {"keepalive_timeout", "lingering_time", "max_line_size", "max_field_size"}
    assert wanted | {"access_log", "auto_decompress", "loop"} <= made_with.keys()
    for name in ("connection_made", "connection_lost", "pause_writing", "resume_writing"):
        assert callable(getattr(web.RequestHandler, name))
    for name in ("handle_error", "log_exception", "force_close", "close"):
        assert callable(getattr(web.RequestHandler, name))
    assert AbstractStreamWriter.output_size == 0
