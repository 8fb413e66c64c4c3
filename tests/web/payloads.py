"""Texts that would run a script, load something or imitate the page, if the page let them.

They are those of the sanitiser's tests and some for what the page draws itself. Each runs `hit` or
opens a dialog, which the tests look for.
"""

from __future__ import annotations

from itertools import product

from tests.markdown import payloads

_RUN = ("window.hit=1", "alert(1)")
_OF_THE_PAGE = (
    "<a ping=https://evil.example/ping href=#>x</a>",
    "<button popovertarget=x onclick=alert(1)>x</button>",
    "<input autofocus onfocus=alert(1)>",
    "<details open ontoggle=alert(1)>x</details>",
    "<custom-el onpointerover=alert(1)>x</custom-el>",
    "<span class=vault id=app data-note=x onclick=alert(1)>x</span>",
    "<a href='#/notes' onclick='alert(1)'>x</a>",
    '[[x" onmouseover="alert(1)]]',
    '[[x|<img src=x onerror="alert(1)">]]',
    '![[x"><img src=x onerror=alert(1)>.png]]',
    "#tag<img/src=x/onerror=alert(1)>",
    '> [!x" onclick="alert(1)] <img src=x onerror=alert(1)>\n> body',
    '```x" onclick="alert(1)\n</code></pre><img src=x onerror=alert(1)>\n```',
    "$</span><img src=x onerror=alert(1)>$",
    "$\\href{javascript:alert(1)}{x}$",
    "$$\\unicode{<img src=x onerror=alert(1)>}$$",
    "$\\style{background:url(https://evil.example/m)}{x}$",
    "$\\includegraphics{https://evil.example/m.png}$",
    '$\\class{x" onclick="alert(1)}{y}$',
    "[^<img src=x onerror=alert(1)>]: x\n\n[^<img src=x onerror=alert(1)>]",
    "\u202e<img src=x onerror=alert(1)>\u202c",
)

PAYLOADS = tuple(
    dict.fromkeys(
        payload.replace("alert(1)", run)
        for payload, run in product((*payloads.PAYLOADS, *_OF_THE_PAGE), _RUN)
    )
)
"""More than 200 of them."""


def line(payload: str) -> str:
    """Return a payload as it can stand in a title, a tag or another single line."""
    return " ".join(payload.split())
