"""What `enable` turns on and off: the settings of each feature, and what to say."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vault_agent.cli.applying import after_change, before_change, set_all
from vault_agent.cli.servers import START, server_here
from vault_agent.cli.terminal import complain, say, tell_prose
from vault_agent.config.keys import KEYS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from vault_agent.cli.command import Invocation


class Feature(NamedTuple):
    """A feature that can be turned on and off.

    Args:
        summary: what it is.
        on: the switches that it needs.
        off: the switches that are turned off with it.
        now: what is so from now on, in one line.
        ended: what is so once it is off.
        then: what to type next.
    """

    summary: str
    on: tuple[str, ...]
    off: tuple[str, ...]
    now: str
    ended: str
    then: str = ""


FEATURES: dict[str, Feature] = {
    "write": Feature(
        "notes may be changed: by you, and by agents as you say",
        ("write.enabled",),
        ("write.enabled",),
        "You may change notes in {folders}. Agents may do there: {allow}. Each change can be undone"
        " for {days} days.",
        "Notes are no longer changed{unless}. What was written stays.",
        "vault-agent write NOTE.md --text TEXT",
    ),
    "memory": Feature(
        "agents' sessions get the notes that matter, and leave journals",
        ("vaults.enabled", "memory.enabled", "journal.enabled"),
        ("memory.enabled", "journal.enabled"),
        "Sessions of agents leave journals in their projects, and the next session gets the notes"
        " that matter for it.",
        "Sessions of agents leave no journal and get no notes. Journals that there are stay.",
        "vault-agent init",
    ),
    "journal": Feature(
        "agents' sessions leave journals",
        ("vaults.enabled", "journal.enabled"),
        ("journal.enabled",),
        "Sessions of agents leave journals in their projects.",
        "Sessions of agents leave no journal. Journals that there are stay.",
        "vault-agent init",
    ),
    "vaults": Feature(
        "vaults of projects and the global one",
        ("vaults.enabled",),
        ("vaults.enabled", "memory.enabled", "journal.enabled"),
        "All vaults that `vault-agent vaults` lists are served.",
        "Only the vault of vault.root is served, and nothing is remembered of sessions.",
        "vault-agent search --all-vaults what I look for",
    ),
    "mcp": Feature(
        "agents may search and read",
        ("mcp.enabled",),
        ("mcp.enabled",),
        "Agents may search and read the vault by MCP.",
        "Agents cannot use MCP any more.",
        "vault-agent agent connect CLIENT",
    ),
    "web": Feature(
        "a web page on this computer",
        ("web.enabled",),
        ("web.enabled",),
        "The server has a web page.",
        "The server has no web page any more.",
        "vault-agent ui",
    ),
    "watch": Feature(
        "changes of notes are noticed at once",
        ("watch.enabled",),
        ("watch.enabled",),
        "A note is found within a second of a save.",
        "Changed notes are found after `vault-agent index`.",
    ),
    "embedding": Feature(
        "searches find notes by meaning too",
        ("embedding.enabled",),
        ("embedding.enabled",),
        "Searches find notes by meaning too, once they are embedded by {model}.",
        "Searches find notes by their words only. Vectors are kept for another time.",
        "vault-agent index",
    ),
    "rerank": Feature(
        "a reranker sorts the best results",
        ("rerank.enabled",),
        ("rerank.enabled",),
        "The reranker at {reranker} sorts the best results of each search.",
        "Results keep the order of the search.",
    ),
}


def switch(names: Iterable[str], *, on: bool) -> list[tuple[str, str]]:
    """Return the switches of features with their new values, each once."""
    groups = (FEATURES[name].on if on else FEATURES[name].off for name in names)
    switches = dict.fromkeys(switch for switches in groups for switch in switches)
    return [(switch, "true" if on else "false") for switch in switches]


def apply(
    invocation: Invocation, settings: Sequence[tuple[str, str]], *, must_serve: bool = False
) -> Applied:
    """Write settings, and wait until the running server has taken them over.

    They are checked before. With `must_serve`, a server must be able to start with them.

    Raises:
        VaultAgentError: what is wrong with them. Nothing was written.
    """
    before = before_change(invocation)
    set_all(invocation, settings, must_serve=must_serve)
    lines = tuple(after_change(invocation, before, [name for name, _ in settings]))
    server = server_here(invocation.layers())
    return Applied(lines, server.address.endpoint if server is not None else None)


class Applied(NamedTuple):
    """What a change of settings meant: lines for the user, and where the server runs."""

    lines: tuple[str, ...]
    endpoint: str | None = None


def overridden(settings: Mapping[str, str]) -> None:
    """Warn of settings that a variable of the environment overrides."""
    import os

    for name in settings:
        variable = KEYS[name].environment
        if variable in os.environ:
            complain("CONFIG_INVALID", f"{variable} overrides {name}: unset it.", look="warning")


def tell_applied(applied: Applied, *, then: str = "", needs_server: bool = True) -> None:
    """Say what a change meant, and what to type next."""
    for line in applied.lines:
        tell_prose(line)
    if applied.endpoint is None and needs_server:
        say(f"No server runs. To start it: {START}")
    if then:
        say(f"Next: {then}")
