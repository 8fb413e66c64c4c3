"""Operations: what a caller can do. A decorator makes an operation of a function.

The rest follows from the operation: its route and its OpenAPI description, who may use it, and the
types of the page.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from operator import attrgetter
from types import ModuleType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    NamedTuple,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
)

from vault_agent.api.replies import bounded, shown_warnings
from vault_agent.errors import NotFound, switched_off
from vault_agent.model.reply import Envelope
from vault_agent.model.values import dump, sent_fields
from vault_agent.search.resolve import note_with_id

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from vault_agent.api.caller import CallContext
    from vault_agent.model.values import SentField
    from vault_agent.model.warning import Warning

_BY_ID = "id:"
_WRITE = "write.enabled"
_NOTE_IDS = ("note_id", "id", "from_", "to_")
"""The fields of requests that name a note."""

Request = TypeVar("Request")
Reply = TypeVar("Reply")
Data = TypeVar("Data")


class Result(NamedTuple, Generic[Data]):
    """What an operation replies.

    `warnings` are by default those of the data. The ETag begins with `etag`. `status` is set if it
    is not that of the route: 201 if something new was made, 202 if a job does what was asked.
    `after_sent` is called after the reply was sent, with whether the caller was still connected.
    Only then can it be logged what the caller has got.
    """

    data: Data
    warnings: tuple[Warning, ...] = ()
    etag: str | None = None
    status: int | None = None
    after_sent: Callable[[bool], Awaitable[None]] | None = None

    @property
    def reply(self) -> Envelope[Data]:
        """The envelope, with as many warnings as are shown."""
        warnings = self.warnings or getattr(self.data, "warnings", ())
        return Envelope(self.data, shown_warnings(warnings))


_PARTS = re.compile(r"\{(\w+)\}")
MAX_BODY_BYTES = 64 * 1024
MAX_WRITE_BYTES = 1024 * 1024
"""The most bytes of a request to change a note."""
JSON = "application/json"
OCTETS = "application/octet-stream"


@dataclass(frozen=True, eq=False)
class Operation(Generic[Request, Reply]):
    """Something that a caller can do.

    Request fields that are named in `path`, an OpenAPI template, are in the path. The others are
    in the JSON body of a POST, otherwise in the query string. A field cannot be called `vault`:
    that part of a path names the vault that the request is to.

    Args:
        run: the function that does it. Its name and docstring are those of the operation.
        request: the class of what it takes.
        replies: the classes of the reply's data; empty for an operation that opens a stream.
        method: GET, POST or DELETE; "" for an operation of MCP alone.
        path: the template.
        status: the status of a success.
        media: the content types of a success.
        has_etag: whether replies carry an ETag.
        creates: whether a success is 201 if something new was made.
        ranged: whether a range of the content can be asked for.
        octets: whether the body is the bytes of a file, and the parameters are in the query string.
        max_body: the most bytes of a body.
        writes: whether it changes anything: notes, the index or jobs.
        needs: the setting that enables it, such as `write.enabled`; None if it is always enabled.
        for_named_agents: whether named agents may use it.
        bounded_list: the list in the reply's data that is cut if the reply is too large.
    """

    run: Callable[[Any, Request], Awaitable[Reply]]
    request: type[Request]
    replies: tuple[type, ...]
    method: str = ""
    path: str = ""
    status: int = 200
    media: tuple[str, ...] = (JSON,)
    has_etag: bool = False
    creates: bool = False
    ranged: bool = False
    octets: bool = False
    max_body: int = MAX_BODY_BYTES
    writes: bool = False
    needs: str | None = None
    for_named_agents: bool = False
    bounded_list: str | None = None

    @property
    def name(self) -> str:
        """Its name in all protocols."""
        return self.run.__name__

    @property
    def summary(self) -> str:
        """What the operation does, in one sentence."""
        return inspect.getdoc(self.run) or ""

    @property
    def takes_body(self) -> bool:
        """Whether a JSON body is read."""
        return self.method == "POST" and not self.octets

    @cached_property
    def in_path(self) -> tuple[str, ...]:
        """The request fields that are in the path."""
        return tuple(_PARTS.findall(self.path))

    @cached_property
    def fields(self) -> tuple[SentField, ...]:
        """The fields of its request."""
        return sent_fields(cast("Any", self.request))

    @cached_property
    def in_query(self) -> tuple[str, ...]:
        """The request fields that are query parameters."""
        if self.takes_body:
            return ()
        return tuple(field.key for field in self.fields if field.key not in self.in_path)


def operation(
    method: str = "", path: str = "", **rules: Any
) -> Callable[[Callable[[Any, Request], Awaitable[Reply]]], Operation[Request, Reply]]:
    """Return a decorator that makes an operation of a function. `rules` are of `Operation`.

    The function takes a context and the request, and returns `Result[...]` with the class of its
    data, or something else that the server knows to send.
    """

    def declare(run: Callable[[Any, Request], Awaitable[Reply]]) -> Operation[Request, Reply]:
        types = inspect.get_annotations(run, eval_str=True)
        returned = types.pop("return")
        request = list(types.values())[-1]
        return Operation(run, request, tuple(_data(returned)), method, path, **rules)

    return declare


def _data(returned: Any) -> Iterator[type]:
    """Yield the classes of data that a function says to return."""
    parts = get_args(returned)
    if get_origin(returned) in _UNIONS:
        for part in parts:
            yield from _data(part)
    elif parts:
        yield from get_args(parts[0]) if get_origin(parts[0]) in _UNIONS else parts


_UNIONS = (Union, UnionType)


def operations_of(module: ModuleType) -> tuple[Operation[Any, Any], ...]:
    """Return the operations that a module declares, in their order."""
    return tuple(
        value
        for value in vars(module).values()
        if isinstance(value, Operation) and value.run.__module__ == module.__name__
    )


def write_operation(
    path: str, **rules: Any
) -> Callable[[Callable[[Any, Request], Awaitable[Reply]]], Operation[Request, Reply]]:
    """Return the decorator of an operation that changes notes."""
    rules = {"max_body": MAX_WRITE_BYTES, **rules}
    return operation("POST", path, writes=True, needs=_WRITE, for_named_agents=True, **rules)


async def perform(
    operation: Operation[Request, Reply], call: CallContext, request: Request
) -> Reply:
    """Run an operation if it is enabled and the caller may use it.

    Raises:
        Misconfigured: `FEATURE_DISABLED` with `details.setting`.
        NotFound: `ROUTE_NOT_FOUND` if the caller may not use it.
        Forbidden: `VAULT_READ_ONLY` if it changes notes, and those of this vault never change.
        VaultAgentError: with the codes of the operation.
    """
    if call.caller.is_named_agent and not operation.for_named_agents:
        raise NotFound("ROUTE_NOT_FOUND", "There is no such operation.", remedy="")
    if operation.needs == _WRITE:
        call.vault.check_writable()
    elif operation.needs is not None:
        check_switch(operation.needs, call.vault.config)
    return await operation.run(call, await _with_note_ids(call, request))


def is_on(setting: str, config: object) -> bool:
    """Whether a setting such as `web.enabled` is true."""
    return attrgetter(setting)(config) is True


def check_switch(setting: str, config: object) -> None:
    """Raise Misconfigured `FEATURE_DISABLED` unless a setting such as `web.enabled` is true."""
    if not is_on(setting, config):
        raise switched_off(setting)


async def _with_note_ids(call: CallContext, request: Request) -> Request:
    """Return a request whose fields in `_NOTE_IDS` have note IDs, also where a caller sent `id:X`.

    X is the property `id` in the frontmatter of a note.

    Raises:
        NotFound: `NOTE_NOT_FOUND`; `NOTE_AMBIGUOUS` with `details.notes` if several notes have X.
    """
    names = {
        name: value
        for name in _NOTE_IDS
        if isinstance(value := getattr(request, name, None), str) and value.startswith(_BY_ID)
    }
    if not names:
        return request
    note_ids = {
        name: await call.vault.reader.read(note_with_id, value.removeprefix(_BY_ID))
        for name, value in names.items()
    }
    return replace(request, **note_ids)  # type: ignore[type-var]


def encode(operation: Operation[Any, Any], result: Result[Data]) -> tuple[Result[Data], bytes]:
    """Return a reply cut to its size limit, and its JSON."""
    reply = result.reply
    if operation.bounded_list is not None:
        cut, body = bounded(reply, operation.bounded_list)
        return result._replace(data=cut.data, warnings=cut.warnings), body
    body = dump(reply)
    etag = _tag(result.etag, body) if operation.has_etag else None
    return result._replace(warnings=reply.warnings, etag=etag), body


def _tag(content_hash: str | None, body: bytes) -> str:
    """Return the ETag of a reply, which changes with each byte of it.

    For a reply with the whole content of a file, it begins with the hash of that file.
    """
    digest = blake2b(body, digest_size=8).hexdigest()
    return f"{content_hash}-{digest}" if content_hash else digest
