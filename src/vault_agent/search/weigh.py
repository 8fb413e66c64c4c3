"""Raise and lower results by the folders and the age of their notes, as the owner has chosen."""

from __future__ import annotations

import math
from datetime import date
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.model.search import Weights
    from vault_agent.search.rank import Ranked

LEAST_OF_OLD = 0.5
"""The weight of a very old note: a good match stays before a poor one that is new."""


def weigh(place: Ranked, weights: Weights, path: str, updated: str, today: date) -> Ranked:
    """Return a result with its score after the weights, and with the weights among its votes.

    A score from 0 to 1 is made of a sum of evidence, which the weights multiply. `updated` is ISO
    8601, or "".
    """
    parts = {}
    if weights.folders:
        parts["folder"] = _of_folder(weights.folders, path)
    if weights.half_life:
        parts["recency"] = _of_age(weights.half_life, updated, today)
    product = 1.0
    for part in parts.values():
        product *= part
    score = round(1 - (1 - place.score) ** product, 6)
    return place._replace(score=score, weights={name: round(w, 4) for name, w in parts.items()})


def _of_folder(folders: Mapping[str, float], path: str) -> float:
    folder = path
    while folder:  # from the innermost to the vault, which is ""
        folder = folder.rpartition("/")[0]
        if folder in folders:
            return folders[folder]
    return 1.0


def _of_age(half_life: float, updated: str, today: date) -> float:
    try:
        days = (today - date.fromisoformat(updated[:10])).days
    except ValueError:
        return LEAST_OF_OLD
    return LEAST_OF_OLD + (1 - LEAST_OF_OLD) * math.exp2(-max(days, 0) / half_life)
