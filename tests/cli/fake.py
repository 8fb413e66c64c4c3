"""A fake server that replies with the wire models, and the replies used in tests."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import orjson
from aiohttp import web
from tests.support.command import Ended

from vault_agent.api.requests import parse
from vault_agent.model.graph import FolderTree
from vault_agent.model.health import (
    EmbeddingHealth,
    Health,
    IndexHealth,
    ServedVault,
    WatchState,
    WatchStatus,
)
from vault_agent.model.jobs import (
    Job,
    JobKind,
    JobList,
    JobState,
    JobSummary,
    OneJob,
    PhaseProgress,
)
from vault_agent.model.modes import Mode, Reason
from vault_agent.model.names import NamedNote, NamedNotes
from vault_agent.model.pages import Ticket
from vault_agent.model.reading import (
    AttachmentInfo,
    ChunkContent,
    Metadata,
    NoteContent,
    NoteOutline,
    OutlineHeading,
)
from vault_agent.model.reply import Envelope
from vault_agent.model.search import Answer, Hit, RelatedQuery, SearchQuery
from vault_agent.model.values import dump
from vault_agent.model.warning import Warning
from vault_agent.server.ui import TicketBody
from vault_agent.vaults.jobs import IndexBody

NOTE = "0123456789abcdef0123456789abcdef"
PROGRAM = (sys.executable, "-P", "-c", "from vault_agent.cli.main import main; main()")
NOBODY = Metadata(
    type=None,
    aliases=(),
    tags=(),
    date=None,
    created=None,
    updated=None,
    attachment_count=0,
    truncated=False,
)


Run = Callable[..., Awaitable[Ended]]


def job(state: str = "succeeded", job_id: str = "job-1", **changes) -> Job:
    """Return a job of two phases."""
    final = state not in ("queued", "running")
    fields = {
        "id": job_id,
        "kind": JobKind.INDEX,
        "state": JobState(state),
        "created_at": "2025-01-01T00:00:00+00:00",
        "started_at": "2025-01-01T00:00:00+00:00",
        "finished_at": "2025-01-01T00:00:02+00:00" if final else None,
        "phase": "parse",
        "phases": (
            PhaseProgress(name="scan", done=4, total=4),
            PhaseProgress(name="parse", done=4 if final else 1, total=4),
        ),
        "rate": None if final else 12.5,
        "eta_seconds": None if final else 61.0,
        "warnings": (),
        "warning_count": 0,
        "summary": JobSummary(
            added=3, changed=0, removed=0, renamed=0, unchanged=1, chunks=9, links=5,
            unresolved_links=2, embedded=0, reused=0, embedding_failed=0,
        )
        if state == "succeeded"
        else None,
        "error": None,
        **changes,
    }  # fmt: skip
    return Job(**fields)


def result(**changes) -> Hit:
    """Return one result."""
    fields = {
        "id": f"{NOTE}:2",
        "type": "chunk",
        "note_id": NOTE,
        "chunk_index": 2,
        "path": "Kitchen/Stock.md",
        "title": "Stock",
        "heading": "Bones",
        "heading_path": ("Stock", "Bones"),
        "snippet": "simmer the bones slowly",
        "matches": ((11, 16),),
        "score": 0.874,
        "reason": Reason.LEXICAL_MATCH,
        "metadata": NOBODY,
        **changes,
    }
    return Hit(**fields)


@dataclass
class FakeServer:
    """Replies like the real server. A test sets the replies and reads the requests."""

    endpoint: str = ""
    key: str | None = None
    vault: str | None = None  # its identity
    results: list[Hit] = field(default_factory=lambda: [result()])
    warnings: list[Warning] = field(default_factory=list)
    indexed_at: str | None = None
    named: list[str] = field(default_factory=lambda: ["Kitchen/Stock.md"])  # paths of a name
    chunk_lines: dict[int, int] = field(default_factory=lambda: {0: 1, 2: 1, 7: 1})  # first ones
    content: str = "# Stock\n\nSimmer.\n"
    jobs: list[Job] = field(default_factory=lambda: [job()])
    history: list[Job] = field(default_factory=lambda: [job("running"), job()])
    later: list[Job] | None = None  # the history from the second stream on
    hold_events: bool = False
    error: tuple[int, str, str, dict] | None = None
    errors: dict[str, str] = field(default_factory=dict)  # by the ID of the note asked for
    version: str = "1"
    running_job: str | None = None
    busy: bool = False  # whether an index job runs already
    watches: bool = False  # whether it notices changes of notes
    page: bool = False  # whether it has the web page
    ticket: str | None = None
    bodies: list[dict] = field(default_factory=list)  # of requests to delete and to move
    without_attachments: tuple[str, ...] = ()  # vaults
    asked: list[tuple[str, str, object]] = field(default_factory=list)

    def application(self) -> web.Application:
        app = web.Application(middlewares=[self._gate])
        app.on_response_prepare.append(self._stamp)
        app.router.add_get("/health", self._health)
        app.router.add_post("/search", self._search)
        app.router.add_post("/vaults/{vault}/search", self._search)
        app.router.add_post("/related", self._related)
        app.router.add_post("/index", self._submit)
        app.router.add_post("/reindex", self._submit)
        app.router.add_get("/jobs", self._jobs)
        app.router.add_get("/resolve", self._resolve)
        app.router.add_post("/ui/tickets", self._ticket)
        app.router.add_get("/jobs/{id}", self._job)
        app.router.add_delete("/jobs/{id}", self._job)
        app.router.add_get("/jobs/{id}/events", self._events)
        app.router.add_get("/notes/{id}", self._note)
        app.router.add_get("/notes/{id}/outline", self._outline)
        app.router.add_get("/chunks/{id}/{index}", self._chunk)
        app.router.add_get("/attachments/{path:.*}", self._attachment)
        app.router.add_get("/vaults/{vault}/resolve", self._resolve)
        app.router.add_get("/vaults/{vault}/folders", self._folders)
        app.router.add_post("/vaults/{vault}/write/delete", self._missing)
        app.router.add_post("/vaults/{vault}/write/move", self._missing)
        app.router.add_get("/vaults/{vault}/attachments/{path:.*}", self._attachment)
        return app

    async def _stamp(self, request: web.Request, response: web.StreamResponse) -> None:
        if self.vault is not None:
            response.headers["X-Vault-Id"] = self.vault

    @web.middleware
    async def _gate(self, request: web.Request, handler) -> web.StreamResponse:
        self.asked.append((request.method, request.rel_url.raw_path_qs, None))
        if self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
            return _error(401, "UNAUTHORIZED", "A key is needed.", {})
        if self.error:
            return _error(*self.error)
        if code := self.errors.get(request.match_info.get("id", "")):
            return _error(400, code, "Told by the server.", {})
        return await handler(request)

    def _reply(self, data, status: int = 200) -> web.Response:
        body = dump(Envelope(data, warnings=tuple(self.warnings)))
        return web.Response(body=body, status=status, content_type="application/json")

    async def _read(self, request: web.Request, model):
        assert request.content_type == "application/json"
        body = parse(model, await request.read())
        self.asked[-1] = (*self.asked[-1][:2], body)
        return body

    @property
    def _is_stale(self) -> bool:
        return any(warning.code == "INDEX_STALE" for warning in self.warnings)

    async def _health(self, request: web.Request) -> web.Response:
        return self._reply(
            Health(
                status="ok",
                version=self.version,
                vault=ServedVault(id=self.vault or "0" * 32, name="Others"),
                index=IndexHealth(
                    available=True, stale=self._is_stale, generation=1, notes=1, chunks=1
                ),
                embeddings=EmbeddingHealth(enabled=False, available=False, share=0.0),
                running_job=self.running_job,
                watch=WatchStatus(
                    enabled=self.watches,
                    state=WatchState.WATCHING if self.watches else WatchState.OFF,
                ),
                switched_on=("web.enabled",) if self.page else (),
            )
        )

    async def _ticket(self, request: web.Request) -> web.Response:
        await self._read(request, TicketBody)
        if not self.page:
            what = "This is switched off. Run `vault-agent enable web`."
            return _error(403, "FEATURE_DISABLED", what, {"setting": "web.enabled"})
        return self._reply(Ticket(ticket=self.ticket, seconds=60))

    async def _search(self, request: web.Request) -> web.Response:
        body = await self._read(request, SearchQuery)
        return self._results(body)

    async def _related(self, request: web.Request) -> web.Response:
        body = await self._read(request, RelatedQuery)
        return self._results(body)

    def _results(self, body) -> web.Response:
        return self._reply(
            Answer(
                requested_mode=body.mode,
                used_mode=Mode.LEXICAL,
                limit=body.limit,
                results=tuple(self.results),
                indexed_at=self.indexed_at,
            )
        )

    async def _resolve(self, request: web.Request) -> web.Response:
        if not self.named:
            details = {"suggestions": ["Kitchen/Stock.md"]}
            return _error(404, "NOTE_NOT_FOUND", "No note has this name.", details)
        notes = [
            NamedNote(note_id=NOTE, path=path, title="Stock", match="name") for path in self.named
        ]
        name, _, line = request.query["name"].partition(".md:")
        heading = name.partition("#")[2].removesuffix("]]") or None
        return self._reply(
            NamedNotes(
                notes=tuple(notes),
                has_more=False,
                line=int(line or 0) or None,
                heading=heading,
                anchor=None,
            )
        )

    async def _submit(self, request: web.Request) -> web.Response:
        await self._read(request, IndexBody)
        if self.busy:
            return _error(409, "INDEX_BUSY", "A job runs.", {"jobId": "job-1"})
        return self._reply(OneJob(job=self.history[0]), 202)

    async def _jobs(self, request: web.Request) -> web.Response:
        return self._reply(JobList(tuple(self.jobs)))

    async def _job(self, request: web.Request) -> web.Response:
        return self._reply(OneJob(job=self.history[-1]))

    async def _events(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for each in self.history:
            await response.write(b"event: job\ndata: " + dump(each) + b"\n\n: still here\n\n")
            if self.hold_events:
                await asyncio.sleep(60)
        self.history = self.later or self.history
        return response

    async def _note(self, request: web.Request) -> web.Response:
        return self._reply(
            NoteContent(
                id=request.match_info["id"], path="Kitchen/Stock.md", title="Stock",
                metadata=NOBODY, content=self.content, content_type="text/markdown", size=1,
                content_hash="0" * 64,
                links=(), attachments=(), links_truncated=False, link_count=0,
            )
        )  # fmt: skip

    async def _outline(self, request: web.Request) -> web.Response:
        heading = OutlineHeading("1", 1, "Stock", ("Stock",), 1, 9, "")
        note_id = request.match_info["id"]
        return self._reply(NoteOutline(note_id, "Kitchen/Stock.md", (heading,), ()))

    async def _chunk(self, request: web.Request) -> web.Response:
        start = self.chunk_lines.get(int(request.match_info["index"]))
        if start is None:
            return _error(404, "CHUNK_NOT_FOUND", "No such chunk.", {})
        return self._reply(
            ChunkContent(
                id=f"{NOTE}:2", note_id=NOTE, chunk_index=2, path="Kitchen/Stock.md", title="Stock",
                heading=None, heading_path=(), start_line=start, end_line=start, metadata=NOBODY,
                content=self.content, content_type="text/markdown", size=1,
            )
        )  # fmt: skip

    async def _folders(self, request: web.Request) -> web.Response:
        return self._reply(FolderTree("1.1", (), 0, truncated=False))

    async def _missing(self, request: web.Request) -> web.Response:
        self.bodies.append(orjson.loads(await request.read()))
        return _error(404, "NOTE_NOT_FOUND", "There is no such file.", {})

    async def _attachment(self, request: web.Request) -> web.Response:
        if request.query.get("download") == "true":
            return web.Response(body=b"\x00\x1bPNG" * 1000)
        path = request.match_info["path"]
        if request.match_info.get("vault", "default") in self.without_attachments:
            return _error(404, "ATTACHMENT_NOT_FOUND", "There is no attachment.", {})
        return self._reply(
            AttachmentInfo(
                path=path,
                name=path.rpartition("/")[2],
                media_type="image/png",
                size=4000,
                modified="2025-01-01T00:00:00Z",
            )
        )


def _error(status: int, code: str, message: str, details: dict) -> web.Response:
    body = {"error": {"code": code, "message": message, "details": {**details, "requestId": "r-1"}}}
    return web.Response(body=orjson.dumps(body), status=status, content_type="application/json")


def vault_named(name: str, environment: dict[str, str]) -> Path:
    folder = Path(environment["HOME"], name)
    folder.mkdir()
    (folder / "Stock.md").write_text(f"# Stock\n\nSimmer the bones in {name}.\n", "utf-8")
    return folder
