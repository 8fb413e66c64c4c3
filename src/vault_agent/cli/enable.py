"""`vault-agent enable`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.config import built_in_settings, check_address, install_model
from vault_agent.cli.doctor import ask_embedder, ask_reranker
from vault_agent.cli.features import FEATURES, apply, overridden, switch, tell_applied, typed_parts
from vault_agent.cli.servers import as_argument
from vault_agent.cli.terminal import (
    DECLINED,
    ask,
    can_ask,
    clean,
    envelope,
    say,
    tell,
)
from vault_agent.errors import InvalidRequest
from vault_agent.model.modes import BUILT_IN
from vault_agent.model.writing import Right
from vault_agent.system.files import is_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.cli.features import Applied
    from vault_agent.config.settings import Config

_PROJECTS = "projects"
"""The answer that opens the vaults of projects, and no folder of the user's own vault."""
_OLLAMA = "http://127.0.0.1:11434/v1/embeddings"
_MODEL = "nomic-embed-text"
_RERANKER = "http://127.0.0.1:8080/v1/rerank"


@click.command("enable", cls=Command)
@click.argument("feature", metavar="[FEATURE]", required=False, type=click.Choice(tuple(FEATURES)))
@click.option("--off", is_flag=True, help="Turn it off. Its other settings stay.")
@click.option(
    "--folder", "folders", metavar="PATH", multiple=True, help="Where you may change notes, too."
)
@click.option(
    "--allow",
    metavar="RIGHTS",
    multiple=True,
    callback=lambda _context, _option, typed: typed_parts(",".join(typed)),
    help="More rights for agents, such as move,delete.",
)
@click.option("--model", metavar="NAME", help="The model, for embedding and rerank.")
@click.option(
    "--model-url",
    metavar="URL",
    help="Its address, or built-in. Default: that of Ollama here; rerank has no default.",
)
def command(
    invocation: Invocation,
    /,
    feature: str | None,
    *,
    off: bool,
    folders: tuple[str, ...],
    allow: tuple[str, ...],
    model: str | None,
    model_url: str | None,
) -> int | None:
    """Turn a feature on, with all that it needs, or off.

    FEATURE is write, memory, journal, vaults, mcp, web, watch, embedding or rerank.
    Without one, it shows which are on.

    At a terminal it asks for what is missing. It writes your config file, which a running
    server follows, and says what changes.

    \b
    vault-agent enable write --folder Inbox --folder Journal
    vault-agent enable memory
    vault-agent enable memory --off
    vault-agent enable embedding
    vault-agent enable embedding --model nomic-embed-text
    vault-agent enable rerank --model-url http://127.0.0.1:8080/v1/rerank
    """  # noqa: D301 - \\b tells the parser to keep these lines
    from vault_agent.config.settings import build_config

    if (folders or allow) and feature != "write":
        raise click.UsageError("--folder and --allow belong to write")
    if (model or model_url) and feature not in ("embedding", "rerank"):
        raise click.UsageError("--model and --model-url belong to embedding and rerank")
    if off and (feature is None or folders or allow or model or model_url):
        raise click.UsageError("--off takes a FEATURE, and no other option")
    if off and feature is not None:
        _turn_off(invocation, feature)
        return None
    config = build_config(invocation.layers())
    if feature is None:
        _show(invocation, config)
        return None
    settings: list[tuple[str, str]] = []
    if feature == "write":
        named = folders or config.write.folders or _asked_folders(config)
        if not named:
            tell("Nothing was changed.")
            return DECLINED
        settings = _for_write(config, named, allow)
    elif feature == "rerank":
        settings = _for_reranker(config, model, model_url)
    elif feature == "embedding":
        settings = _for_embedding(config, model, model_url)
    settings += switch([feature], on=True)
    applied = apply(invocation, settings)
    if invocation.json:
        _reply(feature, settings, applied)
        return None
    overridden(dict(settings))
    _tell_on(invocation, feature, applied, folders)
    return None


def _tell_on(
    invocation: Invocation, feature: str, applied: Applied, folders: Sequence[str]
) -> None:
    """Say what is so from now on, and what to type next: in `folders` if some were named."""
    from vault_agent.config.settings import build_config

    now = build_config(invocation.layers())
    text = FEATURES[feature].now.format(
        folders=_places(now.write.folders),
        allow=", ".join(now.write.allow) or "nothing",
        days=now.write.undo_days,
        model=now.embedding.model,
        reranker=now.rerank.endpoint,
    )
    say(clean(text))
    if feature == "write" and now.vault.root is not None:
        for folder in now.write.folders:
            if not is_folder(now.vault.root / folder.strip()):
                tell(f"{clean(folder)} is not there yet. Its first note makes it.")
    then = FEATURES[feature].then
    if feature == "write" and now.write.folders and "." not in now.write.folders:
        folder = (*folders, *now.write.folders)[0].strip()
        then = then.replace("NOTE.md", as_argument(Path(folder, "NOTE.md")))
    if feature == "write" and not now.write.folders:
        tell("Your own notes stay closed. To open a folder: vault-agent enable write --folder NAME")
        then = ""  # a note of the user's own cannot be written
    tell_applied(applied, then=then)


def _turn_off(invocation: Invocation, feature: str) -> None:
    from vault_agent.config.settings import build_config

    settings = switch([feature], on=False)
    applied = apply(invocation, settings)
    if invocation.json:
        _reply(feature, settings, applied)
        return
    overridden(dict(settings))
    now = build_config(invocation.layers())
    still = {"journals": now.journal.enabled, "promotion": now.memory.enabled}
    writing = " and ".join(name for name, is_on in still.items() if is_on)
    unless = f", except by {writing}" if writing else ""
    say(FEATURES[feature].ended.format(unless=unless))
    tell_applied(applied, needs_server=False)


