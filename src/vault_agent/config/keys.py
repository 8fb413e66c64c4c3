"""The names of all settings, without pydantic, so that simple commands start fast.

`settings.py` gives each key its type, rule and default. A test compares the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

ENV_PREFIX = "VAULT_AGENT_"
CONFIG_ENV = "VAULT_AGENT_CONFIG"  # the path of the config file; not a setting in it
PROJECT_ENV = "VAULT_AGENT_PROJECT"  # the folder of the project; not a setting
OFF_ENV = "VAULT_AGENT_OFF"  # agents' hooks do nothing where this is 1; not a setting
BACKGROUND_ENV = "VAULT_AGENT_BACKGROUND"  # set for a server in the background; not a setting
NOT_SETTINGS = frozenset({CONFIG_ENV, PROJECT_ENV, OFF_ENV, BACKGROUND_ENV})

Toolset = Literal["vault-agent", "agentiso", "obsidian-vault-mcp", "co-cli", "synk"]
"""The names and arguments of the tools that agents get."""

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8787

DEFAULT_MAX_BODY_BYTES = 1024 * 1024
"""The default of `write.max_body_bytes`."""

DEFAULT_HOOK_TIMEOUT_MS = 800
"""The default of `memory.hook_timeout_ms`."""

OPENERS = ("auto", "editor", "obsidian", "ui")
"""The values of `cli.open_in`."""


@dataclass(frozen=True, slots=True)
class Key:
    """A setting: its dotted name, a summary in one line, and the kind of its value.

    `help` is what a user should know besides. `needs` are settings without which a switch cannot
    be true; `a or b` means one of them. `idle_without` are switches without which it may be true,
    but does nothing.
    """

    name: str
    summary: str
    help: str = ""
    secret: bool = False  # printed as set or unset only
    path: bool = False  # a folder: `~` is expanded; relative only in flags and environment
    many: bool = False  # a list; in a string, items are separated by commas
    of_server: bool = True  # a running server has read it at its start
    needs: tuple[str, ...] = ()
    idle_without: tuple[str, ...] = ()

    @property
    def section(self) -> str:
        """The TOML table."""
        return self.name.partition(".")[0]

    @property
    def option(self) -> str:
        """The name within the table."""
        return self.name.partition(".")[2]

    @property
    def environment(self) -> str:
        """The environment variable."""
        return ENV_PREFIX + self.name.replace(".", "_").upper()


_ALL = (
    Key(
        "vault.root",
        "the folder of notes",
        help="An absolute path, or one that begins with `~`.",
        path=True,
    ),
    Key(
        "vault.exclude",
        "additional exclusions, as gitignore patterns",
        help="A pattern with `!` cancels a default exclusion.",
        many=True,
    ),
    Key(
        "server.endpoint",
        "URL that clients use",
        help="By default it is made from host and port.",
        of_server=False,
    ),
    Key(
        "server.host",
        "address that the server listens on",
        help="Any address other than loopback requires a key.",
    ),
    Key("server.port", "port that the server listens on"),
    Key(
        "server.api_key",
        "key that every request must have",
        help="At least 32 characters if other computers can reach the server.",
        secret=True,
    ),
    Key(
        "server.allowed_hosts",
        "more names by which clients call the server",
        help="Exactly as clients write them: names of a LAN or a tailnet.",
        many=True,
    ),
    Key("server.log_level", "lowest level that is logged: debug, info, warning, error"),
    Key(
        "index.dir",
        "folder for the indexes",
        help=(
            "Outside the vault. By default in the user's data folder: `config get index.dir` "
            "prints it."
        ),
        path=True,
    ),
    Key(
        "index.max_note_bytes",
        "the text of larger notes is not searched",
        help="They are found by title and path, and can be read.",
    ),
    Key(
        "index.frontmatter_fields",
        "properties whose values are searched as text",
        help=(
            "`*` is all of them. A name includes those nested in it. The values are never "
            "part of a result. After a change, the index needs a `reindex`."
        ),
        many=True,
    ),
    Key("index.at_start", "whether the server updates the index when it starts"),
    Key("watch.enabled", "whether changes of notes are noticed and indexed"),
    Key(
        "watch.mode",
        "how changes are noticed: auto, events or poll",
        help="`auto` takes events where the file system has them, and else `poll` (scans).",
    ),
    Key("watch.quiet_ms", "wait until a note has not changed for this long"),
    Key("watch.max_delay_ms", "longest such wait"),
    Key("watch.removal_grace_ms", "how long a missing note stays in the index"),
    Key(
        "watch.rescan_seconds",
        "time between scans of the whole vault",
        help="They find what events have missed.",
    ),
    Key(
        "watch.poll_seconds",
        "time between scans where there are no events",
        help="At least 20 times what a scan takes.",
    ),
    Key("watch.embed_delay_seconds", "wait after a change before new chunks are embedded"),
    Key(
        "vaults.enabled",
        "whether project vaults and the global vault are served too",
        help="`vault-agent init` turns it on.",
    ),
    Key(
        "vaults.global_root",
        "the folder of the global vault",
        help="By default `.vault-agent/vault` in your home folder.",
        path=True,
    ),
    Key(
        "vaults.max_open",
        "most vaults that are open at once",
        help="The default one is not counted.",
    ),
    Key(
        "write.enabled",
        "whether notes may be changed",
        help=(
            "Every request needs a key then, and the server makes one at its start if there "
            "is none."
        ),
        needs=("write.folders or vaults.enabled",),
    ),
    Key(
        "write.folders",
        "where notes may be changed; . is the whole vault",
        help=(
            "Folders of vault.root. Without any, that vault is never changed. Hidden and "
            "excluded folders never are. The vaults of projects and the global one may be "
            "changed as a whole."
        ),
        many=True,
    ),
    Key(
        "write.allow",
        "what may be done there",
        help=(
            "`overwrite`, `move` and `delete` (to `.trash/`) can hide text from a reader. "
            "`permanent` deletes without `.trash/`; undo still works."
        ),
        many=True,
    ),
    Key(
        "write.quiet_seconds",
        "a note that somebody else has just changed is waited for",
        help="So many seconds after the change, at most 6.",
    ),
    Key("write.max_note_bytes", "most bytes of a note after a change"),
    Key("write.max_body_bytes", "most bytes of a request to change a note"),
    Key(
        "write.max_per_minute",
        "most writes of one agent in a minute",
        help="The owner has no limit.",
    ),
    Key(
        "write.max_move_notes",
        "most notes that one move may change",
        help="It changes the links in them.",
    ),
    Key("write.undo_days", "days for which a write can be undone", help="0 keeps nothing."),
    Key("write.undo_writes", "most writes that can be undone"),
    Key("write.undo_bytes", "most bytes that are kept for undo"),
    Key("write.template_folder", "the folder of your templates"),
    Key(
        "write.devlog_folder",
        "the folder of devlogs",
        help="That of an agent is below the agent's folder.",
    ),
    Key(
        "write.adr_folder",
        "the folder of decision records",
        help="That of an agent is below the agent's folder.",
    ),
    Key(
        "write.tasks_format",
        "how dates of tasks are written: auto, emoji or dataview",
        help="`auto` writes them as the task has them.",
    ),
    Key(
        "memory.enabled",
        "whether notes of earlier sessions are recalled",
        help="Notes of projects may be promoted then, and every request needs a key.",
        idle_without=("vaults.enabled",),
    ),
    Key("memory.max_notes", "most notes that are recalled at once"),
    Key("memory.max_tokens", "most tokens of their text"),
    Key("memory.max_note_tokens", "most tokens of one note in it"),
    Key(
        "memory.min_relevance",
        "least relevance of a note that is recalled, from 0 to 1",
        help="Recency is no part of it.",
    ),
    Key("memory.recency_days", "days after which a note counts as half as recent"),
    Key(
        "memory.tag_weight",
        "weight of files and tags in common",
        help="The rarest file or tag counts.",
    ),
    Key(
        "memory.semantic_weight",
        "weight of what a search finds",
        help="The search is for the prompt.",
    ),
    Key(
        "memory.recency_weight",
        "weight of recency",
        help="Only the proportion of the three weights counts.",
    ),
    Key(
        "memory.include_global",
        "whether the global vault is recalled too",
        help="Its patterns, snippets, decisions and notes.",
    ),
    Key("memory.exclude_types", "types of notes that are never recalled", many=True),
    Key(
        "memory.auto_inject",
        "whether agents' hooks get notes without asking",
        help="At the start of a session, and at its first prompt.",
    ),
    Key(
        "memory.each_prompt",
        "whether each prompt gets notes, and not only the first",
        help="A note comes once a session either way.",
    ),
    Key("memory.show", "whether the person is told which notes an agent gets"),
    Key(
        "memory.hook_timeout_ms",
        "milliseconds after which an agent's hook gives up",
        help="It prints nothing then.",
        of_server=False,
    ),
    Key("memory.log_days", "days for which it is kept what agents got"),
    Key(
        "journal.enabled",
        "whether a session leaves a journal in its project's vault",
        help="It reaches only vaults of projects. Every request needs a key then.",
        idle_without=("vaults.enabled",),
    ),
    Key(
        "journal.writer",
        "who writes journals: auto, agent, model or extract",
        help="`auto` takes the best of the others that there is.",
    ),
    Key(
        "journal.ask",
        "whether a journal waits for your review before it is in the vault",
        help="`vault-agent journal review` shows it.",
    ),
    Key("journal.include_output", "whether output of commands is part of what is collected"),
    Key("journal.output_lines", "most lines of such output"),
    Key(
        "journal.min_prompts",
        "a session with fewer prompts and no change has no journal",
        help="A changed file or a commit counts as a change.",
    ),
    Key("journal.idle_minutes", "minutes without an event after which a session has ended"),
    Key("journal.retry_days", "days for which a journal that failed is tried again"),
    Key("journal.update_modules", "whether the notes of modules list their journals"),
    Key(
        "journal.exclude",
        "folders whose sessions have no journal",
        help="Absolute, below `~`, or relative to a project, which is `.`.",
        many=True,
    ),
    Key(
        "journal.redact_patterns",
        "more secrets, as regular expressions",
        help="In the syntax of Python. Known forms are always removed.",
        many=True,
    ),
    Key(
        "chat.enabled",
        "whether a local model writes the text of journals",
        help="It gets no text in which vault-agent knows a secret.",
        needs=("chat.model",),
        idle_without=("journal.enabled",),
    ),
    Key(
        "chat.endpoint",
        "OpenAI-compatible chat URL of a local provider",
        help=(
            "On this computer, or in the private network if that is allowed. No key is sent, "
            "and no redirect is followed."
        ),
    ),
    Key("chat.model", "name of the chat model to send to the provider"),
    Key(
        "chat.allow_private_network_endpoint",
        "whether that provider may be on another computer in the private network",
    ),
    Key("chat.max_input_chars", "most characters of a session that are sent"),
    Key("chat.timeout_seconds", "timeout of such a request in seconds"),
    Key(
        "search.regex_seconds",
        "seconds after which a search by regular expression pauses",
        help="The reply has what was found so far, and a cursor to continue with.",
    ),
    Key(
        "embedding.enabled",
        "whether semantic search is on",
        help="vault-agent never downloads a model.",
        needs=("embedding.model",),
    ),
    Key(
        "embedding.endpoint",
        "OpenAI-compatible embeddings URL of a local provider",
        help=(
            "On this computer, or in the private network if that is allowed. Note text is "
            "sent only there."
        ),
    ),
    Key("embedding.model", "model name to send to the provider"),
    Key(
        "embedding.require",
        "whether an index job fails if it cannot create embeddings",
        help="Otherwise it warns.",
    ),
    Key(
        "embedding.allow_private_network_endpoint",
        "whether the provider may be on another computer in the private network",
    ),
    Key(
        "embedding.batch_size",
        "texts per request",
        help="Fewer if the endpoint requires that, and during searches.",
    ),
    Key(
        "embedding.concurrency",
        "concurrent requests",
        help="Fewer while the endpoint is overloaded, and during searches.",
    ),
    Key(
        "embedding.timeout_seconds",
        "timeout of a request in seconds",
        help="It is that of an index run. A search waits for one second.",
    ),
    Key(
        "embedding.query_prefix",
        "text added before a query, for models that need it",
        help='The default depends on the model. `""` in the file adds nothing.',
    ),
    Key(
        "embedding.document_prefix",
        "text added before a chunk, for models that need it",
        help="`{title}` stands for the note's title. The default depends on the model.",
    ),
    Key(
        "cli.open_in",
        "where `open` opens notes: auto, editor, obsidian or ui",
        help=(
            "`auto` takes `$VISUAL` or `$EDITOR` if one is set, else Obsidian if the vault "
            "has an `.obsidian` folder, else the web page if it is on, else the system's "
            "program for Markdown files."
        ),
        of_server=False,
    ),
    Key(
        "cors.enabled",
        "whether listed web origins may call the server",
        idle_without=("cors.allowed_origins",),
    ),
    Key(
        "cors.allowed_origins",
        "the web origins that may call the server",
        help="`*` is refused, and credentials are never allowed.",
        many=True,
    ),
    Key("mcp.enabled", "whether agents may call the server at /mcp"),
    Key(
        "mcp.toolset",
        "whose names and arguments the tools have",
        help="Four are those of other servers.",
    ),
    Key("mcp.max_reply_bytes", "most bytes in a reply of a tool"),
    Key("mcp.idle_minutes", "minutes until a server that an agent started ends by itself"),
    Key(
        "web.enabled",
        "whether the server has a web page at /ui/",
        help="`serve --web` switches it on for one run.",
    ),
    Key(
        "web.open_on_serve",
        "whether `serve` opens the web page",
        of_server=False,
        idle_without=("web.enabled",),
    ),
    Key(
        "web.language",
        "language of the web page: auto, or a tag such as en",
        help="`auto` takes the browser's.",
    ),
    Key("web.math", "whether the web page shows formulas", help="Otherwise it shows their source."),
)

KEYS: dict[str, Key] = {key.name: key for key in _ALL}
SECTIONS = tuple(dict.fromkeys(key.section for key in _ALL))
ENVIRONMENT: dict[str, Key] = {key.environment: key for key in _ALL}


def nearest(name: str, known: list[str]) -> str:
    """Return ` (did you mean …?)` for the known name most like `name`, or an empty string."""
    close = get_close_matches(name, known, n=1, cutoff=0.6)
    return f" (did you mean {close[0]}?)" if close else ""
