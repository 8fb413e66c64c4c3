"""The settings of one embedding endpoint. This module imports neither numpy nor HTTP."""

from __future__ import annotations

from dataclasses import dataclass

from vault_agent.models.prefixes import Prefixes, known_prefixes


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """The endpoint, the model and the limits of use. Times are in seconds."""

    url: str
    model: str
    allow_private: bool = False
    batch_size: int = 8
    concurrency: int = 2
    timeout: float = 60.0
    query_timeout: float = 1.0
    patience: float = 120.0  # time without a success before a run gives up
    query_prefix: str | None = None  # None: the known prefix of the model
    document_prefix: str | None = None

    @property
    def prefixes(self) -> Prefixes:
        """The prefixes set by the user, or else those of the model."""
        known = known_prefixes(self.model)
        return Prefixes(
            known.query if self.query_prefix is None else self.query_prefix,
            known.document if self.document_prefix is None else self.document_prefix,
        )
