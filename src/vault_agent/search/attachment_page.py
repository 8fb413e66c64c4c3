"""The indexed text of an attachment as Markdown, so that the page shows it as it shows a note."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING
from urllib.parse import quote

from vault_agent.store.index.notes import chunks_of
from vault_agent.text.attachments import kind_of, page_of

if TYPE_CHECKING:
    from vault_agent.store.database import Connection
    from vault_agent.store.index.notes import StoredNote

_FENCES = re.compile("`+")
_MARKUP = re.compile(r"([\\`*_\[\]<>#|!~^$%&=])")


def attachment_markdown(connection: Connection, stored: StoredNote) -> str:
    """Return a link to the file, and its parts under their headings, which lead to its pages.

    A PDF is embedded.
    """
    name = stored.path.rpartition("/")[2]
    address = quote(name)
    embedded = "!" if kind_of(stored.path) == "pdf" else ""
    pieces = [f"{embedded}[{_plain(name)}]({address})\n"]
    chunks = chunks_of(connection, stored)
    for heading_path, part in groupby(chunks, key=lambda chunk: chunk.heading_path):
        text = "".join(chunk.text for chunk in part)
        if heading_path:
            page = page_of(stored.path, heading_path)
            label = _plain(heading_path[-1])
            shown = f"[{label}]({address}#page={page})" if page is not None else label
            pieces.append(f"## {shown}\n")
        fence = "`" * max(3, 1 + max(map(len, _FENCES.findall(text)), default=0))
        pieces.append(f"{fence}text\n{text.rstrip()}\n{fence}\n")
    return "\n".join(pieces)


def _plain(text: str) -> str:
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))
