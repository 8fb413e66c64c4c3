"""One question to a chat model, and its answer. Nothing is streamed, and nothing is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import anyio
import orjson

from vault_agent.endpoint.address import check_model
from vault_agent.endpoint.client import ModelClient
from vault_agent.endpoint.faults import Fault, Kind
from vault_agent.endpoint.post import utf8
from vault_agent.endpoint.unavailable import Service
from vault_agent.errors import Misconfigured

MAX_TOKENS: Final = 1_200
CHAT: Final = Service(
    "CHAT_UNAVAILABLE",
    section="chat",
    name="The chat endpoint",
    kind="a chat model",
    path="/v1/chat/completions",
    others={
        Kind.TOO_LONG: "{name} rejects the text as too long; lower {section}.max_input_chars, or"
        " give the model a larger context.",
    },
)
_REPLY_BYTES: Final = 1 << 20
_WAITS: Final = (0.5, 2.0)
"""Seconds before another attempt, for faults that may pass."""
_PASSING: Final = frozenset({Kind.BUSY, Kind.DISCONNECTED, Kind.SERVER_ERROR})
# Faults of one question; another question may be answered.
_OF_THE_QUESTION: Final = frozenset({Kind.REJECTED, Kind.TOO_LONG, Kind.TIMED_OUT})
_LONGEST_PAUSE: Final = 10.0


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """The endpoint, the model and the limits of use. `timeout` is in seconds."""

    url: str
    model: str
    allow_private: bool = False
    timeout: float = 120.0


class ChatClient(ModelClient):
    """A model behind an OpenAI-compatible endpoint. An asynchronous context manager.

    One question at a time. After a fault of the endpoint, questions fail at once until a small one
    in the background is answered.
    """

    def __init__(self, settings: ChatSettings) -> None:
        """Check the endpoint and the model. Nothing is sent.

        Raises:
            Misconfigured: `CONFIG_INVALID` for an endpoint or model that would send text away.
        """
        model = settings.model.strip()
        if not model:
            raise Misconfigured("CONFIG_INVALID", "chat.model must name a model.")
        check_model(CHAT.section, model, sends="the text of sessions")
        self.model = model
        self._timeout = settings.timeout
        super().__init__(
            CHAT.section,
            settings.url,
            allow_private=settings.allow_private,
            recover=self._recover,
        )

    async def ask(self, instructions: str, question: str) -> str:
        """Return the model's answer.

        Raises:
            Unavailable: `CHAT_UNAVAILABLE`; the message says what to do.
        """
        async with self._turn:
            self._breaker.check()
            try:
                return await self._patiently(instructions, question)
            except Fault as fault:
                error = CHAT.unavailable(fault, self.model)
                if fault.kind not in _OF_THE_QUESTION:
                    self._breaker.trip(error)
                raise error from None

    async def _patiently(self, instructions: str, question: str) -> str:
        for wait in _WAITS:
            try:
                return await self._once(instructions, question, MAX_TOKENS)
            except Fault as fault:
                if fault.kind not in _PASSING:
                    raise
                await anyio.sleep(min(fault.retry_after or wait, _LONGEST_PAUSE))
        return await self._once(instructions, question, MAX_TOKENS)

    async def _once(self, instructions: str, question: str, most: int) -> str:
        body = orjson.dumps(
            {
                "model": self.model,
                "messages": [
                    {"role": "system", "content": utf8(instructions)},
                    {"role": "user", "content": utf8(question)},
                ],
                "temperature": 0,
                "max_tokens": most,
                "stream": False,
            }
        )
        reply = await self._poster.send(body, timeout=self._timeout, most=_REPLY_BYTES)
        return answer_of(reply)

    async def _recover(self) -> None:
        try:
            await self._once("Reply with one word.", "ready", 1)
        except Fault as fault:
            raise CHAT.unavailable(fault, self.model) from None


def answer_of(body: bytes) -> str:
    """Return the text of a reply.

    Raises:
        Fault: BAD_REPLY if it has none.
    """
    try:
        reply: Any = orjson.loads(body)
        message = reply["choices"][0]["message"]
        text = message["content"]
    except (orjson.JSONDecodeError, KeyError, IndexError, TypeError):
        raise Fault(Kind.BAD_REPLY) from None
    if text is None and isinstance(message.get("reasoning_content"), str):
        return ""  # a model that only thought, and had no tokens left to answer
    if not isinstance(text, str):
        raise Fault(Kind.BAD_REPLY)
    return text
