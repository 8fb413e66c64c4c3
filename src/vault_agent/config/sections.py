"""The one table of settings: a row for each, by section, above it their types and rules.

All else is made from it: `setting_names.json`, the example of the config file and the page of
settings (`make docs`), and what `config set` checks.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    StringConstraints,
)

from vault_agent.config import rules
from vault_agent.config.agents import Folder as VaultFolder
from vault_agent.config.agents import WriteRight
from vault_agent.config.setting_names import DEFAULT_PORT, Toolset
from vault_agent.model.search import Weights
from vault_agent.text.names import AttachmentKind

LogLevel = Literal["debug", "info", "warning", "error"]


def _number(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("must be a number")  # noqa: TRY004 - pydantic reports ValueError only
    return value


def _switch(value: object) -> object:
    if not isinstance(value, (bool, str)):
        raise ValueError("must be true or false")  # noqa: TRY004
    return value


def _secret_key(value: SecretStr) -> SecretStr:
    rules.api_key(value.get_secret_value())
    return value


Folder = Annotated[Path, BeforeValidator(rules.folder)]
Count = Annotated[int, BeforeValidator(_number)]
Number = Annotated[float, BeforeValidator(_number)]
Switch = Annotated[bool, BeforeValidator(_switch)]
Url = Annotated[str, AfterValidator(rules.http_url)]
EmbeddingUrl = Annotated[str, AfterValidator(rules.embedding_url)]
Host = Annotated[str, AfterValidator(rules.host)]
Port = Annotated[int, BeforeValidator(rules.port)]
Secret = Annotated[SecretStr, AfterValidator(_secret_key)]
Program = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]
ModelName = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)]
Prefix = Annotated[str, StringConstraints(max_length=1000)]
Patterns = Annotated[tuple[str, ...], BeforeValidator(rules.ignore_patterns)]
AttachmentKinds = Annotated[tuple[AttachmentKind, ...], BeforeValidator(rules.once)]
Names = Annotated[tuple[str, ...], BeforeValidator(rules.names)]
Origins = Annotated[tuple[str, ...], BeforeValidator(rules.origins)]

HostNames = Annotated[tuple[str, ...], BeforeValidator(rules.host_names)]
WritableFolders = Annotated[tuple[str, ...], BeforeValidator(rules.writable_folders)]
FolderWeights = Annotated[tuple[str, ...], BeforeValidator(rules.folder_weights)]
SessionFolders = Annotated[tuple[str, ...], BeforeValidator(rules.session_folders)]
SecretPatterns = Annotated[tuple[str, ...], BeforeValidator(rules.secret_patterns)]
Rights = Annotated[tuple[WriteRight, ...], BeforeValidator(rules.once)]


class SettingsSection(BaseModel):
    """A table of the config file. Each field is made by `setting`."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


def setting(
    default: Any,
    summary: str,
    *,
    help: str = "",  # noqa: A002 - the word of all commands
    of_server: bool = True,
    needs: tuple[str, ...] = (),
    idle_without: tuple[str, ...] = (),
    ge: float | None = None,
    gt: float | None = None,
    le: float | None = None,
) -> Any:
    """Return a field with all that is known of a setting.

    Args:
        default: its value if it is not set.
        summary: what it is, in one line.
        help: what a user should know besides.
        of_server: whether a server reads it.
        needs: settings without which the switch cannot be true; `a or b` means one of them.
        idle_without: switches without which it may be true, but does nothing.
        ge, gt, le: limits, as in pydantic.
    """
    more: dict[str, Any] = {
        "of_server": of_server,
        "needs": needs,
        "idle_without": idle_without,
    }
    return Field(
        default,
        description=summary,
        json_schema_extra={"help": help, **more},
        ge=ge,
        gt=gt,
        le=le,
    )


MIB = 1024 * 1024


