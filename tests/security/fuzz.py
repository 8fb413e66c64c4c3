"""Fuzzed requests from a seed. The same seed makes the same requests."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from tests.security.wire import PATIENCE_SECONDS, Answer, Wire
from tests.vault.spellings import HARMLESS, refused

from vault_agent.server.routes import ROUTES

DOCUMENTED_503 = frozenset({"EMBEDDING_UNAVAILABLE"})
SLOWEST_SECONDS = 30.0
UNFINISHED_SECONDS = 0.05
"""How long to wait where the server may rightly wait for the rest of what was sent."""

_TEXTS = (
    "frost",
    "",
    " ",
    "\0",
    "C++",
    "foo-bar",
    '"',
    '"" -',
    "NEAR(",
    "*",
    "AND OR NOT",
    "(" * 300,
    "漢字",
    "今日は東京で",
    "ก" * 200,
    "👩‍👩‍👧",
    "é" * 500,
    "e" + "\u0301" * 800,
    "x" * 1000,
    "x" * 1001,
    "a " * 499,
    "\u202e",
    "\ud800",
    "tag:x path:y -z",
    'path:"*a*b*c"',
    "-" * 900,
    "0",
    "null",
    "true",
    "../..",
    "word" + "1" * 50,
    "'; DROP TABLE note; --",
    "%00",
    "\r\n",
    "<script>",
    "{{7*7}}",
    "𝕏" * 300,
)
_NUMBERS = (0, 1, -1, 10, 50, 51, 2**31, 2**63, -(2**70), 1.0, 1e308, True, None, "10", 0.1)
_IDS = (
    "0" * 32,
    "f" * 32,
    "0" * 32 + ":0",
    "0" * 32 + ":9999999",
    "x",
    "",
    "0" * 31,
    "0" * 32 + ":00",
    "٠" * 32,
)
_METHODS = (
    "GET",
    "HEAD",
    "POST",
    "PUT",
    "DELETE",
    "PATCH",
    "OPTIONS",
    "TRACE",
    "CONNECT",
    "X",
    "get",
)
_HEADERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "Range",
        ("bytes=0-", "bytes=-1", "bytes=5-2", "bytes=0-0,2-3", "bytes=99999999999999999999-", "x"),
    ),
    ("If-None-Match", ("*", '"x"', 'W/"x", *', "\xff", ",,,,")),
    ("If-Range", ('"x"', "Mon, 01 Jan 2024 00:00:00 GMT", "")),
    (
        "Content-Type",
        ("text/plain", "application/json; charset=x", "application/json;;", "\xe9", "a/b"),
    ),
    ("Content-Encoding", ("gzip", "identity", "br")),
    ("Content-Length", ("0", "1", "-1", "+1", "99999", "18446744073709551616", "x")),
    ("Transfer-Encoding", ("chunked", "gzip", "chunked, chunked", "x")),
    ("Expect", ("100-continue", "x")),
    (
        "Host",
        ("localhost", "evil.example", "127.0.0.1:0", "[::1]", "a b", "\xff", "localhost:99999"),
    ),
    ("Origin", ("null", "http://127.0.0.1", "https://evil.example", "\xff", "")),
    ("Authorization", ("Bearer", "Bearer x", "Basic eDp5", "bearer \xff", "Bearer " + "x" * 9000)),
    ("Connection", ("close", "upgrade", "keep-alive, Upgrade")),
    ("Upgrade", ("websocket", "h2c")),
    ("Accept", ("*/*", "text/html", "\xff")),
    ("Cookie", ("a=b", "=" * 5000)),
    ("Sec-Fetch-Site", ("cross-site", "none")),
    ("X", ("y" * 9000, "a\tb")),
)


# A reply of the other one has no end.
_ROUTES = [route for route in ROUTES if route.path != "/events"]


class Requests:
    """An endless sequence of requests for one vault with known IDs and paths."""

    def __init__(self, seed: int, *, ids: Iterable[str], paths: Iterable[str]) -> None:
        self._chance = random.Random(seed)
        self._ids = [*ids, *_IDS]
        hostile = [spelling for spelling, _ in refused() if len(spelling) < 2000]
        self._paths = [*hostile, *HARMLESS, *list(paths) * 20]

    def next(self) -> tuple[str, bytes, bytes | None, dict[str, str]]:
        """Return method, target, body and headers."""
        chance = self._chance
        route = chance.choice(_ROUTES)
        method = route.method if chance.random() < 0.9 else chance.choice(_METHODS)
        target = self._target(route.path)
        body = None
        if route.takes_body or chance.random() < 0.03:
            body = self._body(route.path)
        headers = {
            name: chance.choice(values)
            for name, values in chance.sample(_HEADERS, chance.choice((0, 0, 0, 0, 1, 1, 2)))
        }
        return method, target, body, headers

    def raw(self) -> bytes:
        """Return bytes that are barely HTTP."""
        chance = self._chance
        method, target, body, headers = self.next()
        lines = [f"{method} ".encode() + target + b" HTTP/1.1", b"Host: localhost"]
        lines += [f"{name}: {value}".encode("latin-1") for name, value in headers.items()]
        data = bytearray(b"\r\n".join([*lines, b"Connection: close", b"", body or b""]))
        for _ in range(chance.randint(1, 5)):
            place = chance.randrange(len(data) or 1)
            what = chance.randrange(4)
            if what == 0:
                data[place : place + 1] = bytes([chance.randrange(256)])
            elif what == 1:
                del data[place : place + chance.randint(1, 20)]
            elif what == 2:
                data[place:place] = data[place : place + chance.randint(1, 50)]
            else:
                data[place:place] = chance.choice((b"\r\n", b"\n", b"\0", b" ", b":", b"\xff\xfe"))
        return bytes(data)

    def _target(self, template: str) -> bytes:
        chance = self._chance
        values = {
            "{path}": lambda: chance.choice(self._paths),
            "{noteId}": lambda: chance.choice(self._ids).partition(":")[0],
            "{chunkIndex}": lambda: chance.choice(("0", "1", "7", "-1", "x", "9" * 30, "00", "١")),
            "{jobId}": lambda: chance.choice((*_IDS, "abc", "a" * 65, "..", "%2e")),
        }
        target = template.encode()
        for name, value in values.items():
            if name in template:
                target = target.replace(name.encode(), self._escaped(str(value())))
        if chance.random() < 0.3:
            names = ("download", "allowLarge", "x", "download", "query", "\0")
            flags = ("true", "false", "1", "", "True", "\xff")
            pairs = [f"{chance.choice(names)}={chance.choice(flags)}" for _ in range(3)]
            target += b"?" + quote("&".join(pairs[: chance.randint(1, 3)]), safe="&=").encode()
        if chance.random() < 0.03:
            target += chance.choice(
                (b"/", b"//", b"#x", b"%", b"%zz", b"%00", b"\xff", b";x", b"?")
            )
        return target

    def _escaped(self, text: str) -> bytes:
        escaped = quote(text, safe="/" if self._chance.random() < 0.5 else "", errors="replace")
        return escaped.encode()

    def _body(self, path: str) -> bytes:
        chance = self._chance
        if chance.random() < 0.05:
            return chance.choice(
                (b"", b"null", b"[]", b"{", b"\xff", b"[" * 30_000, b"1" * 6000, b"NaN")
            )
        value = self._fields(path)
        if chance.random() < 0.1:
            value[chance.choice(list(value) or ["x"])] = self._anything(3)
        data = json.dumps(value, ensure_ascii=chance.random() < 0.5).encode(
            "utf-8", "surrogatepass"
        )
        if chance.random() < 0.05:
            place = chance.randrange(len(data))
            data = data[:place] + bytes([chance.randrange(256)]) + data[place + 1 :]
        return data

    def _fields(self, path: str) -> dict[str, Any]:
        chance = self._chance
        text = lambda: chance.choice(_TEXTS)  # noqa: E731
        if path in ("/index", "/reindex"):
            return {
                chance.choice(("requireEmbeddings", "freshEmbeddings", "x")): chance.choice(
                    _NUMBERS
                )
            }
        value: dict[str, Any] = {"query": text() + text()} if path != "/related" else {}
        if path == "/related":
            value["id"] = chance.choice(self._ids)
        choices: dict[str, Callable[[], Any]] = {
            "limit": lambda: chance.choice((*_NUMBERS, 5, 20, 50)),
            "mode": lambda: chance.choice(("lexical", "embedding", "hybrid", "x", 1)),
            "explain": lambda: chance.choice((True, False, 1)),
            "fields": lambda: chance.choice(("full", "compact", "x")),
            "filters": lambda: (
                {
                    name: chance.choice(
                        (
                            [text()[:500]],
                            [text()[:500]] * 50,
                            ["*" + text()[:100] + "?" * 9],
                            [],
                            text(),
                        )
                    )
                    for name in chance.sample(("paths", "tags", "types"), chance.randint(0, 3))
                }
                | ({"after": "2024-02-30"} if chance.random() < 0.1 else {"before": "9999-12-31"})
            ),
        }
        for name in chance.sample(list(choices), chance.randint(0, 3)):
            value[name] = choices[name]()
        return value

    def _anything(self, depth: int) -> Any:
        chance = self._chance
        if depth == 0 or chance.random() < 0.5:
            return chance.choice((*_TEXTS, *_NUMBERS))
        if chance.random() < 0.5:
            return [self._anything(depth - 1) for _ in range(chance.randint(0, 4))]
        return {
            chance.choice(_TEXTS): self._anything(depth - 1) for _ in range(chance.randint(0, 4))
        }


@dataclass
class Account:
    """The outcome of many requests."""

    statuses: Counter[int] = field(default_factory=Counter)
    slowest: float = 0.0
    faults: list[str] = field(default_factory=list)

    @property
    def requests(self) -> int:
        return self.statuses.total()

    def take(self, answer: Answer, request: object, leaks: list[str]) -> None:
        """Check and count one reply."""
        self.statuses[answer.status] += 1
        self.slowest = max(self.slowest, answer.seconds)
        undocumented = answer.status >= 500 and not (
            answer.status == 503 and answer.body and answer.code in DOCUMENTED_503
        )
        if undocumented or leaks or (answer.status and answer.seconds > SLOWEST_SECONDS):
            self.faults.append(f"{answer.status} {answer.seconds:.2f} {leaks} {request!r:.2000}")

    def add(self, other: Account) -> None:
        """Add the counts of another account."""
        self.statuses += other.statuses
        self.slowest = max(self.slowest, other.slowest)
        self.faults += other.faults

    def __str__(self) -> str:
        each = ", ".join(f"{status}: {count:,}" for status, count in sorted(self.statuses.items()))
        return (
            f"{self.requests:,} requests, {len(self.faults)} faults, slowest {self.slowest:.3f} s"
            f" ({each})"
        )


def run(wire: Wire, requests: Requests, count: int, leaks: Callable[[bytes], list[str]]) -> Account:
    """Send `count` requests over one connection. Every tenth is barely HTTP."""
    account = Account()
    for number in range(count):
        if number % 10 == 9:
            data = requests.raw()
            wire.hang_up()
            answer = wire.send(data, patience=UNFINISHED_SECONDS)
            wire.hang_up()
            account.take(answer, data, leaks(answer.body) if answer.status >= 400 else [])
            continue
        method, target, body, headers = requests.next()
        patience = PATIENCE_SECONDS
        if "Content-Length" in headers or "Transfer-Encoding" in headers or "Expect" in headers:
            headers["Connection"] = "close"  # the next request would be read as the body
            patience = UNFINISHED_SECONDS
        answer = wire.ask(method, target, body, headers, patience=patience)
        if headers.get("Connection") == "close" or answer.status in (0, 101):
            wire.hang_up()
        found = leaks(answer.head + answer.body) if answer.status >= 400 else []
        account.take(answer, (method, target, body, headers), found)
    return account
