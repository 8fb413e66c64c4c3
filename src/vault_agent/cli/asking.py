"""Asks the person at the terminal."""

from __future__ import annotations

import sys
from typing import Final

import asyncclick as click

from vault_agent.cli.terminal import is_terminal
from vault_agent.errors import InvalidRequest

DECLINED: Final = 1
"""The exit code of a command whose question was answered with no."""


def can_ask() -> bool:
    """Whether there is a person to ask."""
    return is_terminal(sys.stdin) and is_terminal(sys.stderr)


def ask(question: str, default: str = "") -> str:
    """Return what the person types, or the default for an empty line."""
    shown = f"{question} [{default}] " if default else f"{question} "
    return _line(shown) or default


def agreed(question: str, *, yes: bool, default: bool = False) -> bool:
    """Return whether the person agrees. With `yes`, do not ask.

    Raises:
        InvalidRequest: if there is nobody to ask.
    """
    if yes:
        return True
    if not can_ask():
        raise InvalidRequest("INVALID_REQUEST", "This needs your consent: add --yes.")
    answer = _line(f"{question} [{'Y/n' if default else 'y/N'}] ")
    return answer.lower() in ("y", "yes") if answer else default


def _line(shown: str) -> str:
    """Return what the person types. Ctrl-D ends the command, as Ctrl-C does."""
    sys.stderr.write(shown)
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise click.Abort
    return line.strip()
