"""What a session has of the notes, and what its person has changed about that. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_agent.model.deliveries import MANUAL, PROMPT, REFRESH

if TYPE_CHECKING:
    from vault_agent.model.deliveries import ChosenNote, ContextState, Delivery
    from vault_agent.model.memory import Address, RecalledNote


@dataclass(frozen=True, slots=True)
class Having:
    """What a session has of the notes, and what a person has changed about that."""

    deliveries: tuple[Delivery, ...]  # since the agent's context was last compacted
    chosen: tuple[ChosenNote, ...]
    state: ContextState

    @property
    def notes(self) -> dict[Address, RecalledNote]:
        """The notes that the agent has, as it last got each of them."""
        return {note.address: note for each in self.deliveries for note in each.notes}

    @property
    def pinned(self) -> tuple[Address, ...]:
        """The notes that come first at the next event."""
        return tuple(
            each.address
            for each in self.chosen
            if not each.removed and not self._got(each.address, after=each.at)
        )

    @property
    def removed(self) -> dict[Address, str]:
        """The notes that the session shall not get, as reasons to leave them out."""
        return {each.address: "removed" for each in self.chosen if each.removed}

    @property
    def to_tell(self) -> tuple[ChosenNote, ...]:
        """The notes that the agent has and shall not rely on, and was not told so."""
        has = self.notes
        return tuple(
            each for each in self.chosen if each.removed and not each.told and each.address in has
        )

    @property
    def had_prompt(self) -> bool:
        """Whether a prompt has brought notes."""
        return any(each.event in {PROMPT, REFRESH} and each.notes for each in self.deliveries)

    @property
    def latest(self) -> float:
        """The time of the latest thing that happened, so that a clock set back confuses nothing."""
        delivered = (each.at for each in self.deliveries)
        chosen = (each.at for each in self.chosen)
        return max((self.state.since, *delivered, *chosen))

    @property
    def next_moment(self) -> float:
        """A time after all that happened."""
        return math.nextafter(self.latest, math.inf)

    @property
    def tokens(self) -> int:
        """The tokens that came unasked."""
        return sum(each.tokens for each in self.deliveries if each.event != MANUAL)

    def _got(self, address: Address, *, after: float) -> bool:
        return any(
            note.address == address
            for each in self.deliveries
            if each.at >= after
            for note in each.notes
        )
