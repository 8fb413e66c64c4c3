"""Gemini CLI: `{sessionId, messages: [{id, timestamp, type, content, toolCalls, tokens, model}]}`.

As of version 0.61. Older versions write one JSON object, indented by two spaces; newer ones write a
message a line, again each time it changes, with `{"$set": …}` and `{"$rewindTo": …}` in between.
What was taken back by a rewind still counts: its edits may have stayed. What is lost: thoughts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from vault_agent.memory.patterns import LISTS
from vault_agent.memory.transcripts.claude import count, report_call, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vault_agent.memory.transcripts.recorder import Recorder

_EXIT = re.compile(r"^Exit Code: (-?\d+)$", re.MULTILINE)
_ABOUT = re.compile(
    r"^(?:(?:Output|Stdout|Stderr): |(?:Command|Directory|Exit Code|Signal|Background PIDs"
    r"|Process Group PGID): .*(?:\n|\Z)"
    r"|(?:Error|Stderr|Output|Stdout): \((?:none|empty)\)(?:\n|\Z))",
    re.MULTILINE,
)
"""What the program writes around the output of a command."""


class Gemini:
    """Reports the messages of a session to a recorder."""

    def __init__(self, recorder: Recorder) -> None:
        self._to = recorder

    def take(self, entry: dict[str, Any]) -> bool:
        """Report a line or an object. Return False if it is not understood."""
        if isinstance(entry.get("type"), str) and "id" in entry:
            return self._message(entry)
        patch = entry["$set"] if isinstance(entry.get("$set"), dict) else entry
        if not patch.keys() & {"sessionId", "startTime", "lastUpdated", "messages", "summary"}:
            return "$set" in entry or "$rewindTo" in entry
        self._to.about(patch.get("sessionId"), None)
        self._to.at(patch.get("startTime"))
        self._to.at(patch.get("lastUpdated"))
        self._to.title(patch.get("summary"))
        messages = patch.get("messages")
        for message in messages if isinstance(messages, list) else ():
            if isinstance(message, dict):
                self._message(message)
        return True

    def _message(self, message: dict[str, Any]) -> bool:
        kind, key = message.get("type"), message.get("id")
        if kind not in {"user", "gemini"} or not isinstance(key, str):
            return False
        self._to.at(message.get("timestamp"))
        text = text_of(message.get("content"))
        if kind == "user":
            if not text.lstrip().startswith("<"):
                self._to.person(text, key)
            return True
        self._to.model(message.get("model"))
        self._to.agent(text, key)
        tokens = message.get("tokens")
        if isinstance(tokens, dict):
            output = count(tokens.get("output")) + count(tokens.get("thoughts"))
            tokens_in = count(tokens.get("input")) - count(tokens.get("cached"))
            self._to.usage(key, max(tokens_in, 0), output)
        calls = message.get("toolCalls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict) and isinstance(call.get("id"), str):
                self._to.works()
                self._call(call, call["id"])
        return True

    def _call(self, call: dict[str, Any], call_id: str) -> None:
        arguments = call.get("args")
        if not isinstance(arguments, dict):
            return
        report_call(self._to, LISTS["gemini"], call_id, call.get("name"), arguments)
        status = call.get("status")
        if status in {"success", "error", "cancelled"}:
            text = "\n".join(_results(call.get("result")))
            said = _EXIT.search(text)
            failed = status != "success" or (said is not None and said[1] != "0")
            self._to.result(call_id, _ABOUT.sub("", text), failed=failed)


def _results(result: object) -> Iterator[str]:
    for part in result if isinstance(result, list) else ():
        reply = part.get("functionResponse") if isinstance(part, dict) else None
        response = reply.get("response") if isinstance(reply, dict) else None
        if isinstance(response, dict):
            yield from (
                response[key] for key in ("output", "error") if isinstance(response.get(key), str)
            )


def objects(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the objects of a file: each line of a newer one, the whole of an older one."""
    lines = iter(lines)
    first = next(lines, b"")
    if first.rstrip() == b"{":
        yield b"".join((first, *lines))
        return
    yield first
    yield from lines
