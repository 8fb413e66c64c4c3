"""The help: a first screen, all commands, and one."""

from __future__ import annotations

import re

import asyncclick as click
import pytest
from tests.cli.fake import FakeServer, Run

from vault_agent import __version__
from vault_agent.cli.run import COMMANDS, FIRST, SECTIONS, program


async def test_the_first_screen_names_what_most_people_need(run: Run):
    shown = (await run("--help")).out
    assert len(FIRST) == 15
    for name in COMMANDS:
        assert bool(re.search(rf"^  {name} ", shown, re.MULTILINE)) == (name in FIRST), name
    assert "vault-agent help all" in shown


async def test_all_commands_stand_in_sections(run: Run):
    shown = (await run("help", "all")).out
    assert "mcp" not in shown
    places = [shown.index(f"{title}:") for title in SECTIONS]
    assert places == sorted(places)
    for name in (name for section in SECTIONS.values() for name in section):
        assert re.search(rf"^  {name} ", shown, re.MULTILINE), name


@pytest.mark.parametrize("words", [("links",), ("links", "check"), ("search",)], ids=" ".join)
async def test_the_help_of_a_command_is_that_of_its_option(run: Run, words: tuple[str, ...]):
    assert (await run("--vault", "x", "help", *words)).out == (await run(*words, "--help")).out


async def test_the_help_of_searches_tells_numbers_dates_and_exit_codes(run: Run):
    shown = " ".join((await run("search", "--help")).out.split())
    assert "Commands that take a note take the number" in shown
    assert "yesterday" in shown
    assert "date of a note is that of its frontmatter, else of its file's name" in shown
    assert "exit code is 0 also without a result" in shown
    assert "position of a word in the query, from 1" in shown


async def test_a_client_and_an_agent_have_names_of_their_own(run: Run):
    connect = (await run("agent", "connect", "--help")).out
    assert " CLIENT" in connect
    assert "--agent AGENT" in connect
    for verb in ("add", "set", "rotate", "remove"):
        assert " AGENT" in (await run("agent", verb, "--help")).out.splitlines()[0]


async def test_a_mistyped_name_has_no_help(run: Run):
    assert "did you mean search?" in (await run("help", "serch")).err


async def test_the_version_is_a_command_too(run: Run):
    assert (await run("version")).out == f"vault-agent {__version__}\n"


def test_the_sections_tell_what_the_commands_tell_themselves():
    context = click.Context(program, **program.context_settings)
    for section in SECTIONS.values():
        for name, sentence in section.items():
            command = program.get_command(context, name)
            first = " ".join((command.help or "").split())
            assert first.startswith(sentence.rstrip(".")), name


async def test_a_noun_alone_lists_and_its_verbs_are_named(run: Run):
    for noun in (
        "tags",
        "tasks",
        "vaults",
        "jobs",
        "agent",
        "memory journal",
        "memory",
        "config",
    ):
        shown = (await run(*noun.split(), "--help")).out
        assert "Commands:" in shown, noun
        assert shown.startswith(f"Usage: vault-agent {noun} [OPTIONS]"), noun


@pytest.mark.parametrize("noun", ["vaults", "config", "tags"])
async def test_the_verb_list_is_what_a_noun_alone_is(run: Run, server: FakeServer, noun: str):
    assert (await run(noun, "list")) == (await run(noun))
