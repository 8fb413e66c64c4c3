"""The page of settings, the example config file and `generated_settings.json`, by the table."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from enum import Enum
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

from docs.make.markdown import joined, sentence, table, wrapped
from pydantic import AfterValidator, BeforeValidator, SecretStr
from pydantic_core import to_jsonable_python

from vault_agent.config import rules as checks_of
from vault_agent.config import sections
from vault_agent.config.setting_names import Setting
from vault_agent.config.settings import Config

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

_HEAD = """\
# Configuration

`make docs` writes this page from the program's table of settings.
[Configure it](../how-to/configure.md) says where settings come from, and what else can be set."""

_EXAMPLE = """\
# All settings of vault-agent, with their defaults. `make docs` writes this file.
# Copy it to the path that `vault-agent config path` prints, or use
# `vault-agent config set KEY VALUE`.
#
# A flag overrides an environment variable, which overrides this file, which overrides the default.
# The environment variable for vault.root is VAULT_AGENT_VAULT_ROOT, and so on."""

_EMPTY: dict[str, Any] = {
    "vault.root": "~/Notes",
    "server.endpoint": "http://127.0.0.1:8787",
    "server.api_key": "",
    "index.dir": "~/.local/share/vault-agent",
    "vaults.global_root": "",
    "embedding.model": "",
    "journal.command": "",
    "rerank.endpoint": "",
    "rerank.model": "",
    "embedding.query_prefix": "",
    "embedding.document_prefix": "",
}
"""What the example shows for settings that have no default."""

_USUAL = Setting._field_defaults
_SECTIONS = {  # all but the tables of agents, of which there may be any number
    name: field.annotation for name, field in Config.model_fields.items() if name != "agents"
}


def page() -> str:
    """Return the page."""
    parts = [_HEAD]
    for section in _SECTIONS:
        parts += [f"## `[{section}]`", wrapped(_about(section))]
        rows = [
            (f"`{setting.name}`", _shown(setting), _meaning(setting))
            for setting in _settings(section)
        ]
        parts.append(table(("Key", "Default", "Meaning"), rows))
    return joined(parts)


def example() -> str:
    """Return the example. Each setting is a comment."""
    parts = [_EXAMPLE]
    for section in _SECTIONS:
        parts.append(f"[{section}]")
        for setting in _settings(section):
            default = _EMPTY[setting.name] if _default(setting) is None else _default(setting)
            comment = textwrap.fill(
                _meaning(setting), 98, initial_indent="# ", subsequent_indent="# "
            )
            parts.append(
                f"{comment}\n# {setting.option} = {json.dumps(default, ensure_ascii=False)}"
            )
    return joined(parts)


def rows() -> str:
    """Return the names and rows of all settings as JSON, with what differs from the usual."""
    lines = []
    docstrings = _docstrings()
    for section, group in _SECTIONS.items():
        for option, field in group.model_fields.items():
            annotation = str(field.annotation)
            row = {
                **_texts(docstrings[group.__name__, option]),
                **(field.json_schema_extra or {}),
                "secret": "SecretStr" in annotation,
                "path": "Path" in annotation,
                "many": "tuple" in annotation,
                "default": to_jsonable_python(field.default),
                **_checks(field),
            }
            row = {name: value for name, value in row.items() if not _is_usual(name, value)}
            lines.append(f' "{section}.{option}": {json.dumps(row, ensure_ascii=False)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _docstrings() -> dict[tuple[str, str], str]:
    """Return the docstring below each field, by the names of its class and the field."""
    tree = ast.parse(Path(sections.__file__).read_text("utf-8"))
    return {
        (group.name, field.target.id): inspect.cleandoc(below.value.value)
        for group in tree.body
        if isinstance(group, ast.ClassDef)
        for field, below in pairwise(group.body)
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr)
    }


def _texts(docstring: str) -> dict[str, str]:
    """Return the summary of a setting as a part of a sentence, and what a user should know."""
    summary, _, more = docstring.partition("\n\n")
    first = summary.partition(" ")[0]
    if first[1:].islower() or len(first) == 1:
        summary = summary[0].lower() + summary[1:]
    return {"summary": " ".join(summary.rstrip(".").split()), "help": " ".join(more.split())}


def _is_usual(name: str, value: Any) -> bool:
    usual = _USUAL.get(name)
    return value == usual or (not value and not usual and value is not False and value != 0)


def _checks(field: FieldInfo) -> dict[str, Any]:
    """Return the kind, the check, the limits and the choices of a setting."""
    kinds, marks = [], list(field.metadata)
    parts = [field.annotation]
    while parts:
        part = parts.pop()
        if get_origin(part) is Annotated:
            marks += part.__metadata__
        if get_origin(part) is Literal:
            kinds.append(str)
        elif get_origin(part) is not None:
            parts += get_args(part)[: 1 if get_origin(part) in (tuple, Annotated) else None]
        else:
            kinds.append(part)
    checks = [each.func for each in marks if isinstance(each, BeforeValidator | AfterValidator)]
    named = [each.__name__ for each in checks if each.__module__ == checks_of.__name__]
    before = any(isinstance(each, BeforeValidator) for each in marks)
    kind = next((each.__name__ for each in (bool, int, float) if each in kinds), "str")
    is_any = kind not in ("bool", "float") and named and before
    limits = {
        name: getattr(each, name)
        for each in marks
        for name in ("ge", "gt", "le")
        if getattr(each, name, None) is not None
    }
    secret = "api_key" if SecretStr in kinds else ""
    return {
        "kind": "any" if is_any else kind,
        "check": named[0] if named else secret,
        **limits,
        "choices": list(_choices(field.annotation)),
    }


def _choices(annotation: Any) -> tuple[str, ...]:
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return tuple(annotation)
    return tuple(choice for part in get_args(annotation) for choice in _choices(part))


def _settings(section: str) -> list[Setting]:
    """Return the rows of the table as it is now: `SETTINGS` has those of the last `make docs`."""
    settings = [Setting(name, **row) for name, row in json.loads(rows()).items()]
    return [setting for setting in settings if setting.section == section]


def _about(section: str) -> str:
    return inspect.getdoc(type(getattr(Config(), section))) or ""


def _default(setting: Setting) -> Any:
    return list(setting.default or ()) if setting.many else setting.default


def _shown(setting: Setting) -> str:
    default = _default(setting)
    if isinstance(default, list):
        return ", ".join(f"`{each}`" for each in default) or "none"
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    if isinstance(default, float):
        return f"`{default:g}`"
    return "none" if default is None else f"`{default}`"


def _meaning(setting: Setting) -> str:
    return " ".join(
        filter(None, (sentence(setting.summary), setting.help, *_needs(setting), _limits(setting)))
    )


def _needs(setting: Setting) -> list[str]:
    needs = [f"It needs {each}." for each in setting.needs]
    # A help text that names the switch says it better.
    idle = [each for each in setting.idle_without if each not in setting.help]
    return needs + [f"Without {each} it does nothing." for each in idle]


def _limits(setting: Setting) -> str:
    """Return the values that are allowed, as a sentence."""
    if setting.choices and not setting.many:
        if all(value in f"{setting.summary} {setting.help}" for value in setting.choices):
            return ""
        return f"One of {', '.join(f'`{value}`' for value in setting.choices)}."
    if setting.le is None:
        return ""
    high = f"{setting.le:,}"
    if setting.ge is not None:
        return f"{setting.ge:,} to {high}."
    return f"Over {setting.gt:,}, at most {high}." if setting.gt is not None else f"At most {high}."
