"""Attachments: metadata, downloads and ranges. They are never rendered."""

from __future__ import annotations

import pytest

from vault_agent.server.replies import disposition

from .conftest import CONTENT

FILE = "/attachments/folder/picture.png"
SIZE = len(CONTENT)


async def get(server, path=f"{FILE}?download=true", method="GET", **headers):
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    async with server.request(method, path, headers=names) as reply:
        return reply.status, await reply.read(), reply.headers


async def test_a_download_returns_the_bytes_as_an_attachment(server):
    status, body, headers = await get(server)
    assert (status, body) == (200, CONTENT)
    assert headers["Content-Type"] == "image/png"
    assert headers["Accept-Ranges"] == "bytes"
    assert headers["ETag"] == '"e1"'
    assert headers["Content-Disposition"].startswith('attachment; filename="picture.png"')
    assert server.engine.opened[0].file.closed


@pytest.mark.fault(
    "HTTP and access",
    "an attachment that is a web page or an SVG",
    "downloaded, never displayed",
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({}, 200),
        ({"Range": "bytes=0-7"}, 206),
        ({"Range": "bytes=999-"}, 416),
        ({"If_None_Match": '"e1"'}, 304),
    ],
)
async def test_a_web_page_is_downloaded_and_not_rendered(
    server, method: str, asked: dict[str, str], status: int
):
    path = "/attachments/page.html?download=true"
    replied, _, headers = await get(server, path, method, **asked)
    assert replied == status
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"] == (
        "default-src 'none'; frame-ancestors 'none'; sandbox"
    )
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    if status < 300:
        assert headers["Content-Disposition"].startswith("attachment;")


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        ("bytes=0-0", 0, 0),
        ("bytes=100-199", 100, 199),
        ("bytes=100-", 100, SIZE - 1),
        ("bytes=0-", 0, SIZE - 1),
        ("bytes=-10", SIZE - 10, SIZE - 1),
        ("bytes=-999999", 0, SIZE - 1),
        (f"bytes=100-{SIZE + 5}", 100, SIZE - 1),
        ("Bytes=5-6", 5, 6),
    ],
)
async def test_a_range_is_sent_as_206(server, asked: str, first: int, last: int):
    status, body, headers = await get(server, Range=asked)
    assert (status, body) == (206, CONTENT[first : last + 1])
    assert headers["Content-Range"] == f"bytes {first}-{last}/{SIZE}"


@pytest.mark.parametrize("asked", [f"bytes={SIZE}-", f"bytes={SIZE}-{SIZE + 1}",
                                   "bytes=99999999999999999-"])  # fmt: skip
async def test_a_range_beyond_the_end_is_416(server, asked: str):
    status, body, headers = await get(server, Range=asked)
    assert status == 416
    assert b"RANGE_NOT_SATISFIABLE" in body
    assert headers["Content-Range"] == f"bytes */{SIZE}"
    assert server.engine.opened[0].file.closed


@pytest.mark.parametrize("asked", ["bytes=0-1,5-6", "lines=1-2", "bytes=5-2", "bytes=", "bytes=-",
                                   "bytes=a-b", "bytes=0-" + "9" * 5000])  # fmt: skip
async def test_any_other_range_is_ignored(server, asked: str):
    status, body, _ = await get(server, Range=asked)
    assert (status, body) == (200, CONTENT)


async def test_if_range_resumes_only_unchanged_content(server):
    assert (await get(server, Range="bytes=5-6", If_Range='"e1"'))[0] == 206
    for stale in ('"old"', 'W/"e1"', "Wed, 21 Oct 2015 07:28:00 GMT", "e1"):
        status, body, _ = await get(server, Range="bytes=5-6", If_Range=stale)
        assert (status, body) == (200, CONTENT)


async def test_an_unchanged_attachment_is_304(server):
    for path in (FILE, f"{FILE}?download=true"):
        _, _, headers = await get(server, path)
        known = headers["ETag"]
        status, body, _ = await get(server, path, If_None_Match=known, Range="bytes=0-1")
        assert (status, body) == (304, b"")


async def test_head_returns_size_and_type_without_a_body(server):
    status, body, headers = await get(server, method="HEAD")
    assert (status, body) == (200, b"")
    assert headers["Content-Length"] == str(SIZE)
    assert headers["Content-Type"] == "image/png"
    again, _, _ = await get(server)  # the connection is still in sync
    assert again == 200


async def test_a_large_attachment_is_sent_only_when_allowed(server):
    server.engine.files["large.png"] = bytes(200_000)
    refusal = await server.refusal("GET", "/attachments/large.png?download=true")
    assert refusal == (413, "ATTACHMENT_TOO_LARGE")
    path = "/attachments/large.png?download=true&allowLarge=true"
    assert (await get(server, path))[:2] == (200, bytes(200_000))


async def test_an_empty_attachment_gives_an_empty_reply(server):
    server.engine.files["empty.png"] = b""
    path = "/attachments/empty.png?download=true"
    assert (await get(server, path))[:2] == (200, b"")
    assert (await get(server, path, Range="bytes=0-"))[0] == 416


async def test_a_file_that_shrinks_during_a_download_breaks_the_connection(server):
    real = server.engine.open_attachment

    async def shrunk(path, *, allow_large):
        opened = await real(path, allow_large=allow_large)
        opened.file.truncate(10)
        return opened

    server.engine.open_attachment = shrunk
    reply = await server.raw(
        f"GET {FILE}?download=true HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    )
    assert reply.endswith(CONTENT[:10])
    assert b"error" not in reply


@pytest.mark.parametrize(
    "name",
    [
        "a\r\nSet-Cookie: x.png",
        'a".png',
        "a\\b.png",
        "é漢\u202e🗝.png",
        "a;b=c%0d%0a.png",
        "\x1b[1m",
    ],
)
async def test_file_names_cannot_break_headers(server, name: str):
    header = disposition(name)
    assert header.isascii()
    assert header.isprintable()
    assert header.count('"') == 2
    assert "\\" not in header
    server.engine.files[name] = b"x"
    from urllib.parse import quote, unquote

    status, body, headers = await get(server, f"/attachments/{quote(name)}?download=true")
    assert (status, body) == (200, b"x")
    assert unquote(headers["Content-Disposition"].partition("UTF-8''")[2]) == name
    assert "Set-Cookie" not in headers
