"""What is kept of a transcript while it is read, within bounds, and without secrets at the end.

An adapter reports what it understands. A report with a key that came before replaces that one,
because agents write some things several times.
"""

from __future__ import annotations

import re
from collections import OrderedDict, deque
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from vault_agent.journals.cues import has_cue
from vault_agent.journals.output import head_of, is_test_summary, signal_lines, tail_of
from vault_agent.text.redaction import doubtful, is_secret_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MAX_TEXT: Final = 20_000
MAX_PROMPTS: Final = 200
MAX_SAID: Final = 30
MAX_CUED: Final = 100
MAX_RUNS: Final = 2_000
MAX_FILES: Final = 5_000
MAX_RESULT: Final = 128 << 10
MAX_RESULTS: Final = 100
MAX_OUTPUT: Final = 1 << 20
"""Characters of results that are searched for output."""
MAX_ERROR: Final = 16 << 10
MAX_COMMAND: Final = 2_000
MAX_FAILURES: Final = 40
_LATER_PROMPT: Final = 4_000
_CUED: Final = 8_000
_WORD = re.compile(r"[^\s\"'`;|&<>()=]+")


class Failure(NamedTuple):
    """A command that failed, the first line that says why, and whether it passed later.

    Of the command only the program is kept: passwords and tokens are among its arguments. Whether
    it passed is None if it did not, but the session ended with tests that passed.
    """

    program: str
    error: str
    resolved: bool | None
    status: int | None = None


class Said(NamedTuple):
    """A message of the agent, and how many prompts there were before it."""

    text: str
    turn: int


class ToDo(NamedTuple):
    """An item of the agent's list."""

    text: str
    done: bool


@dataclass(frozen=True, slots=True)
class Transcript:
    """What a transcript says about a session. Texts are without secrets.

    `edited` are paths as the agent gave them. `said` are the last messages of the agent, and those
    before them that give a reason. `worked` are the turns in which the agent used a tool, by the
    number of prompts before it. Times are in seconds since 1970.
    """

    models: tuple[str, ...] = ()
    title: str | None = None
    branch: str | None = None
    started_at: float | None = None
    ended_at: float | None = None
    prompts: tuple[str, ...] = ()
    prompt_count: int = 0
    said: tuple[Said, ...] = ()
    worked: frozenset[int] = frozenset()
    edited: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()
    todos: tuple[ToDo, ...] = ()
    summaries: tuple[str, ...] = ()
    output: tuple[str, ...] = ()
    tests: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    lines: int = 0
    skipped: int = 0


class _Run(NamedTuple):
    """What was run last of one kind, and its output and exit status when it failed."""

    command: str
    failed: bool
    error: str | None
    status: int | None = None


@dataclass(slots=True)
class _Open:
    """A call of a tool until its result is known."""

    command: str | None = None
    paths: tuple[str, ...] = ()
    secret: bool = False


