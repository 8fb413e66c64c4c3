"""A real server on a real port, with a fake engine of fixed answers."""

from __future__ import annotations

import asyncio
import io
import json
import re
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import aiohttp
import pytest
from tests.support.clocks import PATIENCE
from tests.support.privacy import Confidences

from vault_agent.config.rules import vault_identity
from vault_agent.config.settings import Config
from vault_agent.errors import Busy, Forbidden, NotFound, TooLarge
from vault_agent.model.health import Health, IndexHealth, ServedVault, WatchStatus
from vault_agent.model.jobs import Job, JobState
from vault_agent.model.modes import Mode, Reason
from vault_agent.model.reading import AttachmentInfo, ChunkContent, Metadata, NoteContent
from vault_agent.model.search import Answer, Hit
from vault_agent.server.connection import Limits
from vault_agent.server.log import EventLog, Level, captured_logging
from vault_agent.server.serve import listening
from vault_agent.vault.attachments import OpenAttachment, describe
from vault_agent.vaults.event_stream import EventStream
from vault_agent.vaults.jobs import IndexBody

NOTE_ID = "0123456789abcdef0123456789abcdef"
KEY = "k" * 32 + "-Key~1"
CONTENT = bytes(range(256)) * 40


def hit(**changes) -> Hit:
    whole = Hit(
        id=f"{NOTE_ID}:3",
        type="chunk",
        note_id=NOTE_ID,
        chunk_index=3,
        path="projects/lighthouse/Design notes.md",
        title="Design notes",
        heading="Retries",
        heading_path=("Design notes", "Retries"),
        snippet="The lamp turns once a minute, and the keeper writes down every time it stops.",
        matches=((4, 8),),
        score=0.875,
        reason=Reason.LEXICAL_MATCH,
        metadata=Metadata(tags=("lamp",)),
    )
    return replace(whole, **changes)


class FakeJobs:
    """Fake jobs that end when a test ends them."""

    def __init__(self):
        self.all: dict[str, Job] = {}
        self.options = None
        self.changed = asyncio.Event()

    async def submit(self, kind, options=None):
        running = [job for job in self.all.values() if not job.state.final]
        if running:
            raise Busy("INDEX_BUSY", "An index job is running.", {"jobId": running[0].id})
        self.options = options
        job = Job(f"job{len(self.all)}", kind, JobState.RUNNING, "2026-01-01T00:00:00Z")
        self.all[job.id] = job
        return job

    async def list(self):
        return tuple(reversed(self.all.values()))

    async def get(self, job_id):
        if job_id not in self.all:
            raise NotFound("JOB_NOT_FOUND", "There is no such job.")
        return self.all[job_id]

    async def cancel(self, job_id):
        await self.get(job_id)
        return self.change(job_id, state=JobState.CANCELLED)

    async def watch(self, job_id):
        while True:
            job = await self.get(job_id)
            yield job
            if job.state.final:
                return
            await self.changed.wait()

    def change(self, job_id, **changes):
        job = self.all[job_id] = replace(self.all[job_id], **changes)
        self.changed.set()
        self.changed = asyncio.Event()
        return job


class FakeWatch:
    """A watch that is off, unless a test changes that."""

    def __init__(self):
        self.state = WatchStatus()

    def status(self):
        return self.state

    async def settled(self, seconds):
        pass


class FakeEngine:
    """Fixed answers. `queries` records queries, and `failure` is raised instead if set."""

    def __init__(self, config):
        self.config = config
        self.jobs = FakeJobs()
        self.events = EventStream()
        self.reranker = None
        self.watch = FakeWatch()
        self.reader = self  # its methods are here too
        self.queries = []
        self.results = (hit(),)
        self.search_warnings = ()
        self.failure: Exception | None = None
        self.files = {"folder/picture.png": CONTENT, "page.html": b"<script>alert(1)</script>"}
        self.opened = []

    @property
    def identity(self):
        return vault_identity(self.config.vault.root or Path("notes"))

    async def listening_at(self, url, *, until_idle=False):
        """Take the address of a server in a process of its own."""

    async def submit(self, kind, options=None, trigger=None):
        return await self.jobs.submit(kind, options or IndexBody())

    async def health(self):
        name = Path(self.config.vault.root or "notes").name
        return Health(
            "ok", "1.0", ServedVault(self.identity, name), IndexHealth(True, False, 1, 2, 3)
        )

    async def search(self, query):
        if self.failure:
            raise self.failure
        self.queries.append(query)
        return Answer(query.mode, Mode.LEXICAL, query.limit, self.results, self.search_warnings)

    related = search

    def warnings(self):
        return ()

    async def read(self, function, *arguments, warnings=(), **options):
        """Answer as the method here that is named as the function of `fetch`."""
        name = "attachment" if function is describe else function.__name__
        return await getattr(self, name)(*arguments, **options)

    read_files = in_folder = read

    async def read_whole(self, note_id, *, allow_large, path):
        if note_id != NOTE_ID:
            raise NotFound("NOTE_NOT_FOUND", "There is no such note.")
        content = "# Lamp\n" * (40_000 if allow_large else 1)
        return NoteContent(
            NOTE_ID, "Lamp.md", "Lamp", Metadata(), content, len(content), "n1", (), ()
        )

    async def read_chunk(self, note_id, index):
        if index > 3:
            raise NotFound("CHUNK_NOT_FOUND", "There is no such chunk.")
        return ChunkContent(
            f"{note_id}:{index}", note_id, index, "Lamp.md", "Lamp", "B", ("A", "B"), 1, 2,
            Metadata(), "text", "text/markdown; charset=utf-8", 4, "c1",
        )  # fmt: skip

    async def attachment(self, path):
        if ".." in path.split("/"):
            raise Forbidden("PATH_OUTSIDE_VAULT", "The path leads out of the vault.")
        if path not in self.files:
            raise NotFound("ATTACHMENT_NOT_FOUND", "There is no such attachment.")
        kind = "text/html" if path.endswith(".html") else "image/png"
        size = len(self.files[path])
        return AttachmentInfo(path, path.split("/")[-1], kind, size, "2026-01-01T00:00:00Z", "e1")

    async def open_attachment(self, path, *, allow_large):
        info = await self.attachment(path)
        if info.size > 100_000 and not allow_large:
            raise TooLarge("ATTACHMENT_TOO_LARGE", "Over the limit.")
        opened = OpenAttachment(info, io.BytesIO(self.files[path]))
        self.opened.append(opened)
        return opened


