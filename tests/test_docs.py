"""The documentation and the demo are vaults without broken links."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import asyncclick as click
import pytest
from docs.make import CODES_PAGE, NOT_DESCRIBED, pages
from docs.words import faults, passages, vague_names
from tests.support.broken_links import broken_links

from vault_agent.cli.command import Invocation
from vault_agent.cli.run import program
from vault_agent.markdown.parse import parse_note
from vault_agent.model.link_resolver import LinkResolver
from vault_agent.model.notes import ParsedNote

ROOT = Path(__file__).parent.parent
# This note of the demo is missing on purpose.
UNWRITTEN = "Cold frame"


def read_vault(root: Path) -> tuple[dict[str, ParsedNote], LinkResolver]:
    """Return the notes of a folder by path, and the resolver of their links."""
    paths = sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file())
    notes = {
        path: parse_note((root / path).read_text("utf-8"), path=path)
        for path in paths
        if path.endswith(".md")
    }
    others = [path for path in paths if path not in notes]
    return notes, LinkResolver([(path, note.aliases) for path, note in notes.items()], others)


def broken(root: Path) -> list[str]:
    """Return every unresolved or ambiguous link of a vault."""
    return [
        f"{found.path}:{found.line}: {found.fault} {found.target}#{found.fragment}"
        for found in broken_links(root)
        if found.target != UNWRITTEN
    ]


@pytest.mark.parametrize("folder", ["docs", "fixtures/vault"])
def test_no_link_is_broken(folder: str):
    assert broken(ROOT / folder) == []


@pytest.mark.parametrize(
    "text",
    [
        "[gone](gone.md)",
        "[no such place](here.md#nowhere)",
        "[[gone]]",
        "[[here#Nowhere]]",
        "[[here#^nothing]]",
        "![[gone.png]]",
    ],
)
def test_a_broken_link_is_reported(tmp_path: Path, text: str):
    (tmp_path / "here.md").write_text(f"# Here\n\n[fine](here.md#here), [[here#Here]], {text}\n")
    assert len(broken(tmp_path)) == 1


def test_the_site_has_each_page_once():
    site = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))
    listed = re.findall(r"'([^']+\.md)'", repr(site["project"]["nav"]))
    assert sorted(listed) == sorted(read_vault(ROOT / "docs")[0])


def test_the_documentation_can_be_reached_from_its_index():
    """Every page is linked from index.md, or from a page that is."""
    notes, resolver = read_vault(ROOT / "docs")
    reached, waiting = set(), ["index.md"]
    while waiting:
        path = waiting.pop()
        if path in notes and path not in reached:
            reached.add(path)
            found = (resolver.resolve(path, x.target, x.kind).path for x in notes[path].links)
            waiting += [each for each in found if each]
    assert reached == set(notes)


def test_links_in_the_readme_lead_to_files():
    note = parse_note((ROOT / "README.md").read_text("utf-8"), path="README.md")
    assert note.links
    assert [x.target for x in note.links if not (ROOT / x.target).is_file()] == []


def test_every_module_that_a_page_names_exists():
    source = ROOT / "src" / "vault_agent"
    rooms = "|".join(path.name for path in source.iterdir() if path.is_dir())
    named = {
        (page.name, path)
        for page in (ROOT / "docs").rglob("*.md")
        for path in re.findall(rf"`((?:{rooms})/[\w/-]+\.\w+)`", page.read_text("utf-8"))
    }
    assert named
    assert [name for name in sorted(named) if not (source / name[1]).exists()] == []


def test_the_pages_made_from_the_program_are_those_of_now():
    """`make docs` writes them."""
    for path, text in pages().items():
        assert (ROOT / path).read_text("utf-8") == text, f"{path}: run `make docs`"


def routes_in(page: Path) -> set[tuple[str, str]]:
    """Return the routes that a page names, with `{}` for each of their parts that varies."""
    named = re.compile(r"`(GET|POST|DELETE) (?:/vaults/(?:V|\{vault\}))?(/[^`?…]*)(?:\?[^`]*)?`")
    found = named.findall(page.read_text("utf-8"))
    return {(method, re.sub(r"\{\w+\}|id:[^/]*", "{}", path)) for method, path in found}


def test_every_route_that_a_page_names_exists():
    routes = routes_in(ROOT / "docs/reference/routes.md") | {("POST", "/mcp")}
    assert len(routes) > 50
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    assert {page.name: gone for page in pages if (gone := routes_in(page) - routes)} == {}


def test_every_code_is_described():
    assert NOT_DESCRIBED not in (ROOT / CODES_PAGE).read_text("utf-8")


def test_every_command_prints_its_help():
    waiting = [
        click.Context(
            program, **program.context_settings, info_name="vault-agent", obj=Invocation()
        )
    ]
    for context in waiting:
        assert context.command.get_help(context).startswith("Usage: vault-agent")
        if isinstance(context.command, click.Group):
            for name in context.command.list_commands(context):
                command = context.command.get_command(context, name)
                assert command is not None, name
                waiting.append(click.Context(command, info_name=name, parent=context))
    assert len(waiting) > 75


@pytest.mark.parametrize(
    ("page", "count"),
    [
        ("A short sentence. Another one.", 0),
        (f"{'word ' * 31}end.", 1),
        (f"{'word ' * 20}end. {'Word ' * 20}end.", 0),
        ("What a save changes is found.", 1),
        ("- fine\n- **Of** these two", 0),
        ("- fine\n- Of several, the first", 1),
        ("| What | Where |\n|---|---|\n| Those that wait | here |", 1),
        (f"```\n{'word ' * 40}\n```\n`{'word ' * 40}`", 0),
    ],
)
def test_a_sentence_that_is_hard_to_read_is_named(page: str, count: int):
    assert len([fault for _, text in passages(page) for fault in faults(text)]) == count


def test_a_variable_without_a_noun_is_named(tmp_path: Path):
    for name, text in (
        ("module.py", "for each in found:\n    note = each\ndef give(known): ...\n"),
        ("module.js", "const { each: tab } = found;\nmap((each) => tab);\nlet known = 1;\n"),
    ):
        (tmp_path / name).write_text(text)
        assert [name for _, name in vague_names(tmp_path / name)] == ["each", "known"]
