"""Operations and the functions that run them."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from hashlib import blake2b
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from vault_agent.api.bounds import bounded
from vault_agent.api.encoding import encoded
from vault_agent.api.shown import shown_warnings
from vault_agent.errors import Forbidden, Misconfigured, NotFound
from vault_agent.model.reply import Reply
from vault_agent.search.named import note_with_id
from vault_agent.wire.base import Model

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from vault_agent.api.context import CallContext
    from vault_agent.model.warning import Warning

_BY_ID = "id:"
_WRITE = "write.enabled"
_NOTE_IDS = ("note_id", "id", "from_", "to")
"""The fields of requests that name a note."""

Sent = TypeVar("Sent", bound=Model)
Got = TypeVar("Got")


class Found(NamedTuple):
    """What an operation replies, before its size is limited. Its ETag begins with `etag`.

    `data` is a value of `model`. `accepted` says that a job does what was asked, and the reply
    names it. `created` says that something new was made. `settle` is called once the reply was
    sent, with whether the caller still was there: what the reply gives is noted as given only then.
    """

    data: Any
    warnings: tuple[Warning, ...] = ()
    etag: str | None = None
    accepted: bool = False
    created: bool = False
    settle: Callable[[bool], Awaitable[None]] | None = None

    @property
    def reply(self) -> Reply[Any]:
        """The envelope, with as many warnings as are shown."""
        return Reply(self.data, shown_warnings(self.warnings))


class Outcome(NamedTuple):
    """A reply within its size limit, and the same as JSON."""

    reply: Reply[Any]
    body: bytes
    etag: str | None
    accepted: bool = False
    created: bool = False
    settle: Callable[[bool], Awaitable[None]] | None = None


_PARTS = re.compile(r"\{(\w+)\}")
MAX_BODY_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Http:
    """How an operation is called over HTTP.

    Request fields that are named in `path`, an OpenAPI template, are in the path. The others are
    in the JSON body if there is one, otherwise in the query string. A field cannot be called
    `vault`: that part of a path names the vault that the request is to.

    Args:
        method: GET, POST or DELETE.
        path: the template.
        body: whether there is a JSON body; None if it is optional.
        status: the status of a success.
        media: the content types of a success.
        wider: a request model with fields that only HTTP has, instead of the operation's.
        more_codes: errors that only HTTP has, besides those of every route.
        tagged: whether replies carry an ETag.
        max_body: the most bytes of a body.
        octets: whether the body is the bytes of a file, and the parameters are in the query string.
        creates: whether a success is 201 if something new was made.
    """

    method: str
    path: str
    body: bool | None = False
    status: int = 200
    media: tuple[str, ...] = ("application/json",)
    wider: type[Model] | None = None
    more_codes: tuple[str, ...] = ()
    tagged: bool = False
    max_body: int = MAX_BODY_BYTES
    octets: bool = False
    creates: bool = False

    @property
    def takes_body(self) -> bool:
        """Whether a JSON body is read."""
        return self.body is not False

    @property
    def in_path(self) -> tuple[str, ...]:
        """The request fields that are in the path."""
        return tuple(_PARTS.findall(self.path))


@dataclass(frozen=True, slots=True)
class Operation(Generic[Sent, Got]):
    """Something that a caller can do.

    Args:
        name: its name in all protocols.
        request: the model of the request.
        run: the function that does it. Its docstring is the summary.
        replies: the classes of the reply's data; empty for an operation that opens a stream.
        codes: its error codes, besides those of every operation.
        writes: whether it changes anything: notes, the index or jobs.
        needs: the setting that enables it, such as `write.enabled`; None if it is always enabled.
        scoped: whether it limits itself to the caller's scope. Only then agents may use it.
        listed: the list in the reply's data that is cut if the reply is too large.
        http: how it is called over HTTP; None for an operation of another one, or of MCP alone.
    """

    name: str
    request: type[Sent]
    run: Callable[[CallContext, Sent], Awaitable[Got]]
    replies: tuple[type, ...] = ()
    codes: tuple[str, ...] = ()
    writes: bool = False
    needs: str | None = None
    listed: str | None = None
    scoped: bool = False
    http: Http | None = None

    @property
    def summary(self) -> str:
        """What the operation does, in one sentence."""
        return inspect.getdoc(self.run) or ""


async def perform(operation: Operation[Sent, Got], call: CallContext, sent: Sent) -> Got:
    """Run an operation if it is enabled and the caller may use it.

    Raises:
        Misconfigured: `FEATURE_DISABLED` with `details.setting`.
        NotFound: `ROUTE_NOT_FOUND` if the caller may not use it.
        Forbidden: `VAULT_READ_ONLY` if it changes notes, and those of this vault never change.
        VaultAgentError: with the codes of the operation.
    """
    if not (call.caller.may_do_everything or operation.scoped):
        raise NotFound("ROUTE_NOT_FOUND", "There is no such operation.", remedy="")
    if operation.needs == _WRITE and call.vault.is_read_only:
        what = "No folder of this vault may be changed: write.folders names none."
        raise Forbidden("VAULT_READ_ONLY", what, {"setting": "write.folders"})
    if operation.needs is not None:
        check_switch(operation.needs, call.vault.config)
    return await operation.run(call, await _with_note_ids(call, sent))


def is_on(setting: str, config: object) -> bool:
    """Whether a setting such as `web.enabled` is true."""
    return attrgetter(setting)(config) is True


def check_switch(setting: str, config: object) -> None:
    """Raise Misconfigured `FEATURE_DISABLED` unless a setting such as `web.enabled` is true."""
    if not is_on(setting, config):
        raise Misconfigured(
            "FEATURE_DISABLED",
            f"This is switched off: {setting} is not true.",
            {"setting": setting},
        )


async def _with_note_ids(call: CallContext, sent: Sent) -> Sent:
    """Return a request with note IDs in place of `id:` and the `id` of a note's frontmatter.

    Raises:
        NotFound: `NOTE_NOT_FOUND`; `NOTE_AMBIGUOUS` with `details.notes` if several have it.
    """
    asked = {
        name: value
        for name in _NOTE_IDS
        if isinstance(value := getattr(sent, name, None), str) and value.startswith(_BY_ID)
    }
    if not asked:
        return sent
    found = {
        name: await call.vault.read(note_with_id, value.removeprefix(_BY_ID), call.scope)
        for name, value in asked.items()
    }
    return sent.model_copy(update=found)


async def answer(operation: Operation[Sent, Found], call: CallContext, sent: Sent) -> Outcome:
    """Run an operation and return its reply, cut to its size limit.

    Raises:
        VaultAgentError: as `perform`.
    """
    found = await perform(operation, call, sent)
    reply = found.reply
    if operation.listed is None:
        try:
            body = await encoded(reply)
        except BaseException:
            if found.settle is not None:
                await found.settle(False)
            raise
        etag = _tag(found.etag, body) if operation.http and operation.http.tagged else None
        return Outcome(reply, body, etag, found.accepted, found.created, found.settle)
    return Outcome(*bounded(reply, operation.listed), None)


def _tag(content_hash: str | None, body: bytes) -> str:
    """Return the ETag of a reply: it changes with each byte that is sent.

    Of a reply with the whole content of a file, it begins with the hash of that.
    """
    digest = blake2b(body, digest_size=8).hexdigest()
    return f"{content_hash}-{digest}" if content_hash else digest
