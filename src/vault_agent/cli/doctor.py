"""`vault-agent doctor`: every check in one, each with what to type."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import stat
from typing import TYPE_CHECKING, NamedTuple

import asyncclick as click

from vault_agent import __version__
from vault_agent.cli.command import Command, Exit, Invocation
from vault_agent.cli.names import root_of
from vault_agent.cli.servers import (
    START,
    STOP,
    agents_without_folder,
    in_home,
    server_here,
    which_vault,
)
from vault_agent.cli.terminal import clean, envelope, say, style
from vault_agent.codes import CODES
from vault_agent.config.vault_list import DEFAULT
from vault_agent.errors import Misconfigured, VaultAgentError, counted
from vault_agent.model.health import Health
from vault_agent.model.modes import BUILT_IN
from vault_agent.system.files import is_folder, reason_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vault_agent.cli.agent_connect import KnownAgent
    from vault_agent.config.sections import EmbeddingSettings
    from vault_agent.config.settings import Config
    from vault_agent.models.embedder import EndpointCheck

_LEAST_FREE_BYTES = 200 << 20
_LOOKS = {True: ("ok", "added"), False: ("not ok", "removed"), None: ("-", "faint")}
_MARGIN = 19


def ask_embedder(settings: EmbeddingSettings) -> EndpointCheck:
    """Request one vector from the endpoint of these settings. Raises as `check_endpoint`."""
    from vault_agent.config.settings import endpoint_settings
    from vault_agent.models.embedder import check_endpoint
    from vault_agent.models.settings import EndpointSettings

    return asyncio.run(check_endpoint(EndpointSettings(**endpoint_settings(settings))))


def ask_reranker(config: Config) -> None:
    """Let the reranker of these settings score two passages. It may take a minute to load first.

    Raises:
        Unavailable: `RERANK_UNAVAILABLE` if it does not answer, or answers something else.
    """
    from vault_agent.config.settings import rerank_settings
    from vault_agent.models.reranker import Reranker, RerankerSettings

    async def test() -> None:
        async with Reranker(RerankerSettings(**rerank_settings(config))) as reranker:
            await reranker.test()

    asyncio.run(test())


class Diagnosis(NamedTuple):
    """A check: its name, whether it passed (None: not in use), what it says, what to type."""

    name: str
    ok: bool | None
    what: str
    fix: str = ""


@click.command("doctor", cls=Command)
def command(invocation: Invocation) -> int:
    """Check everything, and say what to type where it is wrong.

    It looks at your settings, the folder of your notes, the index, the server, agents, the service,
    the embedding endpoint and the reranker. It changes nothing. The exit code is 1 if something is
    wrong.
    """
    checks = []
    program = f"vault-agent{which_vault(invocation, {})} "
    for plain in _checks(invocation):
        check = plain._replace(fix=plain.fix.replace("vault-agent ", program))
        checks.append(check)
        if not invocation.json:
            _show(check)
    wrong = [check for check in checks if check.ok is False]
    if invocation.json:
        keys = ("name", "ok", "found", "fix")
        rows = [dict(zip(keys, check, strict=True)) for check in checks]
        envelope({"checks": rows, "wrong": len(wrong)})
    else:
        say()
        say(f"{counted(len(wrong), 'problem')} found." if wrong else "All is well.")
    return Exit.FAILURE if wrong else Exit.SUCCESS


def _show(check: Diagnosis) -> None:
    word, look = _LOOKS[check.ok]
    say(f"{style(f'{word:<7}', look)} {check.name:<10} {clean(check.what)}")
    if check.fix:
        say(" " * _MARGIN + clean(check.fix))


def _checks(invocation: Invocation) -> Iterator[Diagnosis]:
    from vault_agent.config.layers import config_path, read_text, unused_settings
    from vault_agent.config.settings import build_config

    file = _config_file(invocation)
    yield file
    if file.ok is False and not file.fix:
        return
    try:
        config = build_config(invocation.layers())
    except Misconfigured as error:
        yield Diagnosis("settings", False, error.message, _repair_of(error, invocation))
        return
    unused = unused_settings(read_text(config_path(invocation.config)) or "")
    for problem in unused:
        yield Diagnosis("settings", None, str(problem), f"vault-agent config unset {problem.key}")
    if not unused:
        yield Diagnosis("settings", True, "all are valid")
    yield from _vaults()
    about, fix = config, "vault-agent setup --folder PATH"
    if invocation.vault not in (None, DEFAULT):
        root, fix = root_of(invocation.vault), "vault-agent vaults"
        if root is None:
            yield Diagnosis("vaults", False, "none has this name", fix)
            return
        about = config.model_copy(update={"vault": config.vault.model_copy(update={"root": root})})
    yield _folder(about, fix)
    yield from _disk(invocation, about)
    try:
        yield from _server(invocation, config)
    except VaultAgentError as error:
        yield Diagnosis("server", False, error.message)
    yield _embedding(config)
    yield _rerank(config)
    yield from _agents(invocation, config)
    yield _service(invocation)


def _repair_of(error: Misconfigured, invocation: Invocation) -> str:
    """Return how a wrong setting is repaired: by a command, or in the file."""
    from vault_agent.cli.run import unknown_setting
    from vault_agent.config.layers import config_path
    from vault_agent.config.setting_names import SETTINGS

    if gone := unknown_setting(error):
        return f"vault-agent config unset {gone}"
    keys = [problem["key"] for problem in error.details.get("problems", ())]
    if keys and keys[0] in SETTINGS:
        return f"vault-agent config set {keys[0]} VALUE"
    return f"correct {in_home(config_path(invocation.config))}"


def _config_file(invocation: Invocation) -> Diagnosis:
    from vault_agent.config.layers import config_path
    from vault_agent.config.setting_names import CONFIG_ENV

    path = config_path(invocation.config)
    try:
        mode = path.stat().st_mode
    except OSError:
        if invocation.config is not None or CONFIG_ENV in os.environ:
            return Diagnosis("config", False, f"{in_home(path)} does not exist or cannot be read")
        return Diagnosis("config", None, f"{in_home(path)} does not exist: defaults apply")
    if os.name != "nt" and stat.S_IMODE(mode) & 0o077:
        what = f"{in_home(path)} can be read by other users of this computer, and may hold a key"
        return Diagnosis("config", False, what, f"chmod 600 {in_home(path)}")
    return Diagnosis("config", True, in_home(path))


def _vaults() -> Iterator[Diagnosis]:
    """Check the list of vaults. Without a problem, the other checks and `vaults` show them."""
    from vault_agent.cli.vaults import problems
    from vault_agent.config.vault_list import registry_path

    try:
        for name, problem in problems():
            yield Diagnosis("vaults", False, f"{name}: {problem}")
    except Misconfigured as error:
        what = f"{in_home(registry_path())}: {error.message}"
        yield Diagnosis("vaults", False, what, "then: vault-agent init, in each project")


def _folder(config: Config, fix: str) -> Diagnosis:
    root = config.vault.root
    if root is None:
        return Diagnosis("notes", False, "no folder is set", "vault-agent setup")
    try:
        with os.scandir(root) as entries:
            next(entries, None)
    except OSError as error:
        what = f"{in_home(root)} cannot be read: {reason_of(error)}"
        return Diagnosis("notes", False, what, fix)
    return Diagnosis("notes", True, in_home(root))


def _disk(invocation: Invocation, config: Config) -> Iterator[Diagnosis]:
    from vault_agent.config.rules import data_folder
    from vault_agent.config.settings import index_directory

    try:
        folder = index_directory(config)
    except Misconfigured as error:
        if error.code == "CONFIG_INVALID":
            yield Diagnosis("disk", False, error.message, _repair_of(error, invocation))
        return
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    free = shutil.disk_usage(nearest).free
    data = data_folder(config.index.dir)
    what = f"{free / 1e9:,.1f} GB are free for the index in {in_home(data)}"
    if not os.access(nearest, os.W_OK):
        what = f"{in_home(nearest)} cannot be written"
        yield Diagnosis("disk", False, what, "vault-agent config set index.dir PATH")
    elif free < _LEAST_FREE_BYTES:
        yield Diagnosis("disk", False, what, "free some space")
    else:
        yield Diagnosis("disk", True, what)
    for file in (*data.glob("*.damaged"), *folder.glob("*.damaged")):
        what = f"a damaged {file.stem}.db was set aside as {in_home(file)}"
        yield Diagnosis("state", None, what, "remove it when you no longer need it")


def _server(invocation: Invocation, config: Config) -> Iterator[Diagnosis]:
    from vault_agent.cli.status import index_state, watch_hindrance, watch_state

    server = server_here(invocation.layers())
    try:
        with invocation.client(starts=False) as client:
            reply = client.call("GET /health")
            endpoint = client.endpoint
    except VaultAgentError as error:
        if error.code == "SERVER_UNAVAILABLE":
            yield _port(invocation, config)
        else:
            yield Diagnosis("server", False, error.message, f"{STOP}, then {START}")
        return
    health = reply.read(Health)
    if health.version != __version__:
        what = f"version {health.version} runs at {endpoint}, and this is {__version__}"
        yield Diagnosis("server", False, what, START)
    elif server is not None and server.refused:
        what = f"runs at {endpoint} with older settings: {server.refused}"
        yield Diagnosis("server", False, what)
    else:
        yield Diagnosis("server", True, f"version {health.version} runs at {endpoint}")
    hindrance = watch_hindrance(health, reply.warnings)
    building = health.running_job is not None
    # A job that runs mends what it can. Without one, the index is checked for being stale below.
    mended = {code for code, row in CODES.items() if row.indexing} if building else {"INDEX_STALE"}
    problems = [
        warning for warning in reply.warnings if warning.code not in mended and warning != hindrance
    ]
    state = index_state(health, reply.warnings)
    yield Diagnosis("index", health.index.available or building, state)
    for warning in problems if health.index.available else ():
        excluded = warning.details["path"] if warning.code == "NOTES_EXCLUDED" else None
        place = "" if excluded is None else f"{clean(excluded)}: "
        works = None if excluded is not None else False  # it may be what the person wants
        yield Diagnosis("index", works, f"{warning.code}: {place}{warning.message}")
    if health.index.stale and not building:
        about = "" if invocation.vault is None else f" --vault {shlex.quote(invocation.vault)}"
        what = "notes have changed since the last run"
        yield Diagnosis("index", False, what, f"vault-agent{about} index")
    watching = health.watch is not None and health.watch.enabled
    works = hindrance is None if watching else None
    fix = "" if watching else "vault-agent enable watch"
    yield Diagnosis("watch", works, watch_state(health, reply.warnings), fix)


def _port(invocation: Invocation, config: Config) -> Diagnosis:
    from vault_agent.system.address import require_bindable

    if any("server.endpoint" in layer.values for layer in invocation.layers()):
        return Diagnosis("server", False, f"none answers at {config.endpoint}")
    try:
        require_bindable(config.server.host, config.server.port)
    except Misconfigured as error:
        return Diagnosis("server", False, error.message)
    what = f"none runs; port {config.server.port} is free"
    can_start = config.vault.root is not None and is_folder(config.vault.root)
    return Diagnosis("server", False, what, START if can_start else "")


def _embedding(config: Config) -> Diagnosis:
    if not config.embedding.enabled:
        what = "off: searches find words only"
        return Diagnosis("embedding", None, what, "vault-agent enable embedding")
    try:
        answer = ask_embedder(config.embedding)
    except VaultAgentError as error:
        return Diagnosis("embedding", False, error.message)
    where = config.embedding.endpoint
    what = "works, built in" if where == BUILT_IN else f"answers at {where}"
    return Diagnosis("embedding", True, f"{answer.model} {what}")


def _rerank(config: Config) -> Diagnosis:
    if not config.rerank.enabled:
        return Diagnosis("rerank", None, "off: results keep the order of the search")
    try:
        ask_reranker(config)
    except VaultAgentError as error:
        return Diagnosis("rerank", False, error.message)
    return Diagnosis("rerank", True, f"a reranker answers at {config.rerank.endpoint}")


def _wrong_agents(agents: Iterable[KnownAgent], config: Config) -> Iterator[Diagnosis]:
    for agent in agents:
        if agent.entry == "other" or agent.hooks == "outdated":
            named = f" --agent {agent.acts_as}" if agent.acts_as is not None else ""
            again = f"vault-agent agent connect {agent.name}{named} --force"
            what = f"{agent.title} calls another command than this vault-agent"
            yield Diagnosis("agents", False, what, again)
        if "unreadable" in (agent.entry, agent.hooks):
            yield Diagnosis("agents", False, f"the settings of {agent.title} cannot be read")
        elif agent.acts_as is not None and agent.acts_as not in config.agents:
            what = f"{agent.title} is connected as {agent.acts_as}, which is no agent"
            yield Diagnosis("agents", False, what, f"vault-agent agent disconnect {agent.name}")
    for name, missing in agents_without_folder(config).items():
        what = f"The agent {name} sees {missing}, so it is refused"
        yield Diagnosis("agents", False, what, f"vault-agent agent set {name} --folder FOLDER")


def _agents(invocation: Invocation, config: Config) -> Iterator[Diagnosis]:
    from vault_agent.cli.agent_connect import check, known_agents
    from vault_agent.config.fast_settings import hook_settings

    agents = known_agents(invocation)
    connected = [agent for agent in agents if agent.entry == "installed"]
    yield from _wrong_agents(agents, config)
    names = ", ".join(agent.title for agent in connected)
    if not connected:
        what = "no program here is connected"
        yield Diagnosis("agents", None, what, "vault-agent agent connect CLIENT")
    elif not config.mcp.enabled:
        yield Diagnosis(
            "agents", False, f"{names}: the server refuses them", "vault-agent enable mcp"
        )
    else:
        try:
            tools = check(invocation)
        except VaultAgentError as error:
            again = f"vault-agent agent connect {connected[0].name}"
            yield Diagnosis("agents", False, error.message, again)
        else:
            yield Diagnosis("agents", True, f"{names}: {counted(len(tools), 'tool')}")
    if hooked := [agent.title for agent in agents if agent.hooks == "installed"]:
        on = hook_settings(invocation.layers()).enabled
        what = ", ".join(hooked) + ("" if on else ": they do nothing, as memory is off")
        yield Diagnosis("hooks", on, what, "" if on else "vault-agent enable memory")


def _service(invocation: Invocation) -> Diagnosis:
    from vault_agent.cli.service import installed_service, is_running

    install = "vault-agent serve --at-login install"
    service = installed_service(invocation)
    if service is None:
        return Diagnosis("service", None, "not installed", install)
    if is_running(service):
        return Diagnosis("service", True, "installed and running")
    return Diagnosis("service", False, "installed, but not running", install)