class VaultSettings(SettingsSection):
    """The notes that are indexed."""

    root: Folder | None = setting(
        None, "the folder of notes", help="An absolute path, or one that begins with `~`."
    )
    exclude: Patterns = setting(
        (),
        "additional exclusions, as gitignore patterns",
        help="A pattern with `!` cancels a default exclusion.",
    )


class ServerSettings(SettingsSection):
    """The server's address, key and log level."""

    endpoint: Url | None = setting(
        None,
        "URL that clients use",
        help="By default it is made from host and port.",
        of_server=False,
    )
    host: Host = setting(
        "127.0.0.1",
        "address that the server listens on",
        help="Any address other than loopback requires a key.",
    )
    port: Port = setting(
        DEFAULT_PORT, "port that the server listens on", help="1 to 65,535, or 0 for any free one."
    )
    api_key: Secret | None = setting(
        None,
        "key that every request must have",
        help="At least 32 characters if other computers can reach the server.",
    )
    allowed_hosts: HostNames = setting(
        (),
        "more names by which clients call the server",
        help="Exactly as clients write them: names of a LAN or a tailnet.",
    )
    log_level: LogLevel = setting(
        "warning", "lowest level that is logged: debug, info, warning, error"
    )


class IndexSettings(SettingsSection):
    """The folder and the limits of the index."""

    dir: Folder | None = setting(
        None,
        "folder for the indexes",
        help=(
            "Outside the vault. By default in the user's data folder: `config get index.dir` "
            "prints it."
        ),
    )
    max_note_bytes: Count = setting(
        16 * MIB,
        "the text of larger notes is not searched",
        help="They are found by title and path, and can be read.",
        ge=1,
        le=1024 * MIB,
    )
    frontmatter_fields: Names = setting(
        (),
        "properties whose values are searched as text",
        help=(
            "`*` is all of them. A name includes those nested in it. The values are never "
            "part of a result. The index is rebuilt after a change."
        ),
    )
    attachments: AttachmentKinds = setting(
        (),
        "kinds of attachments whose text is searched",
        help=(
            "They are `pdf`, `office`, `epub`, `html`, `text`, `code`, `csv`, `canvas` and `base`. "
            "Searches find their passages; lists, links and counts stay those of notes. The next "
            "index run reads them."
        ),
    )


class WatchSettings(SettingsSection):
    """Whether changes of the vault are noticed, and how. Off by default."""

    enabled: Switch = setting(False, "whether changes of notes are noticed and indexed")
    mode: Literal["auto", "events", "poll"] = setting(
        "auto",
        "how changes are noticed: auto, events or poll",
        help="`auto` takes events where the file system has them, and else `poll` (scans).",
    )
    rescan_seconds: Count = setting(
        300,
        "time between scans of the whole vault",
        help="They find what events have missed.",
        ge=30,
        le=86_400,
    )


class VaultsSettings(SettingsSection):
    """Vaults besides `vault.root`. Off by default."""

    enabled: Switch = setting(
        False,
        "whether project vaults and the global vault are served too",
        help="`vault-agent init` turns it on.",
    )
    global_root: Folder | None = setting(
        None,
        "the folder of the global vault",
        help="By default `.vault-agent/vault` in your home folder.",
    )


