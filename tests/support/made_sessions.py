"""Sessions of coding agents that were made up, with what is true of them.

Each is written as its agent would record it, after the formats that are known. The same seed gives
the same session.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

AGENTS = ("claude-code", "codex", "gemini")
START = 1_770_000_000.0
_NOUNS = ("parser", "cache", "router", "ledger", "queue", "index", "theme", "report")
_VERBS = ("Add retries to", "Fix rounding in", "Rename fields of", "Speed up", "Document")
_COMMANDS = ("pytest -q", "make lint", "npm run build", "cargo check", "go vet ./...")


@dataclass
class Made:
    """A session: its lines, and the truth about it."""

    agent: str
    session_id: str
    cwd: str
    lines: list[dict[str, Any]] = field(default_factory=list)
    edited: set[str] = field(default_factory=set)  # relative to cwd
    resolved: set[str] = field(default_factory=set)
    open: set[str] = field(default_factory=set)
    prompts: list[str] = field(default_factory=list)
    tokens: tuple[int, int] = (0, 0)
    started_at: float = START
    ended_at: float = START
    last_message: str = ""
    todos: list[tuple[str, bool]] = field(default_factory=list)

    def data(self) -> bytes:
        """Return the transcript as a file has it."""
        if self.agent == "gemini":
            head = {"sessionId": self.session_id, "startTime": iso(self.started_at)}
            return json.dumps({**head, "messages": self.lines}, indent=2).encode()
        return b"".join(json.dumps(line).encode() + b"\n" for line in self.lines)


def iso(at: float) -> str:
    """Return a time as agents write it."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Writer:
    """Writes a session step by step, in the way of its agent."""

    def __init__(
        self,
        agent: str,
        cwd: str,
        *,
        session_id: str = "",
        model: str = "m-1",
        began: float = START,
    ) -> None:
        self.made = Made(agent, session_id or "5b1f3c6e-1111-4222-8333-444455556666", cwd)
        self.made.started_at = began
        self.model = model
        self._count = 0
        self._at = self.made.started_at
        self._total = 0
        if agent == "codex":
            self._payload("session_meta", {"id": self.made.session_id, "cwd": cwd, "git": {}})
            self._payload("turn_context", {"cwd": cwd, "model": model})

    def prompt(self, text: str) -> None:
        """Add what a person asks for."""
        self.made.prompts.append(text)
        if self.made.agent == "claude-code":
            self._claude("user", text)
        elif self.made.agent == "codex":
            self._payload("response_item", _message("user", text))
            self._payload("event_msg", {"type": "user_message", "message": text})
        else:
            self._gemini("user", text)

    def say(self, text: str) -> None:
        """Add what the agent says, with the tokens of one request."""
        self.made.last_message = text
        tokens_in, tokens_out = 1_000 + self._count, 50 + self._count
        self.made.tokens = self.made.tokens[0] + tokens_in, self.made.tokens[1] + tokens_out
        if self.made.agent == "claude-code":
            usage = {"input_tokens": tokens_in, "cache_read_input_tokens": 10}
            request = f"req_{self._count}"
            for part, output in (("", 1), (text, tokens_out)):  # one request is several lines
                content = [{"type": "text", "text": part}] if part else [{"type": "thinking"}]
                used = {**usage, "output_tokens": output}
                self._claude("assistant", content, requestId=request, usage=used)
        elif self.made.agent == "codex":
            self._payload("response_item", _message("assistant", text))
            self._payload("event_msg", {"type": "agent_message", "message": text})
            last = {"input_tokens": tokens_in + 10, "cached_input_tokens": 10}
            last["output_tokens"] = tokens_out
            self._total += tokens_in
            info = {"total_token_usage": {"input_tokens": self._total}, "last_token_usage": last}
            for _ in range(2):  # reported twice
                self._payload("event_msg", {"type": "token_count", "info": info})
        else:
            tokens = {"input": tokens_in + 10, "cached": 10}
            tokens |= {"output": tokens_out - 5, "thoughts": 5}
            self._gemini("gemini", text, tokens=tokens, model=self.model)

    def edit(self, path: str, *, fails: bool = False) -> None:
        """Add an edit of a file."""
        if not fails:
            self.made.edited.add(path)
        whole = f"{self.made.cwd}/{path}"
        result = "String to replace not found." if fails else "The file was changed."
        if self.made.agent == "claude-code":
            self._tool("Edit", {"file_path": whole, "old_string": "a"}, result, fails)
        elif self.made.agent == "codex":
            patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch\n"
            code = 1 if fails else 0
            call = {"type": "custom_tool_call", "name": "apply_patch", "input": patch}
            self._call(call, f"Exit code: {code}\nWall time: 0.1 seconds\nOutput:\n{result}")
        else:
            self._gemini_call("replace", {"file_path": whole}, result, fails=fails)

    def run(self, command: str, output: str, *, fails: bool = False) -> None:
        """Add a command."""
        if fails:
            self.made.open.add(command)
            self.made.resolved.discard(command)
        elif command in self.made.open:
            self.made.open.discard(command)
            self.made.resolved.add(command)
        if self.made.agent == "claude-code":
            shown = f"Exit code 1\n{output}" if fails else output
            self._tool("Bash", {"command": command}, shown, fails)
        elif self.made.agent == "codex":
            arguments = json.dumps({"command": ["bash", "-lc", command]})
            reply = {"output": output, "metadata": {"exit_code": int(fails)}}
            call = {"type": "function_call", "name": "shell", "arguments": arguments}
            self._call(call, json.dumps(reply))
        else:
            shown = f"Output: {output}\nExit Code: {int(fails)}"
            self._gemini_call("run_shell_command", {"command": command}, shown, fails=False)

    def type_meanwhile(self, text: str) -> None:
        """Add what a person types while the agent works. Claude Code sends no prompt for it."""
        _, at = self._next()
        queued = {"type": "queued_command", "prompt": text}
        about = {"timestamp": at, "sessionId": self.made.session_id, "cwd": self.made.cwd}
        operation = {"type": "queue-operation", "operation": "enqueue", "content": text}
        self.made.lines.append({**operation, **about})
        self.made.lines.append({"type": "attachment", "attachment": queued, **about})

    def refuse(self, command: str, reason: str) -> None:
        """Add a command that a person refuses with a reason, as Claude Code writes it."""
        said = (
            "The user doesn't want to proceed with this tool use. The tool use was rejected. To"
            f" tell you how to proceed, the user said:\n{reason}"
        )
        self._tool("Bash", {"command": command}, said, True)

    def answer(self, question: str, answer: str) -> None:
        """Add a question of the agent and the person's answer, as Claude Code writes them."""
        call_id = f"toolu_{self._count}"
        call = {"type": "tool_use", "id": call_id, "name": "AskUserQuestion", "input": {}}
        self._claude("assistant", [call], requestId=f"req_{call_id}")
        result = f'User has answered your questions: "{question}"="{answer}".'
        block = {"type": "tool_result", "tool_use_id": call_id, "content": result}
        self._claude("user", [block], toolUseResult={"answers": {question: answer}})

    def todos(self, items: list[tuple[str, bool]]) -> None:
        """Write the list of to-do items."""
        self.made.todos = items
        listed = [{"content": t, "status": "completed" if d else "pending"} for t, d in items]
        if self.made.agent == "claude-code":
            self._tool("TodoWrite", {"todos": listed}, "ok", False)
        elif self.made.agent == "codex":
            plan = [{"step": each["content"], "status": each["status"]} for each in listed]
            arguments = json.dumps({"plan": plan})
            call = {"type": "function_call", "name": "update_plan", "arguments": arguments}
            self._call(call, "Plan updated")
        else:
            self._gemini_call("write_todos", {"todos": listed}, "ok", fails=False)

    def end(self) -> Made:
        """Return the session."""
        self.made.ended_at = self._at
        return self.made

    # --- the forms of the agents ----------------------------------------------------------------

    def _next(self) -> tuple[str, str]:
        self._count += 1
        self._at += 20
        return f"id-{self._count}", iso(self._at)

    def _claude(self, kind: str, content: Any, **more: Any) -> None:
        key, at = self._next()
        message: dict[str, Any] = {"role": kind, "content": content}
        if kind == "assistant":
            message |= {"model": self.model, "usage": more.pop("usage", {})}
        about = {"sessionId": self.made.session_id, "cwd": self.made.cwd, "version": "2.1.330"}
        line = {"type": kind, "uuid": key, "timestamp": at, "message": message}
        self.made.lines.append(line | about | more)

    def _tool(self, name: str, sent: dict[str, Any], result: str, fails: bool) -> None:
        call_id = f"toolu_{self._count}"
        call = {"type": "tool_use", "id": call_id, "name": name, "input": sent}
        self._claude("assistant", [call], requestId=f"req_{call_id}")
        block = {"type": "tool_result", "tool_use_id": call_id, "content": result}
        self._claude("user", [{**block, "is_error": True} if fails else block])

    def _payload(self, kind: str, payload: dict[str, Any]) -> None:
        _, at = self._next()
        self.made.lines.append({"timestamp": at, "type": kind, "payload": payload})

    def _call(self, call: dict[str, Any], output: str) -> None:
        call_id = f"call_{self._count}"
        self._payload("response_item", {**call, "call_id": call_id})
        kind = f"{call['type']}_output"
        self._payload("response_item", {"type": kind, "call_id": call_id, "output": output})

    def _gemini(self, kind: str, text: str, **more: Any) -> None:
        key, at = self._next()
        self.made.lines.append({"id": key, "timestamp": at, "type": kind, "content": text, **more})

    def _gemini_call(self, name: str, sent: dict[str, Any], output: str, *, fails: bool) -> None:
        response = {"error" if fails else "output": output}
        result = [{"functionResponse": {"name": name, "response": response}}]
        status = "error" if fails else "success"
        call = {"id": f"{name}-{self._count}", "name": name, "args": sent, "status": status}
        self._gemini("gemini", "", toolCalls=[{**call, "result": result}])


