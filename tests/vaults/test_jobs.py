"""Jobs: one at a time, with progress, cancellation and a recorded end."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.support.clocks import PATIENCE
from tests.support.waiting import eventually_async

from vault_agent.errors import Busy, Failed, NotFound
from vault_agent.model.jobs import JobKind, JobState, JobSummary, Trigger
from vault_agent.model.warning import MAX_WARNINGS, Warning
from vault_agent.store.jobs import HISTORY, JobStore, open_jobs
from vault_agent.system.crash import CrashReport
from vault_agent.vaults import jobs as module
from vault_agent.vaults.jobs import ActiveJob, Jobs


class Work:
    """Work that waits until a test releases it."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.begun = asyncio.Event()
        self.progress: ActiveJob | None = None
        self.failure: Exception | None = None

    async def run(self, progress: ActiveJob) -> JobSummary:
        self.progress = progress
        self.begun.set()
        await self.go.wait()
        if self.failure is not None:
            raise self.failure
        return JobSummary(added=3)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[JobStore]:
    async with open_jobs(tmp_path / "jobs.db") as opened:
        yield opened


@pytest.fixture
def work() -> Work:
    return Work()


@pytest.fixture
async def jobs(store: JobStore, work: Work) -> AsyncIterator[Jobs]:
    made = Jobs(store)
    yield made
    await made.close()


async def test_a_job_ends_with_its_summary(jobs: Jobs, work: Work):
    work.go.set()
    job = await jobs.submit(JobKind.INDEX, work.run)
    states = [seen async for seen in jobs.watch(job.id)]
    assert states[-1].state is JobState.SUCCEEDED
    assert states[-1].summary == JobSummary(added=3)
    assert states[-1].started_at
    assert states[-1].finished_at
    assert await jobs.get(job.id) == states[-1]
    assert jobs.running is None


async def test_a_second_job_is_refused_with_the_id_of_the_first(jobs: Jobs, work: Work):
    first = await jobs.submit(JobKind.INDEX, work.run)
    with pytest.raises(Busy) as refusal:
        await jobs.submit(JobKind.REINDEX, work.run)
    assert refusal.value.code == "INDEX_BUSY"
    assert refusal.value.details == {"jobId": first.id}


@pytest.mark.fault(
    "Jobs",
    "two `POST /index` at once, or one while another job ends",
    "one job; the other request gets 409 with its ID",
)
async def test_of_two_jobs_submitted_at_once_one_is_accepted(jobs: Jobs, work: Work):
    results = await asyncio.gather(
        *(jobs.submit(JobKind.INDEX, work.run) for _ in range(5)), return_exceptions=True
    )
    assert sum(isinstance(result, Busy) for result in results) == 4


async def test_a_job_that_ends_during_submit_causes_no_internal_error(store: JobStore):
    async def run(progress: ActiveJob) -> JobSummary:
        return JobSummary()

    jobs = Jobs(store)

    async def submit_many() -> None:
        for _ in range(60):
            try:
                await jobs.submit(JobKind.INDEX, run)
            except Busy as busy:
                assert busy.details["jobId"]  # noqa: PT017 - most are taken
            await asyncio.sleep(0)

    await asyncio.gather(*(submit_many() for _ in range(8)))
    await jobs.close()
    assert all(job.state.final for job in await jobs.list())


async def test_disconnecting_during_submit_leaves_no_stuck_job(jobs: Jobs, work: Work):
    caller = asyncio.create_task(jobs.submit(JobKind.INDEX, work.run))
    await asyncio.sleep(0)
    caller.cancel()
    await asyncio.gather(caller, return_exceptions=True)
    await asyncio.wait_for(work.begun.wait(), PATIENCE)
    work.go.set()
    [job] = await jobs.list()
    async for seen in jobs.watch(job.id):
        last = seen
    assert last.state is JobState.SUCCEEDED


async def test_after_a_cancelled_job_the_next_one_can_start(jobs: Jobs, work: Work):
    job = await jobs.submit(JobKind.INDEX, work.run)
    await work.begun.wait()
    ended = await jobs.cancel(job.id)
    assert ended.state is JobState.CANCELLED
    assert (await jobs.get(job.id)).state is JobState.CANCELLED
    await jobs.submit(JobKind.INDEX, work.run)


