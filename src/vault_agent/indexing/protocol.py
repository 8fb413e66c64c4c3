"""The messages between the server and its indexing process, and their form on the pipe.

Each message is a frozen dataclass. On the pipe it is one line with one JSON object: the class name
under "type", and the fields. Both ends decode into the same classes and reject anything else. Paths
may contain bytes that are not UTF-8; JSON carries them as lone surrogates.

Events contain names of notes and folders, which may be long, so their size is limited.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from vault_agent.embedding.settings import EndpointSettings  # noqa: TC001 - read by _hints
from vault_agent.errors import VaultAgentError, error_of
from vault_agent.indexing.task import IndexRun, IndexTask  # noqa: TC001 - read by _hints
from vault_agent.model.warning import Warning
from vault_agent.system.crash import CrashReport  # noqa: TC001 - read by _hints

MAX_EVENT_BYTES = 1 << 20
"""Limit of a warning or an error on the pipe. The server reads lines of four times this size."""
MAX_DETAIL_CHARACTERS = 4_096
"""Limit of one text in an error or a warning: the longest path of most systems."""
_MAX_DETAIL_ITEMS = 100

# --- what the server sends ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Index:
    """Update the index. Answered by `Done`."""

    task: IndexTask


@dataclass(frozen=True, slots=True)
class Embed:
    """Embed the chunks without a vector. Answered by `Embedded`."""

    directory: str
    endpoint: EndpointSettings
    require: bool = False  # fail if a chunk has no vector
    fresh: bool = False  # embed all chunks again
    doubted: bool = False  # ask which model the endpoint serves, even if no vector is missing


@dataclass(frozen=True, slots=True)
class ReadAttachments:
    """Read attachments that wait, those after a path. Answered by `AttachmentsRead`."""

    task: IndexTask
    after: str = ""


@dataclass(frozen=True, slots=True)
class Compare:
    """Check whether the vault has changed since the last run. Answered by `Compared`."""

    task: IndexTask


@dataclass(frozen=True, slots=True)
class Verify:
    """Check the whole index for damage. Answered by `Verified`."""

    task: IndexTask


@dataclass(frozen=True, slots=True)
class WarmUp:
    """Start a parser process. Answered by `WarmedUp`."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Find the communities of the notes. Answered by `Clustered`."""

    task: IndexTask


@dataclass(frozen=True, slots=True)
class LayOut:
    """Compute positions for a drawing of the graph. Answered by `LaidOut`."""

    task: IndexTask


@dataclass(frozen=True, slots=True)
class QueryAnnounced:
    """A search is about to use the embedding endpoint. Not answered."""


@dataclass(frozen=True, slots=True)
class FinishEmbedding:
    """End a running `Embed` after the texts that are being sent. Not answered."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Watch a vault, or only its folder if changes are polled. Answered by `Watching`."""

    root: str
    exclude: tuple[str, ...]
    mode: str  # "auto", "events" or "poll"
    folder: tuple[int, ...] | None = None  # the folder to expect; None: the one found first
    attachments: tuple[str, ...] = ()  # kinds whose changes matter, see `text.attachments`


Question = Compare | Verify | Cluster | LayOut | WarmUp
Request = Index | Embed | ReadAttachments | Question | QueryAnnounced | FinishEmbedding | Watch

# --- what the process sends -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Phase:
    """Progress of a phase."""

    name: str
    done: int
    total: int | None
    characters: int = 0


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning of the run."""

    code: str
    message: str
    details: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, warning: Warning) -> Warned:
        """Return the event for a warning, cut to the limits of a message."""
        return cls(warning.code, _bounded(warning.message), _bounded(dict(warning.details)))

    @property
    def warning(self) -> Warning:
        """The warning itself."""
        return Warning(self.code, self.message, self.details)


@dataclass(frozen=True, slots=True)
class Published:
    """A new state is published; readers may open it."""

    run: IndexRun | None = None  # the run that published a new revision; None: only vectors are new


@dataclass(frozen=True, slots=True)
class Crashed:
    """A process failed unexpectedly. If it is the keeper, it ends after this event."""

    process: str  # "keeper", "worker" or "watcher"
    report: CrashReport


@dataclass(frozen=True, slots=True)
class Done:
    """The run has succeeded."""

    run: IndexRun


@dataclass(frozen=True, slots=True)
class Embedded:
    """The numbers of chunks by the origin of their vector."""

    embedded: int
    reused: int
    failed: int


@dataclass(frozen=True, slots=True)
class AttachmentsRead:
    """The attachments that an index run can take, and the last one that was tried."""

    paths: tuple[str, ...]
    last: str | None  # None: no more are waiting


@dataclass(frozen=True, slots=True)
class Compared:
    """Whether the vault has visibly changed since the last run."""

    stale: bool
    same_vault: bool = True  # whether the folder has at least half of the indexed notes


@dataclass(frozen=True, slots=True)
class Verified:
    """The index is intact."""


@dataclass(frozen=True, slots=True)
class Clustered:
    """The communities of the notes of one revision, as `graph.communities` returns them."""

    generation: int
    revision: int
    members: tuple[int, ...]  # by path
    modularity: float
    labels: tuple[str, ...]  # of the communities with two notes or more


@dataclass(frozen=True, slots=True)
class LaidOut:
    """The positions of one revision are in their file."""

    generation: int
    revision: int


@dataclass(frozen=True, slots=True)
class WarmedUp:
    """A parser process is ready."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The request failed with a `VaultAgentError`."""

    code: str
    message: str
    details: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, error: VaultAgentError) -> Refused:
        """Return the event for an error, cut to the limits of a message."""
        message, details = error.over_http()
        return cls(error.code, _bounded(message), _bounded(details))

    @property
    def error(self) -> VaultAgentError:
        """The error itself, of the class that belongs to its code."""
        return error_of(self.code, self.message, self.details)