class WriteSettings(SettingsSection):
    """Changes of notes. None by default.

    `folders` are those of the vault of `vault.root`. The vaults of projects and the global one may
    be changed as a whole.
    """

    enabled: Switch = setting(
        False,
        "whether notes may be changed",
        help=(
            "Every request needs a key then, and the server makes one at its start if there "
            "is none."
        ),
        needs=("write.folders or vaults.enabled",),
    )
    folders: WritableFolders = setting(
        (),
        "where notes may be changed; . is the whole vault",
        help=(
            "Folders of vault.root. Without any, that vault is never changed. Hidden and "
            "excluded folders never are. The vaults of projects and the global one may be "
            "changed as a whole."
        ),
    )
    allow: Rights = setting(
        ("create", "append", "edit"),
        "rights of agents there",
        help=(
            "`overwrite`, `move` and `delete` can hide text from a reader. `permanent` deletes "
            "without `.trash/`; undo still works. It is no limit for you."
        ),
    )
    quiet_seconds: Number = setting(
        1.0,
        "a note that somebody else has just changed is waited for",
        help="So many seconds after the change, at most 6.",
        ge=0,
        le=60,
    )
    max_per_minute: Count = setting(
        60, "most writes of one agent in a minute", help="The owner has no limit.", ge=1, le=100_000
    )
    undo_days: Count = setting(
        30, "days for which a write can be undone", help="0 keeps nothing.", ge=0, le=36_500
    )
    template_folder: VaultFolder = setting("Templates", "the folder of your templates")
    tasks_format: Literal["auto", "emoji", "dataview"] = setting(
        "auto",
        "how dates of tasks are written: auto, emoji or dataview",
        help="`auto` writes them as the task has them.",
    )


class SearchSettings(SettingsSection):
    """The limits of searches."""

    folders: FolderWeights = setting(
        (),
        "folders whose notes count less or more in searches, such as Archive=0.5",
        help="The innermost folder of a note counts. The others have the weight 1.",
    )
    recency: Number = setting(
        0.0,
        "half-life in days of what new notes are ahead in searches, or 0 for nothing",
        help="At most, a note counts twice as much as a very old one.",
        ge=0,
        le=36_500,
    )

    @property
    def weights(self) -> Weights:
        """How much notes count by their place and age."""
        return Weights(rules.weights_of(self.folders), self.recency)


class EmbeddingSettings(SettingsSection):
    """The local embedding provider. Off by default."""

    enabled: Switch = setting(
        False,
        "whether semantic search is on",
        help="vault-agent never downloads a model.",
        needs=("embedding.model",),
    )
    endpoint: EmbeddingUrl = setting(
        "http://127.0.0.1:11434/v1/embeddings",
        "OpenAI-compatible embeddings URL of a local provider, or built-in",
        help=(
            "On this computer, or in the private network if that is allowed. Note text is "
            "sent only there. `built-in` is the model of the extra `meaning`."
        ),
    )
    model: ModelName | None = setting(None, "model name to send to the provider")
    require: Switch = setting(
        False,
        "whether an index job fails if it cannot create embeddings",
        help="Otherwise it warns.",
    )
    allow_private_network_endpoint: Switch = setting(
        False, "whether the provider may be on another computer in the private network"
    )
    concurrency: Count = setting(
        2,
        "concurrent requests",
        help="Fewer while the endpoint is overloaded, and during searches.",
        ge=1,
        le=32,
    )
    timeout_seconds: Number = setting(
        60.0,
        "timeout of a request in seconds",
        help="It is that of an index run. A search waits for one second.",
        gt=0,
        le=3600,
    )
    query_prefix: Prefix | None = setting(
        None,
        "text added before a query, for models that need it",
        help='The default depends on the model. `""` in the file adds nothing.',
    )
    document_prefix: Prefix | None = setting(
        None,
        "text added before a chunk, for models that need it",
        help="`{title}` stands for the note's title. The default depends on the model.",
    )


class RerankSettings(SettingsSection):
    """A local reranker, which reorders the best results of a search. Off by default."""

    enabled: Switch = setting(
        False, "whether a reranker sorts the best results", needs=("rerank.endpoint",)
    )
    endpoint: Url | None = setting(
        None,
        "URL of a local reranker, such as http://127.0.0.1:8080/v1/rerank",
        help=(
            "On this computer, or in the private network if that is allowed. The passages of "
            "the best 30 results are sent there, and nowhere else."
        ),
    )
    model: ModelName | None = setting(
        None, "model name to send to it", help="Servers with one model need none."
    )
    timeout_seconds: Number = setting(
        2.0,
        "seconds that a search waits for it",
        help="After that, the results stay in their usual order.",
        gt=0,
        le=60,
    )