def _message(role: str, text: str) -> dict[str, Any]:
    kind = "input_text" if role == "user" else "output_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def made_session(agent: str, cwd: str, seed: int) -> Made:
    """Return a random session: prompts, edits that fail or not, commands that fail and pass."""
    random_ = random.Random(f"{agent} {seed}")
    identity = f"{random_.getrandbits(32):08x}-1111-4222-8333-{random_.getrandbits(48):012x}"
    writer = Writer(agent, cwd, session_id=identity)
    noun = random_.choice(_NOUNS)
    writer.prompt(f"{random_.choice(_VERBS)} the {noun}. Keep the tests green.")
    for number in range(random_.randint(1, 5)):
        name = f"src/{random_.choice(_NOUNS)}/part_{number}.py"
        if random_.random() < 0.3:
            writer.edit(f"src/never_{number}.py", fails=True)
        writer.edit(name)
        command = random_.choice(_COMMANDS)
        if random_.random() < 0.6:
            writer.run(command, f"src/a.py:{number}: error: bad {noun}", fails=True)
            if random_.random() < 0.6:
                writer.edit(name)
                writer.run(command, "1 passed in 0.10s")
        if random_.random() < 0.5:
            writer.prompt(f"Now look at part {number}.")
    writer.todos([("Read the code", True), (f"Benchmark the {noun}", random_.random() < 0.5)])
    writer.say(f"I chose a table rather than branches for the {noun}. All is done.")
    return writer.end()
