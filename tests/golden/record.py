"""Asks everything of one program and returns the texts of the golden files."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tests.golden import commands, routes, tools
from tests.golden.house import Case, House
from tests.golden.steady import Steady, written
from tests.support.waiting import eventually

WRITES = {"http/writes", *(f"mcp/{name}" for name in (*tools.WRITING, *tools.SYNK)),
          *(f"commands/{name}" for name in commands.WRITING)}  # fmt: skip
HASHES = (
    "hash",
    "hashAfter",
    "hashBefore",
    "sectionHash",
    "currentHash",
    "currentSectionHash",
)
"""They differ from day to day: some changes write the date into a note."""

REPLIES = Path(__file__).parent / "replies"


def record(folder: Path) -> dict[str, str]:
    """Return the text of each golden file by its name, of a program in an empty folder."""
    house = House(folder)
    found: dict[str, list[tuple[Case, dict[str, Any]]]] = {}

    def run(name: str, cases: Iterable[Case], one: Callable[[House, Case], dict[str, Any]]) -> None:
        for case in cases:
            until = case.until
            reply = eventually(
                lambda asked=case: one(house, asked),
                lambda got, until=until: not until or _is(_at(got, until[0]), until[1]),
            )
            asked = {
                "case": case.of, "what": case.what, "sent": case.sent, "given": case.given,
            }  # fmt: skip
            asked = {key: value for key, value in asked.items() if value not in ("", None)}
            found.setdefault(name, []).append((case, asked | reply))
            for key, path in case.keep.items():
                house.kept[key] = str(_at(reply, path))
            if case.settle or name in WRITES:
                house.settle()

    with house:
        house.open()
        for area, cases in routes.READING.items():
            run(f"http/{area}", cases, routes.recorded)
        for toolset, cases in tools.READING.items():
            run(f"mcp/{toolset}", cases, tools.recorded)
        for area, cases in commands.READING.items():
            run(f"commands/{area}", cases, commands.recorded)
        run("http/writes", routes.WRITES, routes.recorded)
        _until_the_next_second()  # lists compare the times of notes by the second
        for toolset, cases in tools.WRITING.items():
            run(f"mcp/{toolset}", cases, tools.recorded)
        for area, cases in commands.WRITING.items():
            run(f"commands/{area}", cases, commands.recorded)
        steady = Steady(house)
        house.restart(MCP_TOOLSET="synk")
        for toolset, cases in tools.SYNK.items():
            run(f"mcp/{toolset}", cases, tools.recorded)
    for cases in found.values():
        steady.learn([reply for _, reply in cases])
    return {
        f"{name}.json": written(
            [
                steady.replaced(reply, "", case.varying + (HASHES if name in WRITES else ()))
                for case, reply in cases
            ]
        )
        for name, cases in found.items()
    }


def _until_the_next_second() -> None:
    now = int(time.time())
    eventually(lambda: int(time.time()) > now)


def _is(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, re.Pattern):
        return bool(wanted.fullmatch(str(value)))
    return bool(value == wanted)


def _at(value: Any, path: str) -> Any:
    for name in path.split("."):
        try:
            value = value[int(name)] if isinstance(value, list) else value[name]
        except (LookupError, TypeError):
            return None
    return value
