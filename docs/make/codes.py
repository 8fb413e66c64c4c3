"""The page of codes. What a code means is written by hand; its numbers are those of the program."""

from __future__ import annotations

import re

from vault_agent.codes import CODES, Code, Remedy

_ROW = re.compile(r"^\| `(?P<code>[A-Z0-9_]+)` \|(?:.*\|)? (?P<meaning>(?:\\\||[^|])+) \|$")
_ERROR = "| Code | HTTP | Exit | Meaning, and what to do |"
NOT_DESCRIBED = "## Not described yet"


def page(text: str) -> str:
    """Return the page with the numbers of now.

    Rows of codes that are gone are left out. New codes are in a section of their own, until
    somebody has moved them to where they belong.
    """
    lines, described, errors = [], set(), False
    for line in text.partition(NOT_DESCRIBED)[0].rstrip().split("\n"):
        if line.startswith("| Code "):
            errors = line == _ERROR
        row = _ROW.match(line)
        if row is None:
            lines.append(line)
        elif row["code"] in CODES:
            code = CODES[row["code"]]
            described.add(row["code"])
            numbers = f" {_numbers(code)} |" if errors else ""
            lines.append(f"| `{row['code']}` |{numbers} {row['meaning']} |")
    new = [
        f"| `{name}` | {_numbers(code)} | {_http(code.remedy)} |"
        for name, code in CODES.items()
        if name not in described
    ]
    more = ["", NOT_DESCRIBED, "", _ERROR, "|---|---:|---:|---|", *new] if new else []
    return "\n".join([*lines, *more]) + "\n"


def _http(remedy: str | Remedy) -> str:
    return (remedy.http if isinstance(remedy, Remedy) else remedy) or "-"


def _numbers(code: Code) -> str:
    return f"{code.status or ''} | {'' if code.exit is None else code.exit}".strip()
