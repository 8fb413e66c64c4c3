// Made by `python -m tests.web.wire_types` from the models of the HTTP contract. Do not edit.

declare namespace Wire {
  interface Answer {
    requestedMode: Mode | null;
    usedMode: Mode;
    limit: number;
    results: Hit[];
    indexedAt?: string | null;
    hasMore: boolean;
    nextCursor: string | null;
    truncated: boolean;
    unknown?: UnknownWord[];
  }
  interface Asset {
    path: string;
    url: string;
    kind: "image" | "audio" | "video" | "file";
  }
  interface AttachmentInfo {
    path: string;
    name: string;
    contentType: string;
    size: number;
    modified: string;
  }
  interface Backlink {
    noteId: string;
    path: string;
    title: string;
    count: number;
    places: Place[];
  }
  interface BacklinksPage {
    revision: string;
    hasMore: boolean;
    nextCursor: string | null;
    total: number;
    backlinks: Backlink[];
  }
  interface BrokenLinksPage {
    revision: string;
    hasMore: boolean;
    nextCursor: string | null;
    total: number;
    links: (Finding | Wanted)[];
  }
  interface ChosenNote {
    vault: string;
    noteId: string;
    title: string;
    path: string;
  }
  interface ChunkContent {
    id: string;
    noteId: string;
    chunkIndex: number;
    path: string;
    title: string;
    heading: string | null;
    headingPath: string[];
    startLine: number;
    endLine: number;
    metadata: Metadata;
    content: string;
    contentType: string;
    size: number;
    kind?: string | null;
    page?: number | null;
  }
  interface CommunitiesPage {
    revision: string;
    hasMore: boolean;
    nextCursor: string | null;
    total: number;
    modularity: number;
    alone: number;
    communities: Community[];
    members: number[] | null;
  }
  interface Community {
    id: number;
    size: number;
    label: string;
    central: GraphNote[];
  }
  interface Context {
    section: string;
    tokens: number;
    sources: ContextSource[];
  }
  interface ContextSource {
    path: string;
    lines: [number, number];
    query: number;
    tokens: number;
    cut: boolean;
  }
  interface Delivered {
    text: string | null;
    message: string | null;
  }
  interface DeliveredNote {
    vault: string;
    noteId: string;
    id: string | null;
    path: string;
    title: string;
    type: string;
    updated: string;
    score: number;
    matchType: "tag" | "semantic" | "both";
    tag: number;
    semantic: number;
    recency: number;
    reasons: string[];
    leftOut: string | null;
    changed: boolean | null;
  }
  interface Demoted {
    changed: boolean;
    global: GlobalCopy | null;
    trashPath: string | null;
  }
  interface Elsewhere {
    vault: string;
    noteId: string;
  }
  interface EmbeddingHealth {
    enabled: boolean;
    available: boolean;
    share: number;
  }
  interface Finding {
    path: string;
    line: number;
    column: number;
    fault: "note" | "heading" | "block" | "attachment" | "ambiguous";
    kind: string;
    target: string;
    fragment: string | null;
    candidates: string[];
  }
  interface FolderBranch {
    folder: string;
    count: number;
    total: number;
    children: FolderBranch[];
  }
  interface FolderContents {
    folder: string;
    folders: string[];
    attachments: AttachmentInfo[];
    truncated: boolean;
  }
  interface FolderTree {
    revision: string;
    folders: FolderBranch[];
    count: number;
    truncated: boolean;
  }
  interface GlobalCopy {
    noteId: string;
    path: string;
    id: string | null;
  }
  interface GraphColumns {
    id: (string | null)[];
    title: string[];
    folder: (number | null)[];
    type: (number | null)[];
    tags: number[][];
    day: (number | null)[];
    in: number[];
    out: number[];
    community?: (number | null)[] | null;
  }
  interface GraphCounts {
    notes: number;
    edges: number;
    orphans: number;
    unresolved: number;
  }
  interface GraphEdge {
    source: string;
    target: string;
  }
  interface GraphNode {
    id: string;
    identifier: string | null;
    label: string;
    type: string | null;
    tags: string[];
    createdAt: string | null;
    connectionCount: number;
    vault?: string | null;
  }
  interface GraphNote {
    noteId: string;
    path: string;
    title: string;
    in: number;
    out: number;
  }
  interface GraphObjects {
    revision: string;
    directed: true;
    nodes: GraphNode[];
    edges: GraphEdge[];
    truncated: boolean;
    counts: GraphCounts;
  }
  interface GrepAnswer {
    lines: GrepLine[];
    incomplete: boolean;
    hasMore: boolean;
    nextCursor: string | null;
  }
  interface GrepLine {
    noteId: string;
    path: string;
    line: number;
    text: string;
    matches: ([number, number])[];
    before: string[];
    after: string[];
    moreInNote: boolean;
  }
  interface Health {
    status: "ok" | "degraded" | "error";
    version: string;
    vault: ServedVault;
    index: IndexHealth;
    embeddings: EmbeddingHealth;
    runningJob: string | null;
    switchedOn: string[];
    watch: WatchStatus;
    write: WriteHealth;
  }
  interface Hit {
    id: string;
    type: "chunk" | "note";
    noteId: string;
    chunkIndex: number | null;
    path: string;
    title: string;
    heading: string | null;
    headingPath: string[];
    startLine: number | null;
    endLine: number | null;
    snippet: string;
    matches: ([number, number])[];
    line: number | null;
    score: number;
    reason: Reason;
    metadata: Metadata;
    explanation: Record<string, unknown> | null;
    kind?: string | null;
    page?: number | null;
    vault?: string | null;
    also?: Elsewhere[];
  }
  interface IndexHealth {
    available: boolean;
    stale: boolean;
    generation: number | null;
    notes: number;
    chunks: number;
    indexedAt: string | null;
  }
  interface IndexState {
    state: "indexed" | "pending";
    generation: number | null;
    revision: number | null;
  }
  interface Job {
    id: string;
    kind: JobKind;
    trigger: Trigger;
    state: JobState;
    createdAt: string;
    startedAt: string | null;
    finishedAt: string | null;
    phase: string | null;
    phases: PhaseProgress[];
    rate: number | null;
    characterRate: number | null;
    etaSeconds: number | null;
    waiting: Waiting | null;
    warnings: Warning[];
    warningCount: number;
    summary: JobSummary | null;
    error: Warning | null;
  }
  type JobKind = "index" | "reindex" | "move" | "undo";
  interface JobList {
    jobs: Job[];
  }
  type JobState = "queued" | "running" | "succeeded" | "failed" | "cancelled" | "interrupted";
  interface JobSummary {
    added: number;
    changed: number;
    removed: number;
    renamed: number;
    unchanged: number;
    chunks: number;
    links: number;
    unresolvedLinks: number;
    embedded: number;
    reused: number;
    embeddingFailed: number;
    writeId: string | null;
  }
  interface JournalList {
    journals: ShownJournal[];
  }
  type LinkKind = "wikilink" | "embed" | "markdown" | "image" | "frontmatter";
  interface LinkSummary {
    kind: LinkKind;
    target: string;
    fragment: string | null;
    text: string | null;
    line: number;
    resolved: boolean;
    ambiguous: boolean;
    path: string | null;
    noteId: string | null;
  }
  interface LinksPage {
    revision: string;
    hasMore: boolean;
    nextCursor: string | null;
    links: NoteLink[];
  }
  interface ListedNote {
    noteId: string;
    path: string;
    title: string;
    type: string | null;
    tags: string[];
    created: string | null;
    updated: string;
    excerpt: string;
    connections: number;
    id?: string | null;
    status?: string | null;
    files?: string[];
    promoted?: boolean;
    vault?: string | null;
  }
  interface ListedTask {
    taskId: string;
    path: string;
    line: number;
    status: TaskStatus;
    symbol: string;
    text: string;
    due: string | null;
    scheduled: string | null;
    start: string | null;
    created: string | null;
    done: string | null;
    cancelled: string | null;
    priority: string | null;
    recurrence: string | null;
    id: string | null;
    dependsOn: string[];
    tags: string[];
    headingPath: string[];
    format: "emoji" | "dataview" | null;
  }
  interface LocalGraph {
    revision: string;
    nodes: NearNote[];
    edges: ([number, number])[];
    weights: number[];
    truncated: boolean;
  }
  interface LogEntry {
    writeId: string;
    time: string;
    agent: string;
    client: string;
    operation: string;
    state: WriteState;
    files: WrittenFile[];
    fileCount: number;
    undoable: boolean;
    warning: string | null;
  }
  interface LogPage {
    writes: LogEntry[];
    hasMore: boolean;
    nextCursor: string | null;
  }
  interface Marked {
    changed: boolean;
  }
  interface MemoryNews {
    sessionId: string;
    agent: string;
    event: "start" | "prompt" | "manual" | "chosen" | "journal";
    notes: number;
    tokens: number;
  }
  interface Mention {
    noteId: string;
    path: string;
    title: string;
    count: number;
    places: Place[];
    linked: boolean;
  }
  interface Mentions {
    revision: string;
    total: number;
    hasMore: boolean;
    mentions: Mention[];
  }
  interface Metadata {
    type: string | null;
    aliases: string[];
    tags: string[];
    date: string | null;
    created: string | null;
    updated: string | null;
    attachmentCount: number;
    truncated: boolean;
  }
  type Mode = "lexical" | "embedding" | "hybrid";
  interface NamedNote {
    noteId: string;
    path: string;
    title: string;
    match: "id" | "path" | "name" | "alias" | "title";
  }
  interface NamedNotes {
    notes: NamedNote[];
    hasMore: boolean;
    line: number | null;
    heading: string | null;
    anchor: string | null;
  }
  interface NearNote {
    noteId: string;
    path: string;
    title: string;
    in: number;
    out: number;
    type: string | null;
    distance: number;
    vault?: string | null;
  }
  interface NoteContent {
    id: string;
    path: string;
    title: string;
    metadata: Metadata;
    content: string;
    contentType: string;
    size: number;
    contentHash: string;
    links: LinkSummary[];
    attachments: LinkSummary[];
    linksTruncated: boolean;
    linkCount: number;
    pieces: number | null;
  }
  interface NoteFrontmatter {
    noteId: string;
    path: string;
    frontmatter: Record<string, unknown>;
    tags: string[];
  }
  interface NoteLink {
    kind: string;
    target: string;
    fragment: string | null;
    fragmentFound: boolean | null;
    text: string | null;
    line: number;
    column: number;
    status: "resolved" | "ambiguous" | "unresolved" | "external";
    noteId: string | null;
    path: string | null;
    title: string | null;
    candidates: string[];
    vault?: string | null;
  }
  interface NoteList {
    notes: ListedNote[];
    total: number;
    hasMore: boolean;
    nextCursor: string | null;
  }
  interface NoteOutline {
    noteId: string;
    path: string;
    headings: OutlineHeading[];
    blocks: OutlineBlock[];
  }
  interface OneJob {
    job: Job;
  }
  interface OneJournal {
    journal: ShownJournal;
  }
  interface OneSession {
    session: SessionDetail;
  }
  interface OneWrite {
    write: LogEntry;
    changedSince: boolean | null;
  }
  interface OutlineBlock {
    blockId: string;
    line: number;
    endLine: number;
    sectionHash: string;
  }
  interface OutlineEntry {
    level: number;
    text: string;
    id: string;
    line: number;
  }
  interface OutlineHeading {
    headingId: string;
    level: number;
    text: string;
    headingPath: string[];
    line: number;
    endLine: number;
    sectionHash: string;
  }
  interface PageSession {
    token: string;
    expiresAt: number;
  }
  interface PathOfNotes {
    length: number;
    notes: GraphNote[];
  }
  interface PhaseProgress {
    name: string;
    done: number;
    total: number | null;
  }
  interface Place {
    line: number;
    heading: string | null;
    chunkIndex: number | null;
    snippet: string;
    matches: ([number, number])[];
  }
  interface Promoted {
    created: boolean;
    global: GlobalCopy;
  }
  interface PropertyValue {
    text: string;
    noteId: string | null;
  }
  type Reason = "lexical_match" | "embedding_match" | "hybrid_match" | "related_lexical" | "related_embedding" | "related_link" | "related_neighbours" | "related_hybrid";
  interface RecallSignals {
    files: string[];
    tags: string[];
    prompt: boolean;
  }
  interface RecallWeights {
    tag: number;
    semantic: number;
    recency: number;
  }
  interface Recalled {
    text: string;
    tokens: number;
    notes: RecalledNote[];
    leftOut: RecalledNote[];
    signals: RecallSignals;
    usedMode: Mode | null;
    wordMatch: WordMatch | null;
    weights: RecallWeights;
  }
  interface RecalledNote {
    vault: string;
    noteId: string;
    id: string | null;
    path: string;
    title: string;
    type: string;
    updated: string;
    score: number;
    matchType: "tag" | "semantic" | "both";
    tag: number;
    semantic: number;
    recency: number;
    reasons: string[];
    leftOut: string | null;
  }
  interface RenderedNote {
    noteId: string | null;
    path: string;
    title: string;
    updated: string | null;
    html: string;
    outline: OutlineEntry[];
    properties: ShownProperty[];
    assets: Asset[];
    contentHash: string;
  }
  interface Revision {
    generation: number;
    revision: number;
    added: number;
    changed: number;
    removed: number;
    renamed: number;
    noteIds: string[];
    complete: boolean;
  }
  interface ServedVault {
    id: string;
    name: string;
  }
  interface SessionDetail {
    sessionId: string;
    agent: string;
    project: string | null;
    vault: string;
    title: string | null;
    startedAt: string;
    lastEventAt: string;
    endedAt: string | null;
    state: "open" | "ended";
    notes: number;
    tokens: number;
    maxTokens: number;
    journal: SessionJournal | null;
    deliveries: ShownDelivery[];
    pinned: ChosenNote[];
  }
  interface SessionJournal {
    state: "pending" | "incomplete" | "complete" | "skipped";
    path: string | null;
    noteId: string | null;
  }
  interface SessionRefresh {
    before: DeliveredNote[];
    after: DeliveredNote[];
    text: string;
    tokens: number;
  }
  interface SessionRow {
    sessionId: string;
    agent: string;
    project: string | null;
    vault: string;
    title: string | null;
    startedAt: string;
    lastEventAt: string;
    endedAt: string | null;
    state: "open" | "ended";
    notes: number;
    tokens: number;
    maxTokens: number;
    journal: SessionJournal | null;
    deliveries: number;
  }
  interface SessionsEnded {
    ended: boolean;
  }
  interface SessionsForgotten {
    forgotten: number;
  }
  interface SessionsPage {
    sessions: SessionRow[];
    nextCursor: string | null;
  }
  interface ShownDelivery {
    at: string;
    event: "start" | "prompt" | "manual";
    text: string;
    tokens: number;
    maxTokens: number;
    signals: RecallSignals;
    notes: DeliveredNote[];
    leftOut: RecalledNote[];
  }
  interface ShownJournal {
    sessionId: string;
    agent: string;
    project: string | null;
    vault: string;
    state: "pending" | "incomplete" | "complete" | "skipped";
    reason: string | null;
    title: string | null;
    path: string | null;
    noteId: string | null;
    generator: string | null;
    startedAt: string;
    endedAt: string | null;
  }
  interface ShownProperty {
    key: string;
    values: PropertyValue[];
    isList: boolean;
  }
  interface Stats {
    revision: string;
    notes: number;
    types: TypeCount[];
    attachments: number;
    links: number;
    unresolvedLinks: number;
    externalLinks: number;
    tags: number;
    openTasks: number;
    chunks: number;
    indexedAt: string | null;
    stale: boolean;
  }
  interface Suggestion {
    kind: "note" | "heading" | "block" | "tag" | "folder" | "attachment";
    label: string;
    detail: string;
    insert: string;
    match: ([number, number])[];
    noteId: string | null;
    path: string | null;
    line: number | null;
    type: string | null;
  }
  interface Suggestions {
    suggestions: Suggestion[];
  }
  interface TagBranch {
    tag: string;
    count: number;
    total: number;
    children: TagBranch[];
  }
  interface TagTree {
    revision: string;
    tags: TagBranch[];
    untagged: number;
    truncated: boolean;
  }
  interface TaskList {
    tasks: ListedTask[];
    hasMore: boolean;
    nextCursor: string | null;
  }
  type TaskStatus = "open" | "done" | "cancelled";
  interface TemplateList {
    templates: TemplateRow[];
  }
  interface TemplateRow {
    name: string;
    builtIn: boolean;
    path: string | null;
    variables: string[];
  }
  interface Ticket {
    ticket: string | null;
    seconds: number;
  }
  type Trigger = "user" | "start" | "watch" | "scan";
  interface TypeCount {
    type: string | null;
    count: number;
  }
  interface UnknownWord {
    position: number;
    instead: string[];
  }
  interface VaultList {
    vaults: VaultState[];
  }
  interface VaultState {
    name: string;
    role: "default" | "project" | "global" | "other";
    identity: string;
    open: boolean;
    state: "ready" | "indexing" | "closed" | "missing" | "untrusted" | "error";
    notes: number | null;
    types: Record<string, number> | null;
    lastIndexed: string | null;
    code: string | null;
  }
  interface Waiting {
    address: string;
    seconds: number;
  }
  interface Wanted {
    target: string;
    fault: "note" | "heading" | "block" | "attachment" | "ambiguous";
    count: number;
    notes: number;
  }
  interface Warning {
    code: string;
    message: string;
    details: Record<string, unknown>;
  }
  type WatchState = "off" | "starting" | "watching" | "polling" | "away";
  interface WatchStatus {
    enabled: boolean;
    state: WatchState;
    reason: string | null;
    lastEventAt: string | null;
    lastRunAt: string | null;
    lastScanAt: string | null;
    pending: number;
    lagSeconds: number;
  }
  interface WholeGraph {
    revision: string;
    directed: true;
    nodes: GraphColumns;
    folders: string[];
    types: string[];
    tags: string[];
    edges: number[];
    weights: number[];
    truncated: boolean;
    counts: GraphCounts;
  }
  interface WordMatch {
    share: number;
    needed: number;
  }
  interface WriteHealth {
    enabled: boolean;
    state: "off" | "recovering" | "ready" | "unsupported";
    atomicity: "exchange" | "rename" | null;
    durable: boolean;
    lingering: number;
    conflicts: number;
    conflictPaths: string[];
  }
  interface WriteNews {
    writeId: string;
    operation: string;
    agent: string;
    client: string;
    paths: string[];
    fileCount: number;
  }
  type WriteState = "prepared" | "committed" | "done" | "failed" | "undone";
  interface WritesForgotten {
    forgotten: number;
  }
  interface Written {
    writeId: string | null;
    operation: string;
    changed: boolean;
    noteId: string | null;
    path: string;
    created: boolean;
    dryRun: boolean;
    hashBefore: string | null;
    hashAfter: string | null;
    bytesBefore: number | null;
    bytesAfter: number | null;
    sectionHash: string | null;
    spans: number;
    diff: string;
    diffTruncated: boolean;
    undoable: boolean;
    replayed: boolean;
    movedFrom: string | null;
    trashPath: string | null;
    brokenLinks: number;
    files: WrittenFile[];
    fileCount: number;
    line: number | null;
    index: IndexState;
  }
  interface WrittenFile {
    path: string;
    before: string | null;
    hashBefore: string | null;
    hashAfter: string | null;
    bytesBefore: number | null;
    bytesAfter: number | null;
    links: number;
  }
  /** An event of a vault. */
  type News = { type: "revision"; data: Revision } | { type: "write"; data: WriteNews } | { type: "job"; data: Job } | { type: "memory"; data: MemoryNews } | { type: "watch"; data: WatchStatus };
  /** The body of a reply: its data, or an error. */
  interface Body<Data> {
    data: Data;
    warnings?: Warning[];
    error?: { code: string; message: string; details?: Record<string, unknown> };
  }
  /** The data of the reply of a route. That of an address that is not written out is unknown. */
  type Data<Method extends string, Path extends string> = Replied<`${Method} ${Path}`>;

