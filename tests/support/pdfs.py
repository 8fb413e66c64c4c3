"""Small PDFs, made for tests and benchmarks."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def pdf(pages: Sequence[str], *, encrypted: bool = False) -> bytes:
    """Return a PDF whose pages have these texts, one line a line. Only Latin letters."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    objects.append("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    kids = []
    for text in pages:
        shown = "".join(f"({_escaped(line)}) Tj T*\n" for line in text.split("\n"))
        stream = f"BT /F1 10 Tf 12 TL 50 800 Td\n{shown}ET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {len(objects)} 0 R >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    trailer = "/Root 1 0 R"
    if encrypted:  # for an owner whose password nobody knows
        objects.append(f"<< /Filter /Standard /V 1 /R 2 /P -4 /O <{'ab' * 32}> /U <{'cd' * 32}> >>")
        trailer += f" /Encrypt {len(objects)} 0 R /ID [<{'01' * 16}> <{'01' * 16}>]"
    return _file(objects, trailer)


def _escaped(line: str) -> str:
    return line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def _file(objects: Sequence[str], trailer: str) -> bytes:
    data = bytearray(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    start = len(data)
    data += f"xref\n0 {len(places) + 1}\n0000000000 65535 f \n".encode()
    data += "".join(f"{place:010} 00000 n \n" for place in places).encode()
    size = len(places) + 1
    data += f"trailer\n<< /Size {size} {trailer} >>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(data)


def slow_pdf() -> bytes:
    """Return a PDF of 10 kB whose page takes hours: it draws an empty form a million times."""
    page = (
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] "
        "/Resources << /XObject << /X 5 0 R >> >> /Contents 4 0 R >>"
    )
    form = "/Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources << >>"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        page,
        _compressed(b"/X Do " * 1_000_000, ""),
        _compressed(b"q Q " * 100_000, form),
    ]
    return _file(objects, "/Root 1 0 R")


def _compressed(content: bytes, attributes: str) -> str:
    data = zlib.compress(content, 9)
    return (
        f"<< /Length {len(data)} /Filter /FlateDecode {attributes} >>\n"
        f"stream\n{data.decode('latin-1')}\nendstream"
    )
