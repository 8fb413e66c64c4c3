"""`vault-agent uninstall`: takes back what vault-agent has written outside of the notes."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import sys
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.config import installer
from vault_agent.cli.servers import in_home
from vault_agent.cli.terminal import DECLINED, agreed, clean, complain, envelope, say, tell
from vault_agent.errors import Failed, VaultAgentError, counted
from vault_agent.system.files import is_folder
from vault_agent.text.names import IGNORE_ALL, TEMP_FOLDER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


_DATA = (
    "sessions", "sessions.lock", "sessions-before", "spool", "sessions.db*", "sessions.damaged*",
    "session-texts.*",
)  # fmt: skip
"""What is in the data folder beside the indexes. What else is there is not ours."""


class Step(NamedTuple):
    """Something to remove: what it is, where it is, and how it is removed."""

    what: str
    place: str
    remove: Callable[[], object]


@click.command("uninstall", cls=Command)
@click.option("--keep-indexes", is_flag=True, help="Keep the indexes, and what can be undone.")
@click.option("--settings", is_flag=True, help="Remove the config file and the list of vaults too.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def command(invocation: Invocation, *, keep_indexes: bool, settings: bool, yes: bool) -> int | None:
    """Remove all that vault-agent has set up outside of notes.

    These are hooks and entries in agents, the service, servers and indexes. It lists what it would
    remove, and asks. Your notes stay, and so do the vaults of projects with their journals. The
    program itself is removed afterwards, by pipx or pip.
    """
    from vault_agent.cli import detached
    from vault_agent.cli.servers import running_servers
    from vault_agent.config.fast_settings import index_folders

    layers = invocation.layers()
    steps = [*_of_agents(invocation), *_of_service(invocation)]
    servers = running_servers(layers)
    folders = [folder.parent for folder in index_folders(layers)]
    steps += _of_vaults(invocation, folders)
    if not keep_indexes:
        steps += _of_data(folders)
    if settings:
        steps += _of_settings(invocation)
    stays = list(_what_stays(invocation, folders, keep_indexes=keep_indexes, settings=settings))
    if not invocation.json:
        _show(steps, [in_home(server.vault) for server in servers], stays)
    if not (steps or servers):
        end(invocation, [], [], stays)
        return None
    if not agreed("Remove these?", yes=yes):
        tell("Nothing was removed.")
        return DECLINED
    done, failed = [], []
    for server in servers:
        detached.stop(server.folder)
    for step in steps:
        try:
            step.remove()
        except (VaultAgentError, OSError) as error:
            reason = error.message if isinstance(error, VaultAgentError) else error.strerror
            complain("OUTPUT_FAILED", f"{step.what} stays: {reason}", look="warning")
            failed.append(step)
        else:
            done.append(step)
    for folder in folders:
        with suppress(OSError):  # it has other files
            (folder / "indexes").rmdir()
            folder.rmdir()
    end(invocation, done, failed, stays, stopped=len(servers))
    return None


def _show(steps: list[Step], vaults: list[str], stays: list[str]) -> None:
    if steps or vaults:
        say("This is removed:")
    for vault in vaults:
        say(f"  the server of {vault}, which is stopped")
    for step in steps:
        say(f"  {step.what}: {step.place}")
    say("This stays:")
    for line in stays:
        say(f"  {line}")


def end(
    invocation: Invocation,
    done: list[Step],
    failed: list[Step],
    stays: list[str],
    *,
    stopped: int = 0,
) -> None:
    """Say what was removed and what stays.

    Raises:
        Failed: `OUTPUT_FAILED` with both in its details if something could not be removed.
    """
    rows = [{"what": step.what, "place": step.place} for step in done]
    if failed:
        details = {"removed": rows, "stays": [*stays, *(step.place for step in failed)]}
        what = f"{len(failed)} of {len(done) + len(failed)} could not be removed: see above."
        raise Failed("OUTPUT_FAILED", what, details)
    if invocation.json:
        envelope({"removed": rows, "stays": stays})
    else:
        number = len(done) + stopped
        what = f"Removed {counted(number, 'thing')}." if number else "There is nothing to remove."
        say(f"{what} Last, remove the program: {_how_to_remove()}")


def _of_agents(invocation: Invocation) -> Iterator[Step]:
    """Yield our entries and hooks in the settings of agents."""
    from vault_agent.cli.agent_connect import known_agents, take_out

    for agent in known_agents(invocation):
        if agent.entry in ("installed", "other") or agent.hooks in ("installed", "outdated"):
            yield Step(
                f"our entry and hooks in {agent.title}",
                "its settings",
                partial(take_out, invocation, agent.name),
            )


def _of_service(invocation: Invocation) -> Iterator[Step]:
    from vault_agent.cli.service import installed_service, remove_service

    if (service := installed_service(invocation)) is not None:
        yield Step("the service", in_home(service.file), partial(remove_service, service))


def _of_vaults(invocation: Invocation, folders: list[Path]) -> Iterator[Step]:
    """Yield the folders for temporary files in vaults. Servers that use them are stopped before."""
    for vault in _vaults(invocation, folders):
        if (vault / TEMP_FOLDER).is_dir():
            what, place = "the folder for temporary files", in_home(vault / TEMP_FOLDER)
            yield Step(what, place, partial(remove_temp_folder, vault))


def remove_temp_folder(vault: Path) -> bool:
    """Remove the folder for temporary files of a vault. Return whether there was one.

    Raises:
        OSError: ENOTEMPTY if it has anything but our file for git, which may be a person's text.
    """
    folder = vault / TEMP_FOLDER
    if folder.is_symlink() or not folder.is_dir():
        return False
    ignored = folder / ".gitignore"
    for file in folder.iterdir():
        if file != ignored or file.read_bytes() != IGNORE_ALL:
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), str(file))
    ignored.unlink(missing_ok=True)
    folder.rmdir()
    return True


def _vaults(invocation: Invocation, folders: list[Path]) -> list[Path]:
    """Return the roots of all vaults that the settings, the list of vaults or an index name."""
    from vault_agent.cli.vaults import known_indexes
    from vault_agent.config.fast_settings import vault_root
    from vault_agent.config.vault_list import read_registry

    vaults: list[Path | None] = []
    with suppress(VaultAgentError):
        vaults.append(vault_root(invocation.layers()))
    with suppress(VaultAgentError):
        vaults += [entry.root for entry in read_registry()]
    vaults += [index.vault for folder in folders for index in known_indexes(folder / "indexes")]
    return sorted({vault.resolve() for vault in vaults if vault is not None})


def _of_data(folders: list[Path]) -> Iterator[Step]:
    """Yield the indexes, and what is known of sessions."""
    from vault_agent.cli.vaults import known_indexes

    for folder in folders:
        for index in known_indexes(folder / "indexes"):
            vault = in_home(index.vault) if index.vault is not None else "an unknown vault"
            place = f"{in_home(index.folder)}, {index.size / 1e6:,.1f} MB"
            yield Step(
                ", with ".join((f"the index of {vault}", *index.irreplaceable)),
                place,
                partial(_delete, [index.folder]),
            )
        paths = [path for pattern in _DATA for path in sorted(folder.glob(pattern))]
        if paths:
            yield Step(
                "what is known of agents' sessions", in_home(folder), partial(_delete, paths)
            )


def _of_settings(invocation: Invocation) -> Iterator[Step]:
    from vault_agent.config.layers import config_path
    from vault_agent.config.vault_list import registry_path

    for what, path in (
        ("the settings, with the key", config_path(invocation.config)),
        ("the list of vaults", registry_path()),
    ):
        if path.is_file():
            yield Step(what, in_home(path), partial(_delete, [path]))


def _how_to_remove() -> str:
    """Return the command that removes the program, as it was installed."""
    by_pip = f"{clean(shlex.quote(sys.executable))} -m pip"
    program = {"pipx": "pipx", "uv": "uv tool", "pip": by_pip}[installer()]
    return f"{program} uninstall vault-agent"


def _delete(paths: list[Path]) -> None:
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _what_stays(
    invocation: Invocation, folders: list[Path], *, keep_indexes: bool, settings: bool
) -> Iterator[str]:
    from vault_agent.config.layers import config_path

    for vault in _vaults(invocation, folders):  # also those that were forgotten
        if is_folder(vault):
            yield f"your notes, with all that was written into them: {in_home(vault)}"
    path = config_path(invocation.config)
    if not settings and path.is_file():
        yield f"the settings, with the key if there is one: {in_home(path)} (--settings)"
    if keep_indexes:
        for folder in folders:
            if (folder / "indexes").is_dir():
                yield f"the indexes: {in_home(folder / 'indexes')}"
    yield f"the program: {_how_to_remove()}"
    yield "files with the suffix .bak beside settings of other programs that were changed"
