"""The architecture holds: imports point one way, and each room keeps to its trade."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "vault_agent"
MODULES = sorted(PACKAGE.rglob("*.py"))

VALUES = {"cancelling", "errors", "lexical", "model", "names", "text"}
ROOMS = {"markdown", "ranking", "vault", "store", "embedding", "config"}
WORK = {"actions", "checks", "jobs", "process", "workers"}
ROOTS = {"engine", "indexer"}

# What each room may import of the others. A room that is not named here fails the test, so that a
# new one gets its place on purpose. TYPE_CHECKING imports count: a type is a dependency too.
MAY_IMPORT: dict[str, set[str]] = {
    **dict.fromkeys(VALUES, VALUES),
    **dict.fromkeys(ROOMS, VALUES),
    **dict.fromkeys(WORK, VALUES | ROOMS - {"config"}),
    **dict.fromkeys(ROOTS, VALUES | ROOMS | WORK),
    "wire": VALUES,
    "server": VALUES | ROOMS | WORK | ROOTS | {"wire"},
    "client": VALUES | {"wire"},
    "cli": VALUES | {"client", "config", "wire"},
    "__main__": {"cli"},
}
# Only these commands start a server, and only inside a function: the others start quickly.
LAZY_SERVER = {"cli/serve.py", "cli/demo.py"}
# This one asks the embedding endpoint itself: it is there to help before a server runs.
LAZY_EMBEDDING = {"cli/embedding.py"}

# Third-party and standard modules that belong to one room.
# `text` asks tantivy for nothing but its stemmer: notes and queries must pass the very same one.
OWNED_BY = {"aiosqlite": {"store"}, "sqlite3": {"store"}, "tantivy": {"store", "text"}}
PURE = {"markdown", "ranking"}
IMPURE = {"aiohttp", "anyio", "asyncio", "io", "os", "pathlib", "shutil", "socket", "subprocess"}


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


def violations(module: Path, source: str) -> list[str]:
    """Return what a module imports against the rules, one line each."""
    room, place = room_of(module), module.relative_to(PACKAGE).as_posix()
    found = [] if room in MAY_IMPORT else [f"{place}: MAY_IMPORT gives {room} no place"]
    for name, line, column in imports(ast.parse(source), module):
        top, _, rest = name.partition(".")
        if top == "vault_agent":
            target = rest.partition(".")[0]
            own = target in ("", room, "__version__")
            places = {"server": LAZY_SERVER, "embedding": LAZY_EMBEDDING}.get(target, set())
            lazy = place in places and column > 0
            allowed = own or lazy or target in MAY_IMPORT.get(room, set())
        else:
            allowed = room in OWNED_BY.get(top, {room}) and not (room in PURE and top in IMPURE)
        if not allowed:
            found.append(f"{place}:{line} imports {name}")
    return found


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.relative_to(PACKAGE).as_posix())
def test_imports_point_one_way(module: Path):
    if room_of(module) != "__init__":
        assert violations(module, module.read_text("utf-8")) == []


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.relative_to(PACKAGE).as_posix())
def test_a_module_can_be_read_in_one_sitting(module: Path):
    assert len(module.read_text("utf-8").splitlines()) <= 500


@pytest.mark.parametrize(
    ("place", "source"),
    [
        ("markdown/links.py", "from vault_agent.ranking import query"),  # siblings
        ("store/notes.py", "from ..vault import paths"),
        ("model.py", "from vault_agent import store"),  # upwards
        ("jobs.py", "from vault_agent.actions import index"),
        ("ranking/fuse.py", "if TYPE_CHECKING:\n    from vault_agent.store import Row"),
        ("cli/search.py", "def run():\n    from vault_agent.server import app"),  # not lazily
        ("cli/serve.py", "from vault_agent.server import app"),  # not at the top
        ("actions/search.py", "from vault_agent.config import Config"),  # reads settings
        ("server/app.py", "import sqlite3"),  # another room's trade
        ("engine.py", "import tantivy"),
        ("markdown/parse.py", "from pathlib import Path"),  # I/O in a pure room
    ],
)
def test_a_wrong_import_is_found(place: str, source: str):
    assert violations(PACKAGE / place, source)


def test_the_version_costs_no_import():
    """`vault_agent` itself imports nothing, so that `--version` waits for nothing."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text("utf-8"))
    assert imports(tree, PACKAGE / "__init__.py") == []
