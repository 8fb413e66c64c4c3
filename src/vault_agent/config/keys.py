"""The names of all settings, in plain Python: a command that only needs a few stays fast.

`settings.py` gives each key its type, rule and default; a test holds the two together.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

ENV_PREFIX = "VAULT_AGENT_"
CONFIG_ENV = "VAULT_AGENT_CONFIG"  # names the config file; not a key of it

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8787


@dataclass(frozen=True, slots=True)
class Key:
    """A setting: dotted name, what it does in one line, and how its value is treated."""

    name: str
    summary: str
    secret: bool = False  # printed as set or unset only
    path: bool = False  # a folder: `~` is expanded, flags and environment may be relative
    many: bool = False  # a list; one string holds several, separated by commas

    @property
    def section(self) -> str:
        """The TOML table."""
        return self.name.partition(".")[0]

    @property
    def option(self) -> str:
        """The name within the table."""
        return self.name.partition(".")[2]

    @property
    def environment(self) -> str:
        """The environment variable."""
        return ENV_PREFIX + self.name.replace(".", "_").upper()


_ALL = (
    Key("vault.root", "the folder of notes", path=True),
    Key("vault.exclude", "more to leave out, as gitignore patterns", many=True),
    Key("server.endpoint", "where clients find the server"),
    Key("server.host", "address that the server binds"),
    Key("server.port", "port that the server binds"),
    Key("server.api_key", "key that every request must carry", secret=True),
    Key("server.log_level", "least level that is logged: debug, info, warning, error"),
    Key("index.dir", "folder that holds the indexes", path=True),
    Key("index.max_note_bytes", "larger notes are listed but not cut into chunks"),
    Key("index.at_start", "whether a server that starts brings the index up to date"),
    Key("embedding.enabled", "whether vectors are made and searched"),
    Key("embedding.endpoint", "OpenAI-compatible embeddings URL of a local provider"),
    Key("embedding.model", "model name to send to the provider"),
    Key("embedding.require", "whether an index job without embeddings is a failure"),
    Key(
        "embedding.allow_private_network_endpoint",
        "whether the provider may be on the private network, not only on this computer",
    ),
    Key("embedding.batch_size", "texts in one request"),
    Key("embedding.concurrency", "requests in flight at once"),
    Key("embedding.timeout_seconds", "patience with one request"),
    Key("embedding.query_prefix", "text put before a query, as some models want"),
    Key("embedding.document_prefix", "text put before a chunk, as some models want"),
    Key("cors.enabled", "whether listed web origins may call the server"),
    Key("cors.allowed_origins", "those origins, one by one", many=True),
)

KEYS: dict[str, Key] = {key.name: key for key in _ALL}
SECTIONS = tuple(dict.fromkeys(key.section for key in _ALL))
ENVIRONMENT: dict[str, Key] = {key.environment: key for key in _ALL}


def nearest(name: str, known: list[str]) -> str:
    """Return ` (did you mean …?)` for the known name most like `name`, or an empty string."""
    close = get_close_matches(name, known, n=1, cutoff=0.6)
    return f" (did you mean {close[0]}?)" if close else ""
