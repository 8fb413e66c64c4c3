"""The one table of settings: a field for each, by section, above it their types and rules.

All else is made from it: `setting_names.json`, the example of the config file and the page of
settings (`make docs`), and what `config set` checks.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

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
from vault_agent.config.agents import WriteRights
from vault_agent.config.setting_names import DEFAULT_PORT, Toolset
from vault_agent.model.search import Weights
from vault_agent.model.writing import Right
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


class SettingsSection(BaseModel):
    """A table of the config file.

    The docstring of a field says what the setting is, in one sentence, and in a second paragraph
    what a user should know besides. Its `json_schema_extra` may have fields of `setting_names.Key`:
    `of_server`, `needs` and `idle_without`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


MIB = 1024 * 1024


class VaultSettings(SettingsSection):
    """The notes that are indexed."""

    root: Folder | None = None
    """The folder of notes.

    An absolute path, or one that begins with `~`.
    """
    exclude: Patterns = ()
    """Additional exclusions, as gitignore patterns.

    A pattern with `!` cancels a default exclusion.
    """


class ServerSettings(SettingsSection):
    """The server's address, key and log level."""

    endpoint: Url | None = Field(default=None, json_schema_extra={"of_server": False})
    """URL that clients use.

    By default it is made from host and port.
    """
    host: Host = "127.0.0.1"
    """Address that the server listens on.

    Any address other than loopback requires a key.
    """
    port: Port = DEFAULT_PORT
    """Port that the server listens on.

    1 to 65,535, or 0 for any free one.
    """
    api_key: Secret | None = None
    """Key that every request must have.

    At least 32 characters if other computers can reach the server.
    """
    allowed_hosts: HostNames = ()
    """More names by which clients call the server.

    Exactly as clients write them: names of a LAN or a tailnet.
    """
    log_level: LogLevel = "warning"
    """Lowest level that is logged: debug, info, warning, error."""


class IndexSettings(SettingsSection):
    """The folder and the limits of the index."""

    dir: Folder | None = None
    """Folder for the indexes.

    Outside the vault. By default in the user's data folder: `config get index.dir` prints it.
    """
    max_note_bytes: Count = Field(default=16 * MIB, ge=1, le=1024 * MIB)
    """The text of larger notes is not searched.

    They are found by title and path, and can be read.
    """
    frontmatter_fields: Names = ()
    """Properties whose values are searched as text.

    `*` is all of them. A name includes those nested in it. The values are never part of a result.
    The index is rebuilt after a change.
    """
    attachments: AttachmentKinds = ()
    """Kinds of attachments whose text is searched.

    They are `pdf`, `office`, `epub`, `html`, `text`, `code`, `csv`, `canvas` and `base`. Searches
    find their passages; lists, links and counts stay those of notes. The next index run reads them.
    """


class WatchSettings(SettingsSection):
    """Whether changes of the vault are noticed, and how. Off by default."""

    enabled: Switch = False
    """Whether changes of notes are noticed and indexed."""
    mode: Literal["auto", "events", "poll"] = "auto"
    """How changes are noticed: auto, events or poll.

    `auto` takes events where the file system has them, and else `poll` (scans).
    """
    rescan_seconds: Count = Field(default=300, ge=30, le=86_400)
    """Time between scans of the whole vault.

    They find what events have missed.
    """


class VaultsSettings(SettingsSection):
    """Vaults besides `vault.root`. Off by default."""

    enabled: Switch = False
    """Whether project vaults and the global vault are served too.

    `vault-agent init` turns it on.
    """
    global_root: Folder | None = None
    """The folder of the global vault.

    By default `.vault-agent/vault` in your home folder.
    """


