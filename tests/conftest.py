"""How the tests run: processes, cases, temporary folders, a home folder, and what is left open."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.support.homes import at_home
from tests.support.leaks import LeakCheck, Tasks, shared_scopes

from vault_agent.config.layers import default_config_path
from vault_agent.config.rules import data_folder

NO_BROWSER = "no browser"

_MEMORY = Path("/dev/shm")  # pytest makes a private folder there
_LEAST_MEMORY = 4 << 30  # bytes; a run of all tests leaves a tenth of it

_STARTUP = str(Path(__file__).parent / "support/startup")

_home = pytest.StashKey["tempfile.TemporaryDirectory[str]"]()
_places = pytest.StashKey[tuple[Path, ...]]()
"""Where the program keeps its settings and its data if a test names no other place."""

# The same cases in each run: chance would fail the work of somebody who has changed nothing. The
# long tests look for new ones.
settings.register_profile(
    "same",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],  # on a busy machine
)
settings.register_profile("new", deadline=None)


def pytest_configure(config: pytest.Config) -> None:
    """Choose the cases of properties, and let Ctrl-C reach the tests even under `nohup`.

    Processes that tests start load `support/startup`. Temporary folders are in memory where there
    is room: a disk that syncs takes as long as all else.
    """
    settings.load_profile("new" if config.option.markexpr == "long" else "same")
    if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free >= _LEAST_MEMORY:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if _STARTUP not in paths:  # or this is a process of xdist
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (_STARTUP, *paths)))
    config.stash[_home] = tempfile.TemporaryDirectory(prefix="vault-agent-home-")
    config.stash[_places] = _leave_settings(config.stash[_home].name)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the home folder of the tests."""
    config.stash[_home].cleanup()


def _leave_settings(home: str) -> tuple[Path, Path]:
    """Take an empty home folder, so that no setting of the developer changes a result.

    Return where the program keeps its settings and its data now.

    Raises:
        pytest.UsageError: if that would still be the developer's own folder.
    """
    os.environ.setdefault("npm_config_userconfig", str(Path.home() / ".npmrc"))
    for name in tuple(os.environ):
        ours = name.startswith("VAULT_AGENT_") and not name.startswith("VAULT_AGENT_TEST_")
        if ours or name.startswith("XDG_"):
            del os.environ[name]
    os.environ.update(at_home(home))
    places = default_config_path().parent, data_folder(None)
    if not all(place.is_relative_to(home) for place in places):
        raise pytest.UsageError("the tests would use your own settings: see tests/support/homes.py")
    return places


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect no garbage meanwhile: almost nothing is, and to look for it takes a fifth of it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what stays: ten thousand tests and their modules."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def tasks_left() -> Tasks:
    """Return what collects the tasks that tests leave."""
    tasks = Tasks()
    tasks.watch()
    return tasks


@pytest.fixture(autouse=True, scope="module")
def module_leaves_nothing(tasks_left: Tasks) -> Iterator[LeakCheck]:
    """Fail the last test of a module if something is left that its tests share."""
    check = LeakCheck(tasks_left)
    yield check
    check.finish()


@pytest.fixture(autouse=True)
def leaves_nothing(
    tasks_left: Tasks,
    module_leaves_nothing: LeakCheck,
    request: pytest.FixtureRequest,
) -> Iterator[None]:
    """Fail a test that leaves something open.

    What tests share may open more at any time, a kept connection for instance. It is compared when
    the module ends, or not at all if modules share it.
    """
    check = LeakCheck(tasks_left)
    yield
    for folder in request.config.stash[_places]:
        if folder.exists():
            shutil.rmtree(folder)
            pytest.fail(f"wrote to the home folder, to {folder}: take one of its own")
    shared = shared_scopes(request.node)
    if not shared:
        try:
            check.finish()
        except AssertionError:
            module_leaves_nothing.skip()  # or it would be reported twice
            raise
    elif shared != {"module"}:
        module_leaves_nothing.skip()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """Return one process more than there are cores: a test of servers mostly waits for them."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    usable = getattr(os, "sched_getaffinity", None)  # not on macOS or Windows
    return (len(usable(0)) if usable else os.cpu_count() or 1) + 1


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """Say in the last line how many tests a missing browser has skipped."""
    yield
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:  # a worker of xdist has none
        skipped = reporter.stats.get("skipped", [])
        count = sum(NO_BROWSER in str(report.longrepr) for report in skipped)
        if count:
            reporter.write_line(
                f"{count} tests of the page were skipped: {NO_BROWSER}. `make browser` installs it."
            )
