"""The dialogue of a session, kept while its transcript is read.

An adapter reports what it understands. A report with a key that came before replaces that one,
because agents write some things several times.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from vault_agent.memory.safe_text import head_of, tail_of, test_summary
from vault_agent.text.redaction import is_secret_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MAX_TEXT: Final = 20_000
MAX_WORDS: Final = 4_000
"""Characters of a later word of the person, and of what the agent said before it."""
MAX_EXCHANGES: Final = 400
MAX_CALLS: Final = 2_000
MAX_FILES: Final = 5_000
MAX_COMMITS: Final = 200
MAX_RESULT: Final = 128 << 10
_WORD = re.compile(r"[^\s\"'`;|&<>()=]+")
_COMMITTED = re.compile(r"^\[[^\]\n]{1,200} ([0-9a-f]{7,64})\] ", re.MULTILINE)
_COMMITS = re.compile(r"\bgit\b[^\n;&|]{0,200}\bcommit\b")


PROPOSED: Final = "proposed"
SAID: Final = "said"
REPORTED: Final = "reported"
"""How an agent spoke: it had changed nothing since the person's last word, it may have, it had."""


class Exchange(NamedTuple):
    """A word of the person, and what the agent said before it. `at` is seconds since 1970."""

    words: str
    before: str = ""
    at: float | None = None
    manner: str = SAID


class ToDo(NamedTuple):
    """An item of the agent's list."""

    text: str
    done: bool


@dataclass(slots=True)
class Transcript:
    """What a transcript says about a session. Texts are without secrets.

    `last` is the agent's last message, and `last_at` its time. `edited` are paths as the agent gave
    them. `commits` are the hashes that git printed; with `commits_unseen`, a commit was made whose
    hash was not printed. Times are in seconds since 1970.
    """

    models: tuple[str, ...] = ()
    title: str | None = None
    started_at: float | None = None
    ended_at: float | None = None
    exchanges: tuple[Exchange, ...] = ()
    last: str = ""
    last_at: float | None = None
    unanswered: bool = False
    worked: bool = False
    edited: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    commits_unseen: bool = False
    todos: tuple[ToDo, ...] = ()
    tests: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    session_id: str | None = None
    cwd: str | None = None


@dataclass(slots=True)
class _Call:
    """A call of a tool until its result is known."""

    command: str | None = None
    paths: tuple[str, ...] = ()
    secret: bool = False