class WriteSettings(SettingsSection):
    """Changes of notes. None by default.

    `folders` are those of the vault of `vault.root`. The vaults of projects and the global one may
    be changed as a whole.
    """

    enabled: Switch = Field(
        default=False, json_schema_extra={"needs": ["write.folders or vaults.enabled"]}
    )
    """Whether notes may be changed.

    Every request needs a key then, and the server makes one at its start if there is none.
    """
    folders: WritableFolders = ()
    """Where notes may be changed; . is the whole vault.

    Folders of vault.root. Without any, that vault is never changed. Hidden and excluded folders
    never are. The vaults of projects and the global one may be changed as a whole.
    """
    allow: WriteRights = (Right.CREATE, Right.APPEND, Right.EDIT)
    """Rights of agents there, and of every client of the plain address `/mcp`.

    `overwrite`, `move` and `delete` can hide text from a reader. `permanent` deletes without
    `.trash/`; undo still works. Your commands and the web page have all rights.
    """
    quiet_seconds: Number = Field(default=1.0, ge=0, le=60)
    """A note that somebody else has just changed is waited for.

    So many seconds after the change, at most 6.
    """
    max_per_minute: Count = Field(default=60, ge=1, le=100_000)
    """Most writes of one agent in a minute.

    The owner has no limit.
    """
    undo_days: Count = Field(default=30, ge=0, le=36_500)
    """Days for which a write can be undone.

    0 keeps nothing.
    """
    template_folder: VaultFolder = "Templates"
    """The folder of your templates."""
    tasks_format: Literal["auto", "emoji", "dataview"] = "auto"
    """How dates of tasks are written: auto, emoji or dataview.

    `auto` writes them as the task has them.
    """


class SearchSettings(SettingsSection):
    """The limits of searches."""

    folders: FolderWeights = ()
    """Folders whose notes count less or more in searches, such as Archive=0.5.

    The innermost folder of a note counts. The others have the weight 1.
    """
    recency: Number = Field(default=0.0, ge=0, le=36_500)
    """Half-life in days of what new notes are ahead in searches, or 0 for nothing.

    At most, a note counts twice as much as a very old one.
    """

    @property
    def weights(self) -> Weights:
        """How much notes count by their place and age."""
        return Weights(rules.weights_of(self.folders), self.recency)


class EmbeddingSettings(SettingsSection):
    """The local embedding provider. Off by default."""

    enabled: Switch = Field(default=False, json_schema_extra={"needs": ["embedding.model"]})
    """Whether semantic search is on.

    vault-agent never downloads a model.
    """
    endpoint: EmbeddingUrl = "http://127.0.0.1:11434/v1/embeddings"
    """OpenAI-compatible embeddings URL of a local provider, or built-in.

    On this computer, or in the private network if that is allowed. Note text is sent only there.
    `built-in` is the model of the extra `meaning`.
    """
    model: ModelName | None = None
    """Model name to send to the provider."""
    require: Switch = False
    """Whether an index job fails if it cannot create embeddings.

    Otherwise it warns.
    """
    allow_private_network_endpoint: Switch = False
    """Whether the provider may be on another computer in the private network."""
    concurrency: Count = Field(default=2, ge=1, le=32)
    """Concurrent requests.

    Fewer while the endpoint is overloaded, and during searches.
    """
    timeout_seconds: Number = Field(default=60.0, gt=0, le=3600)
    """Timeout of a request in seconds.

    It is that of an index run. A search waits for one second.
    """
    query_prefix: Prefix | None = None
    """Text added before a query, for models that need it.

    The default depends on the model. `""` in the file adds nothing.
    """
    document_prefix: Prefix | None = None
    """Text added before a chunk, for models that need it.

    `{title}` stands for the note's title. The default depends on the model.
    """


class RerankSettings(SettingsSection):
    """A local reranker, which reorders the best results of a search. Off by default."""

    enabled: Switch = Field(default=False, json_schema_extra={"needs": ["rerank.endpoint"]})
    """Whether a reranker sorts the best results."""
    endpoint: Url | None = None
    """URL of a local reranker, such as http://127.0.0.1:8080/v1/rerank.

    On this computer, or in the private network if that is allowed. The passages of the best 30
    results are sent there, and nowhere else.
    """
    model: ModelName | None = None
    """Model name to send to it.

    Servers with one model need none.
    """
    timeout_seconds: Number = Field(default=2.0, gt=0, le=60)
    """Seconds that a search waits for it.

    After that, the results stay in their usual order.
    """


