"""Submit, follow, detach from and cancel jobs, and print their summaries."""

from __future__ import annotations

import asyncio
import signal
import sys

import orjson
import pytest
from tests.cli.fake import PROGRAM, FakeServer, Run, job
from tests.cli.test_output import needs_pty
from tests.support.clocks import PATIENCE

from vault_agent.cli.jobs import duration, summary_line
from vault_agent.model.jobs import Job, JobKind, JobSummary, PhaseProgress, Waiting
from vault_agent.model.warning import Warning


def failed(code: str, message: str) -> Job:
    return job("failed", error=Warning(code=code, message=message))


async def test_index_follows_its_job_and_prints_a_summary(run: Run, server: FakeServer):
    ended = await run("index")
    assert ended.code == 0
    assert ended.out == (
        "index done in 2.0 s. 4 notes: 3 added. 9 chunks, 5 links (2 unresolved).\n"
    )
    assert ended.err == "index: parse 1/4, 12/s, 0:01:01 left\n"
    assert server.asked[0][:2] == ("POST", "/index")


async def test_options_of_a_job_reach_the_server(run: Run, server: FakeServer):
    assert (await run("reindex", "--require-embeddings")).code == 0
    assert server.asked[0][:2] == ("POST", "/reindex")
    assert server.asked[0][2].require_embeddings


async def test_detach_prints_the_id_at_once(run: Run, server: FakeServer):
    server.hold_events = True
    ended = await run("index", "--detach")
    assert ended.out == "job-1\n"
    assert ended.err == "To follow it: vault-agent jobs follow job-1\n"
    ended = await run("index", "--detach", "--json")
    assert orjson.loads(ended.out)["data"]["job"]["id"] == "job-1"


@pytest.mark.parametrize(("count", "verb"), [(60, "undone"), (0, "not undone")])
def test_an_undo_that_made_only_a_copy_is_not_called_undone(count: int, verb: str):
    summary = JobSummary(changed=count, write_id="w")
    line = summary_line(job(kind=JobKind.UNDO), summary)
    assert line == f"{verb}, {count} notes changed  w"


async def test_warnings_of_a_job_name_their_files(run: Run, server: FakeServer):
    warning = Warning(code="FILE_BINARY", message="Skipped.", details={"path": "a/b.md"})
    server.history = [job(warnings=(warning,), warning_count=1)]
    ended = await run("index")
    assert "FILE_BINARY: a/b.md: Skipped.\n" in ended.err


async def test_a_job_says_where_all_its_warnings_are(run: Run, server: FakeServer):
    warnings = tuple(
        Warning(code="FILE_BINARY", message="It is binary.", details={"path": f"a/{n}.md"})
        for n in range(9)
    )
    server.history = [job(warnings=warnings, warning_count=9)]
    ended = await run("index")
    assert ended.err.endswith(
        "FILE_BINARY: a/3.md: It is binary.\n"
        "5 more FILE_BINARY. All warnings: vault-agent jobs job-1\n"
    )
    shown = (await run("jobs", "job-1")).err
    assert shown.splitlines() == [f"FILE_BINARY: a/{n}.md: It is binary." for n in range(9)]


@pytest.mark.parametrize(
    ("last", "code", "says"),
    [
        (failed("DISK_FULL", "No room."), 1, "DISK_FULL: No room."),
        (failed("VAULT_NOT_FOUND", "Gone."), 2, "VAULT_NOT_FOUND: Gone."),
        (job("cancelled"), 1, "JOB_STOPPED: The job was cancelled"),
        (job("interrupted"), 1, "vault-agent index"),
    ],
)
async def test_a_failed_job_gives_a_failing_exit_code(
    run: Run, server: FakeServer, last: Job, code: int, says: str
):
    server.history = [job("running"), last]
    ended, as_json = await asyncio.gather(run("index"), run("index", "--json"))
    assert ended.code == code
    assert ended.out == ""
    assert says in ended.err
    assert as_json.code == code
    assert orjson.loads(as_json.out)["data"]["job"]["state"] == last.state


