"""The probe: the vector of a fixed text shows which model answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vault_agent.model.vectors import VectorSpace
from vault_agent.models.faults import Fault, Kind

if TYPE_CHECKING:
    from vault_agent.models.prefixes import Prefixes
    from vault_agent.models.vectors import Endpoint

TEXT: Final = "The lighthouse keeper wrote down the weather every evening before supper."


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
