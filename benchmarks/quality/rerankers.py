"""Rerankers to measure with: one that knows the answers, and others that do not help.

`perfect` gives each passage the grade that its note has for the query. `equal` gives all the same.
`slow` takes 10 seconds, and `failing` replies with an error.
"""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchmarks.quality.judged import Collection

KINDS = ("perfect", "equal", "slow", "failing")
_END = 60
"""Characters at the end of a passage by which it is found in its note."""


class Judge:
    """A reranker of one kind. `grades` are those of the notes for the query that is asked next."""

    def __init__(self, kind: str, collection: Collection) -> None:
        self._kind = kind
        self._bodies = {note.document: note.body for note in collection.notes.values()}
        self.grades: Mapping[str, int] = {}

    def reply(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """Return the reply to a request, or None to fail."""
        if self._kind == "failing":
            return None
        if self._kind == "slow":
            time.sleep(10)
        results = [
            {"index": index, "relevance_score": self._grade(text)}
            for index, text in enumerate(request["documents"])
        ]
        return {"results": results}

    def _grade(self, text: str) -> int:
        if self._kind != "perfect":
            return 0
        end = text[-_END:]
        found = [grade for each, grade in self.grades.items() if end in self._bodies[each]]
        return max(found, default=0)


@contextmanager
def serving(judge: Judge) -> Iterator[str]:
    """Serve a reranker on a free port of 127.0.0.1, and yield its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            reply = judge.reply(request)
            body = json.dumps(reply or {}).encode()
            self.send_response(500 if reply is None else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            try:
                self.wfile.write(body)
            except OSError:  # the search has not waited
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/rerank"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
