"""The settings of memory and journals: a part of the table in `sections.py`."""

from __future__ import annotations

from vault_agent.config.kinds import (
    Count,
    Names,
    Program,
    SecretPatterns,
    SessionFolders,
    SettingsSection,
    Switch,
    setting,
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
