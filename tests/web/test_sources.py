"""Rules for the page's own files: what may import what, and where words and colours are written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from vault_agent.api.note_writes import WriteMode
from vault_agent.memory.promotion import PROMOTE, SUPERSEDE, UNDO
from vault_agent.model.jobs import JobKind

PAGE = Path(__file__).parents[2] / "src" / "vault_agent" / "web"
APP = PAGE / "app"
MODULES = sorted(APP.rglob("*.js"))
SHEETS = sorted((PAGE / "css").glob("*.css"))
IMPORT = re.compile(
    r"""^(?:import|export)\b[^;"']*?from\s+"([^"]+)"|^import\s+"([^"]+)\"""", re.MULTILINE
)
LATER = re.compile(r'\bimport\("([^"]+)"\)')
WORKER = re.compile(r'new URL\("([^"]+\.js)", import\.meta\.url\)')
LINES = 500  # as in Python: a template has a line for each element and attribute
COLUMNS = 120

# From the bottom up. A module imports from its own floor and from those below, and a view nothing
# of another view but the frame.
FLOORS = ("vendor", "words", "wire", "state", "parts", "workers", "views", "main")
ALONE = {
    "wire": "wire",
    "events": "wire",
    "trust": "wire",
    "words": "words",
    "words-later": "words",
    "main": "main",
}


def floor_of(module: Path) -> str:
    first = module.relative_to(PAGE).parts
    if first[0] != "app":
        return first[0]
    return first[1] if len(first) > 2 else ALONE[module.stem]


def imports_of(module: Path) -> list[Path]:
    text = module.read_text("utf-8")
    names = [one or other for one, other in IMPORT.findall(text)] + LATER.findall(text)
    return [(module.parent / name).resolve() for name in names]


def own_modules() -> list[Path]:
    return [each for each in MODULES if each.name != "start.js"]


def test_imports_point_down():
    for module in own_modules():
        mine = FLOORS.index(floor_of(module))
        for imported in imports_of(module):
            assert imported.is_file(), (module, imported)
            assert FLOORS.index(floor_of(imported)) <= mine, (module, imported)
            if floor_of(module) == floor_of(imported) == "views":
                assert imported.parent.name in (module.parent.name, "frame"), (module, imported)


def test_no_module_imports_itself_by_way_of_others():
    graph = {module: imports_of(module) for module in own_modules()}

    def reached(module: Path, seen: tuple[Path, ...]) -> None:
        assert module not in seen, [each.name for each in (*seen, module)]
        text = module.read_text("utf-8") if module in graph else ""
        later = {(module.parent / name).resolve() for name in LATER.findall(text)}
        for each in graph.get(module, ()):
            if each not in later:
                reached(each, (*seen, module))

    reached(APP / "main.js", ())


def test_only_the_wire_fetches_and_only_the_policy_makes_html():
    for module in MODULES:
        text = module.read_text("utf-8")
        name = module.relative_to(APP).as_posix() if module.is_relative_to(APP) else module.name
        assert ("fetch(" in re.sub(r"\b(?!fetch\()\w*[fF]etch\w+\(", "", text)) is (
            name == "wire.js"
        ), name
        made = re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser", text)
        # The second one runs in a sandboxed frame, which is not the page.
        assert bool(made) is (name in ("trust.js", "workers/diagrams.js")), name
        assert not re.search(r"XMLHttpRequest|EventSource|WebSocket|sendBeacon", text), name
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text), name


def test_modules_are_short():
    for module in MODULES:
        assert len(module.read_text("utf-8").splitlines()) <= LINES, module.name


def test_lines_are_short():
    """The formatter leaves templates, strings and comments as they are."""
    for module in (*MODULES, *SHEETS):
        lines = enumerate(module.read_text("utf-8").splitlines(), start=1)
        assert not [number for number, line in lines if len(line) > COLUMNS], module.name


def test_the_page_loads_the_modules_of_its_first_view_together():
    waiting, closure = [APP / "main.js"], []
    while waiting:
        module = waiting.pop(0)
        if module not in closure:
            closure.append(module)
            text = module.read_text("utf-8")
            waiting += [(module.parent / (a or b)).resolve() for a, b in IMPORT.findall(text)]
    shell = (PAGE / "index.html").read_text("utf-8")
    listed = re.findall(r'rel="modulepreload" href="\{\{assets\}\}/([^"]+)"', shell)
    assert sorted(listed) == sorted(
        each.relative_to(PAGE).as_posix() for each in closure if each.name != "main.js"
    )
    assert len(listed) + len(re.findall(r'rel="stylesheet"', shell)) <= 24  # and three more


def test_every_sheet_is_loaded_in_one_way():
    shell = (PAGE / "index.html").read_text("utf-8")
    first = re.findall(r'rel="stylesheet" href="\{\{assets\}\}/css/([^"]+)"', shell)
    later = {
        name
        for module in MODULES
        for name in re.findall(r'(?:use|load)Sheet\("([^"]+)"\)', module.read_text("utf-8"))
    }
    assert not later & set(first)
    assert sorted([*first, *later]) == [sheet.name for sheet in SHEETS]


def test_operations_and_jobs_have_words():
    text = (APP / "words-later.js").read_text("utf-8")
    source = "".join(file.read_text("utf-8") for file in PAGE.parent.rglob("*.py"))
    named = r'(?:make_write\(\s*call\.caller, request, |\bWrite\(operation=)"([^"]+)"'
    operations = [*re.findall(named, source), *get_args(WriteMode), PROMOTE, UNDO, SUPERSEDE]
    phases = re.findall(r'\.phase,? ?\(?"(\w+)"', source)
    assert len(operations) > 18
    assert len(phases) > 6
    for group, names in (("operations", operations), ("phases", phases), ("kinds: {", JobKind)):
        words = text.rpartition(f"    {group}")[2].partition("}")[0]
        assert set(names) <= set(re.findall(r'"?([\w/]+)"?: "', words)), group


def test_workers_and_later_modules_exist():
    for module in MODULES:
        for name in WORKER.findall(module.read_text("utf-8")):
            assert (module.parent / name).resolve().is_file(), name


def test_only_tokens_have_colours_sizes_and_durations():
    value = re.compile(
        r"#[0-9a-fA-F]{3,8}\b|\b(?:rgb|hsl|oklch)a?\(|(?<![\w-])-?\d*\.?\d+(?:px|rem|m?s)\b"
    )
    for sheet in SHEETS:
        if sheet.name == "tokens.css":
            continue
        text = re.sub(r"/\*.*?\*/", "", sheet.read_text("utf-8"), flags=re.DOTALL)
        text = re.sub(r"@media [^{]*\{", "{", text)  # no variables there
        assert not value.findall(text), sheet.name


def test_layout_is_logical():
    physical = re.compile(
        r"(?<![\w-])(?:left|right|top|bottom|width|height|min-width|max-width|min-height|max-height"
        r"|(?:margin|padding|border|inset)-(?:left|right|top|bottom))\s*:"
        r"|text-align:\s*(?:left|right)|float:"
    )
    for sheet in SHEETS:
        text = re.sub(r"/\*.*?\*/", "", sheet.read_text("utf-8"), flags=re.DOTALL)
        text = re.sub(r"@media [^{]*\{", "{", text)
        assert not physical.findall(text), sheet.name


def test_every_variable_is_a_token():
    tokens = set(re.findall(r"(--[\w-]+):", (PAGE / "css" / "tokens.css").read_text("utf-8")))
    for sheet in SHEETS:
        text = sheet.read_text("utf-8")
        own = set(re.findall(r"(--[\w-]+):", text))
        assert set(re.findall(r"var\((--[\w-]+)", text)) <= tokens | own, sheet.name


# --- contrast (WCAG 2.2, 1.4.3 and 1.4.11) --------------------------------------------------------


def themes() -> dict[str, dict[str, str]]:
    text = (PAGE / "css" / "tokens.css").read_text("utf-8")
    light = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6,8});", text.split("[data-theme")[0]))
    dark = dict(
        re.findall(
            r"--([\w-]+): (#[0-9a-f]{6,8});", text.split('[data-theme="dark"] {')[1].split("}")[0]
        )
    )
    return {"light": light, "dark": {**light, **dark}}


def rgb(colour: str, ground: tuple[float, ...] = (0, 0, 0)) -> tuple[float, ...]:
    parts = [int(colour[at : at + 2], 16) for at in range(1, len(colour), 2)]
    share = parts[3] / 255 if len(parts) == 4 else 1.0
    return tuple(
        part * share + under * (1 - share) for part, under in zip(parts, ground, strict=False)
    )


def contrast(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    def luminance(colour: tuple[float, ...]) -> float:
        linear = [
            part / 255 / 12.92 if part <= 10.31 else ((part / 255 + 0.055) / 1.055) ** 2.4
            for part in colour
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


GROUNDS = ("canvas", "paper")
PAIRS = [
    *((ink, ground, 4.5) for ink in ("ink", "ink-2", "ink-3", "accent", "danger", "warn", "ok") for ground in GROUNDS),
    *((ink, "raised", 4.5) for ink in ("ink", "ink-2", "ink-3", "accent")),
    *((kind, ground, 3.0) for kind in ("journal", "decision", "module", "note", "pattern", "bug", "snippet") for ground in GROUNDS),
    *((f"group-{at}", ground, 3.0) for at in range(12) for ground in GROUNDS),
    *((ink, "sunken", 4.5) for ink in ("ink", "ink-2")),
    ("ink-2", "tag", 4.5), ("accent-ink", "accent", 4.5), ("accent", "accent-wash", 4.5),
    ("mark-ink", "mark", 4.5), ("warn", "warn-wash", 4.5), ("danger", "danger-wash", 4.5),
    ("ok", "ok-wash", 4.5), ("journal", "info-wash", 4.5), ("pattern", "plum-wash", 4.5),
    ("ink-2", "quiet-wash", 4.5), ("ink", "warn-wash", 4.5), ("line-strong", "paper", 3.0),
]  # fmt: skip


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_inks_and_shapes_stand_out(theme: str):
    colours = themes()[theme]
    paper = rgb(colours["paper"])
    weak = [
        f"{ink} on {ground}: {ratio:.2f}"
        for ink, ground, least in PAIRS
        if (ratio := contrast(rgb(colours[ink]), rgb(colours[ground], paper))) < least
    ]
    assert not weak
