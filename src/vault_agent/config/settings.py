"""All settings, validated.

Errors name keys and rules, never values. `hide_input_in_errors` does not hide values everywhere,
so pydantic's own messages are not printed as a whole.

Over 300 lines: it has every section with its rules.
"""

from __future__ import annotations

import os
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    StringConstraints,
    ValidationError,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from vault_agent.config import rules
from vault_agent.config.agents import AgentSettings, WriteRight, named
from vault_agent.config.agents import Folder as VaultFolder
from vault_agent.config.keys import (
    DEFAULT_HOOK_TIMEOUT_MS,
    DEFAULT_HOST,
    DEFAULT_MAX_BODY_BYTES,
    DEFAULT_PORT,
    KEYS,
    Toolset,
)
from vault_agent.config.layers import Layer, Problem, invalid, read_layers
from vault_agent.config.rights import DEFAULT_ALLOW
from vault_agent.errors import Misconfigured

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pydantic_core import ErrorDetails

LogLevel = Literal["debug", "info", "warning", "error"]

MIB = 1024 * 1024


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
Switch = Annotated[bool, BeforeValidator(_switch)]
Url = Annotated[str, AfterValidator(rules.http_url)]
Patterns = Annotated[tuple[str, ...], BeforeValidator(rules.ignore_patterns)]
Names = Annotated[tuple[str, ...], BeforeValidator(rules.names)]
Origins = Annotated[tuple[str, ...], BeforeValidator(rules.origins)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class VaultSettings(_Section):
    """The notes that are indexed."""

    root: Folder | None = None
    exclude: Patterns = ()


class ServerSettings(_Section):
    """The server's address, key and log level."""

    endpoint: Url | None = None
    host: Annotated[str, AfterValidator(rules.host)] = DEFAULT_HOST
    port: Annotated[int, BeforeValidator(rules.port)] = DEFAULT_PORT
    api_key: Annotated[SecretStr, AfterValidator(_secret_key)] | None = None
    allowed_hosts: Annotated[tuple[str, ...], BeforeValidator(rules.host_names)] = ()
    log_level: LogLevel = "warning"


class IndexSettings(_Section):
    """The folder and the limits of the index."""

    dir: Folder | None = None
    max_note_bytes: Annotated[Count, Field(ge=1, le=1024 * MIB)] = 16 * MIB
    frontmatter_fields: Names = ()
    at_start: Switch = False


class WatchSettings(_Section):
    """Whether changes of the vault are noticed, and how. Off by default."""

    enabled: Switch = False
    mode: Literal["auto", "events", "poll"] = "auto"
    quiet_ms: Annotated[Count, Field(ge=20, le=10_000)] = 150
    max_delay_ms: Annotated[Count, Field(le=60_000)] = 1_000
    removal_grace_ms: Annotated[Count, Field(ge=0, le=60_000)] = 2_000
    rescan_seconds: Annotated[Count, Field(ge=30, le=86_400)] = 300
    poll_seconds: Annotated[Count, Field(ge=2, le=3_600)] = 10
    embed_delay_seconds: Annotated[Count, Field(ge=0, le=3_600)] = 5


class VaultsSettings(_Section):
    """Vaults besides `vault.root`. Off by default."""

    enabled: Switch = False
    global_root: Folder | None = None
    max_open: Annotated[Count, Field(ge=1, le=64)] = 8


class WriteSettings(_Section):
    """What may be changed in the vault. Nothing by default.

    `folders` are those of the vault of `vault.root`. The vaults of projects and the global one may
    be changed as a whole.
    """

    enabled: Switch = False
    folders: Annotated[tuple[str, ...], BeforeValidator(rules.writable_folders)] = ()
    allow: Annotated[tuple[WriteRight, ...], BeforeValidator(rules.once)] = DEFAULT_ALLOW
    quiet_seconds: Annotated[float, BeforeValidator(_number), Field(ge=0, le=60)] = 2.0
    max_note_bytes: Annotated[Count, Field(ge=1, le=64 * MIB)] = 4 * MIB
    max_body_bytes: Annotated[Count, Field(ge=64 * 1024, le=64 * MIB)] = DEFAULT_MAX_BODY_BYTES
    max_per_minute: Annotated[Count, Field(ge=1, le=100_000)] = 60
    max_move_notes: Annotated[Count, Field(ge=1, le=1_000_000)] = 5_000
    undo_days: Annotated[Count, Field(ge=0, le=36_500)] = 30
    undo_writes: Annotated[Count, Field(ge=0, le=1_000_000)] = 1_000
    undo_bytes: Annotated[Count, Field(ge=0, le=1024**4)] = 512 * MIB
    template_folder: VaultFolder = "Templates"
    devlog_folder: VaultFolder = "devlog"
    adr_folder: VaultFolder = "adr"
    tasks_format: Literal["auto", "emoji", "dataview"] = "auto"


class MemorySettings(_Section):
    """What is remembered of earlier sessions. Off by default."""

    enabled: Switch = False
    max_notes: Annotated[Count, Field(ge=1, le=20)] = 5
    max_tokens: Annotated[Count, Field(ge=100, le=2_000)] = 1_000
    max_note_tokens: Annotated[Count, Field(ge=40, le=1_000)] = 160
    min_relevance: Annotated[float, BeforeValidator(_number), Field(ge=0, le=1)] = 0.35
    recency_days: Annotated[float, BeforeValidator(_number), Field(gt=0, le=3_650)] = 14.0
    tag_weight: Annotated[float, BeforeValidator(_number), Field(ge=0, le=1)] = 0.4
    semantic_weight: Annotated[float, BeforeValidator(_number), Field(ge=0, le=1)] = 0.4
    recency_weight: Annotated[float, BeforeValidator(_number), Field(ge=0, le=1)] = 0.2
    include_global: Switch = True
    exclude_types: Annotated[tuple[str, ...], BeforeValidator(rules.names)] = ()
    auto_inject: Switch = True
    each_prompt: Switch = False
    show: Switch = False
    hook_timeout_ms: Annotated[Count, Field(ge=50, le=10_000)] = DEFAULT_HOOK_TIMEOUT_MS
    log_days: Annotated[Count, Field(ge=1, le=3_650)] = 90


class JournalSettings(_Section):
    """The journal that a session leaves behind. Off by default."""

    enabled: Switch = False
    writer: Literal["auto", "agent", "model", "extract"] = "auto"
    ask: Switch = False
    include_output: Switch = True
    output_lines: Annotated[Count, Field(ge=0, le=10_000)] = 500
    min_prompts: Annotated[Count, Field(ge=0, le=1_000)] = 2
    idle_minutes: Annotated[float, BeforeValidator(_number), Field(gt=0, le=10_080)] = 30.0
    retry_days: Annotated[float, BeforeValidator(_number), Field(ge=0, le=365)] = 7.0
    update_modules: Switch = False
    exclude: Annotated[tuple[str, ...], BeforeValidator(rules.session_folders)] = ()
    redact_patterns: Annotated[tuple[str, ...], BeforeValidator(rules.secret_patterns)] = ()


class ChatSettings(_Section):
    """The local chat model. Off by default."""

    enabled: Switch = False
    endpoint: Url = "http://127.0.0.1:11434/v1/chat/completions"
    model: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)] | None = None
    allow_private_network_endpoint: Switch = False
    max_input_chars: Annotated[Count, Field(ge=1_000, le=1_000_000)] = 24_000
    timeout_seconds: Annotated[float, BeforeValidator(_number), Field(gt=0, le=3600)] = 120.0


