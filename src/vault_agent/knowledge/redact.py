"""Removes secrets from text before it is stored, logged or sent.

Secrets are known by their form: the prefixes that providers give their keys, and names such as
`DB_PASSWORD` before a value. Entropy is no rule, because hashes and IDs are as random as keys.

Standard library only. Each pattern is linear in the length of the text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

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


_KEY = r"PRIVATE KEY(?: BLOCK)?-----"
_ASSIGNED = r"[\"']?[ \t]*[:=][ \t]*"
_OR_ARROW = r"[\"']?[ \t]*(?::|=>?)[ \t]*"
_PLAIN = r"[^\s\"'`,;(){}\[\]<>$*]"  # a value, no call and no expansion
_WITH_DIGIT = r"(?=[^\s\"']{0,80}[0-9])(?![0-9]+\b)"
_NO_PATH = r"(?![/~.-])"
_VARIABLE = r"\b(?:[A-Z0-9]{1,30}_){0,6}"
_SETTING = r"(?i:\b[a-z0-9_-]{0,40}"
_LINE = r"(?im:^[ \t]*[a-z0-9_-]{0,40}"
_WORDS = r"(?:password|passwd|passphrase))"
_KEYS = r"(?:secret|token|(?:api|access|private|secret|auth)[_-]?key))"

_FORMS: Final = (
    "private-key",
    rf"-----BEGIN [A-Z0-9 ]{{0,40}}{_KEY}[\s\S]*?(?:-----END [A-Z0-9 ]{{0,40}}{_KEY}|\Z)",
    "url-password",
    r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@\"'<>]{0,100}:(?P<it>[^\s/@\"'<>$]{1,300})@",
    "slack",
    r"\bxox[abeoprs](?:\.xox[bp])?-[0-9A-Za-z-]{10,}|\bxapp-[0-9]-[0-9A-Za-z-]{10,}",
    "slack",
    r"\bhooks\.slack\.com/(?:services|workflows|triggers)/(?P<it>[0-9A-Za-z/_-]{20,})",
    "anthropic",
    r"\bsk-ant-[0-9A-Za-z_-]{16,}",
    "stripe",
    r"\b(?:sk|rk)_(?:live|test)_[0-9A-Za-z]{16,}|\bwhsec_[0-9A-Za-z+/=]{16,}",
    "openai",
    r"\bsk-(?:proj-|svcacct-|admin-|or-v1-)?(?=[0-9A-Za-z_-]{0,60}[0-9])[0-9A-Za-z_-]{20,}",
    "aws",
    r"\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b",
    "github",
    r"\bgh[opsur]_[0-9A-Za-z]{30,}|\bgithub_pat_[0-9A-Za-z_]{22,}",
    "gitlab",
    r"\bgl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|imt|oas|ffct)-[0-9A-Za-z_.-]{20,}",
    "google",
    r"\bAIza[0-9A-Za-z_-]{35}|\bGOCSPX-[0-9A-Za-z_-]{20,}|\bya29\.[0-9A-Za-z_-]{20,}",
    "jwt",
    r"\beyJ[0-9A-Za-z_-]{8,}\.eyJ[0-9A-Za-z_-]{4,}\.[0-9A-Za-z_-]{8,}",
    "npm",
    r"\bnpm_[0-9A-Za-z]{30,}",
    "pypi",
    r"\bpypi-[0-9A-Za-z_-]{40,}",
    "hugging-face",
    r"\bhf_[0-9A-Za-z]{30,}",
    "sendgrid",
    r"\bSG\.[0-9A-Za-z_-]{16,}\.[0-9A-Za-z_-]{16,}",
    "twilio",
    r"\bSK[0-9a-f]{32}\b",
    "telegram",
    r"\b[0-9]{8,10}:AA[0-9A-Za-z_-]{33}",
    "bearer",
    r"(?i:\bBearer)[ \t]+(?P<it>(?=[^\s\"']{0,80}[0-9._-])[^\s\"',;<>$(){}]{12,})",
    "bearer",
    rf"(?i:\bAuthorization{_ASSIGNED}[\"']?(?:Basic|Token|ApiKey))[ \t]+(?P<it>[^\s\"']{{8,}})",
    # Variables of the environment: names in capital letters that end with such a word.
    "password",
    (
        rf"{_VARIABLE}[A-Z0-9]{{0,30}}(?:PASSWORD|PASSWD|PASSPHRASE|(?<=_)PWD|(?<=_)PASS)"
        rf"{_ASSIGNED}[\"']?(?P<it>{_NO_PATH}{_PLAIN}{{4,200}})"
    ),
    "secret",
    (
        rf"{_VARIABLE}(?:SECRET|TOKEN|APIKEY|SECRETKEY|ACCESSKEY|(?<=_)(?:KEY|CREDENTIALS?))"
        rf"{_ASSIGNED}[\"']?(?P<it>{_NO_PATH}{_WITH_DIGIT}{_PLAIN}{{8,500}})"
    ),
    # Settings and arguments in small letters: only values that are quoted, or alone in a line.
    "password",
    rf"{_SETTING}{_WORDS}{_OR_ARROW}[\"'](?P<it>[^\s\"'{{}}<>$*]{{4,200}})[\"']",
    "secret",
    rf"{_SETTING}{_KEYS}{_OR_ARROW}[\"'](?P<it>{_WITH_DIGIT}[^\s\"'{{}}<>$*()]{{8,500}})[\"']",
    "password",
    rf"{_LINE}{_WORDS}{_ASSIGNED}(?P<it>{_NO_PATH}{_WITH_DIGIT}{_PLAIN}{{4,200}})[ \t]*$",
    "secret",
    rf"{_LINE}{_KEYS}{_ASSIGNED}(?P<it>{_NO_PATH}{_WITH_DIGIT}{_PLAIN}{{8,500}})[ \t]*$",
    "password",
    (
        r"(?i:[ \t]--?(?:[a-z]{1,20}-)?(?:password|passwd|passphrase|pass))(?:=|[ \t]+)[\"']?"
        rf"(?P<it>{_NO_PATH}{_PLAIN}{{4,200}})"
    ),
    "secret",
    (
        r"(?i:[ \t]--(?:[a-z]{1,20}-){0,3}(?:secret|token|key))(?:=|[ \t]+)[\"']?"
        rf"(?P<it>{_NO_PATH}{_WITH_DIGIT}{_PLAIN}{{8,500}})"
    ),
)
"""Kinds and patterns in turn. The secret is the group `it`, or all of the match."""

_MARKED: Final = re.compile(r"<private>[\s\S]*?(?:</private>|\Z)", re.IGNORECASE)
_COMPILED: Final = tuple(
    (kind, re.compile(form, re.MULTILINE))
    for kind, form in zip(_FORMS[::2], _FORMS[1::2], strict=True)
)
_OURS = "[redacted: "


def redact(text: str, *, home: str | None = None, more: Iterable[re.Pattern[str]] = ()) -> Redacted:
    """Replace each secret of a text by `[redacted: KIND]`.

    What stands in `<private>…</private>` goes whole, to the end of the text if it is not closed.
    `home` becomes `~`. `more` are patterns of the user's; their matches are of the kind `custom`.
    """
    spans = [(*match.span(), PRIVATE) for match in _MARKED.finditer(text)]
    for kind, pattern in (*_COMPILED, *(("custom", each) for each in more)):
        group = "it" if "it" in pattern.groupindex else 0
        for match in pattern.finditer(text):
            start, end = match.span(group)
            if start < end and not match[group].startswith("[redacted"):
                spans.append((start, end, kind))
    parts: list[str] = []
    found: list[Found] = []
    done = 0  # where the last secret ends
    line, counted = 1, 0
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


_FILES: Final = re.compile(
    r"(?:^|[/\\])(?:\.env[^/\\]*|[^/\\]*\.(?:pem|key|p12|pfx|keystore|jks)|id_[^/\\]*"
    r"|[^/\\]*credentials[^/\\]*|\.netrc|\.npmrc|\.pypirc|\.pgpass)$",
    re.IGNORECASE,
)


def is_secret_file(path: str) -> bool:
    """Whether a file's content is never used, by its name: `.env`, `*.pem`, `id_*` and such."""
    return _FILES.search(path) is not None
