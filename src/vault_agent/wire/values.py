"""Values of `model` as JSON, and back. Nothing here imports pydantic: commands read replies by it.

A frozen dataclass or a named tuple is an object with its fields in camelCase.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache, partial
from operator import attrgetter
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
from vault_agent.model.sent import Doc, Mark, Named, OneOf

Value = TypeVar("Value")


class SentField(NamedTuple):
    """A field of a value as it is sent.

    Args:
        name: of the attribute.
        key: the name in JSON.
        kind: its type, without what `Annotated` adds.
        if_any: whether it is left out while it is empty.
        has_default: whether it may be missing when it is read.
        doc: what it means, or "".
        texts: what it can be, if only some texts are possible.
    """

    name: str
    key: str
    kind: Any
    if_any: bool
    has_default: bool
    doc: str
    texts: tuple[str, ...]


class Unreadable(Exception):
    """JSON that is not of the type that was asked for."""


@cache
def sent_fields(kind: type) -> tuple[SentField, ...]:
    """Return the fields of a class of values that are sent, in order."""
    if is_dataclass(kind):
        defaults = {
            each.name: each.default is not MISSING or each.default_factory is not MISSING
            for each in fields(kind)
        }
    else:
        row = cast("Any", kind)
        defaults = {name: name in row._field_defaults for name in row._fields}
    hints = get_type_hints(kind, include_extras=True)
    return tuple(
        field
        for name, has_default in defaults.items()
        if (field := _field(name, hints[name], has_default)) is not None
    )


def _field(name: str, hint: Any, has_default: bool) -> SentField | None:
    kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if Mark.NEVER in notes:
        return None
    keys = [each.key for each in notes if isinstance(each, Named)]
    docs = [each.text for each in notes if isinstance(each, Doc)]
    texts = [each.texts for each in notes if isinstance(each, OneOf)]
    return SentField(
        name,
        keys[0] if keys else camel(name),
        kind,
        Mark.IF_EMPTY in notes,
        has_default,
        docs[0] if docs else "",
        texts[0] if texts else (),
    )


def is_named_tuple(kind: Any) -> bool:
    """Whether a type is a class of named tuples."""
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")


# --- writing ------------------------------------------------------------------------------------


def dump(value: object) -> bytes:
    """Return a value as JSON. Raises TypeError for what has no form in JSON."""
    return orjson.dumps(value, default=_plain, option=orjson.OPT_PASSTHROUGH_DATACLASS)


def _plain(value: Any) -> dict[str, Any]:
    """Return the object that a value is in JSON. Of values inside it orjson asks again."""
    kind = value.__class__
    if not (is_dataclass(kind) or is_named_tuple(kind)):
        if isinstance(value, Mapping):
            return dict(value)
        raise TypeError(f"{kind.__name__} has no form in JSON")
    keys, values_of, if_any = _written(kind)
    plain = dict(zip(keys, values_of(value), strict=True))
    for key in if_any:
        value = plain[key]
        if value is None or value is False or value == ():
            del plain[key]
    return plain


@cache
def _written(kind: type) -> tuple[list[str], Callable[[Any], Sequence[Any]], list[str]]:
    """Return the keys of all fields, what gets their values, and the keys that may be left out."""
    sent = sent_fields(kind)
    names = [each.name for each in sent]
    # Of one name, an attrgetter returns no tuple.
    values_of = attrgetter(*names) if len(names) > 1 else partial(_values, names)
    return [each.key for each in sent], values_of, [each.key for each in sent if each.if_any]


def _values(names: Sequence[str], value: object) -> list[Any]:
    return [getattr(value, name) for name in names]


# --- reading ------------------------------------------------------------------------------------


def read(kind: type[Value], given: object) -> Value:
    """Return the value that parsed JSON stands for. Unknown fields are ignored.

    Raises:
        Unreadable: if a field is missing or has another type. It never repeats the input.
    """
    return cast("Value", _read(kind, given))


def _read(kind: Any, given: Any) -> Any:
    if kind in _PLAIN:
        if isinstance(given, _PLAIN[kind]) and (kind is bool or not isinstance(given, bool)):
            return given
    elif kind is Any:
        return given
    elif isinstance(kind, type) and (is_dataclass(kind) or is_named_tuple(kind)):
        return _read_object(kind, given)
    elif isinstance(kind, type) and issubclass(kind, Enum):
        if isinstance(given, str) and given in _texts(kind):
            return kind(given)
    else:
        return _read_generic(get_origin(kind), get_args(kind), given)
    raise Unreadable


_PLAIN: dict[Any, tuple[type, ...]] = {
    str: (str,),
    int: (int,),
    float: (float, int),
    bool: (bool,),
    NoneType: (NoneType,),
}


@cache
def _texts(kind: type[Enum]) -> frozenset[str]:
    return frozenset(each.value for each in kind)


def _read_object(kind: type, given: Any) -> Any:
    if not isinstance(given, dict):
        raise Unreadable
    values = {}
    for field in sent_fields(kind):
        if field.key in given:
            values[field.name] = _read(field.kind, given[field.key])
        elif not field.has_default:
            raise Unreadable
    return kind(**values)


def _read_generic(origin: Any, parts: tuple[Any, ...], given: Any) -> Any:
    if origin is Annotated:
        return _read(parts[0], given)
    if origin in (Union, UnionType):
        return _read_first(parts, given)
    if origin is Literal and given in parts:
        return given
    if isinstance(given, list) and origin in (tuple, list, Sequence):
        if origin is tuple and parts[-1] is not ...:
            if len(parts) == len(given):
                return tuple(map(_read, parts, given))
        else:
            return tuple(_read(parts[0], each) for each in given)
    if isinstance(given, dict) and origin in (dict, Mapping):
        return {name: _read(parts[1], each) for name, each in given.items()}
    raise Unreadable


def _read_first(kinds: tuple[Any, ...], given: Any) -> Any:
    """Return the value as the first type that it is of."""
    for kind in kinds:
        try:
            return _read(kind, given)
        except Unreadable:
            continue
    raise Unreadable
