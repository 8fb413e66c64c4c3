"""Claude Code: `{type, uuid, timestamp, sessionId, cwd, gitBranch, message}` a line.

As of version 2.1.330. One request is written as several lines that repeat its `requestId` and its
usage; the last one counts. Messages with `isMeta` were not written by a person, and those with
`isSidechain` belong to a subagent, whose edits count. A message that a person types while the agent
works is an attachment or an operation of the queue; answers to questions and reasons of a refusal
are results of tools. What is lost: thoughts, images, results of other tools.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from vault_agent.memory.patterns import LISTS
from vault_agent.memory.transcripts.recorder import ToDo

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.memory.transcripts.recorder import Recorder

_TOOLS: Final = LISTS["claude"]
_PATHS: Final = ("file_path", "notebook_path", "absolute_path", "path")
_TITLES: Final = {"summary": "summary", "custom-title": "customTitle", "ai-title": "aiTitle"}
_NOT_WRITTEN: Final = tuple(LISTS["claude"]["not_written"])
_REFUSED = re.compile(r"the user said:\s*(.*)\Z", re.DOTALL)
_CONTINUED = "This session is being continued from a previous conversation"


class ClaudeCode:
    """Reports the lines of a transcript to a recorder."""

    def __init__(self, recorder: Recorder) -> None:
        self._to = recorder
        self._tasks: dict[str, ToDo] = {}
        self._has_own_title = False

    def take(self, entry: dict[str, Any]) -> bool:
        """Report a line. Return False if it is not understood."""
        kind = entry.get("type")
        if kind in _TITLES:
            # The title of a person stays; the others are of the agent.
            if kind == "custom-title" or not self._has_own_title:
                self._has_own_title |= kind == "custom-title"
                self._to.title(entry.get(_TITLES[str(kind)]))
            return True
        if kind in {"attachment", "queue-operation"}:
            self._to.at(entry.get("timestamp"))
            self._queued(entry)
            return True
        if kind not in {"user", "assistant"}:
            return False
        message = entry.get("message")
        if not isinstance(message, dict):
            return False
        self._to.at(entry.get("timestamp"))
        self._to.about(entry.get("sessionId"), entry.get("cwd"))
        if kind == "user":
            self._user(entry, message)
        else:
            self._assistant(entry, message)
        return True

    def _user(self, entry: dict[str, Any], message: dict[str, Any]) -> None:
        texts: list[str] = []
        for block in _blocks(message):
            if block.get("type") == "tool_result":
                call_id = block.get("tool_use_id")
                if isinstance(call_id, str):
                    failed = block.get("is_error") is True
                    result = text_of(block.get("content"))
                    self._to.result(call_id, result, failed=failed)
                    self._answered(entry.get("toolUseResult"), call_id, result, failed=failed)
            elif block.get("type") == "text" and isinstance(block.get("text"), str):
                texts.append(block["text"])
        text = "\n".join(texts)
        if entry.get("isSidechain") is True or not text.strip():
            return
        if entry.get("isCompactSummary") is True or text.startswith(_CONTINUED):
            return
        if entry.get("isMeta") is not True and not text.lstrip().startswith(_NOT_WRITTEN):
            self._to.person(text, entry.get("uuid"))

    def _queued(self, entry: dict[str, Any]) -> None:
        """Report what a person typed while the agent was at work."""
        attachment = entry.get("attachment")
        if isinstance(attachment, dict) and attachment.get("type") == "queued_command":
            text = text_of(attachment.get("prompt"))
        elif entry.get("operation") == "enqueue":
            text = text_of(entry.get("content"))
        else:
            return
        if not text.lstrip().startswith(_NOT_WRITTEN):
            self._to.person(text, entry.get("uuid"))

    def _answered(self, result: object, call_id: str, text: str, *, failed: bool) -> None:
        """Report the person's answers to questions of the agent, or the reason of a refusal."""
        answers = result.get("answers") if isinstance(result, dict) else None
        if isinstance(answers, dict):
            for question, answer in answers.items():
                self._to.person(text_of(answer), (call_id, question), about=str(question))
        elif failed and (reason := _REFUSED.search(text)) is not None:
            self._to.person(reason[1], call_id, about=self._to.wanted(call_id))

    def _assistant(self, entry: dict[str, Any], message: dict[str, Any]) -> None:
        self._to.model(message.get("model"))
        usage = message.get("usage")
        if isinstance(usage, dict):
            key = entry.get("requestId") or message.get("id")
            names = ("input_tokens", "cache_creation_input_tokens")  # each is read once
            tokens_in = sum(count(usage.get(name)) for name in names)
            self._to.usage(key, tokens_in, count(usage.get("output_tokens")))
        for block in _blocks(message):
            if block.get("type") == "text" and isinstance(block.get("text"), str):
                if entry.get("isSidechain") is not True:
                    self._to.agent(block["text"])
            elif block.get("type") == "tool_use":
                name = block.get("name")
                self._to.works(reads=name in _TOOLS["reads"] or name in _TOOLS["others"])
                self._call(block)

    def _call(self, block: dict[str, Any]) -> None:
        name, call_id, arguments = block.get("name"), block.get("id"), block.get("input")
        if not isinstance(call_id, str) or not isinstance(arguments, dict):
            return
        report_call(self._to, _TOOLS, call_id, name, arguments)
        if name == "TaskCreate" and isinstance(arguments.get("subject"), str):
            self._tasks[str(len(self._tasks) + 1)] = ToDo(arguments["subject"], done=False)
            self._to.told.todos = tuple(self._tasks.values())
        elif name == "TaskUpdate" and arguments.get("taskId") in self._tasks:
            task = self._tasks[arguments["taskId"]]
            done = arguments.get("status") in {"completed", "deleted"} or (
                task.done and "status" not in arguments
            )
            self._tasks[arguments["taskId"]] = task._replace(done=done)
            self._to.told.todos = tuple(self._tasks.values())


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    blocks = content if isinstance(content, list) else []
    return [block for block in blocks if isinstance(block, dict)]


def report_call(
    to: Recorder, tools: Mapping[str, Any], call_id: str, name: object, arguments: dict[str, Any]
) -> None:
    """Report a call that edits or reads a file, runs a command or lists to-dos."""
    path = next((arguments[key] for key in _PATHS if arguments.get(key)), None)
    paths = (path,) if isinstance(path, str) else ()
    if name in tools["edits"]:
        to.call(call_id, paths=paths)
    elif name in tools["reads"]:
        to.call(call_id, reads=paths)
    elif name in tools["shells"] and isinstance(arguments.get("command"), str):
        to.call(call_id, command=arguments["command"])
    elif name in tools["todos"]:
        to.told.todos = todo_items(arguments.get("todos"))


def todo_items(items: object) -> tuple[ToDo, ...]:
    """Return a list of to-dos as agents write it: what each says, and its status."""
    todos = []
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict):
            text = next(
                (item[key] for key in ("content", "step", "description", "subject", "text")
                 if isinstance(item.get(key), str)),
                "",
            )  # fmt: skip
            if text.strip():
                todos.append(ToDo(text[:2_000], item.get("status") in {"completed", "cancelled"}))
    return tuple(todos)


def text_of(content: object) -> str:
    """Return the text of a message's content: a text, or blocks of which some are text."""
    if isinstance(content, str):
        return content
    texts = [
        block["text"]
        for block in (content if isinstance(content, list) else ())
        if isinstance(block, dict) and isinstance(block.get("text"), str)
    ]
    return "\n".join(texts)


def count(value: object) -> int:
    """Return a number of tokens, 0 if it is none."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 50:
        return value
    return 0
