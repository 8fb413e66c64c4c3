"""The vault that the browser tests show: some notes of each kind, in several scripts."""

from __future__ import annotations

import base64
import os
import time
from pathlib import Path

FROST = """---
type: decision
status: accepted
created: 2026-03-18
updated: 2026-03-21
tags: [frost, sensors, alerting]
links: ["[[Sensor script]]"]
aliases: [Two sensors]
---
# Frost alarm fires on two sensors

A single probe near the vent reads up to 2.4 °C below the beds, so the alarm woke us on four nights
without frost. From now on it fires when *two of three* probes agree for ten minutes. The layout is in
[[Sensor script]], the numbers come from [[First cold week#Numbers]]. See also #frost/ground and
<https://example.org/dew>.

> [!warning] Vents first
> Close the roof vents before the test, or the ridge probe lags by six minutes.

> [!tip]- A note on batteries
> Forty seconds between reports.

## Decision

The threshold follows the dew point instead of a fixed temperature:

$$T_{alarm} = \\max(1.5, T_{dew} + \\frac{1}{2}\\sigma)$$

```python
def alarm(probes: list[float], dew: float) -> bool:
    limit = max(1.5, dew + 0.5 * spread(probes))
    return sum(t <= limit for t in probes) >= 2  # two of three
```

| Probe | Place | Night min | Lag |
|---|---|---:|---:|
| A | North bench | 1.1 °C | 40 s |
| B | Ridge | −0.8 °C | 6 min |
| C | Water butt | 3.9 °C | 12 min |

![remote](https://tracker.example/pixel.png)

## Follow-up

- [x] Move probe B off the vent frame
- [ ] Log both readings in [[Frost alarm fires on two sensors]]
- [ ] Write up [[Dew point sensor]]

![[Sensor script#Voting]]

A footnote says more.[^1] ==Marked== and `code`, %%hidden%% and ~~struck~~.

[^1]: At the end.
"""

NOTES = {
    "decisions/Frost alarm.md": FROST,
    "modules/Sensor script.md": (
        "---\ntype: module\ntags: [sensors, python]\ncreated: 2026-02-10\n---\n# Sensor script\n\n"
        "Reads three probes over 868 MHz and rings.\n\n## Voting\n\nA silent probe counts as cold"
        " after two minutes. Decided in [[Two sensors]].\n"
    ),
    "journal/First cold week.md": (
        "---\ntype: journal\ntags: [frost, log]\ncreated: 2026-03-02\n---\n# First cold week\n\n"
        "Quiet nights. One single crossing at the ridge, no alarm. Next: log both readings.\n\n"
        "## Numbers\n\nSee [[Frost alarm]] and [[Sensor script]].\n"
    ),
    "journal/Rewired.md": (
        "---\ntype: journal\ntags: [sensors, wiring]\ncreated: 2026-03-09\n---\n"
        "# Rewired the bench probes\n\nProbe B lagged the beds by six minutes and set off the frost"
        " alarm alone. Frost alarm fires on two sensors since then.\n"
    ),
    "bugs/Alarm at four degrees.md": (
        "---\ntype: bug\ncreated: 2026-03-12\n---\n# Alarm at 4 °C\n\nRoot cause: one probe decides."
        " Fixed by [[Frost alarm|two sensors]].\n"
    ),
    "patterns/Vote before you alert.md": (
        "---\ntype: pattern\ntags: [alerting]\n---\n# Vote before you alert\n\nThree cheap sensors"
        " beat one good one. First used in [[Frost alarm]].\n"
    ),
    "snippets/Median of three.md": (
        "---\ntype: snippet\ntags: [python]\n---\n# Median of three\n\n```python\nsorted(x)[1]\n```\n"
        "\nUsed by [[Sensor script]].\n\n## First\n\nBelow the first.\n\n### Deep\n\nDeeper.\n\n"
        "## Second\n\nBelow the second.\n\n```dataview\nLIST FROM #frost\n```\n"
        "\n```mermaid\nflowchart LR\n  A[Sensor] --> B\n```\n"
    ),
    "garden/庭の霜.md": (
        "---\ntags: [霜, 庭]\ncreated: 2026-01-14\n---\n# 庭の霜 初霜の記録\n\n今朝、北側の棚に霜が降りた。"
        "警報は鳴らなかった。センサーの位置を確認する。[[Frost alarm]]\n"
    ),
    "garden/صقيع.md": (
        "---\ntags: [صقيع]\ncreated: 2026-01-20\n---\n# صقيع الليل\n\nانخفضت الحرارة في البيت الزجاجي."
        " راجع [[Frost alarm]] قبل الصباح، ثم افتح النوافذ.\n\n- بند أول\n- بند ثان\n"
    ),
    "garden/כפור.md": "# כפור בלילה\n\nהטמפרטורה ירדה. ראו [[Frost alarm]].\n",
    "garden/Emoji 👩🏽‍🌾 and joiners 🏳️‍🌈.md": "# 👩🏽‍🌾 Emoji 🏳️‍🌈 and joiners\n\nFrost ❄️ for 👨‍👩‍👧‍👦.\n",
    "garden/Lonely.md": "# Nobody links here\n\nAnd it links nowhere.\n",
    "Empty.md": "",
}

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""A PNG of one pixel."""


def write_vault(folder: Path, *, more: int = 0) -> None:
    """Write the notes below a folder, and `more` short ones, each linked with the one before.

    The short ones have one time, so that lists order them by their paths.
    """
    now = time.time()
    for path, text in NOTES.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    for number in range(more):
        file = folder / "more" / f"Note {number:04}.md"
        file.parent.mkdir(exist_ok=True)
        before = f" After [[Note {number - 1:04}]]." if number else ""
        tags = f"tags: [more, group/{number % 9}]"
        file.write_text(f"---\n{tags}\n---\n# Note {number:04}\n\nA short text.{before}\n", "utf-8")
        os.utime(file, (now, now))
