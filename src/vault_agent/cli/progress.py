"""Shows a running job: live on a terminal, otherwise as a plain line every few seconds."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Protocol, Self

from vault_agent.cli.terminal import clean, counted, is_terminal, tell

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import TaskID

    from vault_agent.model.jobs import Job, PhaseProgress

_SECONDS_BETWEEN_LINES = 3.0

# In columns of a terminal. The bar shrinks to make room for the text, and is hidden if it would be
# too short.
_NAME, _COUNT, _BAR, _SHORTEST_BAR = 6, 17, 24, 8
_DETAILS = len("99/s  99,999 characters/s  59 min 59 s left")
_PHASES = {"store": "links"}  # the name that users see
# Details in the order in which they are left out if there is not enough room.
_EXPENDABLE = ("characters", "rate", "warnings", "left")


class Display(Protocol):
    """Shows a job within its context."""

    def __enter__(self) -> Self:
        """Start the display."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the display."""

    def update(self, job: Job) -> None:
        """Show the current state of the job."""


def display(*, silent: bool) -> Display:
    """Return the display that fits stderr."""
    if silent:
        return Silence()
    live = is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb"
    return LiveDisplay() if live else PlainDisplay()


class Silence:
    """Shows nothing, for `--json`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def update(self, job: Job) -> None:
        """Show nothing."""


class PlainDisplay(Silence):
    """Prints a line at the start of each phase and every few seconds."""

    def __init__(self) -> None:
        self._phase: str | None = None
        self._next = 0.0

    def update(self, job: Job) -> None:
        """Print a line if one is due."""
        now = time.monotonic()
        if job.phase is None or (job.phase == self._phase and now < self._next):
            return
        self._phase, self._next = job.phase, now + _SECONDS_BETWEEN_LINES
        phase = next((each for each in job.phases if each.name == job.phase), None)
        parts = [_stage(phase)] if phase else []
        parts += _details(job).values()
        tell(f"{job.kind.value}: {phase_name(job.phase)} {', '.join(parts)}".rstrip())


class LiveDisplay:
    """One bar for each phase, with count, rate, time left, and number of warnings."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn

        self._tasks: dict[str, TaskID] = {}
        console = Console(stderr=True)
        text = _NAME + 1 + _COUNT + 1
        bar = min(_BAR, console.width - text - _DETAILS - 1)
        columns: list[ProgressColumn] = [
            TextColumn(f"{{task.description:<{_NAME}}}", markup=False),
            TextColumn(f"{{task.fields[count]:>{_COUNT}}}", markup=False),
            TextColumn("{task.fields[speed]}", style="dim", markup=False),
        ]
        if bar >= _SHORTEST_BAR:
            text += bar + 1
            # Use the 16 standard colours. rich's defaults all appear grey with them.
            columns.insert(1, BarColumn(bar, "bar.back", "cyan", "green", "cyan"))
        self._room = console.width - text
        self._progress = Progress(*columns, console=console)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def update(self, job: Job) -> None:
        """Update the bars."""
        for phase in job.phases:
            current = phase.name == job.phase and not job.state.final
            # If there is nothing to do, the bar stays empty.
            total = 1 if phase.total == 0 else phase.total
            if phase.name not in self._tasks:
                self._tasks[phase.name] = self._progress.add_task(
                    phase_name(phase.name), total=total, count="", speed=""
                )
            self._progress.update(
                self._tasks[phase.name],
                completed=phase.done,
                total=total,
                count=count(phase),
                speed=_fitted(_details(job), self._room) if current else "",
            )


def _details(job: Job) -> dict[str, str]:
    """Return the known ones of rate, time left and number of warnings."""
    parts = {}
    if job.rate:
        parts["rate"] = f"{job.rate:,.0f}/s"
    if job.character_rate:
        parts["characters"] = f"{job.character_rate:,.0f} characters/s"
    if job.eta_seconds is not None:
        parts["left"] = f"{duration(job.eta_seconds)} left"
    if job.warning_count:
        parts["warnings"] = counted(job.warning_count, "warning")
    return parts


def _fitted(parts: dict[str, str], columns: int) -> str:
    """Return as many of the details as fit. The most useful ones are kept."""
    line = "  ".join(parts.values())
    for name in _EXPENDABLE:
        if len(line) <= columns:
            break
        parts = {each: text for each, text in parts.items() if each != name}
        line = "  ".join(parts.values())
    return line


def phase_name(name: str) -> str:
    """Return the name of a phase for users."""
    return _PHASES.get(name) or clean(name)


def _stage(phase: PhaseProgress) -> str:
    """Return the progress of a phase. Words replace `0/10` and `10/10`, which look stuck."""
    if not phase.total or 0 < phase.done < phase.total:
        return count(phase)
    return f"{phase.total:,} {'done' if phase.done else 'to do'}"


def count(phase: PhaseProgress) -> str:
    """Return the progress: `1,200/10,000`, `1,200` if the total is unknown, or `none`."""
    if phase.total == 0:
        return "none"
    return f"{phase.done:,}" + (f"/{phase.total:,}" if phase.total is not None else "")


def duration(seconds: float) -> str:
    """Return a duration as text: `0.8 s`, `42 s`, `3 min 5 s`, `2 h 10 min`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