@dataclass
class Running:
    """A running server with methods for tests."""

    host: str
    port: int
    engine: FakeEngine
    log: io.StringIO
    session: aiohttp.ClientSession

    @property
    def authority(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def events(self) -> list[dict]:
        return [json.loads(line) for line in self.log.getvalue().splitlines()]

    def request(self, method, path, **options):
        from yarl import URL

        url = URL(f"http://{self.authority}{path}", encoded=True)
        return self.session.request(method, url, **options)

    async def ask(self, method, path, **options):
        """Return the status, the JSON body and the headers of one request."""
        async with self.request(method, path, **options) as reply:
            body = await reply.read()
            return reply.status, json.loads(body) if body else None, reply.headers

    async def refusal(self, method, path, **options):
        """Return the status and code of a refusal."""
        status, body, _ = await self.ask(method, path, **options)
        assert set(body) == {"error"}
        assert set(body["error"]) == {"code", "message", "details"}
        assert body["error"]["details"]["requestId"]
        return status, body["error"]["code"]

    async def raw(self, data: bytes) -> bytes:
        """Send bytes and return the reply until the server closes or stops sending."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(data)
        received = b""
        with suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(PATIENCE):
                while piece := await reader.read(65536):
                    received += piece
        await hang_up(writer)
        return received

    async def first_reply(self, data: bytes) -> bytes:
        """Send bytes and return the first reply, as soon as it is whole."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(data)
        async with asyncio.timeout(PATIENCE):
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: ([0-9]+)", head)
            body = await reader.readexactly(int(length[1]) if length else 0)
        await hang_up(writer)
        return head + body

    async def closes(self, data: bytes, within: float) -> bool:
        """Whether the server closes a connection that sent only this."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(data)
        try:
            async with asyncio.timeout(within):
                await reader.read(-1)
        except TimeoutError:
            return False
        except ConnectionError:
            return True
        finally:
            await hang_up(writer)
        return True


async def hang_up(writer: asyncio.StreamWriter) -> None:
    """Close a connection and wait for its end."""
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


class OneVault:
    """Vaults of which there is one, which each agent sees."""

    def __init__(self, default: FakeEngine) -> None:
        self.default = default

    async def seen_by(self, _name: str, _scope: object) -> FakeEngine:
        return self.default


@asynccontextmanager
async def run(*, limits: Limits | None = None, **sections):
    """Run a server on a free port; `sections` are those of the configuration."""
    config = Config(**sections)
    log = io.StringIO()
    events = EventLog(Level.DEBUG, log)

    @asynccontextmanager
    async def open_app(config):
        yield SimpleNamespace(vaults=OneVault(FakeEngine(config)))

    with captured_logging(events):
        async with (
            asyncio.timeout(PATIENCE),
            listening(config, open_app=open_app, log=events, limits=limits, port=0) as server,
            aiohttp.ClientSession() as session,
        ):
            engine = server.app.vaults.default
            yield Running(server.host, server.port, engine, log, session)
    examine(log.getvalue())


def examine(log: str) -> None:
    """Fail if a log contains request or reply text of these tests."""
    private = Confidences()
    answer = hit()
    for text in (answer.path, answer.snippet, answer.title, answer.heading, NOTE_ID, KEY, "canary"):
        private.add("what the server knows", text)
    private.examine("the log", log)


@pytest.fixture
async def server():
    async with run() as running:
        yield running


@pytest.fixture
async def guarded():
    """Run a server that needs a key."""
    async with run(server={"api_key": KEY}) as running:
        yield running
