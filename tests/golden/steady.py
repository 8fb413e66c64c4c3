"""What differs from run to run, replaced by named placeholders. Nothing is left out."""

from __future__ import annotations

import json
import re
import time
from typing import Any

from tests.golden.house import House

from vault_agent import __version__
from vault_agent.model.identifiers import identify

FIELDS = {
    "requestId": "<request>",
    "writeId": "<write>",
    "nextCursor": "<cursor>",
    "cursor": "<cursor>",
    "token": "<token>",
    "ticket": "<ticket>",
    "uid": "<uid>",
}
"""Texts that differ each time. A value of theirs is replaced in other texts too."""

NUMBERS = {
    "expiresAt": "<seconds since 1970>",
    "milliseconds": "<milliseconds>",
    "lagSeconds": "<seconds>",
    "elapsedSeconds": "<seconds>",
    "etaSeconds": "<seconds>",
    "seconds": "<seconds>",
    "pid": "<pid>",
}
"""Numbers that differ each time, also those in an object of this name."""

INDEXED = {"state": "<indexed or pending>", "generation": "<number>", "revision": "<number>"}
"""What a change says of the index: how soon it is there is a matter of speed."""

_PENDING = "INDEX_PENDING"

PATTERNS = (
    (re.compile(r"\b01[0-9a-f]{18}\b"), "<id>"),  # of jobs and writes
    (re.compile(r"\bWy[IJ][\w-]{20,}"), "<cursor>"),
    (re.compile(r"(?<=ticket=)[\w-]{43}"), "<ticket>"),
    (re.compile(r"^[0-9a-f]{8}-\d+$"), "<event>"),
    (re.compile(r"\bk=\d+\.[\w-]{43}"), "k=<key>"),
    (re.compile(r"(?<=\bb=)[0-9a-f]{8}\b|(?<=</note )[0-9a-f]{8}\b"), "<fence>"),
    (re.compile(r"(?<=<today>-)[a-z0-9]{6}\b"), "<random>"),
)
"""Texts that differ each time, wherever they stand, after the dates are replaced."""

PLAIN = ("", "none", "x")
"""What cases send in such fields on purpose."""

_SHORTEST_LEARNED = 12
_WIDTH = 100


class Steady:
    """Learns what was given out in this run, and replaces it."""

    def __init__(self, house: House) -> None:
        # A run may go on over midnight.
        today = {time.strftime("%Y-%m-%d", clock(second))
                 for second in (house.began, house.began + 86_400)
                 for clock in (time.gmtime, time.localtime)}  # fmt: skip
        self._times = re.compile(
            rf"({'|'.join(map(re.escape, sorted(today)))})"
            r"(T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))?"
        )
        self._learned = {
            **{
                value: f"<{name}>"
                for name, value in sorted(house.kept.items())
                if name not in ("cwd", "claude", "picture")
            },
            house.endpoint: "<endpoint>",
            __version__: "<version>",
            str(house.vault): "<vault>",
            str(house.indexes): "<indexes>",
            str(house.home): "<home>",
        }

    def learn(self, value: Any, key: str = "") -> None:
        """Remember the values of fields that differ, and the IDs of paths with today's date."""
        if isinstance(value, dict):
            for name, each in value.items():
                self.learn(each, name)
            if isinstance(path := value.get("path"), str) and self._times.search(path):
                self._learned[identify(path)] = f"<id of {self._times.sub('<today>', path)}>"
        elif isinstance(value, list):
            for each in value:
                self.learn(each, key)
        elif (
            isinstance(value, str)
            and key in FIELDS
            and len(value) >= _SHORTEST_LEARNED
            and "«" not in value
        ):
            self._learned[value] = FIELDS[key]

    def replaced(self, value: Any, key: str = "", varying: tuple[str, ...] = ()) -> Any:
        """Return a value with placeholders, also for the fields in `varying`."""
        if isinstance(value, dict):
            if set(value) == set(INDEXED):
                return INDEXED
            within = key in NUMBERS
            return {
                self._text(name): self.replaced(each, key if within else name, varying)
                for name, each in value.items()
            }
        if isinstance(value, list):
            rest = [each for each in value if not _is_pending(each)]
            return [self.replaced(each, key, varying) for each in rest]
        if key in FIELDS and isinstance(value, str):
            return value if value in PLAIN or "«" in value else FIELDS[key]
        if key in NUMBERS and type(value) in (int, float):
            return NUMBERS[key]
        if key in varying and value is not None:
            return f"<{key}>"
        if not isinstance(value, str):
            return value
        for name in varying:
            value = re.sub(rf"\b{name}: \w+", f"{name}: <{name}>", value)
        return self._text(value)

    def _text(self, text: str) -> str:
        for known, name in self._learned.items():
            text = text.replace(known, name)
        text = self._times.sub(lambda found: "<time>" if found[2] else "<today>", text)
        for pattern, name in PATTERNS:
            text = pattern.sub(name, text)
        return text


def _is_pending(value: Any) -> bool:
    """Whether this is the warning that a change is not in the index yet: a matter of speed."""
    if isinstance(value, dict):
        return value.get("code") == _PENDING
    return isinstance(value, str) and value.startswith(f"! {_PENDING}:")


def written(cases: list[dict[str, Any]]) -> str:
    """Return the text of a golden file: JSON, with what fits into a line in one line."""
    return _written(cases, "") + "\n"


def _written(value: Any, indent: str, lead: int = 0) -> str:
    short = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or len(indent) + lead + len(short) < _WIDTH:
        return short
    inner = indent + " "
    if isinstance(value, list):
        rows = [_written(each, inner) for each in value]
        left, right = "[]"
    else:
        names = [json.dumps(name, ensure_ascii=False) + ": " for name in value]
        rows = [
            name + _written(each, inner, len(name))
            for name, each in zip(names, value.values(), strict=True)
        ]
        left, right = "{}"
    return f"{left}\n" + ",\n".join(inner + row for row in rows) + f"\n{indent}{right}"
