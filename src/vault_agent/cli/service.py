"""`vault-agent serve --at-login`: the server as a service of the user's session.

Linux has a systemd user unit, macOS a launchd agent. Their files are written here, and the system's
own commands start and stop them.
"""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, NamedTuple

from vault_agent.cli.command import Exit
from vault_agent.cli.servers import require_servable
from vault_agent.cli.terminal import clean, envelope, say
from vault_agent.config.setting_names import CONFIG_ENV
from vault_agent.errors import Failed, Misconfigured, NotFound
from vault_agent.system.files import make_private_folder, reason_of, replace_file
from vault_agent.system.processes import PROGRAM

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vault_agent.cli.command import Invocation

_UNIT = "vault-agent.service"
_LABEL = "org.vault-agent.server"
_SECONDS = 30.0
_SECONDS_TO_ANSWER = 60.0
_PLACES = ("XDG_CONFIG_HOME", "XDG_DATA_HOME")  # where settings and indexes are


class SystemService(NamedTuple):
    """How a system runs the server: its file, and the commands for it."""

    file: Path
    content: bytes
    start: tuple[tuple[str, ...], ...]
    stop: tuple[tuple[str, ...], ...]
    restart: tuple[tuple[str, ...], ...]
    is_running: tuple[str, ...]


def service_of(platform: str, home: Path, variables: Mapping[str, str], log: Path) -> SystemService:
    """Return the service of a platform, as in `sys.platform`.

    The server gets `variables` in its environment. `log` gets the log on macOS; on Linux the
    journal has it.

    Raises:
        Misconfigured: `SERVICE_UNSUPPORTED` if the platform has none.
    """
    if platform.startswith("linux"):
        return _systemd(home, variables)
    if platform == "darwin":
        return _launchd(home, variables, log)
    raise Misconfigured(
        "SERVICE_UNSUPPORTED", "Services are supported on Linux with systemd, and on macOS."
    )


def _systemd(home: Path, variables: Mapping[str, str]) -> SystemService:
    file = home / ".config" / "systemd" / "user" / _UNIT
    # In `ExecStart`, unlike in `Environment`, a dollar sign begins a variable.
    words = " ".join(_quoted(word).replace("$", "$$") for word in (*PROGRAM, "serve"))
    variable = "\n".join(
        f"Environment={_quoted(f'{name}={value}')}" for name, value in variables.items()
    )
    text = files("vault_agent.cli").joinpath("systemd.txt").read_text("utf-8")
    control = ("systemctl", "--user")
    return SystemService(
        file,
        Template(text).substitute(environment=variable, command=words).encode(),
        start=((*control, "daemon-reload"), (*control, "enable", "--now", _UNIT)),
        stop=((*control, "disable", "--now", _UNIT),),
        restart=((*control, "daemon-reload"), (*control, "restart", _UNIT)),
        is_running=(*control, "is-active", "--quiet", _UNIT),
    )


def _quoted(word: str) -> str:
    """Return a word as systemd reads it, where `%` begins a specifier."""
    text = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{text}"'


def _launchd(home: Path, variables: Mapping[str, str], log: Path) -> SystemService:
    file = home / "Library" / "LaunchAgents" / f"{_LABEL}.plist"
    agent: dict[str, Any] = {
        "Label": _LABEL,
        "ProgramArguments": [*PROGRAM, "serve"],
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 30,
        "ProcessType": "Background",
        "StandardErrorPath": str(log),
        "Umask": 0o077,
        "EnvironmentVariables": dict(variables),
    }
    domain = f"gui/{os.getuid()}" if hasattr(os, "getuid") else "gui"
    start = ("launchctl", "bootstrap", domain, str(file))
    stop = ("launchctl", "bootout", f"{domain}/{_LABEL}")
    return SystemService(
        file,
        plistlib.dumps(agent),
        start=(start,),
        stop=(stop,),
        restart=(stop, start),
        is_running=("launchctl", "print", f"{domain}/{_LABEL}"),
    )


def at_login(invocation: Invocation, action: str) -> int:
    """Install the service or update it, remove it, or say whether there is one.

    Return the exit code, which is 4 if the status of a missing service is wanted.

    Raises:
        Failed: `SERVICE_FAILED`.
        Misconfigured: as `install_service`.
        NotFound: `SERVICE_NOT_FOUND` if there is none to remove.
    """
    if action == "install":
        try:
            service, state = install_service(invocation)
        except Failed as error:
            way = "To run the server without it: `vault-agent serve --background`."
            what = f"{error.message.rstrip('.')}."
            raise Failed(error.code, what, error.details, remedy=way) from None
        _tell(invocation, service, state, running=True)
        return Exit.SUCCESS
    installed = installed_service(invocation)
    if action == "remove":
        if installed is None:
            raise NotFound("SERVICE_NOT_FOUND", "No service is installed.")
        remove_service(installed)
        _tell(invocation, installed, "removed", running=False)
        return Exit.SUCCESS
    if installed is None:
        _tell(invocation, _service(invocation, Path.home()), "not installed", running=False)
        return Exit.NOT_FOUND
    _tell(invocation, installed, "installed", running=is_running(installed))
    return Exit.SUCCESS


