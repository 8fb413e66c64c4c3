"""A real chat endpoint for tests: OpenAI-compatible HTTP with failures on request.

    async with ChatEndpoint() as endpoint:
        endpoint.always = status(500)      # every request, as the misbehaviours of `local_model` do
        endpoint.answer = "# Title ..."    # what the model says

It can run as a program too, and then says its address.
"""

from __future__ import annotations

import argparse
import asyncio
from typing import TYPE_CHECKING

from aiohttp import web
from tests.support.listening import Listening

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.local_model import Misbehaviour

ANSWER = """# Retries for the queue

## Goal
Add retries.

## Approach
One table of waits.

## Key Decisions
- A table rather than branches, because it is short.

## Problems Encountered
None.

## Outcome
Retries work.

## Open Questions
- Should they be logged?
"""


class ChatEndpoint(Listening):
    """Serves `/v1/chat/completions` on a free port of 127.0.0.1 and records requests."""

    def __init__(self, *, model: str = "test-model", port: int = 0) -> None:
        super().__init__("/v1/chat/completions", port, cancels=True)
        self.model = model
        self.answer: str | Callable[[str], str] = ANSWER
        self.always: Misbehaviour | None = None
        self.requests: list[dict] = []

    @property
    def questions(self) -> list[str]:
        """Return what was asked, without the small questions of recovery."""
        asked = [each["messages"][-1]["content"] for each in self.requests]
        return [text for text in asked if text != "ready"]

    async def answer_to(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(body)
        question = body["messages"][-1]["content"]
        said = self.answer if isinstance(self.answer, str) else self.answer(question)
        reply = {
            "object": "chat.completion",
            "model": self.model,
            "choices": [{"index": 0, "message": {"role": "assistant", "content": said}}],
        }
        if self.always is not None:
            response = await self.always(request, reply)
            if response is not None:
                return response
        if body["model"] != self.model:
            message = f'model "{body["model"]}" not found, try pulling it first'
            return web.json_response({"error": {"message": message}}, status=404)
        return web.json_response(reply)


async def _serve(**options) -> None:
    async with ChatEndpoint(**options) as endpoint:
        print(endpoint.url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--model", default="test-model")
    asyncio.run(_serve(**vars(parser.parse_args())))