def _reply(feature: str, settings: Sequence[tuple[str, str]], applied: Applied) -> None:
    envelope({"feature": feature, "settings": dict(settings), "endpoint": applied.endpoint})


def _show(invocation: Invocation, config: Config) -> None:
    """Print each feature, and whether the settings turn it on."""
    from vault_agent.config.settings import switched_on

    on = set(switched_on(config))
    states = {name: on.issuperset(feature.on) for name, feature in FEATURES.items()}
    if invocation.json:
        envelope({"features": states})
        return
    for name, is_on in states.items():
        say(f"{'on ' if is_on else '-  '}  {name:<9}  {FEATURES[name].summary}")


def _places(folders: Sequence[str]) -> str:
    if "." in folders:
        return "the whole vault"
    return ", ".join(folders) or "the vaults of projects"


def _for_write(
    config: Config, folders: Sequence[str], allow: Sequence[str]
) -> list[tuple[str, str]]:
    """Return the folders that may be written, and what agents may do there, as settings.

    Options add to what is set. Without any, a person is asked what agents may do.
    """
    rights = (*config.write.allow, *allow)
    if not allow and can_ask():
        question = f"What agents may do there, of {', '.join(Right)}; or none"
        rights = typed_parts(ask(question, ",".join(rights) or "none"))
    places = (*config.write.folders, *(folder for folder in folders if folder != _PROJECTS))
    chosen = {
        "write.folders": (config.write.folders, places),
        "write.allow": (config.write.allow, rights),
    }
    return [
        (name, ",".join(dict.fromkeys(map(str.strip, values))))
        for name, (before, values) in chosen.items()
        if values != before
    ]


def _asked_folders(config: Config) -> Sequence[str]:
    """Ask which folders of the user's own vault may be changed. Return none if none is named.

    With several vaults, those of projects may be changed as a whole, without a folder.

    Raises:
        InvalidRequest: if one is needed, and there is nobody to ask.
    """
    several = config.vaults.enabled
    if can_ask():
        only_projects = f", or {_PROJECTS} for none of them" if several else ""
        question = f"Folders of your notes that may be changed (. is all of them{only_projects})"
        return typed_parts(ask(question, "none"))
    if several:
        return (_PROJECTS,)
    raise InvalidRequest(
        "INVALID_REQUEST",
        "Name each folder that may be changed with --folder. For the whole vault:"
        " `vault-agent enable write --folder .`",
    )


def _for_embedding(config: Config, model: str | None, url: str | None) -> list[tuple[str, str]]:
    """Return the model and its address as settings. The endpoint is asked first.

    Raises:
        InvalidRequest: if no model is set, and there is nobody to ask.
        Unavailable: `EMBEDDING_UNAVAILABLE` if the endpoint does not work.
        Misconfigured: `CONFIG_INVALID` for an address that is not allowed.
    """
    before = config.embedding
    settings = []
    is_built_in = (url or before.endpoint) == BUILT_IN and (url is not None or model is None)
    if is_built_in or (url is None and model is None and before.model is None):
        settings = built_in_settings()
        if is_built_in and not settings:
            raise InvalidRequest("INVALID_REQUEST", f"Install the model first: {install_model()}")
    if not settings:
        if model is None and before.model is None:
            if not can_ask():
                what = (
                    f"Name the model: `vault-agent enable embedding --model {_MODEL}`."
                    f" Or install the built-in one: {install_model()}"
                )
                raise InvalidRequest("INVALID_REQUEST", what)
            tell(f"The built-in model needs no other program. To install it: {install_model()}")
            model = ask(f"Name of the model at {clean(url or before.endpoint)}", _MODEL)
        if url is None and model is not None and before.endpoint == BUILT_IN:
            url = _OLLAMA
        settings = _chosen(config, "embedding", model, url)
    changes = {name.partition(".")[2]: value for name, value in settings}
    answer = ask_embedder(config.embedding.model_copy(update=changes))
    tell(f"{clean(answer.model)} works: {answer.dimension} dimensions.")
    if changes.get("endpoint", before.endpoint) == BUILT_IN:
        tell("It knows English. For other languages use Ollama with a multilingual model:")
        tell("vault-agent enable embedding --model bge-m3")
    return settings


def _chosen(
    config: Config, section: str, model: str | None, url: str | None
) -> list[tuple[str, str]]:
    """Return a model and its address as settings of a section, as far as they are chosen."""
    settings = []
    if url is not None:
        check_address(config, f"{section}.endpoint", url)
        settings.append((f"{section}.endpoint", url))
    if model is not None:
        settings.append((f"{section}.model", model))
    return settings


def _for_reranker(config: Config, model: str | None, url: str | None) -> list[tuple[str, str]]:
    """Return the reranker's address and model as settings. It is asked first.

    Raises:
        InvalidRequest: if no address is set, and there is nobody to ask.
        Unavailable: `RERANK_UNAVAILABLE` if it does not work.
        Misconfigured: `CONFIG_INVALID` for an address that is not allowed.
    """
    if url is None and config.rerank.endpoint is None:
        if not can_ask():
            what = f"Name its address: `vault-agent enable rerank --model-url {_RERANKER}`"
            raise InvalidRequest("INVALID_REQUEST", what)
        url = ask("Address of the reranker", _RERANKER)
    settings = _chosen(config, "rerank", model, url)
    changes = {name.partition(".")[2]: value for name, value in settings}
    rerank = config.rerank.model_copy(update=changes)
    ask_reranker(config.model_copy(update={"rerank": rerank}))
    tell("The reranker works.")
    return settings