@dataclass(frozen=True, slots=True)
class Watching:
    """The vault is watched from now on."""

    mode: str  # "events" or "poll"
    folders: int
    folder: tuple[int, ...]  # device and inode
    reason: str | None = None  # the code of why changes are polled although events were wanted
    fresh: bool = True  # whether the watch begins now; False: only the other values have changed


@dataclass(frozen=True, slots=True)
class Beat:
    """The watcher works. Sent once a second."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Something has changed at these paths."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SeenMuch:
    """Anything may have changed."""

    reason: str  # "overflow" or "gap"


@dataclass(frozen=True, slots=True)
class Away:
    """The vault's folder is missing, or another one is in its place."""

    other: tuple[int, ...] | None = None  # device and inode of the other folder


Result = Done | Embedded | AttachmentsRead
"""The last event of a request that does work."""
Answer = Result | Compared | Verified | Clustered | LaidOut | WarmedUp | Refused
"""The last event of a request."""
WatchEvent = Watching | Beat | Seen | SeenMuch | Away | Crashed
Event = Phase | Warned | Published | Crashed | Answer

# --- their form on the pipe -----------------------------------------------------------------

REQUESTS: Mapping[str, type[Request]] = {
    kind.__name__: kind
    for kind in (
        *(Index, Embed, ReadAttachments, Compare, Verify, Cluster, LayOut, WarmUp),
        *(QueryAnnounced, FinishEmbedding, Watch),
    )
}
EVENTS: Mapping[str, type[Event]] = {
    kind.__name__: kind
    for kind in (
        *(Phase, Warned, Published, Crashed),
        *(Done, Embedded, AttachmentsRead),
        *(Compared, Verified, Clustered, LaidOut, WarmedUp, Refused),
    )
}
WATCH_EVENTS: Mapping[str, type[WatchEvent]] = {
    kind.__name__: kind for kind in (Watching, Beat, Seen, SeenMuch, Away, Crashed)
}
_T = TypeVar("_T")


class ProtocolError(Exception):
    """A line is not a message. The text names the wrong field, never its value."""


def encode(message: Request | Event | WatchEvent) -> bytes:
    """Return a message as a line.

    A warning or an error over `MAX_EVENT_BYTES` loses its details.
    """
    line = _line(message)
    if isinstance(message, (Warned, Refused)) and len(line) > MAX_EVENT_BYTES:
        line = _line(type(message)(**{**_shallow(message), "details": {}}))
    return line


def decode_request(line: bytes) -> Request:
    """Return the request on a line.

    Raises:
        ProtocolError: if the line is not a request.
    """
    return _decode(line, REQUESTS)


def decode_event(line: bytes) -> Event:
    """Return the event on a line.

    Raises:
        ProtocolError: if the line is not an event.
    """
    return _decode(line, EVENTS)


def decode_watch_event(line: bytes) -> WatchEvent:
    """Return the event of a watcher on a line.

    Raises:
        ProtocolError: if the line is not such an event.
    """
    return _decode(line, WATCH_EVENTS)


def _line(message: Request | Event | WatchEvent) -> bytes:
    document = {"type": type(message).__name__, **asdict(message)}
    return json.dumps(document, default=str).encode("ascii") + b"\n"


def _shallow(message: Warned | Refused) -> dict[str, Any]:
    return {each.name: getattr(message, each.name) for each in fields(message)}


def _decode(line: bytes, kinds: Mapping[str, type[_T]]) -> _T:
    try:
        document = json.loads(line)
    except ValueError:
        raise ProtocolError("not JSON") from None
    kind = kinds.get(str(document.pop("type", ""))) if isinstance(document, dict) else None
    if kind is None:
        raise ProtocolError("unknown message type")
    message: _T = _read(document, kind, kind.__name__)
    return message


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _read(value: Any, kind: Any, where: str) -> Any:
    """Convert a JSON value to the type of a field's annotation."""
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        choices = get_args(kind)
        if value is None and NoneType in choices:
            return None
        [kind] = [choice for choice in choices if choice is not NoneType]
        return _read(value, kind, where)
    if origin is tuple and isinstance(value, list):
        return tuple(_read(item, get_args(kind)[0], where) for item in value)
    if is_dataclass(kind) and isinstance(kind, type) and isinstance(value, dict):
        hints = _hints(kind)
        if not value.keys() <= hints.keys():
            raise ProtocolError(f"{where} has an unknown field")
        found = {name: _read(item, hints[name], f"{where}.{name}") for name, item in value.items()}
        try:
            return kind(**found)
        except TypeError:
            raise ProtocolError(f"{where} lacks a field") from None
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is (origin or kind):
        return value
    raise ProtocolError(f"{where} has the wrong type")


def _bounded(value: Any) -> Any:
    """Return a detail cut to the limits of a message."""
    if isinstance(value, str) and len(value) > MAX_DETAIL_CHARACTERS:
        return value[: MAX_DETAIL_CHARACTERS - 1] + "…"
    if isinstance(value, Mapping):
        return {
            _bounded(str(name)): _bounded(item)
            for name, item in list(value.items())[:_MAX_DETAIL_ITEMS]
        }
    if isinstance(value, (list, tuple)):
        return [_bounded(item) for item in value[:_MAX_DETAIL_ITEMS]]
    return value