def install_service(invocation: Invocation) -> tuple[SystemService, str]:
    """Install and start the service, or update it. A server in the background ends first.

    Raises:
        Misconfigured: `SERVICE_UNSUPPORTED`, and what is wrong with the settings.
        Failed: `SERVICE_FAILED`.
    """
    from vault_agent.cli import detached
    from vault_agent.config.settings import build_config, index_directory

    layers = [layer for layer in invocation.layers() if layer.origin == "file"]
    config = build_config(layers)
    folder = index_directory(config)
    service = _service(invocation, folder)
    old = service.file.read_bytes() if service.file.is_file() else None
    program = service.start[0][0]
    if shutil.which(program) is None:
        raise Misconfigured("SERVICE_UNSUPPORTED", f"This computer has no {program}.")
    require_servable(config)
    try:
        make_private_folder(service.file.parent)
        replace_file(service.file, service.content, mode=0o644)
    except OSError as error:
        raise _failed(error) from None
    *before, last = service.start if old is None else service.restart
    stopped = None
    try:
        _control(before)  # fails where the system runs no services, so a server goes on
        stopped = detached.stop(folder)
        _control([last])
    except Failed:
        if old is None:
            service.file.unlink(missing_ok=True)
        else:
            replace_file(service.file, old, mode=0o644)
        if stopped is not None:
            how = detached.start_of(invocation.layers(), invocation.named_config())
            detached.start_server(how, folder)
        raise
    return service, "installed" if old is None else "updated"


def wait_for_service(invocation: Invocation) -> str:
    """Wait for the server that the system starts from the config file. Return its address.

    Raises:
        Failed: `SERVER_FAILED` if none answers in time.
    """
    from vault_agent.cli import detached
    from vault_agent.config.settings import build_config, index_directory

    layers = [layer for layer in invocation.layers() if layer.origin == "file"]
    address = detached.running(index_directory(build_config(layers)), within=_SECONDS_TO_ANSWER)
    if address is None:
        raise Failed("SERVER_FAILED", "The service was started, but does not answer.")
    return address.endpoint


def installed_service(invocation: Invocation) -> SystemService | None:
    """Return the service if the server is installed as one."""
    try:
        service = _service(invocation, Path.home())
    except Misconfigured:
        return None
    return service if service.file.is_file() else None


def is_running(service: SystemService) -> bool:
    """Whether the system runs the service."""
    try:
        return _run(service.is_running).returncode == 0
    except Failed:
        return False


def remove_service(service: SystemService) -> None:
    """Stop the service and remove its file.

    Raises:
        Failed: `SERVICE_FAILED` if the file cannot be removed.
    """
    if shutil.which(service.stop[0][0]) is not None:
        _control(service.stop, check=False)
    try:
        service.file.unlink()
    except OSError as error:
        raise _failed(error) from None


def _service(invocation: Invocation, folder: Path) -> SystemService:
    from vault_agent.cli.detached import LOG

    # The system starts the server without the variables of this shell.
    variables = {name: os.environ[name] for name in _PLACES if name in os.environ}
    if (file := invocation.named_config()) is not None:
        variables[CONFIG_ENV] = str(file)
    return service_of(sys.platform, Path.home(), variables, folder / LOG)


def _control(commands: Sequence[tuple[str, ...]], *, check: bool = True) -> None:
    for command in commands:
        ended = _run(command)
        if check and ended.returncode != 0 and command[1] != "bootout":
            said = " ".join(ended.stderr.decode("utf-8", "replace").split())
            raise Failed("SERVICE_FAILED", f"`{' '.join(command[:3])}` failed: {clean(said)}")


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(command, check=False, capture_output=True, timeout=_SECONDS)  # noqa: S603 - a fixed command
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failed("SERVICE_FAILED", f"`{command[0]}` failed: {type(error).__name__}.") from None


def _failed(error: OSError) -> Failed:
    return Failed("SERVICE_FAILED", f"The service's file cannot be changed: {reason_of(error)}.")


def _tell(invocation: Invocation, service: SystemService, state: str, *, running: bool) -> None:
    if invocation.json:
        envelope({"file": str(service.file), "state": state, "running": running})
        return
    now = ", running" if running else ", not running" if state == "installed" else ""
    say(f"Service {state}{now}.")
    say(f"  {clean(str(service.file))}")
    if state == "installed" and running:
        say("  vault-agent status")
