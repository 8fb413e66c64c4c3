"""Lines of a client, however long and however they arrive."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from tests.support.clocks import assert_linear

from vault_agent.mcp.lines import TooLong, lines


def long_line(text: str, step: int) -> Any:
    line = TooLong()
    data = text.encode()
    for place in range(0, len(data), step):
        line.add(data[place : place + step])
    return line.message


@pytest.mark.parametrize("step", [1, 2, 7, 1_000])
@pytest.mark.parametrize(
    "inner",
    [{"id": 2}, [{"id": 2}], {"a": '"}]{[\\'}, {"a": [[{}, "]"]]}, '"id": 2', None],
)
def test_the_outer_object_is_kept(inner: Any, step: int):
    for ascii_only in (True, False):
        message = {"a\\": 'ä"{', "params": inner, "id": 1}
        kept = long_line(json.dumps(message, ensure_ascii=ascii_only), step)
        assert (kept["id"], kept["a\\"]) == (1, 'ä"{')


@pytest.mark.parametrize("text", ["{" * 9_000, '"' + "a" * 9_000, "]" * 9_000, "{} {}", "", "\\"])
def test_what_is_no_message_has_no_id(text: str):
    assert not long_line(text, 100)


@pytest.mark.parametrize("piece", ['{"', "[", '\\"', '{"a": "\\n"},'])
def test_time_is_linear(piece: str):
    def work(text: str) -> None:
        line = TooLong()
        line.add(text.encode())

    assert_linear(lambda n: '{"a": [' + piece * 30_000 * n, work)


def test_lines_of_any_length_come_in_order():
    source, sink = os.pipe()
    try:
        os.write(sink, b"one\n\n" + b"x" * 9 + b"\n" + b"y" * 10 + b'\n{"id": "a", "b": [1]}\nend')
        os.close(sink)
        found = [each.message if isinstance(each, TooLong) else each for each in lines(source, 9)]
    finally:
        os.close(source)
    assert found == [b"one", b"", b"x" * 9, None, {"id": "a", "b": []}, b"end"]
