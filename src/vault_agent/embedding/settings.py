"""How one embedding endpoint is used; cheap to import, for whoever only passes it on."""

from __future__ import annotations

from dataclasses import dataclass

from vault_agent.embedding.prefixes import Prefixes, known_prefixes


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """Which endpoint and model, and how much of it to use. Seconds throughout."""

    url: str
    model: str
    allow_private: bool = False
    batch_size: int = 8
    concurrency: int = 2
    timeout: float = 60.0
    query_timeout: float = 1.0
    patience: float = 120.0  # without a single success, before a run gives up
    query_prefix: str | None = None  # None: what the model is known to want
    document_prefix: str | None = None

    @property
    def prefixes(self) -> Prefixes:
        """The prefixes set by the user, or else those of the model."""
        known = known_prefixes(self.model)
        return Prefixes(
            known.query if self.query_prefix is None else self.query_prefix,
            known.document if self.document_prefix is None else self.document_prefix,
        )
