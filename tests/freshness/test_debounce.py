"""When a watched vault is looked at, with a clock that the tests move."""

from __future__ import annotations

import itertools
import random

import pytest

from vault_agent.freshness.debounce import (
    MAX_WAITING,
    WAIT_AFTER_CANCELLATION,
    WAITS_AFTER_FAILURES,
    Batch,
    Debounce,
    Hearing,
    poll_pause,
)

QUIET, LONGEST, GRACE = 0.15, 1.0, 2.0


@pytest.fixture
def waiting() -> Debounce:
    return Debounce(quiet=QUIET, longest=LONGEST, grace=GRACE)


def taken(waiting: Debounce, now: float) -> Batch:
    batch = waiting.take(now)
    assert batch is not None
    return batch


def next_batch(waiting: Debounce) -> tuple[float, Batch]:
    """Wait until something is due, and take it."""
    due = waiting.due_at()
    assert due is not None
    assert waiting.take(due - 0.001) is None
    return due, taken(waiting, due)


def test_a_path_waits_until_it_is_quiet(waiting: Debounce):
    waiting.add(["a.md"], 10)
    waiting.add(["a.md"], 10.1)
    due, batch = next_batch(waiting)
    assert due == pytest.approx(10.1 + QUIET)
    assert (batch.paths, batch.since, batch.removable) == (("a.md",), 10, ())


def test_a_path_that_is_never_quiet_waits_no_longer_than_the_limit(waiting: Debounce):
    for step in range(12):
        waiting.add(["a.md"], 10 + step / 10)
    assert waiting.due_at() == pytest.approx(11)


def test_a_path_that_keeps_changing_does_not_delay_others(waiting: Debounce):
    waiting.add(["log.md", "a.md"], 10)
    waiting.add(["log.md"], 10.1)
    due, batch = next_batch(waiting)
    assert (due, batch.paths) == (10.15, ("a.md",))


@pytest.mark.fault(
    "Watching",
    "a note is saved every 100 ms for a minute",
    "it is read at most once a second; there are at most two runs a second",
)
def test_a_note_that_is_saved_all_the_time_is_read_once_a_second(waiting: Debounce):
    starts, now = [], 0.0
    while now < 60:
        now += 0.1
        waiting.add(["a.md"], now)
        if waiting.take(now) is not None:
            starts.append(now)
            waiting.published()
            waiting.finish((), now + 0.05)
    assert 50 <= len(starts) <= 60


def test_there_are_at_most_two_runs_a_second(waiting: Debounce):
    chance, starts, now = random.Random(1), [], 0.0
    while now < 30:
        now += 0.01
        waiting.add([f"{chance.randrange(1000)}.md"], now)
        if waiting.take(now) is not None:
            starts.append(now)
            waiting.finish((), now)
    assert all(later - sooner >= 0.499 for sooner, later in itertools.pairwise(starts))


def test_nothing_is_taken_while_a_batch_is_at_work(waiting: Debounce):
    waiting.add(["a.md"], 0)
    taken(waiting, 1)
    waiting.add(["b.md"], 1)
    assert waiting.take(9) is None
    assert waiting.due_at() is None
    waiting.finish((), 9)
    assert taken(waiting, 9).paths == ("b.md",)


def test_a_missing_note_is_removed_after_its_grace(waiting: Debounce):
    waiting.add(["a.md"], 0)
    _, batch = next_batch(waiting)
    waiting.finish(["a.md"], batch.began + 0.1)
    due, batch = next_batch(waiting)
    assert due == pytest.approx(QUIET + GRACE)
    assert (batch.paths, batch.removable) == (("a.md",), ("a.md",))
    waiting.finish((), due)
    assert waiting.due_at() is None


def test_other_runs_name_the_missing_notes_so_that_a_rename_is_seen(waiting: Debounce):
    waiting.add(["old.md"], 0)
    taken(waiting, 1)
    waiting.finish(["old.md"], 1)
    waiting.add(["new.md"], 1.5)
    batch = taken(waiting, 1.7)
    assert (batch.paths, batch.removable) == (("new.md", "old.md"), ())
    waiting.finish((), 1.8)  # it was renamed
    assert waiting.due_at() is None


