"""The test embedding endpoint for synchronous tests."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.support.local_model import LocalModel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.program import Program


class Endpoint(LocalModel):
    """An endpoint with an event loop in a separate thread."""

    def __init__(self, **options):
        super().__init__(**options)
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever)

    def die(self) -> None:
        """Close the port and all connections."""
        asyncio.run_coroutine_threadsafe(self.stop(), self.loop).result(10)

    def revive(self) -> None:
        """Listen on the same port again."""
        asyncio.run_coroutine_threadsafe(self.start(), self.loop).result(10)


@contextmanager
def running_endpoint(program: Program, **options) -> Iterator[Endpoint]:
    """Run an endpoint and configure the program's next server to use it."""
    endpoint = Endpoint(**options)
    endpoint.thread.start()
    endpoint.revive()
    program.variables = {
        "VAULT_AGENT_EMBEDDING_ENABLED": "true",
        "VAULT_AGENT_EMBEDDING_MODEL": endpoint.model,
        "VAULT_AGENT_EMBEDDING_ENDPOINT": endpoint.url,
    }
    try:
        yield endpoint
    finally:
        endpoint.die()
        endpoint.loop.call_soon_threadsafe(endpoint.loop.stop)
        endpoint.thread.join()
        endpoint.loop.close()
