"""Removes secrets from text before it is stored, logged or sent.

Secrets are known by their form: what vendors put before their tokens, and words such as password
beside a value. They are looked for in the text as it is, without its escapes and hidden characters,
and with wrapped lines made whole. Entropy removes nothing, because hashes and IDs are as random as
keys. It only tells what may be one: `doubtful_spans`.

Standard library only, since the hook imports this. Each step is linear in the length of the text.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from vault_agent.text.secret_tokens import Span, tokens, wrapped_tokens
from vault_agent.text.secret_values import named_values
from vault_agent.text.unescaped import joined, unescaped

if TYPE_CHECKING:
    from collections.abc import Iterable

PRIVATE = "private"
"""The kind of what stands between `<private>` and `</private>`."""


class Found(NamedTuple):
    """One redacted place: the kind of its secret, and its line, from 1."""

    kind: str
    line: int


class Redacted(NamedTuple):
    """A text without its secrets, and what was found in it, in order of the lines."""

    text: str
    found: tuple[Found, ...]


_MARKED: Final = re.compile(r"<private>[\s\S]*?(?:</private>|\Z)", re.IGNORECASE)
_OURS = "[redacted: "


def redact(text: str, *, home: str | None = None, more: Iterable[re.Pattern[str]] = ()) -> Redacted:
    """Replace each secret of a text by `[redacted: KIND]`.

    What stands in `<private>…</private>` goes whole, to the end of the text if it is not closed.
    `home` becomes `~`. `more` are patterns of the user's; their matches are of the kind `custom`.
    """
    spans = _spans(text)
    for pattern in more:
        group = "it" if "it" in pattern.groupindex else 0
        for match in pattern.finditer(text):
            if match[group] and not match[group].startswith("[redacted"):
                spans.append(Span(*match.span(group), "custom"))
    parts: list[str] = []
    found: list[Found] = []
    done = 0  # where the last secret ends
    line, counted = 1, 0
    spans = [each for each in spans if each.start < each.end]
    for start, end, kind in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start < done:  # a part of the secret before it, or its continuation
            done = max(done, end)
            continue
        parts += text[done:start], f"{_OURS}{kind}]"
        line += text.count("\n", counted, start)
        counted = start
        found.append(Found(kind, line))
        done = end
    parts.append(text[done:])
    made = "".join(parts)
    if home and home not in {"/", "\\"}:
        made = re.sub(re.escape(home.rstrip("/\\")) + r"(?![\w.-])", "~", made)
    return Redacted(made, tuple(found))


_ENDS: Final = re.compile(r"\\[nr\"]")


def _spans(text: str) -> list[Span]:
    """Return the secrets of a text, as they stand in it and as a reader would see them."""
    spans = [Span(*match.span(), PRIVATE) for match in _MARKED.finditer(text)]
    view = unescaped(text)
    here = [*tokens(text), *named_values(text)]
    if view.is_same:
        spans += here
    else:
        # What is escaped may end a secret: the quote and the next line of JSON inside JSON.
        for start, end, kind in here:
            ends = _ENDS.search(text, start, end)
            spans.append(Span(start, ends.start() if ends else end, kind))
        seen = [*tokens(view.text), *named_values(view.text)]
        spans += [Span(*view.span(each.start, each.end), each.kind) for each in seen]
    whole = joined(view.text)
    if not whole.is_same:
        for each in wrapped_tokens(whole.text):
            start, end = whole.span(each.start, each.end)
            spans.append(Span(*view.span(start, end), each.kind))
    return spans


_LONG: Final = re.compile(
    r"(?P<known>(?:sha\d{1,3}[-:]|h1:|data:|\bssh-\w{1,12} AAAA|AAAA)[\w+/=;:,.-]*)"
    r"|[0-9A-Za-z+/_=-]{20,}"
)
_RANDOM_LEAST: Final = 20
_WORDS_IN: Final = re.compile(r"[/_=+-]")


def doubtful_spans(text: str) -> list[tuple[int, int]]:
    """Return where a secret of no known form may stand: random characters.

    Hashes and UUIDs, which have no capital letters, are none, and neither are paths and names.
    """
    return [
        match.span()
        for match in _LONG.finditer(text)
        if not match["known"] and _is_random(match[0])
    ]


def _is_random(run: str) -> bool:
    """Whether letters of both cases and digits change as often as they do by chance.

    By chance six of ten neighbours differ in kind. In names and words it is one or two.
    """
    long = [piece for piece in _WORDS_IN.split(run) if len(piece) >= _RANDOM_LEAST]
    for piece in (*long, _WORDS_IN.sub("", run)):
        kinds = [0 if each.isdigit() else 1 if each.isupper() else 2 for each in piece]
        changes = sum(one != other for one, other in pairwise(kinds))
        if (
            len(piece) >= _RANDOM_LEAST
            and set(kinds) == {0, 1, 2}
            and changes >= 0.4 * len(piece)
            and len(set(piece)) >= 0.3 * min(len(piece), 40)
        ):
            return True
    return False


_FILES: Final = re.compile(
    r"(?:^|[/\\])(?:\.env[^/\\]*|[^/\\]*\.(?:pem|key|p12|pfx|keystore|jks)|id_[^/\\]*"
    r"|[^/\\]*credentials[^/\\]*|\.netrc|\.npmrc|\.pypirc|\.pgpass)$",
    re.IGNORECASE,
)


def is_secret_file(path: str) -> bool:
    """Whether a file's content is never used, by its name: `.env`, `*.pem`, `id_*` and such."""
    return _FILES.search(path) is not None