async def test_a_job_cancelled_before_its_first_step_ends(jobs: Jobs, work: Work):
    job = await jobs.submit(JobKind.INDEX, work.run)
    ended = await asyncio.wait_for(jobs.cancel(job.id), PATIENCE)
    assert ended.state is JobState.CANCELLED


async def test_cancelling_an_ended_job_changes_nothing(jobs: Jobs, work: Work):
    work.go.set()
    job = await jobs.submit(JobKind.INDEX, work.run)
    _ = [seen async for seen in jobs.watch(job.id)]
    assert (await jobs.cancel(job.id)).state is JobState.SUCCEEDED


async def test_closing_marks_the_running_job_interrupted(jobs: Jobs, work: Work):
    job = await jobs.submit(JobKind.INDEX, work.run)
    await work.begun.wait()
    await jobs.close()
    assert (await jobs.get(job.id)).state is JobState.INTERRUPTED


async def test_an_unexpected_error_is_logged_by_type_and_line(store: JobStore):
    reports: list[CrashReport] = []
    jobs = Jobs(store, reports.append)

    async def run(progress: ActiveJob) -> JobSummary:
        progress.phase("scan", 0, None)
        await jobs.get(None)  # type: ignore[arg-type]
        return JobSummary()

    job = await jobs.submit(JobKind.INDEX, run)
    last = [seen async for seen in jobs.watch(job.id)][-1]
    assert last.error.code == "JOB_NOT_FOUND"  # our own exceptions are not crashes

    async def crash(progress: ActiveJob) -> JobSummary:
        progress.update(secret_canary=3)  # type: ignore[attr-defined]
        return JobSummary()

    job = await jobs.submit(JobKind.INDEX, crash)
    last = [seen async for seen in jobs.watch(job.id)][-1]
    assert last.error.code == "INTERNAL_ERROR"
    [report] = reports
    assert report.error_type == "TypeError"
    assert report.frames[0].startswith("vault_agent.vaults.jobs:")
    assert str(report) in last.error.message
    assert "canary" not in f"{last.error.message} {report}"
    await jobs.close()


async def test_a_failed_job_records_its_error_details(jobs: Jobs, work: Work):
    work.failure = Failed("ID_COLLISION", "two notes", {"paths": ["a", "b"]})
    work.go.set()
    job = await jobs.submit(JobKind.INDEX, work.run)
    last = [seen async for seen in jobs.watch(job.id)][-1]
    assert last.error == Warning("ID_COLLISION", *work.failure.over_http())


async def test_a_job_records_its_trigger(store: JobStore, work: Work):
    jobs = Jobs(store)
    work.go.set()
    for trigger in Trigger:
        job = await jobs.submit(JobKind.INDEX, work.run, trigger)
        _ = [seen async for seen in jobs.watch(job.id)]
        assert (await store.get(job.id)).trigger is trigger
    job = await jobs.submit(JobKind.INDEX, work.run)
    assert job.trigger is Trigger.USER
    await jobs.close()


async def test_jobs_without_triggers_are_read_from_older_versions(tmp_path: Path, work: Work):
    path = tmp_path / "jobs.db"
    async with open_jobs(path) as store:
        jobs = Jobs(store)
        job = await jobs.submit(JobKind.INDEX, work.run)
        await jobs.close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "UPDATE job SET document = json_remove(document, '$.trigger', '$.index_finished')"
        )
    connection.close()
    async with open_jobs(path) as store:
        [found] = await store.list()
    assert (found.id, found.trigger, found.index_finished) == (job.id, Trigger.USER, False)


async def test_watchers_see_progress_rate_and_remaining_time(jobs: Jobs, work: Work):
    job = await jobs.submit(JobKind.INDEX, work.run)
    await work.begun.wait()
    work.progress.phase("parse", 0, 100)
    await asyncio.sleep(0.3)
    work.progress.phase("parse", 50, 100)
    seen = await jobs.get(job.id)
    assert seen.character_rate is None
    assert (seen.phases[0].done, seen.phases[0].total) == (50, 100)
    assert seen.rate > 0
    assert seen.eta_seconds == pytest.approx(50 / seen.rate)
    work.progress.phase("embed", 0, 10)
    await asyncio.sleep(0.3)
    work.progress.phase("embed", 5, 10, 5_000)
    seen = await jobs.get(job.id)
    assert seen.character_rate == pytest.approx(1_000 * seen.rate)


