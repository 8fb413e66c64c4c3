"""Values as JSON, and back: requests and replies. Commands read replies by it.

A frozen dataclass or a named tuple is an object with its fields in camelCase.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import orjson

from vault_agent.model.camel import camel
from vault_agent.model.sent import RULES, Doc, JsonKey, Mark, ReadAs, Unreadable

Value = TypeVar("Value")


class SentField(NamedTuple):
    """A field of a value as it is sent and read.

    Args:
        name: of the attribute.
        key: the name in JSON.
        kind: its type, without what `Annotated` adds.
        if_any: whether it is left out while it is empty.
        has_default: whether it may be missing when it is read.
        default: the value that it has then, if it is no list or object.
        owner: the class that has it. A docstring below the field says what it means.
        doc: what every field of its type means, or "".
        marks: all that stands beside its type.
    """

    name: str
    key: str
    kind: Any
    if_any: bool
    has_default: bool
    default: Any
    owner: type
    doc: str
    marks: tuple[Any, ...]


@cache
def sent_fields(kind: type) -> tuple[SentField, ...]:
    """Return the fields of a class of values that are sent, in order."""
    if is_dataclass(kind):
        defaults = {
            field.name: None if field.default_factory is not MISSING else field.default
            for field in fields(kind)
        }
    else:
        row = cast("Any", kind)
        defaults = {name: row._field_defaults.get(name, MISSING) for name in row._fields}
    hints = get_type_hints(kind, include_extras=True)
    return tuple(
        field
        for name, default in defaults.items()
        if (field := _field(kind, name, hints[name], default)) is not None
    )


def _field(owner: type, name: str, hint: Any, default: Any) -> SentField | None:
    kind, *marks = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if Mark.NEVER in marks:
        return None
    keys = [mark.key for mark in marks if isinstance(mark, JsonKey)]
    docs = [mark.text for mark in marks if isinstance(mark, Doc)]
    return SentField(
        name,
        keys[0] if keys else camel(name),
        kind,
        Mark.IF_ANY in marks,
        default is not MISSING,
        None if default is MISSING else default,
        owner,
        docs[-1] if docs else "",
        tuple(marks),
    )


def is_named_tuple(kind: Any) -> bool:
    """Whether a type is a class of named tuples."""
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")


# --- writing ------------------------------------------------------------------------------------


def dump(value: object) -> bytes:
    """Return a value as JSON. Raises TypeError for what has no form in JSON."""
    return orjson.dumps(value, default=as_object, option=orjson.OPT_PASSTHROUGH_DATACLASS)


def as_object(value: Any) -> dict[str, Any]:
    """Return the object that a value is in JSON. Of values inside it orjson asks again."""
    kind = value.__class__
    if not (is_dataclass(kind) or is_named_tuple(kind)):
        if isinstance(value, Mapping):
            return dict(value)
        raise TypeError(f"{kind.__name__} has no form in JSON")
    keys, names, if_any = _written(kind)
    plain = {key: getattr(value, name) for key, name in zip(keys, names, strict=True)}
    for key in if_any:
        value = plain[key]
        if value is None or value is False or value == ():
            del plain[key]
    return plain


@cache
def _written(kind: type) -> tuple[list[str], list[str], list[str]]:
    """Return the keys of all fields, their names, and the keys that may be left out."""
    described = sent_fields(kind)
    names = [field.name for field in described]
    if_any = [field.key for field in described if field.if_any]
    return [field.key for field in described], names, if_any


# --- reading ------------------------------------------------------------------------------------


class _How(NamedTuple):
    """How values are read.

    Args:
        strict: whether unknown fields are refused.
        texts: whether numbers and switches are written as text, as in an address.
    """

    strict: bool
    texts: bool


def read(kind: type[Value], value: object, *, strict: bool = False, texts: bool = False) -> Value:
    """Return the value that parsed JSON stands for.

    With `strict` unknown fields are refused, and else ignored. With `texts`, the input is the
    parameters of an address, where every value is a text, or a list of them.

    Raises:
        Unreadable: if a field is missing, has another type or breaks a rule.
    """
    return cast("Value", _read(kind, value, _How(strict, texts)))


def _read(kind: Any, value: Any, how: _How) -> Any:
    if kind is Any:
        return value
    if kind in _PLAIN:
        return _read_plain(kind, value, how)
    if isinstance(kind, type) and (is_dataclass(kind) or is_named_tuple(kind)):
        return _read_object(kind, value, how)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(_one_of(value, [member.value for member in kind], "enum"))
    return _read_generic(get_origin(kind), get_args(kind), value, how)


_PLAIN: dict[Any, tuple[type, ...]] = {
    str: (str,),
    int: (int,),
    float: (float, int),
    bool: (bool,),
    NoneType: (NoneType,),
}
_WRONG = {
    str: ("string_type", "must be text"),
    int: ("int_type", "must be a whole number"),
    float: ("float_type", "must be a number"),
    bool: ("bool_type", "must be true or false"),
    NoneType: ("none_required", "must be null"),
}
_DIGITS = re.compile(r"0|[1-9][0-9]{0,8}")  # one form only: no sign, no leading zero


def _read_plain(kind: Any, value: Any, how: _How) -> Any:
    if how.texts and kind is int and isinstance(value, str) and _DIGITS.fullmatch(value):
        return int(value)
    if how.texts and kind is bool and value in ("true", "false"):
        return value == "true"
    if isinstance(value, _PLAIN[kind]) and (kind is bool or not isinstance(value, bool)):
        return value
    raise Unreadable(*_WRONG[kind])


def _one_of(value: Any, choices: Sequence[Any], rule: str) -> Any:
    if type(value) in {type(choice) for choice in choices} and value in choices:
        return value
    *others, last = map(repr, choices)
    raise Unreadable(rule, f"must be {' or '.join(filter(None, (', '.join(others), last)))}")


def _read_object(kind: type, value: Any, how: _How) -> Any:
    if not isinstance(value, dict):
        raise Unreadable("model_type", "must be an object")
    values = {}
    described = sent_fields(kind)
    for field in described:
        if field.key in value:
            try:
                values[field.name] = _read_marked(field.kind, field.marks, value[field.key], how)
            except Unreadable as error:
                raise error.inside(field.key) from None
        elif not field.has_default:
            raise Unreadable("missing", "is missing", (field.key,))
    if how.strict and value.keys() - {field.key for field in described}:
        raise Unreadable("extra_forbidden", "has an unknown field")
    return kind(**values)


def _read_marked(kind: Any, marks: Sequence[Any], value: Any, how: _How) -> Any:
    for mark in marks:
        if isinstance(mark, ReadAs):
            kind = mark.kind
    value = _read(kind, value, how)
    for mark in marks:
        if isinstance(mark, RULES):
            check: Callable[[Any], Any] = mark.check
            value = check(value)
    return value


def _read_generic(origin: Any, parts: tuple[Any, ...], value: Any, how: _How) -> Any:
    if origin is Annotated:
        return _read_marked(parts[0], parts[1:], value, how)
    if origin in (Union, UnionType):
        return _read_first(parts, value, how)
    if origin is Literal:
        return _one_of(value, parts, "literal_error")
    if origin in (tuple, list, Sequence):
        return _read_list(origin, parts, value, how)
    if not isinstance(value, dict):
        raise Unreadable("dict_type", "must be an object")
    return {
        _read(parts[0], name, how): _read(parts[1], entry, how) for name, entry in value.items()
    }


def _read_list(origin: Any, parts: tuple[Any, ...], value: Any, how: _How) -> tuple[Any, ...]:
    if how.texts and isinstance(value, str):
        value = (value,)
    if not isinstance(value, list | tuple):
        raise Unreadable("list_type", "must be a list")
    kinds: Sequence[Any] = parts
    if origin is not tuple or parts[-1] is ...:
        kinds = [parts[0]] * len(value)
    if len(kinds) != len(value):
        raise Unreadable("list_length", f"must have {len(kinds)} items")
    read_values = []
    for place, (kind, entry) in enumerate(zip(kinds, value, strict=True)):
        try:
            read_values.append(_read(kind, entry, how))
        except Unreadable as error:
            raise error.inside(str(place)) from None
    return tuple(read_values)


def _read_first(kinds: tuple[Any, ...], value: Any, how: _How) -> Any:
    """Return the value as the first type that it is of. The error is that of the first type."""
    if value is None and NoneType in kinds:
        return None
    wrong = []
    for kind in kinds:
        if kind is not NoneType:
            try:
                return _read(kind, value, how)
            except Unreadable as error:
                wrong.append(error)
    raise wrong[0]