class Recorder:
    """Takes reports about one session."""

    def __init__(self) -> None:
        self._models: dict[str, None] = {}
        self._title: str | None = None
        self._branch: str | None = None
        self._times: tuple[float, float] | None = None
        self._prompts: OrderedDict[object, str] = OrderedDict()
        self._prompt_count = 0
        self._said: OrderedDict[object, Said] = OrderedDict()
        self._cued: OrderedDict[object, Said] = OrderedDict()
        self._order = 0
        self._open: OrderedDict[str, _Open] = OrderedDict()
        self._worked: set[int] = set()
        self._edited: dict[str, None] = {}
        self._runs: OrderedDict[str, _Run] = OrderedDict()  # by kind of command
        self._tests_passed = False  # by the last run of tests
        self._results: OrderedDict[str, str] = OrderedDict()
        self._summaries: deque[str] = deque(maxlen=5)
        self._usage: dict[object, tuple[int, int]] = {}
        self._cost: float | None = None
        self.todos: tuple[ToDo, ...] = ()
        """The list as it was last written."""

    # --- reports --------------------------------------------------------------------------------

    def at(self, stamp: object) -> None:
        """Report a time, ISO 8601."""
        when = seconds_of(stamp)
        if when is not None:
            first, last = self._times or (when, when)
            self._times = min(first, when), max(last, when)

    def model(self, name: object) -> None:
        """Report a model that answered."""
        if isinstance(name, str) and 0 < len(name) <= 200 and not name.startswith("<"):
            self._models.setdefault(name)

    def title(self, text: object) -> None:
        """Report the session's title. The last one counts."""
        if isinstance(text, str) and text.strip():
            self._title = head_of(text, MAX_TEXT)

    def branch(self, name: object) -> None:
        """Report the branch. The last one counts."""
        if isinstance(name, str) and name:
            self._branch = name[:200]

    def prompt(self, text: str, key: object = None) -> None:
        """Report what a person asked for."""
        if not text.strip():
            return
        key = self._key(key)
        if key not in self._prompts:
            self._prompt_count += 1
            if len(self._prompts) >= MAX_PROMPTS:  # the first one stays
                second = next(each for place, each in enumerate(self._prompts) if place == 1)
                del self._prompts[second]
        first = not self._prompts or key == next(iter(self._prompts))
        self._prompts[key] = head_of(text, MAX_TEXT if first else _LATER_PROMPT)

    def said(self, text: str, key: object = None) -> None:
        """Report what the agent said."""
        if not text.strip():
            return
        key = self._key(key)
        turn = self._said[key].turn if key in self._said else self._prompt_count
        self._said[key] = Said(head_of(text, MAX_TEXT), turn)
        if len(self._said) > MAX_SAID:
            old, passed = self._said.popitem(last=False)
            if has_cue(passed.text):
                self._cued[old] = Said(head_of(passed.text, _CUED), passed.turn)
                if len(self._cued) > MAX_CUED:
                    self._cued.popitem(last=False)

    def summary(self, text: str) -> None:
        """Report the agent's own summary of what came before a compaction."""
        if text.strip():
            self._summaries.append(head_of(text, MAX_TEXT))

    def usage(self, key: object, tokens_in: int, tokens_out: int) -> None:
        """Report the tokens of one request. The last report of a key counts."""
        if len(self._usage) < 1_000_000:
            self._usage[self._key(key)] = tokens_in, tokens_out

    def cost(self, dollars: object) -> None:
        """Report what the session has cost, as the agent says."""
        if isinstance(dollars, int | float) and not isinstance(dollars, bool) and dollars >= 0:
            self._cost = float(dollars)

    def works(self) -> None:
        """Report that the agent uses a tool, whichever it is."""
        self._worked.add(self._prompt_count)

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
        self._open[call_id] = _Open(command, tuple(paths), secret)
        if len(self._open) > MAX_RUNS:
            self._open.popitem(last=False)

    def result(self, call_id: str, text: str, *, failed: bool) -> None:
        """Report the result of a call. An edit counts only now."""
        called = self._open.get(call_id)
        if called is None:
            return
        if not failed:
            self.edited(called.paths)
        if called.command is None:
            return
        text = "" if called.secret else tail_of(text, MAX_RESULT)
        command = head_of(" ".join(called.command.split()), MAX_COMMAND)
        kind, of_tests = kind_of(command)
        before = self._runs.pop(kind, None)
        if of_tests:
            self._tests_passed = not failed
        if not failed:
            # What failed before has passed now. Its error says what was wrong.
            self._runs[kind] = (before or _Run(command, False, None))._replace(failed=False)
            if of_tests:
                for other, run in self._runs.items():
                    if kind_of(run.command)[1]:
                        self._runs[other] = run._replace(failed=False)
        elif kind.split()[0] not in _PROBES:
            self._runs[kind] = _Run(command, True, tail_of(text, MAX_ERROR), status_of(text))
        if len(self._runs) > MAX_RUNS:
            self._runs.popitem(last=False)
        if text:
            self._results[call_id] = text
            self._results.move_to_end(call_id)
            if len(self._results) > MAX_RESULTS:
                self._results.popitem(last=False)

    def edited(self, paths: Iterable[str]) -> None:
        """Report files that were changed."""
        for path in paths:
            if path and len(path) <= 4_000 and len(self._edited) < MAX_FILES:
                self._edited.setdefault(path)

    # --- the end --------------------------------------------------------------------------------

    def finish(self, clean: Callable[[str], str], *, output_lines: int) -> Transcript:
        """Return what was reported. `clean` removes secrets from each text, before it is cut."""
        started, ended = self._times or (None, None)
        output, tests = self._output(clean, output_lines)
        failures = [run for run in self._runs.values() if run.error is not None]
        usage = self._usage.values()
        return Transcript(
            models=tuple(self._models),
            title=None if self._title is None else clean(self._title),
            branch=None if self._branch is None else clean(self._branch),
            started_at=started,
            ended_at=ended,
            prompts=tuple(map(clean, self._prompts.values())),
            prompt_count=self._prompt_count,
            said=tuple(
                Said(clean(each.text), each.turn)
                for each in (*self._cued.values(), *self._said.values())
            ),
            worked=frozenset(self._worked),
            edited=tuple(self._edited),
            failures=tuple(
                Failure(
                    program_of(run.command, clean),
                    first_error(clean(run.error or "")),
                    resolved=None if run.failed and self._tests_passed else not run.failed,
                    status=run.status,
                )
                for run in failures[-MAX_FAILURES:]
            ),
            todos=tuple(ToDo(clean(each.text), each.done) for each in self.todos[:200]),
            summaries=tuple(map(clean, self._summaries)),
            output=output,
            tests=tests,
            tokens_in=sum(each for each, _ in usage) if usage else None,
            tokens_out=sum(each for _, each in usage) if usage else None,
            cost_usd=self._cost,
        )

    def _output(self, clean: Callable[[str], str], most: int) -> tuple[tuple[str, ...], str | None]:
        """Return the last lines of output, and the last summary of tests."""
        lines: list[str] = []
        tests: str | None = None
        left = MAX_OUTPUT
        for text in reversed(self._results.values()):
            left -= len(text)
            if left < 0 or (len(lines) >= most and tests is not None):
                break
            found = signal_lines(clean(text))
            if tests is None:
                tests = next((line for line in reversed(found) if is_test_summary(line)), None)
            lines = [*found, *lines][-most:] if most else []
        return tuple(lines), tests

    def _key(self, key: object) -> object:
        if key is not None:
            return key
        self._order += 1
        return self._order


