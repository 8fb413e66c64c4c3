"""The settings of an embedding model: its endpoint, its prefixes, and the exact input of a chunk.

Models trained with prefixes lose much of their quality without them, and servers do not add them.
The prefixes are part of the input, so they are part of a vector's key. This module imports neither
numpy nor HTTP.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_INPUT: Final = 8_000
"""Limit of characters in one input, including the prefix."""


class Prefixes(NamedTuple):
    """Text before a query and before a document; `{title}` in the latter is replaced."""

    query: str = ""
    document: str = ""


@cache
def known_prefixes(model: str) -> Prefixes:
    """Return the prefixes of a model, empty if it is unknown."""
    known_models = tomllib.loads(files(__package__).joinpath("prefixes.toml").read_text("utf-8"))
    for known_model in known_models["models"]:
        if re.search(known_model["name"], model.lower()):
            return Prefixes(known_model["query"], known_model["document"])
    return Prefixes()


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """The endpoint, the model and the limits of use. Times are in seconds."""

    url: str
    model: str
    allow_private: bool = False
    batch_size: int = 8
    concurrency: int = 2
    timeout: float = 60.0
    query_timeout: float = 1.0
    patience: float = 120.0  # time without a success before a run gives up
    query_prefix: str | None = None  # None: the known prefix of the model
    document_prefix: str | None = None
    key: str | None = field(default=None, repr=False)  # only our own endpoint has one

    @property
    def prefixes(self) -> Prefixes:
        """The prefixes set by the user, or else those of the model."""
        usual = known_prefixes(self.model)
        return Prefixes(
            usual.query if self.query_prefix is None else self.query_prefix,
            usual.document if self.document_prefix is None else self.document_prefix,
        )


def chunk_input(prefix: str, title: str, heading_path: Iterable[str], text: str) -> str:
    """Return the exact input of a chunk: prefix, title, heading path, text; at most 8,000 long.

    Where the prefix has a place for the title, the title stands there and nowhere else. A heading
    that repeats the title is left out. Whoever changes this raises `SCHEMA_VERSION` of the index
    (`store.index.meta`): the inputs of chunks with a vector are not hashed again.
    """
    headings = list(heading_path)
    if headings and headings[0] == title:
        del headings[0]
    if "{title}" in prefix:
        prefix = prefix.replace("{title}", title.strip() or "none")
        context = [" > ".join(headings)]
    else:
        context = [title.strip(), " > ".join(headings)]
    lines = "\n".join(line for line in context if line)
    return (prefix + (f"{lines}\n\n" if lines else "") + text.strip())[:MAX_INPUT]


def vector_key(model: str, text: str) -> bytes:
    """Return a vector's key: the first 16 bytes of the SHA-256 of model and exact input."""
    return hashlib.sha256(f"{model}\0{text}".encode("utf-8", "surrogatepass")).digest()[:16]