def test_a_missing_note_keeps_its_grace_while_others_change(waiting: Debounce):
    waiting.add(["old.md"], 0)
    taken(waiting, 1)
    waiting.finish(["old.md"], 1)
    for second in (2.0, 2.5):
        waiting.add(["x.md"], second - 0.2)
        taken(waiting, second)
        waiting.finish(["old.md"], second)
    assert waiting.due_at() == 1 + GRACE


def test_many_missing_notes_need_a_second_look_at_the_whole_vault(waiting: Debounce):
    waiting.demand("start", 0)
    taken(waiting, 0)
    waiting.finish(["a.md"], 1, more_missing=True)
    due, batch = next_batch(waiting)
    assert due == 1 + GRACE
    assert (batch.paths, batch.removable, batch.reason) == (None, None, "removal")


def test_changes_during_the_grace_do_not_wait_for_it(waiting: Debounce):
    waiting.demand("start", 0)
    taken(waiting, 0)
    waiting.finish((), 1, more_missing=True)
    waiting.add(["a.md"], 1)
    assert taken(waiting, 1.2).paths == ("a.md",)


def test_a_scan_removes_only_what_was_missing_before(waiting: Debounce):
    waiting.add(["old.md"], 0)
    taken(waiting, 1)
    waiting.finish(["old.md"], 1)
    waiting.demand("scan", 1 + GRACE)
    assert taken(waiting, 1 + GRACE).removable == ("old.md",)


def test_too_many_paths_become_one_look_at_everything(waiting: Debounce):
    waiting.add((f"{number}.md" for number in range(MAX_WAITING + 1)), 0)
    assert waiting.pending == MAX_WAITING + 1
    due, batch = next_batch(waiting)
    assert (due, batch.paths, batch.reason, batch.since) == (QUIET, None, "overflow", 0)
    assert waiting.wholes["overflow"] == 1


def test_a_storm_is_one_run_once_it_is_quiet(waiting: Debounce):
    waiting.demand("overflow", 0, settle=True)
    for step in range(1, 5):
        waiting.add([f"{step}.md"], step / 10)
    due, batch = next_batch(waiting)
    assert (due, batch.paths) == (0.4 + QUIET, None)
    waiting.finish((), 1)
    assert waiting.due_at() is None  # their paths were looked at too


def test_a_storm_that_does_not_end_is_indexed_anyway(waiting: Debounce):
    waiting.demand("overflow", 0, settle=True)
    for step in range(100):
        waiting.add([f"{step}.md"], step / 100)
    assert waiting.due_at() == LONGEST


def test_events_during_a_look_at_everything_are_looked_at_afterwards(waiting: Debounce):
    waiting.demand("gap", 0)
    taken(waiting, 0)
    waiting.add(["a.md"], 0.1)
    waiting.finish((), 5)
    assert taken(waiting, 5).paths == ("a.md",)


def test_failures_are_tried_again_after_growing_pauses(waiting: Debounce):
    waiting.add(["a.md"], 0)
    now = 1.0
    taken(waiting, now)
    for wait in (*WAITS_AFTER_FAILURES, WAITS_AFTER_FAILURES[-1]):
        waiting.fail(now)
        waiting.add(["b.md"], now)  # nothing goes on before the whole vault has been looked at
        due, batch = next_batch(waiting)
        assert (due, batch.paths, batch.reason) == (now + wait, None, "failure")
        now = due
    assert waiting.has_failed
    waiting.finish((), now)
    assert not waiting.has_failed
    assert waiting.lag(now) == 0


def test_a_failure_keeps_the_age_of_its_changes(waiting: Debounce):
    waiting.add(["a.md"], 0)
    taken(waiting, 1)
    waiting.fail(2)
    assert waiting.lag(10) == 10
    assert waiting.pending == 1


