"""Checks of single values, for the full settings and for the few that a client reads.

Each check returns the value in its normal form, or raises ValueError with a rule. The rule never
repeats the value, which may be a secret.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from vault_agent.config.layers import user_folder
from vault_agent.model.identifiers import identify
from vault_agent.model.modes import BUILT_IN
from vault_agent.text.gitignore import ignore_pattern, is_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

SHORTEST_KEY_OFF_LOOPBACK = 32
MOST_WEIGHT = 4

# Patterns are compiled at their first use: a client has use for few of them.
_TOKEN68 = r"[A-Za-z0-9\-._~+/]+=*"  # of RFC 9110
_DECIMAL = r"[0-9]{1,4}(\.[0-9]{1,6})?"
_HOST = r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9.])?"


def http_url(value: str) -> str:
    """Return an http or https URL without credentials, query, fragment and trailing slash."""
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be a URL that starts with http:// or https://")
    if parts.username is not None or parts.password is not None:
        raise ValueError("must not hold a user name or password")
    if parts.query or parts.fragment or value.endswith(("?", "#")):
        raise ValueError("must not have a query or fragment")
    if any(character.isspace() or not character.isprintable() for character in value):
        raise ValueError("must not hold spaces or control characters")
    try:
        parts.port  # noqa: B018 - the property raises if the port is invalid
    except ValueError:
        raise ValueError("must have a port from 1 to 65535, or none") from None
    return value.rstrip("/")


def embedding_url(value: str) -> str:
    """Return an address as `http_url` does, or that of the built-in model."""
    return value if value == BUILT_IN else http_url(value)


def api_key(value: str) -> str:
    """Return a key that fits an `Authorization: Bearer` header."""
    if not re.fullmatch(_TOKEN68, value):
        raise ValueError("must contain only letters, digits and - . _ ~ + /, like a Bearer token")
    return value


def host(value: str) -> str:
    """Return an IP address or host name to bind. Brackets around IPv6 are removed."""
    bare = value[1:-1] if value.startswith("[") and value.endswith("]") else value
    try:
        return str(ip_address(bare))
    except ValueError:
        if not re.fullmatch(_HOST, bare):
            raise ValueError("must be an IP address or a host name") from None
        return bare


def host_names(value: object) -> tuple[str, ...]:
    """Return names or addresses of this server, in lower case, without duplicates."""
    return tuple(dict.fromkeys(host(item).lower() for item in text_list(value)))


def port(value: object) -> int:
    """Return a TCP port, 0 for any free one. Text is accepted, for environment variables."""
    number = None
    if isinstance(value, int) and not isinstance(value, bool):
        number = value
    elif isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        number = int(value.strip()[:6])
    if number is None or not 0 <= number <= 65535:
        raise ValueError("must be a port from 1 to 65535, or 0 for any free one")
    return number


def switch(value: object) -> bool:
    """Return a boolean, which text may spell as pydantic accepts it."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        text = value.lower()
        if text in ("1", "true", "t", "yes", "y", "on"):
            return True
        if text in ("0", "false", "f", "no", "n", "off"):
            return False
    raise ValueError("must be true or false")


def folder(value: object) -> Path:
    """Return an absolute path with `~` expanded. It need not exist."""
    if not isinstance(value, (str, Path)) or "\0" in str(value):
        raise ValueError("must be a path")
    try:
        path = Path(value).expanduser()
    except RuntimeError:
        raise ValueError("starts with ~ for an unknown user") from None
    if not path.is_absolute():
        raise ValueError("must be an absolute path, or start with ~")
    return path


def vault_identity(root: Path) -> str:
    """Return the identity of the vault in a folder. Symbolic links are followed."""
    # Not Path.resolve, which fails for a loop of links. Opening the folder reports that.
    return identify(os.path.realpath(root))


def index_folder(root: Path, parent: Path | None) -> Path:
    """Return the folder of a vault's index: `{parent or user data}/indexes/{identity}`."""
    return Path(os.path.realpath(data_folder(parent))) / "indexes" / vault_identity(root)


def holds_index(root: Path, parent: Path | None) -> bool:
    """Whether the index of a vault would be inside the vault."""
    return index_folder(root, parent).is_relative_to(os.path.realpath(root))


def data_folder(parent: Path | None) -> Path:
    """Return the folder for all indexes: `parent`, which is `index.dir`, or the user's data."""
    return parent or user_folder("data")


def text_list(value: object) -> tuple[str, ...]:
    """Return a list of texts from a list, a JSON list, or text separated by commas."""
    if isinstance(value, str):
        value = _split(value)
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise ValueError("must be a list of texts, or texts separated by commas")
    return tuple(item for item in value if item)


def _split(value: str) -> object:
    if value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except ValueError:
            pass  # a gitignore pattern may begin with a bracket
    return [item.strip() for item in value.split(",")]


def ignore_patterns(value: object) -> tuple[str, ...]:
    """Return gitignore patterns. A pattern that can never match is an error."""
    patterns = text_list(value)
    for number, pattern in enumerate(patterns, 1):
        if is_pattern(pattern) and ignore_pattern(pattern) is None:
            raise ValueError(f"item {number} is not a valid gitignore pattern")
    return patterns


