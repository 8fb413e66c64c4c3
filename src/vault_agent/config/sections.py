"""The one table of settings: a class for each section, with a field for each setting.

`make docs` makes `generated_settings.json`, the example of the config file and the page of settings
from it. The program knows a setting only after that: it takes the names from the JSON file.
`config set` checks values by the classes. The types of the fields are at the top.
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
VaultFolder = Annotated[str, AfterValidator(rules.vault_folder)]  # relative to the vault
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
    what a user should know besides. The `json_schema_extra` of a field may have `of_server`,
    `needs` and `idle_without` of `setting_names.Setting`.
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
    """More files and folders to leave out, as gitignore patterns.

    A pattern that begins with `!` cancels a default exclusion.
    """


class ServerSettings(SettingsSection):
    """The server's address, key and log level."""

    endpoint: Url | None = Field(default=None, json_schema_extra={"of_server": False})
    """URL that clients use.

    By default it is made from `server.host` and `server.port`.
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

    Without it, requests need no key. It has at least 32 characters if other computers can reach the
    server.
    """
    allowed_hosts: HostNames = ()
    """More host names by which clients may call the server.

    Exactly as clients write them, such as names of a LAN or a tailnet.
    """
    log_level: LogLevel = "warning"
    """Lowest level that is logged: debug, info, warning, error."""


class IndexSettings(SettingsSection):
    """The folder and the limits of the index."""

    dir: Folder | None = None
    """Folder for the indexes.

    It must be outside the vault. By default it is in your data folder: `config get index.dir`
    prints it.
    """
    max_note_bytes: Count = Field(default=16 * MIB, ge=1, le=1024 * MIB)
    """The most bytes of a note whose text is searched.

    Larger notes are found by title and path, and can be read.
    """
    frontmatter_fields: Names = ()
    """Properties whose values are searched as text.

    `*` is all of them. A property includes those nested in it. The values are never part of a
    result. A change of this setting rebuilds the index.
    """
    attachments: AttachmentKinds = ()
    """Kinds of attachments whose text is searched.

    They are `pdf`, `office`, `epub`, `html`, `text`, `code`, `csv`, `canvas` and `base`. Searches
    find their passages; lists, links and counts are of notes alone. A change of this setting
    rebuilds the index.
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
    """Seconds between scans of the whole vault.

    Scans find what events have missed.
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
    """Changes of notes: where, and by whom. None by default."""

    enabled: Switch = Field(
        default=False, json_schema_extra={"needs": ["write.folders or vaults.enabled"]}
    )
    """Whether notes may be changed.

    Every request needs a key then, and the server makes one at its start if there is none.
    """
    folders: WritableFolders = ()
    """Folders of vault.root where notes may be changed; . is all of it.

    Without any, no note of `vault.root` is changed. Hidden and excluded folders are never changed.
    The vaults of projects and the global one may be changed as a whole.
    """
    allow: WriteRights = (Right.CREATE, Right.APPEND, Right.EDIT)
    """Rights of agents in `write.folders`, and in the vaults of projects and the global one.

    A named agent, which calls `/mcp/NAME`, has only those that its own `write` names too. `delete`
    moves a note to `.trash/`; `permanent` does not, but undo still works. You have all rights: by
    commands, on the web page and over HTTP.
    """
    quiet_seconds: Number = Field(default=1.0, ge=0, le=60)
    """Seconds for which a note is not changed after somebody else has changed it.

    A write waits for their end, at most 6 seconds. Then it is refused with `NOTE_BUSY`.
    """
    max_per_minute: Count = Field(default=60, ge=1, le=100_000)
    """Most writes of one named agent in a minute.

    You have no limit, and agents that call plain `/mcp` have none.
    """
    undo_days: Count = Field(default=30, ge=0, le=36_500)
    """Days for which a write can be undone.

    With 0, no write can be undone.
    """
    template_folder: VaultFolder = "Templates"
    """The folder of your templates, in the vault."""
    tasks_format: Literal["auto", "emoji", "dataview"] = "auto"
    """How dates of tasks are written: auto, emoji or dataview.

    A task that has a date keeps its format. For others, `auto` is emoji.
    """


class SearchSettings(SettingsSection):
    """How folders and age weigh in searches."""

    folders: FolderWeights = ()
    """Weights of folders, whose notes count less or more in searches, such as Archive=0.5.

    The innermost of them around a note counts. Notes in none of them have the weight 1.
    """
    recency: Number = Field(default=0.0, ge=0, le=36_500)
    """Half-life, in days, of the advantage of new notes in searches; 0 gives none.

    A new note counts at most twice as much as a very old one.
    """

    @property
    def weights(self) -> Weights:
        """How much notes count by their folder and age."""
        return Weights(rules.weights_of(self.folders), self.recency)


class EmbeddingSettings(SettingsSection):
    """The local embedding provider. Off by default."""

    enabled: Switch = Field(default=False, json_schema_extra={"needs": ["embedding.model"]})
    """Whether semantic search is on.

    vault-agent never downloads a model.
    """
    endpoint: EmbeddingUrl = "http://127.0.0.1:11434/v1/embeddings"
    """OpenAI-compatible embeddings URL of a local provider, or built-in.

    On this computer, or in the private network with `embedding.allow_private_network_endpoint`.
    Note text is sent only there. `built-in` is the model of the extra `meaning`.
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
    """Most requests to the provider at once.

    During searches, one at a time is sent.
    """
    timeout_seconds: Number = Field(default=60.0, gt=0, le=3600)
    """Seconds that an index run waits for the reply to a request.

    A search waits for one second, or ten with the built-in model.
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

    On this computer, or in the private network with `embedding.allow_private_network_endpoint`.
    The passages of the best 30 results are sent there, and nowhere else.
    """
    model: ModelName | None = None
    """Model name to send to the reranker.

    Servers with one model need none.
    """
    timeout_seconds: Number = Field(default=2.0, gt=0, le=60)
    """Seconds that a search waits for the reranker.

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
    """The tools that agents get: our own, or those of another server.

    All but `vault-agent` have the names and arguments of another server's tools.
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
    """Whether the web page draws Mermaid diagrams.

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

    Without vaults.enabled, only on request and from `vault.root`. With it, agents' hooks bring
    notes, notes of projects may be promoted, and every request needs a key.
    """
    include_global: Switch = True
    """Whether notes of the global vault are recalled too.

    Only those of the types `pattern`, `snippet`, `decision` and `note`.
    """
    exclude_types: Names = ()
    """Types of notes that are never recalled."""
    auto_inject: Switch = True
    """Whether agents get notes without asking, by their hooks.

    They get a line for each note, at the start of a session and at prompts that the note is about.
    """
    show: Switch = True
    """Whether you are told which notes an agent gets."""
    hook_timeout_ms: Count = Field(default=800, ge=50, le=10_000)
    """Milliseconds after which an agent's hook gives up.

    The hook prints nothing then.
    """


class JournalSettings(SettingsSection):
    """The journal that a session leaves behind. Off by default."""

    enabled: Switch = Field(default=False, json_schema_extra={"idle_without": ["vaults.enabled"]})
    """Whether a session leaves a journal in its project's vault.

    Other vaults get no journals. Without vaults.enabled it does nothing; with it, every request
    needs a key.
    """
    ask: Switch = False
    """Whether journals are written only when you ask for them.

    The next start of an agent says how many sessions wait for one. `vault-agent memory journal
    make --all` writes them.
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
    """More secrets to remove, as regular expressions in the syntax of Python.

    Secrets of known forms are always removed.
    """