  type Replied<Asked extends string> =
    Asked extends `${infer Method} /vaults/${infer _}/${infer Rest}` ? Replied<`${Method} /${Rest}`> :
    Asked extends `POST /memory/sessions/${string}/refresh` ? SessionRefresh :
    Asked extends `POST /memory/sessions/${string}/notes` ? OneSession :
    Asked extends `POST /write/tasks/add` ? Written :
    Asked extends `POST /write/tasks/set` ? Written :
    Asked extends `GET /notes/${string}/outline` ? NoteOutline :
    Asked extends `GET /notes/${string}/frontmatter` ? NoteFrontmatter :
    Asked extends `GET /chunks/${string}/${string}` ? ChunkContent :
    Asked extends `GET /notes/${string}/links` ? LinksPage :
    Asked extends `GET /notes/${string}/backlinks` ? BacklinksPage :
    Asked extends `GET /notes/${string}/mentions` ? Mentions :
    Asked extends `GET /notes/${string}/graph` ? LocalGraph :
    Asked extends `POST /notes/${string}/promote` ? Promoted :
    Asked extends `DELETE /notes/${string}/promote` ? Demoted :
    Asked extends `POST /notes/${string}/supersede` ? Marked :
    Asked extends `GET /memory/sessions/${string}` ? OneSession :
    Asked extends `GET /notes/${string}/html` ? RenderedNote :
    Asked extends `GET /ui/files/${string}` ? ArrayBuffer :
    Asked extends `POST /watch/scan` ? OneJob :
    Asked extends `GET /links/broken` ? BrokenLinksPage :
    Asked extends `GET /graph/path` ? PathOfNotes :
    Asked extends `GET /graph/communities` ? CommunitiesPage :
    Asked extends `POST /write/template` ? Written :
    Asked extends `POST /sessions/events` ? Delivered :
    Asked extends `GET /memory/sessions` ? SessionsPage :
    Asked extends `POST /memory/forget` ? SessionsForgotten :
    Asked extends `GET /graph/layout` ? ArrayBuffer :
    Asked extends `POST /write/note` ? Written :
    Asked extends `POST /write/frontmatter` ? Written :
    Asked extends `POST /write/replace` ? Written :
    Asked extends `POST /write/tags` ? Written :
    Asked extends `POST /write/section` ? Written :
    Asked extends `POST /write/move` ? Written | OneJob :
    Asked extends `POST /write/delete` ? Written :
    Asked extends `POST /write/folder` ? Written :
    Asked extends `POST /write/attachment` ? Written :
    Asked extends `POST /write/undo` ? Written | OneJob :
    Asked extends `POST /writes/forget` ? WritesForgotten :
    Asked extends `POST /ui/tickets` ? Ticket :
    Asked extends `POST /ui/session` ? PageSession :
    Asked extends `DELETE /ui/session` ? SessionsEnded :
    Asked extends `GET /jobs/${string}` ? OneJob :
    Asked extends `DELETE /jobs/${string}` ? OneJob :
    Asked extends `GET /notes/${string}` ? NoteContent :
    Asked extends `GET /attachments/${string}` ? AttachmentInfo :
    Asked extends `GET /writes/${string}` ? OneWrite :
    Asked extends `GET /vaults` ? VaultList :
    Asked extends `GET /health` ? Health :
    Asked extends `POST /index` ? OneJob :
    Asked extends `POST /reindex` ? OneJob :
    Asked extends `GET /jobs` ? JobList :
    Asked extends `GET /watch` ? WatchStatus :
    Asked extends `POST /search` ? Answer :
    Asked extends `POST /related` ? Answer :
    Asked extends `GET /resolve` ? NamedNotes :
    Asked extends `GET /notes` ? NoteList :
    Asked extends `GET /tasks` ? TaskList :
    Asked extends `POST /context` ? Context :
    Asked extends `POST /grep` ? GrepAnswer :
    Asked extends `GET /attachments` ? FolderContents :
    Asked extends `GET /tags` ? TagTree :
    Asked extends `GET /folders` ? FolderTree :
    Asked extends `GET /graph` ? WholeGraph | GraphObjects :
    Asked extends `GET /templates` ? TemplateList :
    Asked extends `POST /memory` ? Recalled :
    Asked extends `GET /journals` ? JournalList :
    Asked extends `POST /journals` ? OneJournal :
    Asked extends `POST /render` ? RenderedNote :
    Asked extends `GET /suggest` ? Suggestions :
    Asked extends `GET /stats` ? Stats :
    Asked extends `GET /writes` ? LogPage :
    unknown;
}
