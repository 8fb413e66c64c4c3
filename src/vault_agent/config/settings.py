"""All settings, validated.

Errors name keys and rules, never values. `hide_input_in_errors` does not hide values everywhere,
so pydantic's own messages are not printed as a whole.
"""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import BaseModel, BeforeValidator, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from vault_agent.config import rules
from vault_agent.config.agents import AgentSettings, named
from vault_agent.config.layers import Layer, Problem, invalid
from vault_agent.config.sections import (
    CliSettings,
    CorsSettings,
    EmbeddingSettings,
    IndexSettings,
    JournalSettings,
    McpSettings,
    MemorySettings,
    RerankSettings,
    SearchSettings,
    ServerSettings,
    VaultSettings,
    VaultsSettings,
    WatchSettings,
    WebSettings,
    WriteSettings,
)
from vault_agent.config.setting_names import SETTINGS, unmet
from vault_agent.errors import Misconfigured

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pydantic_core import ErrorDetails


class Config(BaseSettings):
    """All settings. Made by `build_config`. Tests may use keyword arguments."""

    model_config = SettingsConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    vault: VaultSettings = VaultSettings()
    server: ServerSettings = ServerSettings()
    index: IndexSettings = IndexSettings()
    watch: WatchSettings = WatchSettings()
    vaults: VaultsSettings = VaultsSettings()
    write: WriteSettings = WriteSettings()
    memory: MemorySettings = MemorySettings()
    journal: JournalSettings = JournalSettings()
    search: SearchSettings = SearchSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    rerank: RerankSettings = RerankSettings()
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
        """Use keyword arguments only, because the layers are read already."""
        del settings_cls, env_settings, dotenv_settings, file_secret_settings
        return (init_settings,)

    @property
    def endpoint(self) -> str:
        """The URL at which a client on this computer reaches the server."""
        return self.server.endpoint or rules.endpoint_of(self.server.host, self.server.port)


def build_config(layers: Iterable[Layer]) -> Config:
    """Return the settings from these layers, strongest first.

    Raises Misconfigured CONFIG_INVALID that names every broken rule with its key.
    """
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
            setting.name,
            f"needs {' and '.join(needed)} to be set first",
            _origin(ordered, setting.name),
        )
        for setting in SETTINGS.values()
        if (needed := unmet(partial(value_of, config), setting.name, setting.needs))
    ]
    return config, missing


def value_of(config: Config, name: str) -> Any:
    """Return the value of a setting by its dotted key."""
    return attrgetter(name)(config)


def _merged(layers: tuple[Layer, ...]) -> dict[str, Any]:
    """Return the values of all layers by section. The first layer is the strongest."""
    sections: dict[str, dict[str, Any]] = {}
    for layer in reversed(layers):
        for name, value in layer.values.items():
            sections.setdefault(SETTINGS[name].section, {})[SETTINGS[name].option] = value
        if layer.agents:
            sections["agents"] = dict(layer.agents)
    return sections


def convert(name: str, value: Any, origin: str | None = None) -> Any:
    """Return the typed value of one setting, such as from its text, or raise CONFIG_INVALID."""
    section, option = SETTINGS[name].section, SETTINGS[name].option
    model = cast("type[BaseModel]", Config.model_fields[section].annotation)
    try:
        typed = getattr(model.model_validate({option: value}), option)
    except ValidationError as error:
        rule = _rule(error.errors(include_url=False, include_context=False, include_input=False)[0])
        raise invalid([Problem(name, rule, origin)]) from None
    return typed.get_secret_value() if isinstance(typed, SecretStr) else typed


def _problems(error: ValidationError, layers: tuple[Layer, ...]) -> list[Problem]:
    problems: dict[str, Problem] = {}
    for item in error.errors(include_url=False, include_context=False, include_input=False):
        name = ".".join(str(part) for part in item["loc"][: 3 if item["loc"][0] == "agents" else 2])
        problems.setdefault(name, Problem(name, _rule(item), _origin(layers, name)))
    return list(problems.values())


def _rule(item: ErrorDetails) -> str:
    if item["type"] == "bool_parsing":
        return "must be true or false"
    if item["type"] == "missing":  # only an agent's folders have no default
        return 'must be set, such as folders = ["Work"], or folders = ["."] for the whole vault'
    rule = item["msg"].removeprefix("Value error, ").replace("Input should be", "must be", 1)
    if item["type"] in {"literal_error", "enum"} and isinstance(item["loc"][-1], int):
        return rule.replace("must be", "must be one or more of", 1)
    return rule


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
        "concurrency": chosen.concurrency,
        "timeout": chosen.timeout_seconds,
        "query_prefix": chosen.query_prefix,
        "document_prefix": chosen.document_prefix,
    }


def rerank_settings(config: Config) -> dict[str, Any]:
    """Return the arguments for the `RerankerSettings` of the client. `rerank.endpoint` is set.

    What is allowed for the embedding provider is allowed for the reranker.
    """
    chosen = config.rerank
    return {
        "url": chosen.endpoint,
        "model": chosen.model or "",
        "allow_private": config.embedding.allow_private_network_endpoint,
        "timeout": chosen.timeout_seconds,
    }


def switched_on(config: Config) -> tuple[str, ...]:
    """Return the switches that are on, such as `embedding.enabled`."""
    switches = (name for name, setting in SETTINGS.items() if setting.option == "enabled")
    return tuple(name for name in switches if value_of(config, name) is True)


def index_directory(config: Config) -> Path:
    """Return the folder of this vault's index: `{index.dir or user data}/indexes/{identity}`.

    The folder is not created. Raises Misconfigured if no vault is set, or if the index would be
    inside the vault.
    """
    if config.vault.root is None:
        raise Misconfigured("VAULT_NOT_FOUND", "no vault is set.")
    directory = rules.index_folder(config.vault.root, config.index.dir)
    if rules.holds_index(config.vault.root, config.index.dir):
        if config.index.dir is not None:
            raise invalid([Problem("index.dir", "must be outside the vault")])
        rule = "must not hold the folder of the indexes: name the folder of your notes, as ~/Notes"
        raise invalid([Problem("vault.root", rule)])
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