class SearchSettings(_Section):
    """The limits of searches."""

    regex_seconds: Annotated[float, BeforeValidator(_number), Field(gt=0, le=60)] = 2.0


class EmbeddingSettings(_Section):
    """The local embedding provider. Off by default."""

    enabled: Switch = False
    endpoint: Url = "http://127.0.0.1:11434/v1/embeddings"
    model: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)] | None = None
    require: Switch = False
    allow_private_network_endpoint: Switch = False
    batch_size: Annotated[Count, Field(ge=1, le=256)] = 8
    concurrency: Annotated[Count, Field(ge=1, le=32)] = 2
    timeout_seconds: Annotated[float, BeforeValidator(_number), Field(gt=0, le=3600)] = 60.0
    query_prefix: Annotated[str, Field(max_length=1000)] | None = None
    document_prefix: Annotated[str, Field(max_length=1000)] | None = None


class CliSettings(_Section):
    """What the command line does."""

    open_in: Annotated[str, BeforeValidator(rules.opener)] = "auto"


class CorsSettings(_Section):
    """Web pages that may call the server. None by default."""

    enabled: Switch = False
    allowed_origins: Origins = ()


class McpSettings(_Section):
    """The MCP endpoint for agents. Off by default."""

    enabled: Switch = False
    toolset: Toolset = "vault-agent"
    max_reply_bytes: Annotated[Count, Field(ge=2_000, le=200_000)] = 24_000
    idle_minutes: Annotated[Count, Field(ge=1, le=1_440)] = 15