@pytest.mark.skipif(sys.platform == "win32", reason="sends a POSIX signal")
async def test_ctrl_c_detaches_and_says_how_to_follow_again(
    environment: dict[str, str], server: FakeServer
):
    server.hold_events = True
    process = await asyncio.create_subprocess_exec(
        *PROGRAM, "index",
        env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert (await process.stderr.readline()).startswith(b"index: parse")
    process.send_signal(signal.SIGINT)
    out, err = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert process.returncode == 130
    assert out == b""
    assert b"vault-agent jobs follow job-1" in err
    assert b"vault-agent jobs cancel job-1" in err
    assert b"Traceback" not in err
    assert not any(method == "DELETE" for method, *_ in server.asked)


@needs_pty
async def test_a_terminal_shows_progress_bars(run_at_terminal: Run, server: FakeServer):
    seen = (await run_at_terminal("index")).err
    assert "scan" in seen
    assert "4/4" in seen
    assert "━" in seen
    assert seen.endswith("(2 unresolved).\n")


@needs_pty
async def test_a_bar_is_visible_with_sixteen_colours(run_at_terminal: Run, server: FakeServer):
    seen = (await run_at_terminal("index", TERM="xterm")).err
    assert "\x1b[32m━" in seen


async def test_a_broken_event_stream_is_reopened(run: Run, server: FakeServer):
    server.history = [job("running")]  # the stream ends before the job
    server.later = [job("running"), job()]
    ended = await run("index")
    assert ended.code == 0
    assert "index done" in ended.out


async def test_jobs_lists_and_shows(run: Run, server: FakeServer):
    server.jobs = [job("running", "job-2", warning_count=2), job()]
    listed, shown, as_json = await asyncio.gather(
        run("jobs"), run("jobs", "job-1"), run("jobs", "--json")
    )
    first, second = listed.out.splitlines()
    assert first.split()[:3] == ["job-2", "running", "index"]
    assert first.endswith("parse 1/4  2 warnings")
    assert second.startswith("job-1  succeeded    index    2025-01-01 ")
    assert "index done" in shown.out
    assert orjson.loads(as_json.out)["data"]["jobs"][1]["id"] == "job-1"


async def test_without_an_id_the_newest_job_is_used(run: Run, server: FakeServer):
    server.jobs = [job("running", "job-2"), job()]
    await asyncio.gather(run("jobs", "follow"), run("jobs", "cancel"))
    assert ("GET", "/jobs/job-2/events", None) in server.asked
    assert ("DELETE", "/jobs/job-2", None) in server.asked
    server.jobs = [job()]
    assert "already ended" in (await run("jobs", "cancel")).err
    server.jobs = []
    none, listed = await asyncio.gather(run("jobs", "cancel"), run("jobs"))
    assert none.code == 4
    assert "vault-agent index" in listed.err


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.0 s"), (42, "42.0 s"), (185, "0:03:05"), (7800, "2:10:00")],
)
def test_durations_are_readable(seconds: float, text: str):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("phase", "line"),
    [
        (PhaseProgress(name="parse", done=0, total=1), "index: parse 0/1"),
        (PhaseProgress(name="parse", done=40, total=209), "index: parse 40/209"),
        (PhaseProgress(name="store", done=209, total=209), "index: store 209/209"),
        (PhaseProgress(name="store", done=0, total=0), "index: store none"),
        (PhaseProgress(name="scan", done=1200, total=None), "index: scan 1,200"),
    ],
)
async def test_phases_without_counts_show_progress_too(
    run: Run, server: FakeServer, phase: PhaseProgress, line: str
):
    running = job("running", phase=phase.name, phases=(phase,), rate=None, eta_seconds=None)
    server.history = [running, job()]
    assert line in (await run("index")).err.splitlines()


async def test_an_endpoint_that_does_not_answer_is_named(run: Run, server: FakeServer):
    phase = PhaseProgress(name="embed", done=8, total=209)
    waiting = Waiting("http://127.0.0.1:11434/v1/embeddings", 40.0)
    running = job(
        "running", phase=phase.name, phases=(phase,), rate=None, eta_seconds=None, waiting=waiting
    )
    line = "embed 8/209, waiting for http://127.0.0.1:11434/v1/embeddings (40.0 s)"
    server.history = [running, job()]
    assert f"index: {line}" in (await run("index")).err
    server.jobs = [running]
    assert line.replace(", ", "  ") in (await run("jobs")).out


async def test_a_second_index_follows_the_job_that_runs(run: Run, server: FakeServer):
    server.busy = True
    ended = await run("index")
    assert (ended.code, "index done" in ended.out) == (0, True), ended.err
    assert "An index job runs already." in ended.err
    for words in (("index", "--detach"), ("reindex",)):
        refused = await run(*words)
        assert (refused.code, "INDEX_BUSY" in refused.err) == (5, True), words
