"""Names of fields in JSON."""

from __future__ import annotations


def camel(name: str) -> str:
    """Return a name of Python as it is in JSON."""
    first, *others = name.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in others)
