"""The last step before HTML leaves: only the HTML of `html.toml` and known addresses stay.

`clean` is applied once, to the whole HTML. `raw` prepares the HTML that a note itself has, so that
it is shown well; that nothing harmful is left does not depend on it.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from html import escape, unescape
from importlib.resources import files
from typing import TYPE_CHECKING, TypeAlias

import nh3

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable

ID_PREFIX = "n-"
_FILES = re.compile(r"(?:/vaults/[A-Za-z0-9:%._~-]+)?/ui/files/")
REMOTE_SCHEMES = ("http", "https")
_HTML = tomllib.loads(files(__package__).joinpath("html.toml").read_text("utf-8"))
_CLASSES, _ELEMENTS, _DROPPED, _VOID, _UNWRAPPED, _NOT_NESTED = (
    frozenset(_HTML[name].split())
    for name in ("classes", "elements", "dropped", "void", "unwrapped", "not_nested")
)
KNOWN_ELEMENTS = _ELEMENTS | _DROPPED | _UNWRAPPED
_ATTRIBUTES = {name: set(allowed.split()) for name, allowed in _HTML["attributes"].items()}
MAX_OPEN = 60
"""Elements of a note's own HTML that may be open at once. Each block may open them again."""
# Neither pattern looks beyond the next "<", so both are linear.
_TAG = re.compile(r"<(?:(/?)([A-Za-z][A-Za-z0-9-]*+)((?:[^<>\"']|\"[^\"<>]*\"|'[^'<>]*')*+)>|!--)?")
_ATTRIBUTE = re.compile(r"([A-Za-z-]++)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>`]++))")
_INPUT = re.compile(r"<input ([^<>]*+)>")
_NUMBER = re.compile(r"[0-9]{1,5}%?")
_HREF = re.compile(r"(?:https?:|mailto:|#)", re.IGNORECASE)


def clean(html: str) -> str:
    """Return HTML with nothing in it that could run, load or imitate."""
    return _INPUT.sub(_in_order, _cleaner().clean(html))


def _in_order(match: re.Match[str]) -> str:
    """Return a check box with its attributes in order: in each process, nh3 has another."""
    return f"<input {' '.join(sorted(match[1].split()))}>"


def attributes_of(text: str) -> dict[str, str]:
    """Return the attributes of a tag, by their names in lower case. The first of each counts."""
    attributes: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(text):
        value = match[2] if match[2] is not None else match[3] or match[4] or ""
        attributes.setdefault(match[1].lower(), unescape(value))
    return attributes


_Shown: TypeAlias = "Callable[[dict[str, str]], str]"


def images_of(text: str) -> list[str]:
    """Return the addresses of the images in a piece of HTML."""
    if "<img" not in text.lower():
        return []
    tags = (match for match in _TAG.finditer(text) if (match[2] or "").lower() == "img")
    return [src for match in tags if (src := attributes_of(match[3]).get("src", "").strip())]


class Raw:
    """Prepares the HTML of one note, piece by piece.

    `open_link` and `image` return what stands for a link and an image, by their address. `opened`
    counts the open elements of the page by their names. A start tag beyond `MAX_OPEN` is shown as
    text: without the limit, cleaning takes time by the product of open elements and blocks.
    """

    def __init__(self, open_link: _Shown, image: _Shown, opened: Counter[str]) -> None:
        self._shown = {"a": open_link, "img": image}
        self._opened = opened

    def prepare(self, text: str, *, whole: bool) -> str:
        """Return a piece of HTML. `whole` says that it is a block, and not a single tag."""
        out: list[str] = []
        done = 0
        hidden: str | None = None  # the element whose content is dropped
        for match in _TAG.finditer(text):
            if match.start() < done:
                continue  # within a comment
            if hidden is None:
                out.append(text[done : match.start()])
            done = match.end()
            name = (match[2] or "").lower()
            if hidden is not None:
                hidden = None if match[1] == "/" and name == hidden else hidden
            elif name in _DROPPED:
                if whole and not match[1] and name not in _VOID:
                    hidden = name
            elif match[0] == "<!--":
                end = text.find("-->", done)
                out.append(text[match.start() : end + 3] if end >= 0 else "")
                done = end + 3 if end >= 0 else len(text)
            else:
                out.append(self._tag(match, name))
        if hidden is None:
            out.append(text[done:])
        return "".join(out)

    def _tag(self, match: re.Match[str], name: str) -> str:
        if name in _UNWRAPPED:
            return ""
        if name not in _ELEMENTS or not self._fits(name, ends=bool(match[1])):
            return f"&lt;{escape(match[0][1:])}"
        counterpart = self._shown.get(name)
        if counterpart is None or match[1]:
            return match[0]
        return counterpart(attributes_of(match[3]))

    def _fits(self, name: str, *, ends: bool) -> bool:
        """Count a tag. Return False for a start tag beyond the limit, which is not counted."""
        if name in _NOT_NESTED:
            return True
        counts = self._opened
        if ends:
            counts[name] = max(0, counts[name] - 1)
            return True
        if counts.total() >= MAX_OPEN:
            return False
        counts[name] += 1
        return True


@cache
def _cleaner() -> nh3.Cleaner:
    return nh3.Cleaner(
        tags=set(_ELEMENTS),
        clean_content_tags=set(_DROPPED - _VOID),
        attributes=_ATTRIBUTES,
        attribute_filter=_attribute,
        set_tag_attribute_values={"input": {"disabled": "", "type": "checkbox"}},
        url_schemes={*REMOTE_SCHEMES, "mailto"},
        link_rel="noopener noreferrer nofollow",
        id_prefix=ID_PREFIX,
    )


def _attribute(tag: str, name: str, value: str) -> str | None:
    """Return the value of an attribute that may stay, or None."""
    if name == "class":
        kept = [name for name in value.split() if name in _CLASSES or name.startswith("language-")]
        return " ".join(kept) or None
    if name == "src":  # never anything of another server, nor another route of ours
        return value if _FILES.match(value) else None
    if name == "href":
        return value if _HREF.match(value) or _FILES.match(value) else None
    if name == "target":
        return value if value == "_blank" else None
    if name in ("width", "height"):
        return value if _NUMBER.fullmatch(value) else None
    return value if len(value) <= 5_000 or tag == "img" else None
