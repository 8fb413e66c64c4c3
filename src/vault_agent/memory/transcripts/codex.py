"""Codex: rollouts, `{timestamp, type, payload}` a line.

As of versions 0.145 to 0.155. Messages are there twice: as events, and as items for the model,
which also have context that no person wrote. So the items count only where there are no events. The
total of tokens restarts at a resume in some versions, so the requests are summed, and one that is
reported twice counts once. What is lost: thoughts, which are encrypted.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import orjson

from vault_agent.memory.patterns import LISTS
from vault_agent.memory.transcripts.claude import count, text_of, todo_items

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vault_agent.memory.transcripts.recorder import Recorder

_SHELLS: Final = frozenset(LISTS["codex"]["shells"])
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$", re.MULTILINE)
_BEGIN = "*** Begin Patch"
_EXIT = re.compile(
    r"^(?:Exit code|Process exited with code):? (-?\d+)$|\"exit_code\":\s*(-?\d+)", re.MULTILINE
)
_OUTPUT = re.compile(r"^Output:\n", re.MULTILINE)
_NOT_WRITTEN: Final = tuple(LISTS["codex"]["not_written"])


class Codex:
    """Reports the lines of a rollout to a recorder."""

    def __init__(self, recorder: Recorder) -> None:
        self._to = recorder
        self._items: list[tuple[str, str, object]] = []
        self._stamp: object = None
        self._from_events: set[str] = set()
        self._total: object = None
        self._requests = 0

    def take(self, entry: dict[str, Any]) -> bool:
        """Report a line. Return False if it is not understood."""
        kind, payload = entry.get("type"), entry.get("payload")
        if not isinstance(payload, dict):
            return False
        self._stamp = entry.get("timestamp")
        self._to.at(self._stamp)
        if kind == "session_meta":
            self._to.about(payload.get("id"), payload.get("cwd"))
        elif kind == "turn_context":
            self._to.model(payload.get("model"))
        elif kind == "event_msg":
            self._event(payload)
        elif kind == "response_item":
            self._item(payload)
        else:
            return False
        return True

    def end(self) -> None:
        """Report the messages that there were no events for."""
        for role, text, stamp in self._items:
            if role in self._from_events:
                continue
            self._to.at(stamp)
            if role == "assistant":
                self._to.agent(text)
            elif not text.lstrip().startswith(_NOT_WRITTEN):
                self._to.person(text)

    def _event(self, payload: dict[str, Any]) -> None:
        kind, text = payload.get("type"), payload.get("message")
        if kind == "user_message" and isinstance(text, str):
            self._from_events.add("user")
            self._to.person(text)
        elif kind == "agent_message" and isinstance(text, str):
            self._from_events.add("assistant")
            self._to.agent(text)
        elif kind == "thread_name_updated":
            self._to.title(payload.get("thread_name"))
        elif kind == "token_count":
            self._tokens(payload.get("info"))
        elif kind == "patch_apply_end" and payload.get("success") is True:
            self._to.edited(_changed(payload.get("changes")))
        elif kind == "item_completed" and isinstance(payload.get("item"), dict):
            item = payload["item"]
            changed = item.get("type") in {"FileChange", "file_change"}
            if changed and item.get("status") in {None, "completed"}:
                self._to.edited(_changed(item.get("changes")))

    def _tokens(self, info: object) -> None:
        if not isinstance(info, dict):
            return
        total, last = info.get("total_token_usage"), info.get("last_token_usage")
        if not isinstance(last, dict) or total == self._total:
            return
        self._total = total
        self._requests += 1
        key = ("request", self._requests)
        tokens_in = count(last.get("input_tokens")) - count(last.get("cached_input_tokens"))
        self._to.usage(key, max(tokens_in, 0), count(last.get("output_tokens")))

    def _item(self, payload: dict[str, Any]) -> None:
        kind, call_id = payload.get("type"), payload.get("call_id")
        if isinstance(kind, str) and kind.endswith("_call"):
            self._to.works()
        if kind == "message" and payload.get("role") in {"user", "assistant"}:
            text = text_of(payload.get("content"))
            if len(self._items) < 2_000:
                self._items.append((payload["role"], text[:20_000], self._stamp))
        elif not isinstance(call_id, str):
            return
        elif kind in {"function_call_output", "custom_tool_call_output"}:
            output, failed = _result(payload.get("output"))
            self._to.result(call_id, output, failed=failed)
        elif kind == "local_shell_call" and isinstance(payload.get("action"), dict):
            self._shell(call_id, payload["action"])
        elif kind == "custom_tool_call" and isinstance(payload.get("input"), str):
            self._to.call(call_id, paths=_PATCHED.findall(_patch(payload["input"])))
        elif kind == "function_call":
            self._function(call_id, payload)

    def _function(self, call_id: str, payload: dict[str, Any]) -> None:
        try:
            arguments = orjson.loads(payload.get("arguments") or "")
        except (orjson.JSONDecodeError, TypeError):
            return
        if not isinstance(arguments, dict):
            return
        name = payload.get("name")
        if name in _SHELLS:
            self._shell(call_id, arguments)
        elif name == "apply_patch" and isinstance(arguments.get("input"), str):
            self._to.call(call_id, paths=_PATCHED.findall(arguments["input"]))
        elif name == "update_plan":
            self._to.told.todos = todo_items(arguments.get("plan"))

    def _shell(self, call_id: str, arguments: dict[str, Any]) -> None:
        command = arguments.get("command") or arguments.get("cmd")
        if isinstance(command, list) and command and all(isinstance(c, str) for c in command):
            shell = len(command) == 3 and command[1] in {"-lc", "-c", "-Command", "/c"}
            command = command[2] if shell else " ".join(command)
        if not isinstance(command, str):
            return
        patch = _patch(command)
        if patch and command.lstrip().startswith("apply_patch"):
            self._to.call(call_id, paths=_PATCHED.findall(patch))
        else:
            self._to.call(call_id, command=command, paths=_PATCHED.findall(patch))


def _patch(text: str) -> str:
    return text[text.index(_BEGIN) :] if _BEGIN in text else ""


def _changed(changes: object) -> Iterator[str]:
    """Yield the paths of changed files: the keys of an object, or of a list's items."""
    if isinstance(changes, dict):
        for path, change in changes.items():
            yield path
            moved = change.get("move_path") if isinstance(change, dict) else None
            if isinstance(moved, str):
                yield moved
    elif isinstance(changes, list):
        for change in changes:
            if isinstance(change, dict) and isinstance(change.get("path"), str):
                yield change["path"]


def _result(output: object) -> tuple[str, bool]:
    """Return the text of a result, and whether it says that the call failed."""
    if isinstance(output, dict):
        failed = output.get("success") is False
        return text_of(output.get("content") or output.get("output")), failed
    text = text_of(output)
    if text.startswith("{"):
        try:
            data = orjson.loads(text)
        except orjson.JSONDecodeError:
            data = None
        if isinstance(data, dict) and isinstance(data.get("output"), str):
            about = data.get("metadata")
            code = (about if isinstance(about, dict) else data).get("exit_code")
            return data["output"], isinstance(code, int) and code != 0
    head = text[:2_000]
    output_start = _OUTPUT.search(head)
    said = _EXIT.search(head, 0, output_start.start() if output_start else len(head)) or (
        _EXIT.search(head) if head.startswith("Script ") else None
    )
    failed = said is not None and (said[1] or said[2]) != "0"
    failed = failed or head.startswith(("apply_patch verification failed", "Failed to find"))
    return (text[output_start.end() :] if output_start else text), failed
