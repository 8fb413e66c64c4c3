"""The properties that make embedding vectors comparable."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """The properties that make two vectors comparable. If they change, stored vectors are stale.

    `probe` is the unit vector (little-endian float32) of a fixed text. Only it reveals other
    weights under the same model name.
    """

    model: str
    dimension: int
    query_prefix: str
    document_prefix: str
    probe: bytes

    def matches(self, other: VectorSpace) -> bool:
        """Whether vectors of both are comparable: equal, with a cosine of the probes over 0.999."""
        return replace(other, probe=self.probe) == self and self.cosine(other) > 0.999

    def cosine(self, other: VectorSpace) -> float:
        """Return the cosine of the two probe vectors, or 0 if their dimensions differ."""
        if len(self.probe) != len(other.probe):
            return 0.0
        layout = f"<{len(self.probe) // 4}f"
        pairs = zip(
            struct.unpack(layout, self.probe), struct.unpack(layout, other.probe), strict=True
        )
        return float(sum(a * b for a, b in pairs))