class WebSettings(_Section):
    """The web page at /ui/. Off by default."""

    enabled: Switch = False
    open_on_serve: Switch = False
    language: Annotated[str, BeforeValidator(rules.language)] = "auto"
    math: Switch = True


class Config(BaseSettings):
    """All settings. Made by `load_config`. Tests may use keyword arguments."""

    model_config = SettingsConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    vault: VaultSettings = VaultSettings()
    server: ServerSettings = ServerSettings()
    index: IndexSettings = IndexSettings()
    watch: WatchSettings = WatchSettings()
    vaults: VaultsSettings = VaultsSettings()
    write: WriteSettings = WriteSettings()
    memory: MemorySettings = MemorySettings()
    journal: JournalSettings = JournalSettings()
    chat: ChatSettings = ChatSettings()
    search: SearchSettings = SearchSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    cli: CliSettings = CliSettings()
    cors: CorsSettings = CorsSettings()
    mcp: McpSettings = McpSettings()
    web: WebSettings = WebSettings()
    agents: Annotated[dict[str, AgentSettings], BeforeValidator(named)] = {}

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Use keyword arguments only, because `load_config` has already read the layers."""
        del settings_cls, env_settings, dotenv_settings, file_secret_settings
        return (init_settings,)

    @property
    def endpoint(self) -> str:
        """The URL at which a client on this computer reaches the server."""
        return self.server.endpoint or rules.endpoint_of(self.server.host, self.server.port)


def load_config(
    flags: Mapping[str, Any] | None = None,
    config_path: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Config:
    """Return the settings in force.

    `flags` maps dotted keys (`vault.root`) to values, None if a flag was not given.
    `config_path` is the `--config` flag. Raises Misconfigured CONFIG_INVALID that names every
    broken rule with its key.
    """
    return build_config(read_layers(flags, config_path, environ))


def build_config(layers: Iterable[Layer]) -> Config:
    """Return the settings from these layers, strongest first. Raises CONFIG_INVALID."""
    config, problems = check(layers)
    if config is None or problems:
        raise invalid(problems)
    return config


def check(layers: Iterable[Layer]) -> tuple[Config | None, list[Problem]]:
    """Return the settings and every broken rule. The settings are None if they are invalid."""
    ordered = tuple(layers)
    try:
        config = Config(**_merged(ordered))
    except ValidationError as error:
        return None, _problems(error, ordered)
    missing = [
        Problem(
            key.name, f"needs {' and '.join(needed)} to be set first", _origin(ordered, key.name)
        )
        for key in KEYS.values()
        if (needed := unmet(config, key.name, key.needs))
    ]
    if missing:
        return config, missing
    if config.watch.max_delay_ms < config.watch.quiet_ms:
        rule = "must be at least watch.quiet_ms"
        return config, [Problem("watch.max_delay_ms", rule, _origin(ordered, "watch.max_delay_ms"))]
    return config, []


def unmet(config: Config, name: str, others: Iterable[str]) -> list[str]:
    """Return those of `others` that are neither set nor true, if `name` is true.

    One of `others` may be several settings with " or " between them.
    """
    if attrgetter(name)(config) is not True:
        return []
    return [
        other
        for other in others
        if not any(attrgetter(each)(config) for each in other.split(" or "))
    ]


def _merged(layers: tuple[Layer, ...]) -> dict[str, Any]:
    """Return the values of all layers by section. The first layer is the strongest."""
    sections: dict[str, dict[str, Any]] = {}
    for layer in reversed(layers):
        for name, value in layer.values.items():
            sections.setdefault(KEYS[name].section, {})[KEYS[name].option] = value
        if layer.agents:
            sections["agents"] = dict(layer.agents)
    return sections


def convert(name: str, text: str) -> object:
    """Return the typed value of one setting from its text, or raise CONFIG_INVALID."""
    section, option = KEYS[name].section, KEYS[name].option
    model = cast("type[BaseModel]", Config.model_fields[section].annotation)
    try:
        return getattr(model.model_validate({option: text}), option)
    except ValidationError as error:
        rule = _rule(error.errors(include_url=False, include_context=False, include_input=False)[0])
        raise invalid([Problem(name, rule)]) from None


def _problems(error: ValidationError, layers: tuple[Layer, ...]) -> list[Problem]:
    found: dict[str, Problem] = {}
    for item in error.errors(include_url=False, include_context=False, include_input=False):
        name = ".".join(str(part) for part in item["loc"][: 3 if item["loc"][0] == "agents" else 2])
        found.setdefault(name, Problem(name, _rule(item), _origin(layers, name)))
    return list(found.values())


def _rule(item: ErrorDetails) -> str:
    if item["type"] == "bool_parsing":
        return "must be true or false"
    return item["msg"].removeprefix("Value error, ").replace("Input should be", "must be", 1)


def _origin(layers: tuple[Layer, ...], name: str) -> str | None:
    return next((layer.origin for layer in layers if name in layer.values), None)


def endpoint_settings(chosen: EmbeddingSettings) -> dict[str, Any]:
    """Return the arguments for `EndpointSettings`, even if embeddings are off.

    Raises Misconfigured CONFIG_INVALID if no model is set.
    """
    if chosen.model is None:
        raise Misconfigured(
            "CONFIG_INVALID",
            "embedding.model is not set: set it to the name of a model that your endpoint serves.",
        )
    return {
        "url": chosen.endpoint,
        "model": chosen.model,
        "allow_private": chosen.allow_private_network_endpoint,
        "batch_size": chosen.batch_size,
        "concurrency": chosen.concurrency,
        "timeout": chosen.timeout_seconds,
        "query_prefix": chosen.query_prefix,
        "document_prefix": chosen.document_prefix,
    }


def switched_on(config: Config) -> tuple[str, ...]:
    """Return the switches that are on, such as `embedding.enabled`."""
    switches = (name for name, key in KEYS.items() if key.option == "enabled")
    return tuple(name for name in switches if attrgetter(name)(config) is True)


def index_parent(config: Config) -> Path:
    """Return the folder for all indexes: `index.dir`, or the user's data folder."""
    return rules.data_folder(config.index.dir)


def index_directory(config: Config) -> Path:
    """Return the folder of this vault's index: `{index.dir or user data}/indexes/{identity}`.

    The folder is not created. Raises Misconfigured if no vault is set, or if the index would be
    inside the vault.
    """
    if config.vault.root is None:
        raise Misconfigured(
            "VAULT_NOT_FOUND",
            "no vault is set.",
        )
    directory = rules.index_folder(config.vault.root, config.index.dir)
    if directory.is_relative_to(os.path.realpath(config.vault.root)):
        raise invalid([Problem("index.dir", "must be outside the vault")])
    if not _is_text(directory):
        raise invalid([Problem("index.dir", "must be a path in UTF-8")])
    return directory


def _is_text(path: Path) -> bool:
    """Whether a path is valid Unicode, which the full-text engine requires."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True
