"""The settings of memory and journals: a part of the table in `sections.py`."""

from __future__ import annotations

from typing import Literal

from vault_agent.config.keys import DEFAULT_HOOK_TIMEOUT_MS
from vault_agent.config.kinds import (
    Count,
    ModelName,
    Names,
    Number,
    SecretPatterns,
    Section,
    SessionFolders,
    Switch,
    Url,
    setting,
)
from vault_agent.model.memory import RecallWeights


class MemorySettings(Section):
    """What is remembered of earlier sessions. Off by default."""

    enabled: Switch = setting(
        False,
        "whether notes of earlier sessions are recalled",
        help="Notes of projects may be promoted then, and every request needs a key.",
        idle_without=("vaults.enabled",),
    )
    max_notes: Count = setting(5, "most notes that are recalled at once", ge=1, le=20, live=True)
    max_tokens: Count = setting(
        1_000,
        "most tokens of their text, and of all that a session gets without asking",
        ge=100,
        le=2_000,
        live=True,
    )
    max_note_tokens: Count = setting(
        160, "most tokens of one note in it", ge=40, le=1_000, live=True
    )
    min_relevance: Number = setting(
        0.35,
        "least relevance of a note that is recalled, from 0 to 1",
        help="Recency is no part of it.",
        ge=0,
        le=1,
        live=True,
    )
    recency_days: Number = setting(
        14.0, "days after which a note counts as half as recent", gt=0, le=3_650, live=True
    )
    tag_weight: Number = setting(
        0.4,
        "weight of files and tags in common",
        help="The rarest file or tag counts.",
        ge=0,
        le=1,
        live=True,
    )
    semantic_weight: Number = setting(
        0.4,
        "weight of what a search finds",
        help="The search is for the prompt.",
        ge=0,
        le=1,
        live=True,
    )
    recency_weight: Number = setting(
        0.2,
        "weight of recency",
        help="Only the proportion of the three weights counts.",
        ge=0,
        le=1,
        live=True,
    )
    include_global: Switch = setting(
        True,
        "whether the global vault is recalled too",
        help="Its patterns, snippets, decisions and notes.",
        live=True,
    )
    exclude_types: Names = setting((), "types of notes that are never recalled")
    auto_inject: Switch = setting(
        True,
        "whether agents' hooks get notes without asking",
        help="An index of them, at the start of a session and at prompts that they are about.",
        live=True,
    )
    show: Switch = setting(False, "whether the person is told which notes an agent gets", live=True)
    hook_timeout_ms: Count = setting(
        DEFAULT_HOOK_TIMEOUT_MS,
        "milliseconds after which an agent's hook gives up",
        help="It prints nothing then.",
        ge=50,
        le=10_000,
        of_server=False,
    )
    log_days: Count = setting(90, "days for which it is kept what agents got", ge=1, le=3_650)

    @property
    def weights(self) -> RecallWeights:
        """How much each part of a score counts."""
        return RecallWeights(self.tag_weight, self.semantic_weight, self.recency_weight)


class JournalSettings(Section):
    """The journal that a session leaves behind. Off by default."""

    enabled: Switch = setting(
        False,
        "whether a session leaves a journal in its project's vault",
        help="It reaches only vaults of projects. Every request needs a key then.",
        idle_without=("vaults.enabled",),
    )
    writer: Literal["auto", "agent", "model", "extract"] = setting(
        "auto",
        "who writes journals: auto, agent, model or extract",
        help="`auto` takes the best of the others that there is.",
    )
    ask: Switch = setting(
        False,
        "whether a journal waits for your review before it is in the vault",
        help="`vault-agent journal review` shows it.",
        live=True,
    )
    include_output: Switch = setting(
        True, "whether output of commands is part of what is collected", live=True
    )
    output_lines: Count = setting(500, "most lines of such output", ge=0, le=10_000, live=True)
    min_prompts: Count = setting(
        2,
        "a session with fewer prompts and no change has no journal",
        help="A changed file or a commit counts as a change.",
        ge=0,
        le=1_000,
        live=True,
    )
    idle_minutes: Number = setting(
        30.0, "minutes without an event after which a session has ended", gt=0, le=10_080
    )
    retry_days: Number = setting(
        7.0, "days for which a journal that failed is tried again", ge=0, le=365, live=True
    )
    update_modules: Switch = setting(False, "whether the notes of modules list their journals")
    exclude: SessionFolders = setting(
        (),
        "folders whose sessions have no journal",
        help="Absolute, below `~`, or relative to a project, which is `.`.",
        live=True,
    )
    redact_patterns: SecretPatterns = setting(
        (),
        "more secrets, as regular expressions",
        help="In the syntax of Python. Known forms are always removed.",
    )


class ChatSettings(Section):
    """The local chat model. Off by default."""

    enabled: Switch = setting(
        False,
        "whether a local model writes the text of journals",
        help="Secrets that vault-agent knows are removed from what it gets.",
        needs=("chat.model",),
        idle_without=("journal.enabled",),
    )
    endpoint: Url = setting(
        "http://127.0.0.1:11434/v1/chat/completions",
        "OpenAI-compatible chat URL of a local provider",
        help=(
            "On this computer, or in the private network if that is allowed. No key is sent, "
            "and no redirect is followed."
        ),
    )
    model: ModelName | None = setting(None, "name of the chat model to send to the provider")
    allow_private_network_endpoint: Switch = setting(
        False, "whether that provider may be on another computer in the private network"
    )
    max_input_chars: Count = setting(
        24_000, "most characters of a session that are sent", ge=1_000, le=1_000_000
    )
    timeout_seconds: Number = setting(120.0, "timeout of such a request in seconds", gt=0, le=3600)
