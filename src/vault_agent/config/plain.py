"""All settings without pydantic, whose import takes ten times as long as the rest.

Nothing is decided here: what is not plainly valid by its row and by `rules` gets the full
validation, which words what is wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vault_agent.config import rules
from vault_agent.config.keys import KEYS, unmet

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vault_agent.config.keys import Key
    from vault_agent.config.layers import Layer


_LONG = 200
"""Longer texts, and those with outer white space, are never plainly valid."""


def settings(layers: Iterable[Layer]) -> Mapping[str, Any]:
    """Return the value of each setting by its dotted key. Raises CONFIG_INVALID."""
    ordered = tuple(layers)
    try:
        return _plain(ordered)
    except ValueError:
        from vault_agent.config.settings import build_config, value_of

        config = build_config(ordered)
        return {name: value_of(config, name) for name in KEYS}


def setting(layers: Iterable[Layer], name: str) -> Any:
    """Return one setting in its normal form, or its default. Raises CONFIG_INVALID."""
    key = KEYS[name]
    for layer in layers:
        if name in layer.values:
            try:
                return _checked(key, layer.values[name])
            except ValueError:
                from vault_agent.config.settings import convert

                return convert(name, layer.values[name], layer.origin)
    return _default(key)


def _default(key: Key) -> Any:
    return tuple(key.default or ()) if key.many else key.default


def _plain(layers: tuple[Layer, ...]) -> Mapping[str, Any]:
    if any(layer.agents for layer in layers):
        raise ValueError
    values = {name: _default(key) for name, key in KEYS.items()}
    for layer in reversed(layers):
        values |= {name: _checked(KEYS[name], value) for name, value in layer.values.items()}
    if any(unmet(values.get, name, key.needs) for name, key in KEYS.items()):
        raise ValueError
    return values


def _checked(key: Key, raw: Any) -> Any:
    """Return the value in its normal form. Raises ValueError."""
    value = _typed(key, raw)
    if key.check:
        value = getattr(rules, key.check)(value)
    is_valid = (
        (key.ge is None or value >= key.ge)
        and (key.gt is None or value > key.gt)
        and (key.le is None or value <= key.le)
        and (not key.choices or set(value if key.many else (value,)) <= set(key.choices))
    )
    if not is_valid:
        raise ValueError
    return value


def _typed(key: Key, raw: Any) -> Any:
    if key.kind == "bool":
        return rules.switch(raw)
    if isinstance(raw, bool):
        raise ValueError  # noqa: TRY004 - as the rules
    if key.kind in ("int", "float"):
        return float(raw) if key.kind == "float" else int(str(raw))
    if key.kind == "str" and not (
        isinstance(raw, str) and raw == raw.strip() and len(raw) <= _LONG
    ):
        raise ValueError
    return raw
