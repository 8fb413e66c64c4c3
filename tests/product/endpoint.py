"""The local model for synchronous tests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from tests.support.clocks import PATIENCE
from tests.support.local_model import LocalModel
from tests.support.program import Program


class Endpoint(LocalModel):
    """An endpoint with an event loop in a separate thread."""

    def __init__(self, **options):
        super().__init__(**options)
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever)

    def __enter__(self) -> Self:
        self.thread.start()
        self.revive()
        return self

    def __exit__(self, *_: object) -> None:
        self.die()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    def die(self) -> None:
        """Close the port and all connections."""
        asyncio.run_coroutine_threadsafe(self.stop(), self.loop).result(PATIENCE)

    def revive(self) -> None:
        """Listen on the same port again."""
        asyncio.run_coroutine_threadsafe(self.start(), self.loop).result(PATIENCE)


@contextmanager
def running_endpoint(program: Program, **options) -> Iterator[Endpoint]:
    """Run an endpoint and configure the program's next server to embed with it."""
    with Endpoint(**options) as endpoint:
        program.variables = {
            "VAULT_AGENT_EMBEDDING_ENABLED": "true",
            "VAULT_AGENT_EMBEDDING_MODEL": endpoint.model,
            "VAULT_AGENT_EMBEDDING_ENDPOINT": endpoint.url,
        }
        yield endpoint