async def test_a_slow_watcher_sees_the_end(jobs: Jobs, work: Work):
    job = await jobs.submit(JobKind.INDEX, work.run)
    watching = jobs.watch(job.id)
    await anext(watching)
    work.go.set()
    await eventually_async(lambda: jobs.running is None)
    last = [seen async for seen in watching][-1]
    assert last.state is JobState.SUCCEEDED


async def test_a_hundred_warnings_are_kept_and_all_are_counted(jobs: Jobs, work: Work):
    job = await jobs.submit(JobKind.INDEX, work.run)
    await work.begun.wait()
    for number in range(MAX_WARNINGS + 20):
        work.progress.warn(Warning("FILE_NOT_UTF8", str(number)))
    seen = await jobs.get(job.id)
    assert len(seen.warnings) == MAX_WARNINGS
    assert seen.warning_count == MAX_WARNINGS + 20


async def test_an_unknown_job_is_not_found(jobs: Jobs):
    with pytest.raises(NotFound, match="JOB_NOT_FOUND"):
        await jobs.get("nothing")


async def test_the_last_hundred_jobs_are_kept(jobs: Jobs, work: Work):
    work.go.set()
    made = []
    for _ in range(HISTORY + 3):
        job = await jobs.submit(JobKind.INDEX, work.run)
        made.append(job.id)
        _ = [seen async for seen in jobs.watch(job.id)]
    assert [job.id for job in await jobs.list()] == made[:2:-1]


async def test_jobs_of_a_killed_server_become_interrupted_at_the_next_start(tmp_path: Path):
    path = tmp_path / "jobs.db"
    async with open_jobs(path) as store:
        abandoned = Jobs(store)
        job = await abandoned.submit(JobKind.INDEX, Work().run)
        task = abandoned._active
        assert task is not None
    async with open_jobs(path) as store:
        jobs = Jobs(store)
        assert (await jobs.get(job.id)).state is JobState.INTERRUPTED
        await jobs.submit(JobKind.INDEX, Work().run)
        await jobs.close()
    task.work.cancel()
    assert task.recorder is not None
    await asyncio.gather(task.recorder, return_exceptions=True)


async def test_a_damaged_job_database_is_set_aside_and_replaced(tmp_path: Path):
    path = tmp_path / "jobs.db"
    path.write_bytes(b"this is no database, and long enough to be read as one" * 100)
    async with open_jobs(path) as store:
        assert await store.list() == ()
    assert path.with_suffix(".damaged").exists()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM job").fetchone() == (0,)


async def test_the_journal_of_a_damaged_job_database_is_not_reused(tmp_path: Path):
    path = tmp_path / "jobs.db"
    path.write_bytes(b"no database" * 500)
    journal = path.with_name("jobs.db-journal")
    journal.write_bytes(bytes.fromhex("d9d505f920a163d7") + b"\x01" * 2000)
    async with open_jobs(path) as store:
        assert await store.list() == ()
        assert not journal.exists() or journal.stat().st_size == 0


async def test_a_job_database_that_cannot_be_opened_is_not_treated_as_damaged(tmp_path: Path):
    path = tmp_path / "jobs.db"
    path.mkdir()
    with pytest.raises(Failed, match="INDEX_IO_ERROR"):
        async with open_jobs(path):
            pass
    assert path.is_dir()
    await asyncio.sleep(0.05)  # the thread of the failed connection is ending


