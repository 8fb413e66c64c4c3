"""The typed client of the HTTP server. It raises the errors that the server replies with.

A reply keeps the received bytes. `envelope` is the parsed JSON, and `data` the value of `model`
that it stands for. The class of a reply is named by its module and name, because a command imports
only what it reads.

Over 300 lines: one method for each call, and `lists`, `links` and `writing` have the rest.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, Self, TypeAlias, TypeVar
from urllib.parse import quote, urlencode

import orjson

from vault_agent import __version__
from vault_agent.client.exchange import Address, BrokenReply, NotConnected, exchange
from vault_agent.client.journals import Journals
from vault_agent.client.lists import Lists
from vault_agent.client.vaults import Vaults
from vault_agent.client.writing import Writing
from vault_agent.errors import Failed, Unavailable, VaultAgentError, at_terminal, error_of
from vault_agent.model.warning import Warning as Notice
from vault_agent.wire.values import Unreadable, read

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
    from types import TracebackType

    from vault_agent.client.exchange import Response
    from vault_agent.model.health import Health
    from vault_agent.model.jobs import Job, JobList, OneJob
    from vault_agent.model.names import NamedNotes
    from vault_agent.model.pages import Ticket
    from vault_agent.model.retrieval import AttachmentInfo, ChunkContent, NoteContent
    from vault_agent.model.search import Answer, Filters, Linked, Mode
    from vault_agent.model.watch import WatchReport

Data = TypeVar("Data")

Parameter: TypeAlias = "str | int | bool | Sequence[str] | None"
"""A parameter in a query string. A list is a repeated parameter."""

_CONNECT_SECONDS = 5.0
_READ_SECONDS = 120.0  # between two reads: a query may wait until the model is loaded
_SILENCE_SECONDS = 30.0  # the heartbeat comes every 5 s

MAX_REPLY_BYTES = 128 * 1024 * 1024
"""Limit of a JSON reply. A note has up to 64 MiB, and a line end takes two bytes in JSON."""
DOWNLOAD_LIMIT = 10 * 1024 * 1024
"""Limit of an attachment without `allow_large`. The server has the same limit."""
MAX_ERROR_BYTES = 1024 * 1024
MAX_EVENT_BYTES = 16 * 1024 * 1024


class Reply(Generic[Data]):
    """A successful reply."""

    def __init__(
        self, body: bytes, envelope: dict[str, Any], data: Data, warnings: tuple[Notice, ...]
    ) -> None:
        self.body = body
        self.envelope = envelope
        self.data = data
        self.warnings = warnings


class Client:
    """The calls of one server, as an asynchronous context manager.

    Every call raises the error of `vault_agent.errors` for the code in the server's reply, or
    Unavailable SERVER_UNAVAILABLE if no server answers. It follows no redirects and ignores proxies
    in the environment, so that data goes only to the configured server.
    """

    def __init__(
        self,
        endpoint: str,
        api_key: str | None = None,
        *,
        on_vault: Callable[[str], None] | None = None,
    ) -> None:
        """Create a client. `on_vault` is called once, with the identity of the served vault."""
        self.vault: str | None = None
        """The identity of the served vault, known after the first reply."""
        self.vault_name: str | None = None  # that calls are about; None for the default one
        self._on_vault = on_vault
        self.endpoint = endpoint.rstrip("/")
        self._address = Address.of(endpoint)
        self._headers = {"User-Agent": f"vault-agent/{__version__}"}
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self.lists = Lists(self._call)
        self.writing = Writing(self._call)
        self.vaults = Vaults(self._call)
        self.journals = Journals(self._call)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Do nothing: no connection outlives its call."""

    # --- calls ---------------------------------------------------------------------------------

    async def health(self) -> Reply[Health]:
        """Return the state of the server, its index and its embeddings."""
        return await self._call("GET", "/health", "health.Health")

    async def index(self, *, require_embeddings: bool = False) -> Reply[OneJob]:
        """Start an incremental run. Busy INDEX_BUSY has the running job in `details["jobId"]`."""
        body = {"requireEmbeddings": require_embeddings}
        return await self._call("POST", "/index", "jobs.OneJob", body)

    async def reindex(
        self, *, require_embeddings: bool = False, fresh_embeddings: bool = False
    ) -> Reply[OneJob]:
        """Start a run that rebuilds the index. Raises Busy like `index`."""
        body = {
            "requireEmbeddings": require_embeddings,
            "freshEmbeddings": fresh_embeddings,
        }
        return await self._call("POST", "/reindex", "jobs.OneJob", body)

    async def jobs(self) -> Reply[JobList]:
        """Return the last jobs, newest first."""
        return await self._call("GET", "/jobs", "jobs.JobList")

    async def job(self, job_id: str) -> Reply[OneJob]:
        """Return one job."""
        return await self._call("GET", f"/jobs/{_segment(job_id)}", "jobs.OneJob")

    async def cancel(self, job_id: str) -> Reply[OneJob]:
        """Cancel a job. The last complete index, if any, still serves."""
        return await self._call("DELETE", f"/jobs/{_segment(job_id)}", "jobs.OneJob")

    async def search(
        self,
        query: str,
        *,
        mode: Mode | None = None,
        limit: int = 10,
        filters: Filters | None = None,
        explain: bool = False,
        every_word: bool = False,
        cursor: str | None = None,
        vaults: Sequence[str] = (),
    ) -> Reply[Answer]:
        """Return the results of a query, best first. `vaults` are searched as one."""
        body = {"query": query, **_ranking(mode, limit, filters, vaults, explain=explain)}
        if every_word:
            body["match"] = "all"
        if cursor is not None:
            body["cursor"] = cursor
        return await self._call("POST", "/search", "search.Answer", body)

    async def related(
        self,
        note_or_chunk_id: str,
        *,
        mode: Mode | None = None,
        limit: int = 10,
        filters: Filters | None = None,
        explain: bool = False,
        linked: Linked | None = None,
        vaults: Sequence[str] = (),
    ) -> Reply[Answer]:
        """Return notes and chunks related to a note or chunk, best first.

        `linked`: whether notes that are linked with it, in either direction, are results.
        They are by default.
        """
        body = {"id": note_or_chunk_id, **_ranking(mode, limit, filters, vaults, explain=explain)}
        if linked is not None:
            body["linked"] = linked.value
        return await self._call("POST", "/related", "search.Answer", body)

    async def resolve(self, name: str) -> Reply[NamedNotes]:
        """Return the notes that a path, the end of a path, a title, a link or an ID means."""
        return await self._call("GET", f"/resolve?name={_segment(name)}", "names.NamedNotes")

    async def note(self, note_id: str, *, allow_large: bool = False) -> Reply[NoteContent]:
        """Return a note's original Markdown. `allow_large` lifts the limit of 200 KiB."""
        path = f"/notes/{_segment(note_id)}{_query(allowLarge=allow_large)}"
        return await self._call("GET", path, "retrieval.NoteContent")

    async def chunk(self, chunk_id: str) -> Reply[ChunkContent]:
        """Return one chunk by its ID, `{noteId}:{index}`."""
        note_id, _, index = chunk_id.partition(":")
        return await self._call(
            "GET", f"/chunks/{_segment(note_id)}/{_segment(index)}", "retrieval.ChunkContent"
        )

    async def attachment(self, path: str) -> Reply[AttachmentInfo]:
        """Return the metadata of an attachment. `path` is vault-relative."""
        return await self._call(
            "GET", f"/attachments/{quote(path, safe='/')}", "retrieval.AttachmentInfo"
        )

    async def download(self, path: str, *, allow_large: bool = False) -> AsyncGenerator[bytes]:
        """Yield an attachment's bytes. `allow_large` lifts the limit of 10 MiB.

        A reply without Content-Length, or over the limit, raises Unavailable.
        """
        query = _query(download=True, allowLarge=allow_large)
        async with self._open("GET", f"/attachments/{quote(path, safe='/')}{query}") as response:
            size = response.content_length
            if size is None:
                raise self._not_vault_agent()
            if size > DOWNLOAD_LIMIT and not allow_large:
                raise self._too_much(DOWNLOAD_LIMIT)
            async for block in response.blocks():
                yield block

    async def events(self, job_id: str) -> AsyncGenerator[Job]:
        """Yield the states of a job until it has ended."""
        path = f"/jobs/{_segment(job_id)}/events"
        async with self._open("GET", path, silence=_SILENCE_SECONDS) as response:
            async for line in self._lines(response):
                # The data of each event is one line of JSON.
                if line.startswith(b"data:"):
                    yield self._value(_class("jobs.Job"), orjson.loads(line[5:]))

    async def watch(self) -> Reply[WatchReport]:
        """Return how the vault is watched, and the last runs that this has started."""
        return await self._call("GET", "/watch", "watch.WatchReport")

    async def scan(self) -> Reply[OneJob]:
        """Start a job that looks at the whole vault. Misconfigured unless watching is on."""
        return await self._call("POST", "/watch/scan", "jobs.OneJob", {})

    async def ticket(self, *, printed: bool = False) -> Reply[Ticket]:
        """Return a ticket for the web page, or none if the server has no key."""
        return await self._call("POST", "/ui/tickets", "pages.Ticket", {"printed": printed})

    async def news(self) -> AsyncGenerator[tuple[str, dict[str, Any]]]:
        """Yield the name and the data of each event of the vault, without end."""
        name = ""
        async with self._open("GET", "/events", silence=_SILENCE_SECONDS) as response:
            async for line in self._lines(response):
                if line.startswith(b"event:"):
                    name = line[6:].strip().decode("ascii", "replace")
                elif line.startswith(b"data:"):
                    yield name, _object(line[5:]) or {}

    async def get(self, path: str, model: str, **parameters: Parameter) -> Reply[Any]:
        """Return the reply to a GET request. Parameters that are None are left out.

        `path` is complete and quoted, and `model` is the name of the reply's data. The calls about
        links in `client.links` use this.
        """
        given = [
            (name.rstrip("_"), _written(value))
            for name, values in parameters.items()
            for value in (values if isinstance(values, (tuple, list)) else (values,))
            if value is not None
        ]
        return await self._call("GET", f"{path}?{urlencode(given)}" if given else path, model)

    # --- internals ----------------------------------------------------------------------------

    async def _call(
        self, method: str, path: str, model: str, body: Mapping[str, Any] | None = None
    ) -> Reply[Any]:
        async with self._open(method, path, body) as response:
            content = await self._content(response, MAX_REPLY_BYTES)
        envelope = _object(content)
        if envelope is None or not isinstance(data := envelope.get("data"), dict):
            raise self._not_vault_agent()
        if model == "writing.Written" and "job" in data:
            model = "jobs.OneJob"  # a large move
        warnings = tuple(
            replace(each, message=at_terminal(each.code, each.message, each.details))
            for each in self._value(tuple[Notice, ...], envelope.get("warnings", []))
        )
        return Reply(content, envelope, self._value(_class(model), data), warnings)

    def _value(self, kind: Any, content: object) -> Any:
        """Return the value of a part of a reply. Raises Unavailable, or Failed if it is ours."""
        try:
            return read(kind, content)
        except Unreadable:
            if self.vault is None:
                raise self._not_vault_agent() from None
            raise Failed(
                "INTERNAL_ERROR",
                "unexpected reply: client and server may have different versions",
            ) from None

    @asynccontextmanager
    async def _open(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        silence: float = _READ_SECONDS,
    ) -> AsyncIterator[Response]:
        """Send a request and yield the successful response. Its body is not read yet."""
        headers = dict(self._headers)
        if self.vault_name is not None:
            path = f"/vaults/{_segment(self.vault_name)}{path}"
        content = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = orjson.dumps(body)
        try:
            async with exchange(
                self._address,
                method,
                path,  # unchanged: the server refuses `..` and encoded slashes
                headers,
                content,
                connect=_CONNECT_SECONDS,
                silence=silence,
            ) as response:
                self._report_vault(response.headers.get("x-vault-id"))
                if response.status >= 300:
                    content = await self._content(response, MAX_ERROR_BYTES)
                    raise self._error(_object(content))
                yield response
        except NotConnected:
            raise Unavailable(
                "SERVER_UNAVAILABLE",
                f"no server answers at {self.endpoint}.",
            ) from None
        except BrokenReply:
            raise Unavailable(
                "SERVER_UNAVAILABLE",
                f"the server at {self.endpoint} ended the connection before its reply was"
                " complete.",
            ) from None

    def _report_vault(self, vault: str | None) -> None:
        if vault is None:
            return
        self.vault = vault
        if self._on_vault is not None:
            self._on_vault(vault)
            self._on_vault = None

    async def _lines(self, response: Response) -> AsyncGenerator[bytes]:
        """Yield the lines of a reply. A line over MAX_EVENT_BYTES raises Unavailable."""
        begun = bytearray()
        async for block in response.blocks():
            first, *others = block.split(b"\n")
            begun += first
            if len(begun) > MAX_EVENT_BYTES:
                raise self._too_much(MAX_EVENT_BYTES)
            for other in others:
                yield bytes(begun)
                begun = bytearray(other)

    async def _content(self, response: Response, limit: int) -> bytes:
        """Return the body of a reply. A body over `limit` bytes raises Unavailable."""
        content = bytearray()
        async for block in response.blocks():
            content += block
            if len(content) > limit:
                raise self._too_much(limit)
        return bytes(content)

    def _error(self, envelope: dict[str, Any] | None) -> VaultAgentError:
        error = envelope.get("error") if envelope else None
        if not isinstance(error, dict) or not isinstance(error.get("code"), str):
            return self._not_vault_agent()
        details = error.get("details")
        return error_of(
            error["code"],
            str(error.get("message", "")),
            details if isinstance(details, dict) else None,
        )

    def _too_much(self, limit: int) -> Unavailable:
        return Unavailable(
            "SERVER_UNAVAILABLE",
            f"the server at {self.endpoint} sends more than {limit >> 20} MiB in one reply."
            " It may not be vault-agent.",
        )

    def _not_vault_agent(self) -> Unavailable:
        return Unavailable(
            "SERVER_UNAVAILABLE",
            f"What answers at {self.endpoint} is not vault-agent.",
        )


def _object(content: bytes) -> dict[str, Any] | None:
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def _class(name: str) -> Any:
    """Return the class of a reply by its module and name, such as `jobs.OneJob`."""
    module, _, name = name.partition(".")
    return getattr(import_module(f"vault_agent.model.{module}"), name)


def _written(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _segment(text: str) -> str:
    return quote(text, safe="")


def _query(**flags: bool) -> str:
    given = "&".join(f"{name}=true" for name, value in flags.items() if value)
    return f"?{given}" if given else ""


def filters_body(filters: Filters) -> dict[str, Any]:
    """Return filters as they are in a request's body."""
    given = {**asdict(filters), "properties": dict(filters.properties)}
    del given["scope"]  # the server knows the caller's
    return {key: value for key, value in given.items() if value}


def _ranking(
    mode: Mode | None, limit: int, filters: Filters | None, vaults: Sequence[str], *, explain: bool
) -> dict[str, Any]:
    body: dict[str, Any] = {"limit": limit}
    if mode is not None:
        body["mode"] = mode
    if filters is not None:
        body["filters"] = filters_body(filters)
    if vaults:
        body["vaults"] = list(vaults)
    if explain:
        body["explain"] = True
    return body
