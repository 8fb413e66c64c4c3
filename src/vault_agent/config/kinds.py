"""The types of settings, with their rules, and what a row of the table of settings says."""

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
from vault_agent.config.agents import WriteRight
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
