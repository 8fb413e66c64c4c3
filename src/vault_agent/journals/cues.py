"""Words by which decisions, and questions that stay open, are found in what an agent says."""

from __future__ import annotations

import re
from typing import Final

MAX_SENTENCE: Final = 300
_DECISIONS: Final = {
    "en": r"\b(?:decided|chose|chosen|instead of|because|rather than|opted for|went with)\b",
    "ja": r"ことにした|ことにしました|を選んだ|を選びました|採用し|の代わりに|なぜなら|理由は",
}
"""What tells a decision, by language."""
_OPEN: Final = {
    "en": r"\?(?:\s|$)|\bTODO\b|\bfollow-?ups?\b|\bnext steps?\b",
    "ja": r"？|今後の課題|次のステップ|未対応|残件",
}
"""What tells that something is left, by language."""
_DECISION = re.compile("|".join(_DECISIONS.values()), re.IGNORECASE)
_LEFT = re.compile("|".join(_OPEN.values()), re.IGNORECASE)
_END = re.compile(r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)\s+(?=[^a-z\s])|(?<=[。！？])")
_MARKER = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)]|#{1,6}|>)\s+(?:\[[ xX]\]\s+)?")
_FENCE = re.compile(r"^\s*(?:```|~~~)")


def has_cue(text: str) -> bool:
    """Whether a text may have a decision in it."""
    return _DECISION.search(text) is not None


def decisions(text: str) -> list[str]:
    """Return the sentences that tell a decision."""
    return [each for each in sentences(text) if _DECISION.search(each)]


def left_open(text: str) -> list[str]:
    """Return the sentences that tell what is left."""
    return [each for each in sentences(text) if _LEFT.search(each)]


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, in order, without code blocks and the marks of lists.

    A sentence ends at a line's end where the next line is an item, a heading or empty.
    """
    found: list[str] = []
    block: list[str] = []
    fenced = False

    def end() -> None:
        whole = " ".join(" ".join(block).split())
        found.extend(each.strip() for each in _END.split(whole) if each.strip())
        block.clear()

    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
            end()
        elif fenced:
            continue
        elif not line.strip():
            end()
        else:
            if _MARKER.match(line):
                end()
            block.append(_MARKER.sub("", line))
            if line.lstrip().startswith("#"):
                end()
    end()
    return [shortened(each, MAX_SENTENCE) for each in found]


def shortened(text: str, most: int) -> str:
    """Return text of at most so many characters, cut between words, with an ellipsis."""
    if len(text) <= most:
        return text
    kept = text[: most - 1]
    border = kept.rfind(" ")
    return (kept[:border] if border > most // 2 else kept).rstrip(" ,;:") + "…"