def names(value: object) -> tuple[str, ...]:
    """Return names of frontmatter fields, without duplicates. `*` stands for all."""
    fields = tuple(dict.fromkeys(item.strip() for item in text_list(value)))
    if not all(0 < len(name) <= 200 for name in fields):
        raise ValueError("must be names of frontmatter fields, or *")
    return fields


def folder_weights(value: object) -> tuple[str, ...]:
    """Return folders of the vault with their weights, such as `Archive=0.5`."""
    return tuple(f"{folder}={weight:g}" for folder, weight in weights_of(text_list(value)).items())


def weights_of(items: Iterable[str]) -> dict[str, float]:
    """Return the weight of each folder."""
    weights: dict[str, float] = {}
    for item in items:
        folder, sign, weight = item.rpartition("=")
        number = float(weight) if sign and re.fullmatch(_DECIMAL, weight.strip()) else 0.0
        if not 0 < number <= MOST_WEIGHT:
            what = f"more than 0 and at most {MOST_WEIGHT}"
            raise ValueError(f"must be folders with a weight, {what}, such as Archive=0.5")
        weights[vault_folder(folder.strip())] = number
    return weights


def session_folders(value: object) -> tuple[str, ...]:
    """Return folders: absolute, below `~`, or relative to a project, which is `.`."""
    folders = tuple(dict.fromkeys(item.strip() for item in text_list(value)))
    if not all(0 < len(item) <= 4_000 and item.isprintable() for item in folders):
        raise ValueError("must be folders: absolute, below ~, or relative to a project")
    return folders


def secret_patterns(value: object) -> tuple[str, ...]:
    """Return regular expressions for secrets. One that matches nothing at all is an error."""
    patterns = tuple(dict.fromkeys(text_list(value)))
    for number, item in enumerate(patterns, 1):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", FutureWarning)
                empty = re.compile(item, re.MULTILINE).search("") is not None
        except (re.error, RecursionError, OverflowError, FutureWarning):
            raise ValueError(f"item {number} is not a valid regular expression") from None
        if empty or len(item) > 1_000:
            raise ValueError(f"item {number} matches empty text, or has over 1,000 characters")
    return patterns


def once(value: object) -> tuple[str, ...]:
    """Return names without duplicates."""
    return tuple(dict.fromkeys(item.strip() for item in text_list(value)))


def origins(value: object) -> tuple[str, ...]:
    """Return web origins in normal form, without duplicates."""
    return tuple(dict.fromkeys(origin(item) for item in text_list(value)))


def origin(value: str) -> str:
    """Return a web origin as browsers send it: scheme, host, and a port that is not default."""
    rule = "must be an origin such as https://notes.example, without a path and without *"
    try:
        parts = urlsplit(http_url(value))
    except ValueError:
        raise ValueError(rule) from None
    if parts.path or not parts.hostname or "*" in value:
        raise ValueError(rule)
    name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    default = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{name}" + (
        f":{parts.port}" if parts.port and parts.port != default else ""
    )


def is_loopback(name: str) -> bool:
    """Whether a host name or address is a loopback one, which no other computer can reach."""
    if name.lower() == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def is_local(endpoint: str) -> bool:
    """Whether a server with this URL is on this computer."""
    return is_loopback(urlsplit(endpoint).hostname or "")


def endpoint_of(bind_host: str, bind_port: int) -> str:
    """Return the URL at which this computer reaches a server bound to this address."""
    try:
        address = ip_address(bind_host)
    except ValueError:
        return f"http://{bind_host}:{bind_port}"
    if address.is_unspecified:
        address = ip_address("127.0.0.1" if address.version == 4 else "::1")
    name = f"[{address}]" if address.version == 6 else str(address)
    return f"http://{name}:{bind_port}"


def vault_folder(value: str) -> str:
    """Return a folder of the vault as a path with `/`, without outer slashes; "" is the vault."""
    parts = [part for part in value.replace("\\", "/").split("/") if part not in ("", ".")]
    if ".." in parts or "\0" in value or any(":" in part for part in parts[:1]):
        raise ValueError("must be a folder of the vault, relative to it")
    return "/".join(parts)


def seen_folders(value: object) -> tuple[str, ...]:
    """Return the folders that an agent sees; () for the whole vault, which is written as ".".

    A single folder may be a string.
    """
    listed = [value] if isinstance(value, str) else value
    if (
        not isinstance(listed, list | tuple)
        or not listed
        or not all(isinstance(folder, str) and folder.strip() for folder in listed)
    ):
        raise ValueError('must be folders of the vault, or "." for the whole vault')
    folders = tuple(dict.fromkeys(map(vault_folder, listed)))
    return () if "" in folders else folders


def writable_folders(value: object) -> tuple[str, ...]:
    """Return folders of the vault that may be written, without duplicates; "." is the vault."""
    folders = tuple(dict.fromkeys(vault_folder(item.strip()) or "." for item in text_list(value)))
    names = [part for folder in folders if folder != "." for part in folder.split("/")]
    if any(name.startswith(".") for name in names):
        raise ValueError("must be folders of the vault whose names do not begin with a dot")
    return folders
