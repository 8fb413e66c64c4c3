"""The codes of errors and warnings: status, exit code and remedy."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Kind = Literal[
    "InvalidRequest",
    "Unauthorized",
    "Forbidden",
    "NotFound",
    "IndexUnavailable",
    "Busy",
    "Conflict",
    "TooLarge",
    "Unsupported",
    "Unavailable",
    "Misconfigured",
    "Failed",
]
"""The name of a class of `errors`."""


class Remedy(NamedTuple):
    """What to do, where it differs at a terminal, over HTTP and for a model, which has only tools.

    "" for tools: what happened is all that helps a model.
    """

    terminal: str
    http: str
    tools: str = ""


class Code(NamedTuple):
    """The properties of a code.

    `error` names its class in `errors`, or is None for a warning. `status` is its HTTP status, or
    None if no reply has it. `exit` is the CLI's exit code. A remedy may have details in braces.
    `indexing` is the remedy while an index job runs, or "" for the same remedy. `for_tools` is the
    whole message for a model, where the usual one speaks of something that it has no tool for.
    """

    error: Kind | None
    status: int | None
    exit: int | None
    remedy: str | Remedy = ""
    indexing: str | Remedy = ""
    for_tools: str = ""


_WARNING: Final = (None, None, None)
_FOLLOW = Remedy(
    "Run `vault-agent jobs follow {jobId}` to follow the job.",
    "GET /jobs/{jobId} tells how far the job is.",
)
_INDEX_AGAIN = Remedy("Run `vault-agent index` again.", "POST /index starts another run.")
_CONFIRM = "Repeat the request with `confirm: true`."
_BY_OWNER = "The owner of the vault decides this, by write.folders in the config file."
_ONE_HEADING = "Name one by its headingId, or with the headings above it."
_OTHER_NAME = "Choose another name, or append to it."
_SO_MANY = "Give this number as expectedCount, or search for more of the text."
EXCLUDED_REMEDY: Final = "Update the index to remove them."
"""The remedy of INDEX_INCOMPATIBLE if the index has notes that are excluded now."""

FILE_GONE_REMEDY: Final = "Update the index to remove it from there."
"""The remedy of NOTE_NOT_FOUND if the note is still in the index."""

CODES: Final[dict[str, Code]] = {
    # The messages of these codes name the broken rule.
    "INVALID_REQUEST": Code("InvalidRequest", 400, 2),
    "INVALID_QUERY": Code("InvalidRequest", 400, 2),
    "INVALID_MODE": Code("InvalidRequest", 400, 2),
    "REGEX_INVALID": Code("InvalidRequest", 400, 2),
    "INVALID_LIMIT": Code("InvalidRequest", 400, 2),
    "INVALID_ID": Code("InvalidRequest", 400, 2),
    "INVALID_CURSOR": Code(
        "InvalidRequest", 400, 2, "Ask for the first page, without a cursor, and go on from there."
    ),
    "CURSOR_EXPIRED": Code(
        "InvalidRequest", 410, 2, "Ask for the first page, without a cursor, and go on from there."
    ),
    "INVALID_PATH": Code(
        "InvalidRequest",
        400,
        2,
        "Give a path relative to the vault, such as Folder/name.",
        for_tools="give a path inside the vault, as results show it.",
    ),
    "INVALID_NOTE_NAME": Code("InvalidRequest", 400, 2, "Use {name} instead."),
    "PROMOTE_SECRETS": Code(
        "InvalidRequest", 422, 2, "Remove them from the note, or put others in their place."
    ),
    "IDEMPOTENCY_KEY_REUSED": Code("InvalidRequest", 422, 2, "Use a new key for another request."),
    "EXPECTED_HASH_REQUIRED": Code(
        "InvalidRequest",
        428,
        2,
        Remedy(
            "Read the note, then give its hash with --expected-hash.",
            "Read the note, then send its `contentHash` as `expectedHash`.",
        ),
        for_tools="read the note or section first, and send the `hash` or `sectionHash` that you"
        " get as `expectedHash`.",
    ),
    "CONFIRM_REQUIRED": Code(
        "InvalidRequest", 428, 2, Remedy("Add --yes.", _CONFIRM, tools=_CONFIRM)
    ),
    "RANGE_NOT_SATISFIABLE": Code("InvalidRequest", 416, 2),
    "UNAUTHORIZED": Code(
        "Unauthorized",
        401,
        3,
        Remedy(
            "Give it with VAULT_AGENT_SERVER_API_KEY or `vault-agent config set server.api_key -`;"
            " `vault-agent config reveal-api-key` shows it where the server runs.",
            "Send it as Authorization: Bearer.",
        ),
    ),
    "SESSION_ENDED": Code(
        "Unauthorized",
        401,
        3,
        Remedy("Run `vault-agent ui` to open the page again.", "Ask for a new ticket."),
    ),
    "API_KEY_REQUIRED": Code(
        "Unauthorized",
        None,
        3,
        "Set server.api_key in your config file, or VAULT_AGENT_SERVER_API_KEY, to a key of 32"
        " characters or more.",
    ),
    "FEATURE_DISABLED": Code(
        "Misconfigured",
        403,
        2,
        Remedy(
            "Run `vault-agent enable {feature}`.",
            "Set {setting} to true.",
            "Ask the user to turn it on.",
        ),
    ),
    "WRITE_NOT_ALLOWED": Code(
        "Forbidden",
        403,
        1,
        "The owner of the vault decides what agents may do, by write.allow in the config file.",
    ),
    "WRITE_OUTSIDE_SCOPE": Code(
        "Forbidden",
        403,
        1,
        Remedy(
            "To allow it: `vault-agent enable write --folder FOLDER`.",
            _BY_OWNER,
            tools=_BY_OWNER,
        ),
    ),
    "PATH_EXCLUDED": Code(
        "Forbidden", 403, 1, "The owner of the vault decides this, by vault.exclude."
    ),
    "LINKS_OUTSIDE_SCOPE": Code(
        "Forbidden",
        403,
        1,
        "Add their folders to write.folders, or move without rewriting links.",
        for_tools="links in notes that you may not write would have to change. Ask the user to"
        " move it.",
    ),
    "FILE_NOT_WRITABLE": Code("Forbidden", 403, 1, "Check the rights of the file and its folder."),
    "PATH_OUTSIDE_VAULT": Code(
        "Forbidden",
        403,
        1,
        "Give a path relative to the vault, such as Folder/name.",
        for_tools="give a path inside the vault, as results show it.",
    ),
    "ATTACHMENT_NOT_ALLOWED": Code("Forbidden", 403, 1),
    "ORIGIN_NOT_ALLOWED": Code("Forbidden", 403, 1, "List it in cors.allowed_origins."),
    "HOST_NOT_ALLOWED": Code("Forbidden", 421, 1, "Use the address that this server binds."),
    "VAULT_UNKNOWN": Code(
        "NotFound",
        404,
        4,
        Remedy("Run `vault-agent vaults` to list them.", "GET /vaults lists them."),
    ),
    "VAULT_AMBIGUOUS": Code(
        "Conflict",
        409,
        4,
        Remedy(
            "Give its identity: `vault-agent vaults` shows the identities.",
            "Give its identity, as GET /vaults has it.",
        ),
    ),
    "VAULT_NOT_TRUSTED": Code(
        "Forbidden",
        403,
        1,
        Remedy(
            "Run `vault-agent vaults add` in the project to allow its notes.",
            "Its owner allows its notes at a terminal.",
            "Ask the user to allow its notes.",
        ),
    ),
    "VAULT_READ_ONLY": Code("Forbidden", 403, 1, "Name the project's vault or the global one."),
    "NOTE_NOT_FOUND": Code(
        "NotFound", 404, 4, "A renamed note has a new ID: search for the note again."
    ),
    "NOTE_AMBIGUOUS": Code("NotFound", 404, 4, "Give its path."),
    "HEADING_NOT_FOUND": Code("NotFound", 404, 4, "Name one of its headings."),
    "BLOCK_NOT_FOUND": Code("NotFound", 404, 4, "Read the note again for the names of its blocks."),
    "TEXT_NOT_FOUND": Code("NotFound", 404, 4, "Read the note again, and copy the text exactly."),
    "TASK_NOT_FOUND": Code("NotFound", 404, 4, "List its tasks again: it may have changed."),
    "PROPERTY_NOT_FOUND": Code(
        "NotFound", 404, 4, "Leave the key out to see the whole frontmatter."
    ),
    "TEMPLATE_NOT_FOUND": Code("NotFound", 404, 4),
    "WRITE_NOT_FOUND": Code(
        "NotFound",
        404,
        4,
        Remedy("Run `vault-agent undo --list` to list them.", "GET /writes lists the writes."),
        for_tools="there is no such write of yours.",
    ),
    "UNDO_EXPIRED": Code("NotFound", 410, 4),
    "SESSION_NOT_FOUND": Code(
        "NotFound",
        404,
        4,
        Remedy("Run `vault-agent memory log` to list them.", "GET /memory/sessions lists them."),
    ),
    "CHUNK_NOT_FOUND": Code("NotFound", 404, 4),
    "ATTACHMENT_NOT_FOUND": Code("NotFound", 404, 4),
    "JOB_NOT_FOUND": Code(
        "NotFound",
        404,
        4,
        Remedy("Run `vault-agent jobs` to list the jobs.", "GET /jobs lists the jobs."),
    ),
    "AGENT_NOT_FOUND": Code("NotFound", None, 4, "Run `vault-agent agent` to list them."),
    "AGENT_FOLDER_NOT_FOUND": Code(
        "Misconfigured", 503, 2, "Make the folder, or correct it in the config file."
    ),
    "ROUTE_NOT_FOUND": Code("NotFound", 404, 4, "See /openapi.json."),
    "PATH_NOT_FOUND": Code("NotFound", 404, 4),
    "METHOD_NOT_ALLOWED": Code("Unsupported", 405, 1),
    "NOT_ACCEPTABLE": Code("Unsupported", 406, 1, "Accept application/json."),
    "SERVER_BUSY": Code("Busy", 503, 5, "Try again in a moment."),
    "TOO_MANY_REQUESTS": Code("Busy", 429, 5, "Wait a minute, then try again."),
    "LAYOUT_PENDING": Code("Busy", 409, 5, "Ask again in {retryAfter} s."),
    "INDEX_NOT_FOUND": Code(
        "IndexUnavailable",
        409,
        4,
        Remedy(
            "Run `vault-agent index` to build one.",
            "POST /index builds one.",
            "Ask the user to build one.",
        ),
        _FOLLOW,
    ),
    "INDEX_INCOMPATIBLE": Code(
        "IndexUnavailable",
        409,
        4,
        Remedy(
            "Run `vault-agent reindex` to rebuild the index.",
            "POST /reindex rebuilds it.",
            "Ask the user to rebuild it.",
        ),
        _FOLLOW,
    ),
    "INDEX_BUSY": Code("Busy", 409, 5, Remedy(*_FOLLOW[:2], "Try again when the job has ended.")),
    "INDEX_LOCKED": Code("Busy", 409, 5),
    "HASH_MISMATCH": Code(
        "Conflict",
        412,
        7,
        "Read the note again, then repeat the change with its new hash.",
        for_tools="it has changed since you read it. Read it again, then repeat the change with"
        " its new hash.",
    ),
    "WRITE_CONFLICT": Code("Conflict", 409, 7, "Read the note again, then repeat the change."),
    "NOTE_BUSY": Code("Conflict", 409, 7, "Try again in a moment."),
    "NOTE_EXISTS": Code(
        "Conflict",
        409,
        1,
        Remedy(
            "Choose another name, or append to it: `vault-agent write NOTE --mode append`.",
            _OTHER_NAME,
            tools=_OTHER_NAME,
        ),
    ),
    "NAME_COLLISION": Code("Conflict", 409, 1, "Use the existing one, or choose another name."),
    "NOTE_IN_CONFLICT": Code(
        "Conflict", 409, 1, "Resolve the conflict that is marked in it first."
    ),
    "NOTE_NOT_LOCAL": Code("Conflict", 409, 1, "Download it first: open it once on this computer."),
    "FILE_IN_USE": Code("Conflict", 409, 1, "Close it there, or try again in a moment."),
    "ENCODING_NOT_WRITABLE": Code(
        "Conflict", 409, 1, "Save it as UTF-8 in an editor, then repeat the change."
    ),
    "FRONTMATTER_INVALID": Code(
        "Conflict", 409, 1, "Correct it in an editor, then repeat the change."
    ),
    "HEADING_AMBIGUOUS": Code(
        "Conflict",
        409,
        1,
        Remedy(
            "Name one with --heading-id, or with the headings above it.",
            _ONE_HEADING,
            tools=_ONE_HEADING,
        ),
    ),
    "MATCH_COUNT_MISMATCH": Code(
        "Conflict",
        409,
        1,
        Remedy(
            "Give this number with --count, or search for more of the text.",
            _SO_MANY,
            tools=_SO_MANY,
        ),
    ),
    "TASK_AMBIGUOUS": Code("Conflict", 409, 1, "List the tasks again: the note has changed."),
    "TASK_UNSUPPORTED": Code("Conflict", 409, 1, "Complete it in your editor."),
    "TEMPLATE_UNSUPPORTED": Code("Conflict", 409, 1, "Use a template without `<% %>`."),
    "LINK_NOT_EXPRESSIBLE": Code("Conflict", 409, 1, "Choose another name, or change the link."),
    "PROMOTE_SIMILAR": Code(
        "Conflict",
        409,
        1,
        Remedy(
            "Look at that note first. `vault-agent memory promote ID --force` copies it anyway.",
            "Look at that note first. With `force` this one is copied anyway.",
        ),
        for_tools="the global vault has a note that is much the same. Read it. To copy this one"
        " anyway, call again with force: true.",
    ),
    "UNDO_CONFLICT": Code(
        "Conflict",
        409,
        1,
        Remedy(
            "Run `vault-agent undo {writeId} --copy` to put the text before beside it.",
            "With `copy` the text before is put beside it.",
        ),
        for_tools="the note has been changed at the same place since. Read it, and correct it"
        " with a new change.",
    ),
    "NOTE_TOO_LARGE": Code(
        "TooLarge",
        413,
        1,
        Remedy(
            "Ask for one section, as in NOTE#HEADING, or for all of it with --allow-large.",
            "Ask for its chunks, or for the whole note with allowLarge=true.",
            tools="Ask for its chunks, or for the whole note.",
        ),
    ),
    "NOTE_TOO_LARGE_TO_RENDER": Code("TooLarge", 413, 1, "Read its text in parts."),
    "ATTACHMENT_TOO_LARGE": Code(
        "TooLarge",
        413,
        1,
        Remedy("Ask for it with --allow-large.", "Ask for it with allowLarge=true."),
    ),
    "MOVE_TOO_LARGE": Code("TooLarge", 413, 1, "Move less at once."),
    "BODY_TOO_LARGE": Code("TooLarge", 413, 1),
    "UNSUPPORTED_MEDIA_TYPE": Code(
        "Unsupported", 415, 1, "Send the body as application/json, in UTF-8 and not compressed."
    ),
    "EMBEDDING_UNAVAILABLE": Code(
        "Unavailable",
        503,
        1,
        Remedy(
            "Run `vault-agent index` to make them.",
            "POST /index makes them.",
            "Ask the user to update the index.",
        ),
        "The running job makes them.",
    ),
    "RERANK_UNAVAILABLE": Code("Unavailable", 503, 1),
    "DISK_FULL": Code(
        "Failed",
        507,
        1,
        Remedy(
            "Free some space, then run `vault-agent index` again.",
            "Free some space. POST /index then starts another run.",
            "Ask the user to free some space.",
        ),
    ),
    "INDEX_IO_ERROR": Code(
        "Failed",
        503,
        1,
        Remedy(
            "Check the disk, its free space and the rights of the folder (`vault-agent config get"
            " index.dir` prints it), or set index.dir to another folder. Then run"
            " `vault-agent index` again.",
            "Check the disk, its free space and the rights of the folder index.dir, or set it to"
            " another one. POST /index then starts another run.",
            "Ask the user to check the disk.",
        ),
    ),
    "INTERNAL_ERROR": Code("Failed", 500, 1),
    "EDIT_NOT_PROVEN": Code(
        "Failed", 500, 1, "The note is unchanged. Make the change in an editor, and report this."
    ),
    "WRITE_NOT_VERIFIED": Code(
        "Failed",
        502,
        1,
        Remedy(
            "Look at the note. The text before is kept: `vault-agent undo` restores it.",
            "Look at the note. The text before is kept: POST /write/undo restores it.",
            "Read the note. The text before is kept, and can be restored by undo.",
        ),
    ),
    "WRITE_UNSUPPORTED_HERE": Code("Unavailable", 503, 1),
    "WRITE_LOG_DAMAGED": Code(
        "Unavailable",
        503,
        1,
        "To write without its undo, move it away, then stop the server and start it again.",
    ),
    "STATE_TOO_NEW": Code("Unavailable", 503, 1, "Update vault-agent on this computer."),
    "WRITE_OUTCOME_UNKNOWN": Code("Unavailable", None, 1, "Read the note before you try again."),
    "SERVER_UNAVAILABLE": Code(
        "Unavailable",
        None,
        1,
        "Start one with `vault-agent serve --background`, or name another with --endpoint.",
    ),
    "SERVER_FAILED": Code(
        "Failed",
        None,
        1,
        "See server.log in the folder of the index, below the one that `vault-agent config get"
        " index.dir` prints.",
    ),
    "SERVICE_FAILED": Code("Failed", None, 1),
    "PROGRAM_FAILED": Code("Failed", None, 1),
    "SERVICE_NOT_FOUND": Code("NotFound", None, 4),
    "SERVICE_UNSUPPORTED": Code(
        "Misconfigured", None, 2, "Use `vault-agent serve --background` instead."
    ),
    "OUTPUT_FAILED": Code("Failed", None, 1),
    "CONFIG_INVALID": Code("Misconfigured", None, 2),
    "VAULT_NOT_FOUND": Code(
        "Misconfigured",
        503,
        2,
        Remedy(
            "Name the folder that holds your notes: `vault-agent setup --folder ~/Notes`. For"
            " another vault: `vault-agent doctor`.",
            "Mount the folder again, or name another one in vault.root.",
            "Ask the user to name the folder of the notes.",
        ),
    ),
    "VAULT_MISMATCH": Code(
        "Misconfigured",
        None,
        2,
        "To serve yours instead: `vault-agent serve --stop`, then `vault-agent serve"
        " --background`.",
    ),
    "CLIENT_CONFIG_INVALID": Code("Misconfigured", None, 2),
    "PORT_IN_USE": Code(
        "Misconfigured",
        None,
        2,
        "Stop the program that uses it, or choose another port: `vault-agent serve --port"
        " {other}`.",
    ),
    # Errors of jobs, besides some of those above.
    "VAULT_EMPTY": Code(
        "Failed",
        None,
        1,
        "Mount the vault again. If it is meant to be empty, delete the index's folder.",
    ),
    "ID_COLLISION": Code(
        "Failed",
        None,
        1,
        Remedy(
            "Rename one of the notes named last in the job, then run `vault-agent index` again.",
            "Rename one of the notes named last in the job. POST /index then starts another run.",
        ),
    ),
    "INDEXER_FAILED": Code(
        "Failed", 503, 1, Remedy(*_INDEX_AGAIN[:2], "Ask the user to update the index.")
    ),
    "JOB_STOPPED": Code("Failed", None, 1, "Run `vault-agent {kind}` to start again."),
    # Warnings of replies and of the server.
    "INDEX_STALE": Code(
        *_WARNING,
        Remedy(
            "Run `vault-agent index` to bring the index up to date.",
            "POST /index brings the index up to date.",
            "Ask the user to update the index.",
        ),
        "The running job brings the index up to date.",
    ),
    "INDEX_INCOMPLETE": Code(
        *_WARNING,
        Remedy(
            "Run `vault-agent index` to complete the index.",
            "POST /index completes it.",
            "Ask the user to update the index.",
        ),
        "The running job completes the index.",
    ),
    "INDEX_BEHIND": Code(*_WARNING, "They are being indexed: ask again in a moment."),
    "WATCH_LIMIT": Code(*_WARNING),
    "EMBEDDING_INCOMPLETE": Code(
        *_WARNING,
        Remedy(
            "Run `vault-agent index` to embed them.",
            "POST /index embeds them.",
            "Ask the user to update the index.",
        ),
        "The running job embeds them.",
    ),
    "VAULT_SKIPPED": Code(*_WARNING),
    "TWO_PROJECT_VAULTS": Code(*_WARNING),
    "PROJECT_CONFIG_IGNORED": Code(*_WARNING),
    "FOLDER_NOT_FOUND": Code(
        *_WARNING,
        Remedy(
            "All folders: `vault-agent list --folders`."
            " Paths of notes: `vault-agent search -l WORDS`.",
            "GET /folders lists the folders.",
        ),
    ),
    "CONTEXT_NOTE_NOT_FOUND": Code(*_WARNING),
    "CONTEXT_EMPTY": Code(*_WARNING),
    "CONTEXT_CUT": Code(*_WARNING, "Allow more tokens, or ask for less."),
    "REGEX_INCOMPLETE": Code(*_WARNING, "Continue with the cursor, or search fewer notes."),
    "REPLY_TRUNCATED": Code(*_WARNING, "Ask for fewer results, or for one entry by its ID."),
    "MENTIONS_LIMITED": Code(*_WARNING),
    # Warnings of writes.
    "FRONTMATTER_IGNORED": Code(*_WARNING),
    "INDEX_PENDING": Code(*_WARNING, "A search finds the change in a moment."),
    "LINKS_NOT_REWRITTEN": Code(*_WARNING),
    "LINKS_BROKEN": Code(*_WARNING),
    "LINKS_LEAD_ELSEWHERE": Code(*_WARNING),
    "TASK_BLOCKED": Code(*_WARNING),
    "UNDO_NOT_LAST": Code(
        *_WARNING,
        Remedy(
            "To take that one back: `vault-agent undo {writeId}`.",
            "To take that one back, give its ID.",
        ),
    ),
    "WRITE_NOT_DURABLE": Code(*_WARNING),
    "RECOVERY_CONFLICT": Code(
        *_WARNING,
        Remedy(
            "Run `vault-agent undo --list` to see which.",
            "GET /writes tells which.",
            "Ask the user to look at them.",
        ),
    ),
    "WARNINGS_TRUNCATED": Code(*_WARNING),
    "SERVER_EXPOSED": Code(*_WARNING),
    # Warnings of index jobs.
    "FRONTMATTER_PARSE_FAILED": Code(*_WARNING),
    "FILE_NOT_UTF8": Code(*_WARNING),
    "FILE_BINARY": Code(*_WARNING),
    "FILE_UNREADABLE": Code(*_WARNING),
    "FILE_VANISHED": Code(*_WARNING),
    "FILE_CHANGED_WHILE_READING": Code(*_WARNING),
    "FILE_NAME_NOT_UTF8": Code(*_WARNING),
    "FILE_TOO_LARGE_FOR_INDEXING": Code(*_WARNING),
    "NOTE_PARSER_CRASHED": Code(*_WARNING),
    "ATTACHMENT_NOT_READ": Code(*_WARNING),
    "ATTACHMENT_CUT": Code(*_WARNING),
    "NOTE_TRUNCATED": Code(*_WARNING),
    "EMBEDDING_FAILED": Code(*_WARNING),
    "EMBEDDING_TRUNCATED": Code(*_WARNING),
    "SYMLINK_SKIPPED": Code(*_WARNING),
    "NOTES_EXCLUDED": Code(*_WARNING, "To index it, add {pattern} to vault.exclude."),
}