def test_a_request_to_retry_ends_the_pause(waiting: Debounce):
    waiting.demand("scan", 0)
    taken(waiting, 0)
    waiting.fail(1)
    waiting.retry_now()
    assert waiting.take(1) is not None


def test_a_cancelled_batch_is_done_again_later(waiting: Debounce):
    waiting.add(["a.md"], 0)
    taken(waiting, 1)
    waiting.release(2)
    due, batch = next_batch(waiting)
    assert (due, batch.paths, batch.since) == (2 + WAIT_AFTER_CANCELLATION, ("a.md",), 0)


def test_the_lag_ends_with_the_publication(waiting: Debounce):
    waiting.add(["a.md"], 0)
    assert (waiting.lag(3), waiting.pending) == (3, 1)
    taken(waiting, 3)
    assert (waiting.lag(4), waiting.pending) == (4, 1)
    waiting.published()  # the run goes on with its merge
    assert (waiting.lag(5), waiting.pending) == (0, 0)


def test_a_missing_note_within_its_grace_is_no_lag(waiting: Debounce):
    waiting.add(["a.md"], 0)
    taken(waiting, 1)
    waiting.finish(["a.md"], 1)
    assert waiting.lag(2.9) == 0


def test_a_scan_that_has_nothing_to_do_is_no_lag(waiting: Debounce):
    waiting.demand("scan", 0)
    assert waiting.lag(9) == 0
    taken(waiting, 0)
    assert waiting.lag(9) == 0


@pytest.mark.parametrize("seed", range(20))
def test_no_change_is_forgotten(waiting: Debounce, seed: int):
    """Whatever happens, each path is looked at after its last event."""
    chance, now = random.Random(seed), 0.0
    last_event: dict[str, float] = {}
    looked: dict[str, float] = {}
    everything = -1.0
    at_work: Batch | None = None
    for _ in range(400):
        now += chance.random() / 5
        if chance.random() < 0.5:
            path = f"{chance.randrange(20)}.md"
            waiting.add([path], now)
            last_event[path] = now
        if chance.random() < 0.02:
            waiting.demand(chance.choice(("gap", "scan", "overflow")), now)
        if at_work is None:
            at_work = waiting.take(now)
        elif (fate := chance.random()) < 0.3:
            if at_work.paths is None:
                everything = at_work.began
            looked |= dict.fromkeys(at_work.paths or (), at_work.began)
            missing = [path for path in at_work.paths or () if chance.random() < 0.1]
            waiting.finish(missing, now)
            at_work = None
        elif fate < 0.35:
            waiting.fail(now)
            at_work = None
        elif fate < 0.4:
            waiting.release(now)
            at_work = None
    for _ in range(10):
        if at_work is not None:
            if at_work.paths is None:
                everything = at_work.began
            looked |= dict.fromkeys(at_work.paths or (), at_work.began)
            waiting.finish((), now)
        now += 1_000
        at_work = waiting.take(now)
    assert waiting.due_at() is None
    assert waiting.pending == 0
    for path, at in last_event.items():
        assert max(looked.get(path, -1), everything) >= at


def test_two_scans_that_find_missed_changes_end_the_use_of_events():
    hearing = Hearing()
    assert [hearing.miss(at) for at in (0, 601, 1200)] == [False, False, True]
    assert hearing.missed == 3
    assert not hearing.miss(1201)  # a new trial begins


def test_polling_takes_at_most_a_twentieth_of_the_time():
    assert poll_pause(10, 0.1) == 10
    assert poll_pause(10, 3) == 60


def test_an_event_that_comes_while_its_file_is_compared_stays(waiting: Debounce):
    waiting.add(["a.md", "b.md"], 1.0)
    seen = waiting.seen
    waiting.add(["b.md"], 1.01)
    waiting.drop(seen, ["a.md", "b.md", "c.md"])
    assert list(waiting.seen) == ["b.md"]