class CliSettings(SettingsSection):
    """The command line."""

    open_in: Literal["auto", "editor", "obsidian", "ui"] = Field(
        default="auto", json_schema_extra={"of_server": False}
    )
    """Where `open` opens notes: auto, editor, obsidian or ui.

    `auto` takes `$VISUAL` or `$EDITOR` if one is set. Else it takes Obsidian if the vault has an
    `.obsidian` folder, else the web page if it is on, else the system's program for Markdown files.
    """


class CorsSettings(SettingsSection):
    """Web pages that may call the server. None by default."""

    enabled: Switch = Field(
        default=False, json_schema_extra={"idle_without": ["cors.allowed_origins"]}
    )
    """Whether listed web origins may call the server."""
    allowed_origins: Origins = ()
    """The web origins that may call the server.

    `*` is refused, and credentials are never allowed.
    """


class McpSettings(SettingsSection):
    """The MCP endpoint for agents. Off by default."""

    enabled: Switch = False
    """Whether agents may call the server at /mcp."""
    toolset: Toolset = "vault-agent"
    """Whose names and arguments the tools have.

    Four are those of other servers.
    """


class WebSettings(SettingsSection):
    """The web page at /ui/. Off by default."""

    enabled: Switch = False
    """Whether the server has a web page at /ui/.

    `serve --web` switches it on for one run.
    """
    open_on_serve: Switch = Field(
        default=False, json_schema_extra={"of_server": False, "idle_without": ["web.enabled"]}
    )
    """Whether `serve` opens the web page."""
    diagrams: Switch = False
    """Whether the web page draws diagrams of Mermaid.

    Otherwise it shows their source.
    """
    remote_pictures: Switch = False
    """Whether the web page loads pictures of other servers.

    Their servers then learn your address, and when you read the note.
    """


class MemorySettings(SettingsSection):
    """The memory of earlier sessions. Off by default."""

    enabled: Switch = Field(default=False, json_schema_extra={"idle_without": ["vaults.enabled"]})
    """Whether notes of earlier sessions are recalled.

    Notes of projects may be promoted then, and every request needs a key.
    """
    include_global: Switch = True
    """Whether the global vault is recalled too.

    Its patterns, snippets, decisions and notes.
    """
    exclude_types: Names = ()
    """Types of notes that are never recalled."""
    auto_inject: Switch = True
    """Whether agents' hooks get notes without asking.

    An index of them, at the start of a session and at prompts that they are about.
    """
    show: Switch = True
    """Whether the person is told which notes an agent gets."""
    hook_timeout_ms: Count = Field(
        default=800, ge=50, le=10_000, json_schema_extra={"of_server": False}
    )
    """Milliseconds after which an agent's hook gives up.

    It prints nothing then.
    """


class JournalSettings(SettingsSection):
    """The journal that a session leaves behind. Off by default."""

    enabled: Switch = Field(default=False, json_schema_extra={"idle_without": ["vaults.enabled"]})
    """Whether a session leaves a journal in its project's vault.

    It reaches only vaults of projects. Every request needs a key then.
    """
    ask: Switch = False
    """Whether journals are written only when you ask for them.

    The next start of an agent says so. `vault-agent memory journal make` writes them.
    """
    command: Program | None = None
    """A program that writes journals, such as `claude -p` or `ollama run MODEL`.

    It gets the session as text, without the secrets that vault-agent knows, and prints Markdown.
    Without it, a journal is the dialogue of the session.
    """
    exclude: SessionFolders = ()
    """Folders whose sessions have no journal.

    Absolute, below `~`, or relative to a project, which is `.`.
    """
    redact_patterns: SecretPatterns = ()
    """More secrets, as regular expressions.

    In the syntax of Python. Known forms are always removed.
    """
