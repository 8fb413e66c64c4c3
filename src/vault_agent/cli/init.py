"""`vault-agent init`: everything that a project needs, in one command."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.features import FEATURES, apply
from vault_agent.cli.terminal import agreed, can_ask, clean, envelope, say, tell, warn
from vault_agent.config.project import (
    OURS,
    VAULT,
    Project,
    ensure_project_file,
    find_project,
    global_vault,
    is_home,
    path_of,
    project_folder,
    read_project_file,
    trusted_entry,
)
from vault_agent.config.setting_names import PROJECT_ENV
from vault_agent.config.vault_list import (
    Registered,
    Role,
    add_vault,
    clean_name,
    new_uid,
    read_registry,
)
from vault_agent.errors import Failed, InvalidRequest, Misconfigured, VaultAgentError, counted
from vault_agent.model.health import Health
from vault_agent.system.files import PRIVATE_FOLDER, is_folder, reason_of
from vault_agent.text.names import is_note

if TYPE_CHECKING:
    from collections.abc import Sequence


def count_notes(vault: Path) -> int:
    """Return how many notes a vault seems to have. Links are not followed."""
    number = 0
    for _, folders, names in os.walk(vault):
        folders[:] = [name for name in folders if not name.startswith(".")]
        number += sum(is_note(name) and not name.startswith(".") for name in names)
    return number


def entry_of(project: Project) -> Registered:
    """Return the entry of a project's vault. A vault of ours gets a `uid` if it has none.

    Raises:
        Failed: `INDEX_IO_ERROR` if the project's config file cannot be written.
    """
    name = clean_name(project.folder.name)
    if not project.is_ours:
        entry = next((vault for vault in read_registry() if vault.root == project.vault), None)
        uid = entry.uid if entry is not None else new_uid()
        return Registered(project.vault, Role.PROJECT, name, uid)
    try:
        settings = ensure_project_file(project.folder, name)
    except OSError as error:
        raise unwritable(error) from None
    uid = settings.uid or new_uid()
    return Registered(project.vault, Role.PROJECT, settings.name or name, uid)


def shown_name(project: Project) -> str:
    """Return the name of a project."""
    name = read_project_file(project.folder).name if project.is_ours else None
    return name or clean_name(project.folder.name)


def unwritable(error: OSError) -> Failed:
    """Return the error for a file or folder that cannot be written."""
    return Failed("OUTPUT_FAILED", f"A file cannot be written: {reason_of(error)}.")


_SECONDS_FOR_INDEXES = 5.0
_SECONDS_BETWEEN_LOOKS = 0.1
_PAST = 50
"""Sessions of agents that become journals, the latest ones."""
_UNSET_ROOT = "vault-agent config unset vault.root"
_PRIVATE = "*"
_PRIVATE_JOURNALS = f"{VAULT}/journals/"


@dataclass
class Report:
    """What was done, each with how to undo it, and what the user should know."""

    done: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, what: str, undo: str) -> None:
        """Add a change."""
        self.done.append((what, undo))


@click.command("init", cls=Command)
@click.option("--private", is_flag=True, help="Keep the vault out of git.")
@click.option("--private-journals", is_flag=True, help="Keep only its journals out of git.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask: turn on what it needs.")
def command(invocation: Invocation, private: bool, private_journals: bool, yes: bool) -> None:
    """Make a vault for the project of the current folder.

    It also makes the global vault if you have none, and offers to turn on what both need. It prints
    what it wrote and how to undo it. Run again, it changes nothing.
    """
    from vault_agent.config.settings import build_config

    build_config(invocation.layers())  # raises before anything is made
    report = Report()
    project = _project(is_private=private or private_journals)
    # In a clone, it may lead to a file elsewhere.
    if (private or private_journals) and _gitignore(project.folder).is_symlink():
        what = f"{OURS}/.gitignore is a link. Replace it by a file."
        raise InvalidRequest("INVALID_REQUEST", what)
    vaults = read_registry()
    is_known = trusted_entry(project, vaults) is not None
    # All questions come first: who leaves at one leaves nothing behind.
    if not is_known:
        _require_consent(invocation, project, yes=yes)
    switched = _chosen_switches(invocation, report, yes=yes)
    past = _count_past_sessions(invocation, project, switched)
    takes_past = past > 0 and _takes_past_sessions(invocation, report, past, yes=yes)
    try:
        _make_vault(report, project)
        if not is_known:
            _register(report, project)
        for wanted, line in ((private, _PRIVATE), (private_journals, _PRIVATE_JOURNALS)):
            if wanted:
                _ignore(report, project, line)
        if not any(vault.role is Role.GLOBAL and vault.is_there for vault in vaults):
            _make_global(invocation, report)
    except OSError as error:
        raise unwritable(error) from None
    _set_default(invocation, report)
    _switch_on(invocation, report, switched)
    _wait_for_indexes(invocation)
    _name_agents(invocation, report)
    if takes_past:
        _take_past_sessions(invocation, report)
    if project.is_ours and not (private or private_journals) and report.done:
        report.notes.append(
            "The vault is meant to be committed with the project. Nothing was added to git."
        )
    _show(invocation, report, project, switched)


def _project(*, is_private: bool) -> Project:
    """Return the project of the current folder, whose vault need not be there.

    Raises:
        InvalidRequest: if it is to be private, and cannot be.
        Misconfigured: `CONFIG_INVALID` in the home folder, which is no project.
        Forbidden: `VAULT_NOT_TRUSTED` if its vault is a link to somewhere else.
    """
    project = find_project()
    if project is not None:
        warn(project.warnings)
        if is_private and not project.is_ours:
            raise InvalidRequest("INVALID_REQUEST", f"Only a vault in {OURS} can be made private.")
        return project
    named = os.environ.get(PROJECT_ENV)
    folder = Path(os.path.realpath(named)) if named else project_folder()
    if is_home(folder) or not is_folder(folder):
        raise Misconfigured(
            "CONFIG_INVALID", "Your home folder is no project. Change to the folder of a project."
        )
    return Project(folder, folder / OURS / VAULT)


def _make_vault(report: Report, project: Project) -> None:
    vault = project.vault
    if vault.is_dir():
        return
    for folder in (vault.parent, vault):  # what is written there gets the rights of its folder
        folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    report.add(f"made {vault}", f"delete {vault.parent}")


def _require_consent(invocation: Invocation, project: Project, *, yes: bool) -> None:
    """Ask before the notes of a project that is not trusted yet.

    Raises:
        InvalidRequest: if the person says no, or there is nobody to ask.
    """
    number = count_notes(project.vault)
    if number:  # it was here before: perhaps others have written it
        if not invocation.json:
            say(f"{clean(str(project.vault))}: {counted(number, 'note')}")
        if not agreed("Index these notes and give them to agents?", yes=yes):
            raise InvalidRequest("INVALID_REQUEST", "The vault was not allowed.")


def _register(report: Report, project: Project) -> None:
    settings = path_of(project.folder)
    had_settings = settings.is_file()
    entry = add_vault(entry_of(project))
    if project.is_ours and not had_settings:
        report.add(f"wrote {settings}", f"delete {settings}")
    name = entry.full_name
    report.add(f"registered it as {name}", f"vault-agent vaults forget {name}")


def _ignore(report: Report, project: Project, line: str) -> None:
    """Add a line to the `.gitignore` of our folder, unless it is there."""
    path = _gitignore(project.folder)
    text = path.read_text("utf-8") if path.is_file() else ""
    if line in text.splitlines():
        return
    before = text if not text or text.endswith("\n") else f"{text}\n"
    path.write_text(f"{before}{line}\n", "utf-8")
    report.add(f"wrote {line} to {path}", f"remove that line from {path}")


def _gitignore(project: Path) -> Path:
    return project / OURS / ".gitignore"


def _make_global(invocation: Invocation, report: Report) -> None:
    """Make and register the global vault."""
    from vault_agent.config.settings import build_config

    root = global_vault(build_config(invocation.layers()).vaults.global_root)
    if not is_folder(root):
        for folder in (root.parent, root):
            if not is_folder(folder):
                folder.mkdir(mode=PRIVATE_FOLDER, parents=True)
        report.add(f"made the global vault {root}", f"delete {root}")
    add_vault(Registered(root, Role.GLOBAL, "global", new_uid()))
    report.add("registered the global vault", "vault-agent vaults forget global")


def _set_default(invocation: Invocation, report: Report) -> None:
    """Let the server serve the global vault if the user has no notes: it cannot start otherwise."""
    from vault_agent.config.settings import build_config

    config = build_config(invocation.layers())
    if config.vault.root is not None:
        return
    root = global_vault(config.vaults.global_root)
    apply(invocation, [("vault.root", str(root))])
    report.add(f"set vault.root to {root}, as no notes of yours were set", _UNSET_ROOT)


def _chosen_switches(invocation: Invocation, report: Report, *, yes: bool) -> list[str]:
    """Return what the user agrees to turn on, of what the vaults need."""
    from vault_agent.config.settings import build_config, switched_on

    on = switched_on(build_config(invocation.layers()))
    off: list[str] = [name for name in FEATURES["memory"].on if name not in on]
    if not off:
        return []
    if not yes and not can_ask():
        report.notes.append("To serve it: vault-agent enable memory")
        return []
    if not agreed(f"Turn on the memory of agents ({', '.join(off)})?", yes=yes):
        report.notes.append("To turn it on later: vault-agent enable memory")
        return []
    return off


def _switch_on(invocation: Invocation, report: Report, off: Sequence[str]) -> None:
    """Turn on some switches."""
    from vault_agent.config.settings import build_config

    if not off:
        return
    applied = apply(invocation, [(name, "true") for name in off])
    for name in off:
        report.add(f"turned on {name}", f"vault-agent config set {name} false")
    if not build_config(invocation.layers()).write.enabled:
        report.notes.append(
            "To let agents and commands write notes of projects too: vault-agent enable write"
        )
    report.notes += applied.lines


def _wait_for_indexes(invocation: Invocation) -> None:
    """Wait for a moment until the running server has the vaults of this project.

    The next command would leave them out otherwise. Without a server, there is nothing to wait for.
    """
    from vault_agent.cli.names import vaults_here

    deadline = time.monotonic() + _SECONDS_FOR_INDEXES
    with suppress(VaultAgentError), invocation.client(starts=False) as client:
        for vault in vaults_here(invocation):
            client.vault_name = vault
            while (
                client.call("GET /health").read(Health).running_job is not None
                and time.monotonic() < deadline
            ):
                time.sleep(_SECONDS_BETWEEN_LOOKS)


def _name_agents(invocation: Invocation, report: Report) -> None:
    """Name the command for each agent that is here without our hooks.

    The settings of another program are not changed unasked.
    """
    from vault_agent.cli.agent_connect import hooks_state
    from vault_agent.cli.agent_programs import CLIENTS

    for name, client in CLIENTS.items():
        if client.is_here and hooks_state(invocation, name) in ("missing", "outdated"):
            report.notes.append(f"To let {client.title} remember: vault-agent agent connect {name}")


def _count_past_sessions(invocation: Invocation, project: Project, switched: Sequence[str]) -> int:
    """Return how many sessions on this disk can become journals. `switched` will be turned on."""
    from vault_agent.cli.memory import count_here
    from vault_agent.config.settings import build_config

    enabled = "journal.enabled" in switched or build_config(invocation.layers()).journal.enabled
    return count_here(project.folder) if enabled else 0


def _takes_past_sessions(invocation: Invocation, report: Report, count: int, *, yes: bool) -> bool:
    """Offer journals of the sessions that agents have left on this disk."""
    latest = "" if count <= _PAST else f" the last {_PAST} of"
    what = f"{counted(count, 'session')} of this project {'lies' if count == 1 else 'lie'} here."
    asks = can_ask() and not invocation.json
    if not (
        yes or (asks and agreed(f"{what} Make journals of{latest} them?", yes=False, default=True))
    ):
        report.notes.append(f"{what} To make journals of them: vault-agent memory journal import")
        return False
    return True


def _take_past_sessions(invocation: Invocation, report: Report) -> None:
    """Let the server write journals of the sessions on this disk. It is started."""
    from vault_agent.cli.hook import start_server
    from vault_agent.cli.memory import import_here

    made, _ = import_here(invocation, _PAST)
    if made:
        report.add(
            f"took over {counted(len(made), 'session')} of agents, which become journals",
            "vault-agent memory forget SESSION, and delete the note",
        )
        if start_server(invocation.layers(), invocation.config):
            report.add("started the server, which writes them", "vault-agent serve --stop")


def _show(
    invocation: Invocation, report: Report, project: Project, switched: Sequence[str]
) -> None:
    if invocation.json:
        envelope(
            {
                "project": shown_name(project),
                "vault": str(project.vault),
                "done": [{"what": what, "undo": undo} for what, undo in report.done],
                "switchedOn": list(switched),
            }
        )
        return
    for what, undo in report.done:
        say(f"{clean(what[:1].upper() + what[1:])}")
        say(f"    to undo: {clean(undo)}")
    if not report.done:
        tell(f"The project {shown_name(project)} has everything already. Nothing was changed.")
    for note in report.notes:
        tell(note)
