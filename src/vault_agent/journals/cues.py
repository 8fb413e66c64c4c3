"""Words that tell what a person wants, what an agent chose or gave up, and what is left."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_SENTENCE: Final = 300
_CHOICES: Final = {
    "en": r"\b(?:I|we)(?:'ve|'ll| have| will| then| therefore)* (?:decided|chose|chosen|picked"
    r"|used?|opted|switched|settled|kept|keep(?! \w+ing)|dropped|replaced|went with|go with"
    r"|going with)\b|\bdeci(?:sion|ded): ",
    "de": r"\bEntscheidung: |\b(?:ich|wir) (?:nehmen?|verwenden?|nutzen?|behalten?)\b"
    r"|\bentschieden\b|\b(?:habe ich|ich habe)\b.*\b(?:gewählt|ersetzt|verworfen)\b",
    "ja": r"ことにした|ことにしました|を選んだ|を選びました|採用し|に(?:変更)?しました。",
}
"""What tells that an agent has chosen, by language."""
_CORRECTIONS: Final = {
    "en": r"^(?:no|nope)\b|\b(?:not|don'?t|instead|rather|never|always|must|only|skip|stop"
    r"|leave|undo|revert|use|keep|prefer|too|wrong|should|forbidden|can'?t|cannot"
    r"|other way (?:a)?round|outdated|already)\b",
    "de": r"^nein\b|\b(?:nicht|kein\w*|statt|stattdessen|nie|niemals|immer|muss|müssen|nur|lieber"
    r"|nimm|behalte?|zu|falsch|lass|ohne|auf keinen fall)\b",
    "ja": r"^(?:いや|いいえ)|ないで|なく|ではな|使って|にして|だけ|必ず|やめて|禁止|べき"
    r"|の代わりに",
}
"""What tells that a person corrects, refuses or sets a limit, by language."""
_APPROVES = re.compile(
    r"^(?:ok(?:ay)?|yes|yep|good|great|looks good|perfect|fine|thanks|ja|gut|passt|danke|はい|了解)"
    r"(?![\w-])",
    re.IGNORECASE,
)
_DEAD_ENDS: Final = {
    "en": r"\b(?:doesn't|does not|didn't|did not|won't) (?:work|help)\b|\b(?:can't|cannot) use\b"
    r"|\bgoing back to\b|\breverted\b|\bturned out\b|\bbroke\b|\bdead end\b",
    "de": r"\b(?:geht|funktioniert|klappt)\w* (?:hier |so )?nicht\b|\bverworfen\b"
    r"|\bstellte sich heraus\b",
    "ja": r"うまくいきません|動きません|できませんでした|元に戻し",
}
"""What tells that something was tried for nothing, by language."""
_OPEN: Final = {
    "en": r"\?(?:\s|$)|\bTODO\b|\bfollow-?ups?\b|(?<!(?:at|to|in|on) the )\bnext steps?\b"
    r"|\bnot (?:\w+ )?yet\b|\bremains?\b|\byou may want\b"
    r"|\bstill (?:has|have|needs?|uses?|rounds?|missing|open|fails?)\b"
    r"|\bneeds? to be\b|\b(?:for|until) (?:tomorrow|later)\b|\bleft to do\b",
    "de": r"\boffen\b|\bnoch nicht\b|\bfehlt noch\b|\bnächste Schritte?\b|\bsteht noch aus\b",
    "ja": r"？|今後の課題|次のステップ|未対応|残件|残って",
}
"""What tells that something is left, by language."""
_POLITE = re.compile(
    r"\b(?:anything else|can I (?:do|help)|may I help|let me know|would you like|want me to"
    r"|what's next)\b"
    r"|\bkann ich (?:sonst )?noch\b|他に(?:何か|ご)",
    re.IGNORECASE,
)
_PARTS = re.compile(r"^\s*(?:\d{1,2}\.|#{1,4})\s+\**([^:*\n]{3,60})\**:?\**[ \t]*", re.MULTILINE)
_ASKED = ("primary request", "goal", "errors and fixes", "key decisions", "problem solving")


def _any(table: Mapping[str, str]) -> re.Pattern[str]:
    return re.compile("|".join(table.values()), re.IGNORECASE)


_CHOICE, _CORRECTION, _LEFT = _any(_CHOICES), _any(_CORRECTIONS), _any(_OPEN)
_DEAD_END = _any(_DEAD_ENDS)
_END = re.compile(r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)\s+(?=[^a-z\s])|(?<=[。！？])")
_MARKER = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)]|#{1,6}|>)\s+(?:\[[ xX]\]\s+)?")
_FENCE = re.compile(r"^\s*(?:```|~~~)")


def has_cue(text: str) -> bool:
    """Whether a text may have a decision in it, or tell what was tried for nothing."""
    return _CHOICE.search(text) is not None or _DEAD_END.search(text) is not None


def choices(text: str) -> list[str]:
    """Return the sentences in which an agent tells what it has chosen."""
    return [each for each in sentences(text) if _CHOICE.search(each)]


def dead_ends(text: str) -> list[str]:
    """Return the sentences that tell what was tried for nothing."""
    return [each for each in sentences(text) if _DEAD_END.search(each)]


def corrects(prompt: str) -> bool:
    """Whether a person corrects, refuses or sets a limit. A question alone does not."""
    return any(
        _CORRECTION.search(each) and not each.endswith(("?", "？")) for each in sentences(prompt)
    )


def approves(prompt: str) -> bool:
    """Whether a person begins by agreeing with what the agent has just said."""
    return _APPROVES.match(prompt.lstrip()) is not None


def left_open(text: str) -> list[str]:
    """Return the sentences that tell what is left. A polite question at the end tells nothing."""
    return [each for each in sentences(text) if _LEFT.search(each) and not _POLITE.search(each)]


def without_politeness(text: str) -> str:
    """Return a message without the questions that close it politely."""
    polite = [each for each in sentences(text) if _POLITE.search(each)]
    for each in polite:
        text = text.replace(each, "")
    return text.strip()


def named_parts(summary: str) -> list[str]:
    """Return what a summary of a compaction says under the headings that tell what was wanted.

    Such a summary begins with a preamble that says nothing, and ends with what was in hand then.
    """
    parts = _PARTS.split(summary)
    return [
        " ".join(text.split())
        for name, text in zip(parts[1::2], parts[2::2], strict=True)
        if name.strip().lower().startswith(_ASKED)
    ]


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
