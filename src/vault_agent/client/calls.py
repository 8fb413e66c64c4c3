"""The calls of the server's operations. `make docs` writes this file from their declarations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.client.call import Call

if TYPE_CHECKING:
    from vault_agent.model.authoring import TemplateList
    from vault_agent.model.context import Context
    from vault_agent.model.deliveries import (
        OneSession,
        SessionRefresh,
        SessionsForgotten,
        SessionsPage,
    )
    from vault_agent.model.graph import (
        BacklinksPage,
        BrokenLinksPage,
        CentralPage,
        CommunitiesPage,
        FolderTree,
        GraphNotesPage,
        GraphObjects,
        LinksPage,
        LocalGraph,
        Mentions,
        PathOfNotes,
        TagTree,
        WholeGraph,
    )
    from vault_agent.model.grep import GrepAnswer
    from vault_agent.model.health import Health
    from vault_agent.model.jobs import JobList, OneJob
    from vault_agent.model.journals import JournalList, OneJournal
    from vault_agent.model.lists import NoteList, TaskList
    from vault_agent.model.memory import RecallReply
    from vault_agent.model.names import NamedNotes
    from vault_agent.model.pages import RenderedNote
    from vault_agent.model.promotion import Demoted, Promoted
    from vault_agent.model.reading import NoteFrontmatter, NoteOutline
    from vault_agent.model.retrieval import (
        AttachmentInfo,
        ChunkContent,
        FolderContents,
        NoteContent,
    )
    from vault_agent.model.search import Answer, CompactAnswer
    from vault_agent.model.sessions import Delivered
    from vault_agent.model.suggestions import Stats, Suggestions
    from vault_agent.model.vaults import VaultList
    from vault_agent.model.watch import WatchStatus
    from vault_agent.model.writing import LogPage, OneWrite, WritesForgotten, Written

VAULTS: Call[VaultList] = Call("GET", "/vaults", ("vaults.VaultList",))
HEALTH: Call[Health] = Call("GET", "/health", ("health.Health",))
SEARCH: Call[Answer | CompactAnswer] = Call(
    "POST", "/search", ("search.Answer", "search.CompactAnswer"), has_body=True
)
RELATED: Call[Answer | CompactAnswer] = Call(
    "POST", "/related", ("search.Answer", "search.CompactAnswer"), has_body=True
)
OUTLINE: Call[NoteOutline] = Call("GET", "/notes/{noteId}/outline", ("reading.NoteOutline",))
FRONTMATTER: Call[NoteFrontmatter] = Call(
    "GET", "/notes/{noteId}/frontmatter", ("reading.NoteFrontmatter",)
)
NOTE: Call[NoteContent] = Call("GET", "/notes/{noteId}", ("retrieval.NoteContent",))
CHUNK: Call[ChunkContent] = Call(
    "GET", "/chunks/{noteId}/{chunkIndex}", ("retrieval.ChunkContent",)
)
ATTACHMENT: Call[AttachmentInfo] = Call("GET", "/attachments/{path}", ("retrieval.AttachmentInfo",))
ATTACHMENTS: Call[FolderContents] = Call("GET", "/attachments", ("retrieval.FolderContents",))
RESOLVE: Call[NamedNotes] = Call("GET", "/resolve", ("names.NamedNotes",))
NOTES: Call[NoteList] = Call("GET", "/notes", ("lists.NoteList",))
TASKS: Call[TaskList] = Call("GET", "/tasks", ("lists.TaskList",))
CONTEXT: Call[Context] = Call("POST", "/context", ("context.Context",), has_body=True)
GREP: Call[GrepAnswer] = Call("POST", "/grep", ("grep.GrepAnswer",), has_body=True)
LINKS: Call[LinksPage] = Call("GET", "/notes/{noteId}/links", ("graph.LinksPage",))
BACKLINKS: Call[BacklinksPage] = Call("GET", "/notes/{noteId}/backlinks", ("graph.BacklinksPage",))
MENTIONS: Call[Mentions] = Call("GET", "/notes/{noteId}/mentions", ("graph.Mentions",))
BROKEN_LINKS: Call[BrokenLinksPage] = Call("GET", "/links/broken", ("graph.BrokenLinksPage",))
TAGS: Call[TagTree] = Call("GET", "/tags", ("graph.TagTree",))
FOLDERS: Call[FolderTree] = Call("GET", "/folders", ("graph.FolderTree",))
GRAPH: Call[WholeGraph | GraphObjects] = Call(
    "GET", "/graph", ("graph.WholeGraph", "graph.GraphObjects")
)
LOCAL_GRAPH: Call[LocalGraph] = Call("GET", "/notes/{noteId}/graph", ("graph.LocalGraph",))
GRAPH_PATH: Call[PathOfNotes] = Call("GET", "/graph/path", ("graph.PathOfNotes",))
ORPHANS: Call[GraphNotesPage] = Call("GET", "/graph/orphans", ("graph.GraphNotesPage",))
DEAD_ENDS: Call[GraphNotesPage] = Call("GET", "/graph/dead-ends", ("graph.GraphNotesPage",))
CENTRAL: Call[CentralPage] = Call("GET", "/graph/central", ("graph.CentralPage",))
COMMUNITIES: Call[CommunitiesPage] = Call("GET", "/graph/communities", ("graph.CommunitiesPage",))
ADD_TASK: Call[Written] = Call("POST", "/write/tasks/add", ("writing.Written",), has_body=True)
SET_TASK: Call[Written] = Call("POST", "/write/tasks/set", ("writing.Written",), has_body=True)
NEW_FROM_TEMPLATE: Call[Written] = Call(
    "POST", "/write/template", ("writing.Written",), has_body=True
)
TEMPLATES: Call[TemplateList] = Call("GET", "/templates", ("authoring.TemplateList",))
MEMORY: Call[RecallReply] = Call("POST", "/memory", ("memory.RecallReply",), has_body=True)
PROMOTE: Call[Promoted] = Call(
    "POST", "/notes/{noteId}/promote", ("promotion.Promoted",), has_body=True
)
PROMOTE_UNDO: Call[Demoted] = Call("DELETE", "/notes/{noteId}/promote", ("promotion.Demoted",))
MEMORY_SESSIONS: Call[SessionsPage] = Call("GET", "/memory/sessions", ("deliveries.SessionsPage",))
MEMORY_SESSION: Call[OneSession] = Call(
    "GET", "/memory/sessions/{sessionId}", ("deliveries.OneSession",)
)
MEMORY_REFRESH: Call[SessionRefresh] = Call(
    "POST", "/memory/sessions/{sessionId}/refresh", ("deliveries.SessionRefresh",), has_body=True
)
MEMORY_PUT_FIRST: Call[OneSession] = Call(
    "POST", "/memory/sessions/{sessionId}/notes", ("deliveries.OneSession",), has_body=True
)
MEMORY_FORGET: Call[SessionsForgotten] = Call(
    "POST", "/memory/forget", ("deliveries.SessionsForgotten",), has_body=True
)
JOURNALS: Call[JournalList] = Call("GET", "/journals", ("journals.JournalList",))
JOURNAL_MAKE: Call[OneJournal] = Call("POST", "/journals", ("journals.OneJournal",), has_body=True)
SESSION_EVENT: Call[Delivered] = Call(
    "POST", "/sessions/events", ("sessions.Delivered",), has_body=True
)
HTML: Call[RenderedNote] = Call("GET", "/notes/{noteId}/html", ("pages.RenderedNote",))
RENDER: Call[RenderedNote] = Call("POST", "/render", ("pages.RenderedNote",), has_body=True)
SUGGEST: Call[Suggestions] = Call("GET", "/suggest", ("suggestions.Suggestions",))
STATS: Call[Stats] = Call("GET", "/stats", ("suggestions.Stats",))
GRAPH_LAYOUT: Call[None] = Call("GET", "/graph/layout")
INDEX: Call[OneJob] = Call("POST", "/index", ("jobs.OneJob",), has_body=True)
REINDEX: Call[OneJob] = Call("POST", "/reindex", ("jobs.OneJob",), has_body=True)
JOBS: Call[JobList] = Call("GET", "/jobs", ("jobs.JobList",))
JOB: Call[OneJob] = Call("GET", "/jobs/{jobId}", ("jobs.OneJob",))
JOB_EVENTS: Call[None] = Call("GET", "/jobs/{jobId}/events")
CANCEL_JOB: Call[OneJob] = Call("DELETE", "/jobs/{jobId}", ("jobs.OneJob",))
WATCH: Call[WatchStatus] = Call("GET", "/watch", ("watch.WatchStatus",))
WATCH_SCAN: Call[OneJob] = Call("POST", "/watch/scan", ("jobs.OneJob",), has_body=True)
EVENTS: Call[None] = Call("GET", "/events")
WRITE_NOTE: Call[Written] = Call("POST", "/write/note", ("writing.Written",), has_body=True)
WRITE_FRONTMATTER: Call[Written] = Call(
    "POST", "/write/frontmatter", ("writing.Written",), has_body=True
)
WRITE_REPLACE: Call[Written] = Call("POST", "/write/replace", ("writing.Written",), has_body=True)
WRITE_TAGS: Call[Written] = Call("POST", "/write/tags", ("writing.Written",), has_body=True)
WRITE_SECTION: Call[Written] = Call("POST", "/write/section", ("writing.Written",), has_body=True)
WRITE_MOVE: Call[Written | OneJob] = Call(
    "POST", "/write/move", ("writing.Written", "jobs.OneJob"), has_body=True
)
WRITE_DELETE: Call[Written] = Call("POST", "/write/delete", ("writing.Written",), has_body=True)
WRITE_FOLDER: Call[Written] = Call("POST", "/write/folder", ("writing.Written",), has_body=True)
WRITE_UNDO: Call[Written | OneJob] = Call(
    "POST", "/write/undo", ("writing.Written", "jobs.OneJob"), has_body=True
)
WRITES: Call[LogPage] = Call("GET", "/writes", ("writing.LogPage",))
ONE_WRITE: Call[OneWrite] = Call("GET", "/writes/{writeId}", ("writing.OneWrite",))
WRITES_FORGET: Call[WritesForgotten] = Call(
    "POST", "/writes/forget", ("writing.WritesForgotten",), has_body=True
)