class CliSettings(SettingsSection):
    """The command line."""

    open_in: Literal["auto", "editor", "obsidian", "ui"] = setting(
        "auto",
        "where `open` opens notes: auto, editor, obsidian or ui",
        help=(
            "`auto` takes `$VISUAL` or `$EDITOR` if one is set. Else it takes Obsidian if the "
            "vault has an `.obsidian` folder, else the web page if it is on, else the system's "
            "program for Markdown files."
        ),
        of_server=False,
    )


class CorsSettings(SettingsSection):
    """Web pages that may call the server. None by default."""

    enabled: Switch = setting(
        False,
        "whether listed web origins may call the server",
        idle_without=("cors.allowed_origins",),
    )
    allowed_origins: Origins = setting(
        (),
        "the web origins that may call the server",
        help="`*` is refused, and credentials are never allowed.",
    )


class McpSettings(SettingsSection):
    """The MCP endpoint for agents. Off by default."""

    enabled: Switch = setting(False, "whether agents may call the server at /mcp")
    toolset: Toolset = setting(
        "vault-agent",
        "whose names and arguments the tools have",
        help="Four are those of other servers.",
    )


class WebSettings(SettingsSection):
    """The web page at /ui/. Off by default."""

    enabled: Switch = setting(
        False,
        "whether the server has a web page at /ui/",
        help="`serve --web` switches it on for one run.",
    )
    open_on_serve: Switch = setting(
        False, "whether `serve` opens the web page", of_server=False, idle_without=("web.enabled",)
    )
    diagrams: Switch = setting(
        False,
        "whether the web page draws diagrams of Mermaid",
        help="Otherwise it shows their source.",
    )
    remote_pictures: Switch = setting(
        False,
        "whether the web page loads pictures of other servers",
        help="Their servers then learn your address, and when you read the note.",
    )


class MemorySettings(SettingsSection):
    """The memory of earlier sessions. Off by default."""

    enabled: Switch = setting(
        False,
        "whether notes of earlier sessions are recalled",
        help="Notes of projects may be promoted then, and every request needs a key.",
        idle_without=("vaults.enabled",),
    )
    include_global: Switch = setting(
        True,
        "whether the global vault is recalled too",
        help="Its patterns, snippets, decisions and notes.",
    )
    exclude_types: Names = setting((), "types of notes that are never recalled")
    auto_inject: Switch = setting(
        True,
        "whether agents' hooks get notes without asking",
        help="An index of them, at the start of a session and at prompts that they are about.",
    )
    show: Switch = setting(True, "whether the person is told which notes an agent gets")
    hook_timeout_ms: Count = setting(
        800,
        "milliseconds after which an agent's hook gives up",
        help="It prints nothing then.",
        ge=50,
        le=10_000,
        of_server=False,
    )


class JournalSettings(SettingsSection):
    """The journal that a session leaves behind. Off by default."""

    enabled: Switch = setting(
        False,
        "whether a session leaves a journal in its project's vault",
        help="It reaches only vaults of projects. Every request needs a key then.",
        idle_without=("vaults.enabled",),
    )
    ask: Switch = setting(
        False,
        "whether journals are written only when you ask for them",
        help="The next start of an agent says so. `vault-agent memory journal make` writes them.",
    )
    command: Program | None = setting(
        None,
        "a program that writes journals, such as `claude -p` or `ollama run MODEL`",
        help="It gets the session as text, without the secrets that vault-agent knows, and prints"
        " Markdown. Without it, a journal is the dialogue of the session.",
    )
    exclude: SessionFolders = setting(
        (),
        "folders whose sessions have no journal",
        help="Absolute, below `~`, or relative to a project, which is `.`.",
    )
    redact_patterns: SecretPatterns = setting(
        (),
        "more secrets, as regular expressions",
        help="In the syntax of Python. Known forms are always removed.",
    )