def program_of(command: str, clean: Callable[[str], str] = str) -> str:
    """Return the name of the program that a command runs, without its arguments.

    Of several it is the first that does more than to change folders. Where no name can be told,
    or it may be a secret, it is "a command".
    """
    words = _STEP.split(command)
    for step in words:
        for word in step.split()[:20]:
            name = word.strip("\"'()").replace("\\", "/").rpartition("/")[2]
            if "=" in word or name.startswith("-") or name in _PREFIXES or name.isdigit():
                continue
            if not _PROGRAM.fullmatch(name) or clean(name) != name or doubtful(name):
                return _A_COMMAND
            if name not in _NO_PROGRAMS:
                return name
            break
    return _A_COMMAND


def kind_of(command: str) -> tuple[str, bool]:
    """Return what a command does: its program and subcommand, and whether it runs tests.

    A command of the same kind that passes later has done what failed before, although its
    arguments differ. Of several commands the first counts that does more than to change folders.
    """
    for step in _STEP.split(command):
        words = [
            word.strip("\"'()").replace("\\", "/").rpartition("/")[2]
            for word in step.split()[:20]
            if "=" not in word
        ]
        words = [each for each in words if each not in _PREFIXES and not each.isdigit()]
        if "-m" in words[:3]:  # of Python
            words = words[words.index("-m") + 1 :]
        if not words or words[0] in _NO_PROGRAMS:
            continue
        program, sub = words[0], next((each for each in words[1:] if _SUB.fullmatch(each)), "")
        of_tests = program in _RUNNERS or (sub == "test" and program in _BUILDERS)
        return (program if of_tests else f"{program} {sub}"), of_tests
    return _A_COMMAND, False


_STEP = re.compile(r"&&|\|\||[;|]")
_PROGRAM = re.compile(r"[A-Za-z_][\w.+-]{0,39}")
_A_COMMAND = "a command"
_PREFIXES = frozenset(
    {"sudo", "env", "time", "nice", "nohup", "command", "exec", "timeout", "bash", "sh", "zsh"}
)
_SUB = re.compile(r"[a-z][a-z-]*")
_RUNNERS = frozenset(
    {"pytest", "tox", "nox", "jest", "vitest", "mocha", "rspec", "phpunit", "ctest", "unittest"}
)
_BUILDERS = frozenset(
    {"npm", "pnpm", "yarn", "bun", "cargo", "go", "make", "mvn", "gradle", "gradlew", "dotnet"}
    | {"mix", "swift", "deno", "bazel", "rake", "just", "zig", "flutter", "dart"}
)
_PROBES = frozenset(
    {"grep", "rg", "egrep", "ag", "ls", "test", "[", "which", "cat", "find", "head", "tail", "diff"}
    | {"stat", "file", "pgrep", "command", "type", "fd", "wc", "sed", "awk", "readlink", "cmp"}
)
"""Programs by which an agent looks around. That one finds nothing is no problem."""
_NO_PROGRAMS = frozenset({"cd", "export", "set", "source", "pushd", "popd", "unset", "echo"})


def status_of(output: str) -> int | None:
    """Return the exit status that an agent has written with the output of a command, or None."""
    found = _STATUS.search(output, 0, _STATUS_WITHIN)
    return int(found[1]) if found else None


_STATUS = re.compile(
    r"\b(?:exit(?:ed with)? code|exit_code)\"?:? {0,2}(-?\d{1,10})\b", re.IGNORECASE
)
_STATUS_WITHIN: Final = 400


def first_error(output: str) -> str:
    """Return the line that says what failed: one that names an error, else the first."""
    lines = signal_lines(output)
    named = next((line for line in lines if _ERROR.search(line)), None)
    return named or next((line for line in lines if not _EXIT.match(line)), "")


_ERROR = re.compile(
    r"\b(?:[A-Z]\w*(?:Error|Exception)\b|error(?:\[\w+\])?:|fatal:|FAILED\b|FAIL\b|panicked at"
    r"|command not found|No such file|Permission denied|undefined reference|cannot )"
)
_EXIT = re.compile(r"(?:Error: )?Exit code:? -?\d+$", re.IGNORECASE)


def seconds_of(stamp: object) -> float | None:
    """Return seconds since 1970 of an ISO 8601 time, or None if it is none that can be."""
    if not isinstance(stamp, str) or not 10 <= len(stamp) <= 40:
        return None
    try:
        when = datetime.fromisoformat(stamp)
        return when.timestamp() if when.tzinfo is not None else None
    except (ValueError, OverflowError, OSError):
        return None


def with_counts(transcript: Transcript, lines: int, skipped: int) -> Transcript:
    """Return a transcript with how many of its lines were read, and how many not understood."""
    return replace(transcript, lines=lines, skipped=skipped)