class Recorder:
    """Takes reports about one session."""

    def __init__(self) -> None:
        self.told = Transcript()
        """What is known of it so far, with secrets."""
        self._models: dict[str, None] = {}
        self._now: float | None = None
        self._times: tuple[float, float] | None = None
        self._exchanges: OrderedDict[object, Exchange] = OrderedDict()
        self._agent: tuple[object, str] = (None, "")
        self._manner = PROPOSED
        self._order = 0
        self._calls: OrderedDict[str, _Call] = OrderedDict()
        self._edited: dict[str, None] = {}
        self._commits: dict[str, None] = {}
        self._usage: dict[object, tuple[int, int]] = {}

    # --- reports --------------------------------------------------------------------------------

    def at(self, stamp: object) -> None:
        """Report a time, ISO 8601, at which what follows was said."""
        when = seconds_of(stamp)
        if when is not None:
            first, last = self._times or (when, when)
            self._times = min(first, when), max(last, when)
            self._now = when

    def about(self, session_id: object, cwd: object) -> None:
        """Report the session's ID and its folder. The first ones count."""
        if self.told.session_id is None and isinstance(session_id, str):
            self.told.session_id = session_id[:200]
        if self.told.cwd is None and isinstance(cwd, str):
            self.told.cwd = cwd[:4_000]

    def model(self, name: object) -> None:
        """Report a model that answered."""
        if isinstance(name, str) and 0 < len(name) <= 200 and not name.startswith("<"):
            self._models.setdefault(name)

    def title(self, text: object) -> None:
        """Report the session's title. The last one counts."""
        if isinstance(text, str) and text.strip():
            self.told.title = head_of(text, MAX_TEXT)

    def person(self, text: str, key: object = None, *, about: str = "") -> None:
        """Report a word of the person: a prompt, an answer, a reason.

        `about` is what it answers to, if that was no message of the agent. The same words again are
        one: agents write a message that waited twice.
        """
        if not text.strip() or self._is_repeated(text):
            return
        key = self._key(key)
        most = MAX_TEXT if not self._exchanges else MAX_WORDS
        before = "\n".join(filter(None, (tail_of(self._agent[1], MAX_WORDS), about)))
        if key in self._exchanges:
            before = self._exchanges[key].before
        elif len(self._exchanges) >= MAX_EXCHANGES:  # the first one stays
            second = next(number for place, number in enumerate(self._exchanges) if place == 1)
            del self._exchanges[second]
        self._exchanges[key] = Exchange(head_of(text, most), before, self._now, self._manner)
        if not (about or self.told.unanswered):  # else the agent is still at work
            self._manner = PROPOSED
        self.told.unanswered = True

    def agent(self, text: str, key: object = None) -> None:
        """Report what the agent said."""
        if text.strip():
            self._agent = (self._key(key), head_of(text, MAX_TEXT))
            self.told.last_at = self._now
            self.told.unanswered = False

    def usage(self, key: object, tokens_in: int, tokens_out: int) -> None:
        """Report the tokens of one request. The last report of a key counts."""
        if len(self._usage) < 1_000_000:
            self._usage[self._key(key)] = tokens_in, tokens_out

    def works(self, *, reads: bool = False) -> None:
        """Report that the agent uses a tool, whichever it is, and whether it only reads."""
        self.told.worked = True
        if not reads and self._manner == PROPOSED:
            self._manner = SAID

    def call(
        self,
        call_id: str,
        *,
        command: str | None = None,
        paths: Iterable[str] = (),
        reads: Iterable[str] = (),
    ) -> None:
        """Report a call: a command, or an edit of files. `reads` are files whose content comes."""
        secret = any(is_secret_file(path) for path in reads)
        if command is not None:
            secret = secret or any(is_secret_file(word) for word in _WORD.findall(command))
        self._calls[call_id] = _Call(command, tuple(paths), secret)
        if len(self._calls) > MAX_CALLS:
            self._calls.popitem(last=False)

    def wanted(self, call_id: str) -> str:
        """Return what a call wanted to do, for a person who refuses it."""
        call = self._calls.get(call_id)
        if call is None:
            return ""
        what = call.command or ", ".join(call.paths)
        return f"(wanted: {head_of(' '.join(what.split()), 200)})" if what else ""

    def result(self, call_id: str, text: str, *, failed: bool) -> None:
        """Report the result of a call. An edit counts only now."""
        call = self._calls.get(call_id)
        if call is None:
            return
        if not failed:
            self.edited(call.paths)
        if call.command is None or call.secret:
            return
        output = tail_of(text, MAX_RESULT)
        self.told.tests = test_summary(output) or self.told.tests
        if not failed and _COMMITS.search(call.command):
            hashes = _COMMITTED.findall(output)
            self._commits |= dict.fromkeys(hashes[:MAX_COMMITS])
            self.told.commits_unseen |= not hashes
            self._manner = REPORTED

    def edited(self, paths: Iterable[str]) -> None:
        """Report files that were changed."""
        for path in paths:
            if path and len(path) <= 4_000 and len(self._edited) < MAX_FILES:
                self._edited.setdefault(path)
                self._manner = REPORTED

    # --- the end --------------------------------------------------------------------------------

    def finish(self, clean: Callable[[str], str]) -> Transcript:
        """Return what was reported. `clean` removes secrets from each text."""
        started, ended = self._times or (None, None)
        told, usage = self.told, self._usage.values()
        return replace(
            told,
            models=tuple(self._models),
            title=None if told.title is None else clean(told.title),
            started_at=started,
            ended_at=ended,
            exchanges=tuple(
                exchange._replace(words=clean(exchange.words), before=clean(exchange.before))
                for exchange in self._exchanges.values()
            ),
            last=clean(self._agent[1]),
            edited=tuple(self._edited),
            commits=tuple(self._commits),
            todos=tuple(ToDo(clean(todo.text), todo.done) for todo in told.todos[:200]),
            tests=None if told.tests is None else clean(told.tests),
            tokens_in=sum(tokens for tokens, _ in usage) if usage else None,
            tokens_out=sum(tokens for _, tokens in usage) if usage else None,
        )

    def _is_repeated(self, text: str) -> bool:
        recent = list(self._exchanges.values())[-3:]
        return any(exchange.words.split() == text.split() for exchange in recent)

    def _key(self, key: object) -> object:
        if key is not None:
            return key
        self._order += 1
        return self._order


def seconds_of(stamp: object) -> float | None:
    """Return seconds since 1970 of an ISO 8601 time, or None if it is none that can be."""
    if not isinstance(stamp, str) or not 10 <= len(stamp) <= 40:
        return None
    try:
        when = datetime.fromisoformat(stamp)
        return when.timestamp() if when.tzinfo is not None else None
    except (ValueError, OverflowError, OSError):
        return None