async def test_a_job_continues_if_recording_fails(store: JobStore, work: Work):
    """As on a full disk: a job must end even if it cannot be recorded."""
    jobs = Jobs(store)
    job = await jobs.submit(JobKind.INDEX, work.run)
    await work.begun.wait()
    await store._connection.execute_fetchall("PRAGMA query_only = ON")
    work.go.set()
    async with asyncio.timeout(PATIENCE):
        last = [seen async for seen in jobs.watch(job.id)][-1]
    assert last.state is JobState.SUCCEEDED
    assert (await jobs.get(job.id)).state is JobState.SUCCEEDED
    assert (await jobs.list())[0].state is JobState.SUCCEEDED
    with pytest.raises(Failed, match="INDEX_IO_ERROR"):
        await jobs.submit(JobKind.INDEX, work.run)
    await store._connection.execute_fetchall("PRAGMA query_only = OFF")
    again = await jobs.submit(JobKind.INDEX, work.run)
    _ = [seen async for seen in jobs.watch(again.id)]
    await jobs.close()


async def test_a_server_starts_even_if_jobs_cannot_be_recorded(store: JobStore, work: Work):
    killed = Jobs(store)
    job = await killed.submit(JobKind.INDEX, work.run)
    await work.begun.wait()
    await store._connection.execute_fetchall("PRAGMA query_only = ON")
    next_server = Jobs(store)
    assert (await next_server.get(job.id)).state is JobState.INTERRUPTED
    await killed.close()


async def test_cancelling_twice_does_not_interrupt_cleanup(store: JobStore):
    begun, let_go = asyncio.Event(), asyncio.Event()

    async def run(progress: ActiveJob) -> JobSummary:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.1)
            let_go.set()
        return JobSummary()

    jobs = Jobs(store)
    job = await jobs.submit(JobKind.INDEX, run)
    await begun.wait()
    await asyncio.gather(jobs.cancel(job.id), jobs.cancel(job.id), jobs.close())
    assert let_go.is_set()
    assert (await jobs.get(job.id)).state is JobState.CANCELLED


async def test_stopping_during_submit_ends_the_job(store: JobStore, work: Work):
    jobs = Jobs(store)
    submitting = asyncio.create_task(jobs.submit(JobKind.INDEX, work.run))
    await asyncio.sleep(0)
    await jobs.close()
    job = await submitting
    assert (await store.get(job.id)).state is JobState.INTERRUPTED


async def test_a_job_that_does_not_advance_shows_no_time_left(
    jobs: Jobs, work: Work, monkeypatch: pytest.MonkeyPatch
):
    job = await jobs.submit(JobKind.INDEX, work.run)
    await work.begun.wait()
    monkeypatch.setattr(module, "STALL_SECONDS", PATIENCE)
    work.progress.phase("embed", 0, 100)
    await asyncio.sleep(0.3)  # as long as a rate needs
    work.progress.phase("embed", 10, 100)
    shown = await jobs.get(job.id)
    assert shown.rate is not None
    assert shown.eta_seconds is not None

    monkeypatch.setattr(module, "STALL_SECONDS", 0.01)
    work.progress.phase("embed", 10, 100)  # no advance
    async with asyncio.timeout(PATIENCE):
        async for shown in jobs.watch(job.id):
            if shown.eta_seconds is None:
                break
    assert (shown.rate, shown.phases[-1].done) == (None, 10)
    assert jobs.running == shown == await jobs.get(job.id)
    assert shown.waiting is None
    work.go.set()


async def test_a_job_shows_which_endpoint_it_waits_for_until_that_answers(
    jobs: Jobs, work: Work, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "STALL_SECONDS", 0.01)
    job = await jobs.submit(JobKind.INDEX, work.run)
    await work.begun.wait()
    work.progress.phase("embed", 0, None, endpoint="http://127.0.0.1:9/v1/embeddings")
    async with asyncio.timeout(PATIENCE):
        async for shown in jobs.watch(job.id):
            if shown.waiting is not None:
                break
    assert shown.waiting.address == "http://127.0.0.1:9/v1/embeddings"
    assert shown.waiting.seconds >= 0.01
    monkeypatch.setattr(module, "STALL_SECONDS", PATIENCE)
    work.progress.phase("embed", 10, 100, endpoint="http://127.0.0.1:9/v1/embeddings")
    assert (await jobs.get(job.id)).waiting is None
    monkeypatch.setattr(module, "STALL_SECONDS", 0.01)
    work.go.set()
    async with asyncio.timeout(PATIENCE):
        async for shown in jobs.watch(job.id):
            last = shown
    assert (last.state, last.waiting) == (JobState.SUCCEEDED, None)
