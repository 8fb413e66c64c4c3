"""The probe: the vector of a fixed text shows which model answers, and whether consistently."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import anyio
import numpy as np

from vault_agent.endpoint.faults import Fault, Kind
from vault_agent.model.vectors import VectorSpace

if TYPE_CHECKING:
    from vault_agent.embedding.embedder import Vector, Vectors
    from vault_agent.embedding.endpoint import Endpoint
    from vault_agent.embedding.gate import Gate
    from vault_agent.embedding.prefixes import Prefixes

TEXT: Final = "The lighthouse keeper wrote down the weather every evening before supper."
_COMPANY: Final = (
    "A recipe for bread: flour, water, salt, yeast, and patience.",
    TEXT,
    "Minutes of the meeting about the new printer on the second floor, with three decisions.",
)
_SAME: Final = 0.999


class Probe:
    """Asks the endpoint for the vector of the probe text, which identifies the space."""

    def __init__(self, endpoint: Endpoint, model: str, prefixes: Prefixes) -> None:
        self._endpoint = endpoint
        self._model = model
        self._prefixes = prefixes
        self.space: VectorSpace | None = None

    async def ask(self, timeout: float) -> bool:  # noqa: ASYNC109 - passed on to the socket
        """Update `space`, and return False if the model has changed since the last call.

        One different reply is an error. Two equal ones mean that the model has changed. Differences
        as small as between two runs of one model do not change `space`.

        Raises:
            Fault: if the request fails, or two replies differ.
        """
        found = await self._find(timeout)
        if self.space is not None and self.space.matches(found):
            return True
        again = await self._find(timeout)
        if self.space is not None and self.space.matches(again):
            return True
        if not again.matches(found):
            raise Fault(Kind.BAD_REPLY)
        first = self.space is None
        self.space = found
        return first

    async def _find(self, timeout: float) -> VectorSpace:  # noqa: ASYNC109 - as above
        vectors = await self._endpoint.post([TEXT], timeout=timeout)
        return VectorSpace(
            self._model,
            vectors.shape[1],
            self._prefixes.query,
            self._prefixes.document,
            vectors[0].astype("<f4").tobytes(),
        )

    async def consistent(self, timeout: float, gate: Gate) -> bool:  # noqa: ASYNC109
        """Whether the text has the same vector alone, in a batch, and in concurrent requests.

        It sends as many requests at once as the gate admits. Servers have mixed up the rows of a
        batch, and concurrent requests (Ollama, issue 6262). A server that returns one vector for
        all texts is found too.

        Raises:
            Fault: if a request fails.
        """
        replies: dict[int, Vectors] = {}
        faults: list[Fault] = []

        async def ask(number: int, texts: tuple[str, ...]) -> None:
            try:
                async with gate.slot():
                    replies[number] = await self._endpoint.post(texts, timeout=timeout)
            except Fault as fault:
                faults.append(fault)

        async with anyio.create_task_group() as group:
            for number, texts in enumerate(((TEXT,), _COMPANY, _COMPANY[::-1])):
                group.start_soon(ask, number, texts)
        if faults:
            raise faults[0]
        if len({reply.shape[1] for reply in replies.values()}) != 1:
            raise Fault(Kind.BAD_REPLY)
        alone, among, reverse = replies[0][0], replies[1], replies[2]
        return (
            _cosine(alone, among[1]) > _SAME
            and _cosine(alone, reverse[1]) > _SAME
            and _cosine(among[0], reverse[2]) > _SAME
            and _cosine(among[0], among[2]) < _SAME
        )


def _cosine(a: Vector, b: Vector) -> float:
    return float(np.dot(a, b))
