"""What can go wrong with one request to a local model's endpoint, and the errors that say so.

The text of a reply is never repeated, since some servers quote the input in their errors.
"""

from __future__ import annotations

import re
import tomllib
from enum import StrEnum, auto
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import orjson

from vault_agent.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping


class Kind(StrEnum):
    """What went wrong with one request, grouped by what to do about it."""

    # Faults of the endpoint. Retried, since they may be temporary.
    UNREACHABLE = auto()  # nothing listens at the address
    BUSY = auto()  # 408, 429, 502, 503, 504
    # Faults of the request or of the endpoint. Another request shows which.
    DISCONNECTED = auto()
    TIMED_OUT = auto()
    SERVER_ERROR = auto()  # other 5xx, 424, "the model has crashed"
    BAD_REPLY = auto()  # 200 without what was asked for
    # Faults of the request. Sending it again does not help.
    REJECTED = auto()  # other 4xx
    TOO_LONG = auto()  # too many tokens, or too many bytes
    # Only the user can fix these.
    MODEL_MISSING = auto()
    ROUTE_MISSING = auto()
    UNAUTHORIZED = auto()
    REDIRECTED = auto()
    ADDRESS_REFUSED = auto()


FATAL: Final = frozenset(
    {
        Kind.MODEL_MISSING,
        Kind.ROUTE_MISSING,
        Kind.UNAUTHORIZED,
        Kind.REDIRECTED,
        Kind.ADDRESS_REFUSED,
    }
)


class EndpointFault(Exception):
    """A request failed. Contains no text from the endpoint."""

    def __init__(self, kind: Kind, *, retry_after: float | None = None) -> None:
        super().__init__(kind.name)
        self.kind = kind
        self.retry_after = retry_after


_BUSY: Final = frozenset({408, 429, 502, 503, 504})

_TABLES: Final = tomllib.loads(files(__package__).joinpath("services.toml").read_text("utf-8"))


def _pattern(name: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    return re.compile("|".join(_TABLES["replies"][name]), flags)


_TOO_LONG: Final = _pattern("too_long", re.IGNORECASE)
_BATCH: Final = _pattern("batch", re.IGNORECASE)
_MODEL_MISSING: Final = _pattern("model_missing", re.IGNORECASE | re.DOTALL)
_CRASHED: Final = _pattern("crashed")


def fault_of(status: int, body: bytes, retry_after: str | None) -> EndpointFault:
    """Return the fault for a reply other than 200, from its status and its error message."""
    if 300 <= status < 400:
        return EndpointFault(Kind.REDIRECTED)
    if status in (401, 403):
        return EndpointFault(Kind.UNAUTHORIZED)
    if status in _BUSY:
        return EndpointFault(Kind.BUSY, retry_after=_seconds(retry_after))
    message = _message(body)
    if status == 404 or (status == 400 and _MODEL_MISSING.search(message)):
        # A missing path gives any error page. A missing model gives a message that mentions it.
        names_model = _MODEL_MISSING.search(message) or "model" in message.lower()
        return EndpointFault(Kind.MODEL_MISSING if names_model else Kind.ROUTE_MISSING)
    if _BATCH.search(message):
        return EndpointFault(Kind.REJECTED)
    if status == 413 or _TOO_LONG.search(message):
        return EndpointFault(Kind.TOO_LONG)
    if status >= 500 or status == 424 or _CRASHED.search(message):
        return EndpointFault(Kind.SERVER_ERROR)
    return EndpointFault(Kind.REJECTED)


def _message(body: bytes) -> str:
    """Return the message of an error in any of the known shapes, at most 400 characters.

    Only fields with the server's own text are used. Validation errors (a list) quote the input, and
    a note that contains "model not found" must not end the run.
    """
    try:
        content: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        return body[:400].decode("utf-8", "replace")
    if isinstance(content, dict):
        content = content.get("error") or content.get("message") or content.get("detail")
    if isinstance(content, dict):
        content = content.get("message")
    return content[:400] if isinstance(content, str) else ""


def _seconds(header: str | None) -> float | None:
    """Return the seconds of a Retry-After header, or None. Its form with a date is ignored."""
    try:
        seconds = float(header or "")
    except ValueError:
        return None
    return seconds if 0 <= seconds < 1e6 else None


class ModelService(NamedTuple):
    """What is asked at an endpoint: the words of its errors."""

    code: str
    section: str
    """Of its settings."""
    name: str
    kind: str
    """Of its models."""
    path: str
    messages: Mapping[str, str]
    """By the name of a fault."""
    of_one_request: frozenset[str]
    """Faults after which another request may succeed."""

    @classmethod
    def of(cls, name: str) -> Self:
        """Return a service of `services.toml`."""
        fields = dict(_TABLES[name])
        fields["messages"] = _TABLES["messages"] | fields["messages"]
        fields["of_one_request"] = frozenset(fields["of_one_request"])
        return cls(**fields)

    def unavailable(self, fault: EndpointFault, model: str, address: str) -> Unavailable:
        """Return the error for a fault of the endpoint as a whole, which is at an address."""
        message = self.messages[fault.kind.value]
        return Unavailable(
            self.code,
            message.format(model=model, address=address, **self._asdict()),
            {"reason": fault.kind.value},
            remedy="",
        )
