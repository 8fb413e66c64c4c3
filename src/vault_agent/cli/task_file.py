"""Task files: prompts, each with what to take from the notes, as TOML, YAML or JSON.

A task's keys other than `name`, `prompt` and `vault_context` belong to the program that runs the
tasks, and are kept.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import orjson

from vault_agent.errors import InvalidRequest

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 1 << 20
MAX_TASKS = 500
MAX_QUERIES = 20
_MAX_DEPTH = 50
QUERY_KEYS = ("kind", "query", "limit", "path", "tags", "section")


def read_tasks(path: Path) -> list[dict[str, Any]]:
    """Return the tasks of a file.

    Raises:
        InvalidRequest: `INVALID_REQUEST` that names the broken rule with its place, never content.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise _wrong(f"cannot be read: {error.strerror}") from None
    if len(content) > MAX_BYTES:
        raise _wrong("is over 1 MiB")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _wrong("is not UTF-8") from None
    try:
        value = _parsed(text, path.suffix.lower())
    except RecursionError:
        raise _wrong("is nested too deeply") from None
    return _tasks(value)


def _parsed(text: str, suffix: str) -> Any:
    if suffix == ".json":
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise _wrong(f"is not valid JSON (line {error.lineno})") from None
    if suffix == ".toml":
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            line = getattr(error, "lineno", None)
            raise _wrong(f"is not valid TOML{f' (line {line})' if line else ''}") from None
    if suffix in (".yaml", ".yml"):
        return _yaml(text)
    raise _wrong("must end in .toml, .yaml, .yml or .json")


def _yaml(text: str) -> Any:
    """Parse YAML without aliases, which can grow without limit, and without tags."""
    import yaml

    depth = 0
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            line = event.start_mark.line + 1 if event.start_mark is not None else 0
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > _MAX_DEPTH:  # the scanner's time grows with the square of the depth
                raise _wrong("is nested too deeply")
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise _wrong(f"has an alias (line {line})")
            if getattr(event, "tag", None):
                raise _wrong(f"has a tag (line {line})")
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f" (line {mark.line + 1})" if mark is not None else ""
        raise _wrong(f"is not valid YAML{where}") from None
    except (yaml.YAMLError, ValueError):
        raise _wrong("is not valid YAML") from None


def _tasks(value: Any) -> list[dict[str, Any]]:
    tasks = value.get("tasks") if isinstance(value, dict) else None
    if not isinstance(tasks, list):
        raise _wrong("needs a list `tasks`")
    if len(tasks) > MAX_TASKS:
        raise _wrong(f"has more than {MAX_TASKS} tasks")
    for number, task in enumerate(tasks):
        place = f"tasks[{number}]"
        if not isinstance(task, dict):
            raise _wrong(f"needs a mapping at {place}")
        for key in ("name", "prompt"):
            if not isinstance(task.get(key), str):
                raise _wrong(f"needs a text at {place}.{key}")
        queries = task.get("vault_context", [])
        if not isinstance(queries, list) or len(queries) > MAX_QUERIES:
            raise _wrong(f"needs a list of at most {MAX_QUERIES} at {place}.vault_context")
        for index, query in enumerate(queries):
            _check_query(query, f"{place}.vault_context[{index}]")
    return tasks


def _check_query(query: Any, place: str) -> None:
    if not isinstance(query, dict) or not isinstance(query.get("query"), str):
        raise _wrong(f"needs a text at {place}.query")
    if not query.keys() <= set(QUERY_KEYS):
        raise _wrong(f"has an unknown key at {place}; known are {', '.join(QUERY_KEYS)}")


def _wrong(what: str) -> InvalidRequest:
    return InvalidRequest("INVALID_REQUEST", f"The task file {what}.")
