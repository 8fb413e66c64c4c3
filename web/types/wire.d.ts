// Made by `python -m tests.web.wire_types` from the models of the HTTP contract. Do not edit.

declare namespace Wire {
  interface AssetData {
    path: string;
    url: string;
    kind: "image" | "audio" | "video" | "file";
  }
  interface AttachmentData {
    path: string;
    name: string;
    contentType: string;
    size: number;
    modified: string;
  }
  interface BacklinkData {
    noteId: string;
    path: string;
    title: string;
    count: number;
    places: PlaceData[];
  }
  interface BacklinksData {
    revision: string;
    hasMore: boolean;
    nextCursor: string | null;
    total: number;
    backlinks: BacklinkData[];
  }
  interface BlockData {
    blockId: string;
    line: number;
    endLine: number;
    sectionHash: string;
  }
  interface BrokenLinkData {
    path: string;
    line: number;
    column: number;
    fault: "note" | "heading" | "block" | "attachment" | "ambiguous";
    kind: string;
    target: string;
    fragment: string | null;
    candidates: string[];
  }
  interface BrokenLinksData {
    revision: string;
    hasMore: boolean;
    nextCursor: string | null;
    total: number;
    links: (BrokenLinkData | WantedData)[];
  }
  interface CentralData {
    revision: string;
    hasMore: boolean;
    nextCursor: string | null;
    total: number;
    by: string;
    notes: ScoredNoteData[];
  }
  interface ChangedFile {
    path: string;
    before: string | null;
    hashBefore: string | null;
    hashAfter: string | null;
    links: number;
  }
  interface ChosenNoteData {
    vault: string;
    noteId: string;
    title: string;
    path: string;
  }
  interface ChunkData {
    id: string;
    noteId: string;
    chunkIndex: number;
    path: string;
    title: string;
    heading: string | null;
    headingPath: string[];
    startLine: number;
    endLine: number;
    metadata: MetadataData;
    content: string;
    contentType: string;
    size: number;
  }
  interface CommunitiesData {
    revision: string;
    hasMore: boolean;
    nextCursor: string | null;
    total: number;
    modularity: number;
    communities: CommunityData[];
    members: number[] | null;
  }
  interface CommunityData {
    id: number;
    size: number;
    label: string;
    central: GraphNoteData[];
  }
  interface CompactResultsData {
    requestedMode: Mode | null;
    usedMode: Mode;
    limit: number;
    columns: string[];
    results: (CompactRow | CompactVaultRow)[];
    indexedAt?: string | null;
    hasMore: boolean;
    nextCursor: string | null;
    truncated: boolean;
  }
  type CompactRow = [string, string, string | null, string, number];
  type CompactVaultRow = [string, string, string | null, string, number, string];
  interface ContextData {
    section: string;
    tokens: number;
    sources: SourceData[];
  }
  interface DecisionData {
    number: number;
    noteId: string;
    path: string;
    title: string;
    status: string | null;
  }
  interface DecisionsData {
    decisions: DecisionData[];
  }
  interface DeliveredData {
    text: string | null;
    message: string | null;
  }
  interface DeliveredNoteData {
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
  interface DeliveryData {
    at: string;
    event: "start" | "prompt" | "refresh" | "manual";
    text: string;
    tokens: number;
    maxTokens: number;
    signals: DeliverySignalsData;
    notes: DeliveredNoteData[];
    leftOut: RecalledNoteData[];
  }
  interface DeliverySignalsData {
    files: string[];
    tags: string[];
    prompt: boolean;
    branch: string | null;
  }
  interface DemotedData {
    changed: boolean;
    global: GlobalNoteData | null;
    trashPath: string | null;
  }
  interface DevlogData {
    entries: DevlogEntryData[];
  }
  interface DevlogEntryData {
    topic: string;
    path: string;
    line: number;
    kind: "impl" | "problem" | "insight" | "verify";
    date: string;
    text: string;
  }
  interface ElsewhereData {
    vault: string;
    noteId: string;
  }
  interface EmbeddingHealth {
    enabled: boolean;
    available: boolean;
    share: number;
  }
  interface EndedData {
    ended: true;
  }
  interface FolderData {
    folder: string;
    count: number;
    total: number;
    children: FolderData[];
  }
  interface FoldersData {
    revision: string;
    folders: FolderData[];
    count: number;
    truncated: boolean;
  }
  interface ForgottenData {
    forgotten: number;
  }
  interface ForgottenMemoryData {
    forgotten: number;
  }
  interface FrontmatterData {
    noteId: string;
    path: string;
    frontmatter: Record<string, JsonValue>;
  }
  interface GlobalNoteData {
    noteId: string;
    path: string;
    id: string | null;
  }
  interface GraphCounts {
    notes: number;
    edges: number;
    orphans: number;
    unresolved: number;
  }
  interface GraphData {
    revision: string;
    directed: true;
    nodes: GraphNodes;
    folders: string[];
    types: string[];
    tags: string[];
    edges: number[];
    weights: number[];
    truncated: boolean;
    counts: GraphCounts;
  }
  interface GraphEdgeObject {
    source: string;
    target: string;
    label: string;
  }
  interface GraphNodeObject {
    id: string;
    identifier: string | null;
    label: string;
    type: string | null;
    tags: string[];
    createdAt: string | null;
    connectionCount: number;
    vault?: string | null;
  }
  interface GraphNodes {
    id: (string | null)[];
    title: string[];
    folder: (number | null)[];
    type: (number | null)[];
    tags: number[][];
    day: (number | null)[];
    in: number[];
    out: number[];
    community: (number | null)[] | null;
  }
  interface GraphNoteData {
    noteId: string;
    path: string;
    title: string;
    in: number;
    out: number;
  }
  interface GraphNotesData {
    revision: string;
    hasMore: boolean;
    nextCursor: string | null;
    total: number;
    notes: GraphNoteData[];
  }
  interface GraphObjectsData {
    revision: string;
    directed: true;
    nodes: GraphNodeObject[];
    edges: GraphEdgeObject[];
    truncated: boolean;
    counts: GraphCounts;
  }
  interface GrepData {
    lines: GrepLineData[];
    incomplete: boolean;
    hasMore: boolean;
    nextCursor: string | null;
  }
  interface GrepLineData {
    noteId: string;
    path: string;
    line: number;
    text: string;
    matches: ([number, number])[];
    before: string[];
    after: string[];
    moreInNote: boolean;
  }
  interface HeadingData {
    headingId: string;
    level: number;
    text: string;
    headingPath: string[];
    line: number;
    endLine: number;
    sectionHash: string;
  }
  interface HealthData {
    status: "ok" | "degraded" | "error";
    version: string;
    vault: VaultData;
    index: IndexHealth;
    embeddings: EmbeddingHealth;
    runningJob: string | null;
    switchedOn: string[];
    watch: WatchData | null;
    write: WriteHealthData | null;
  }
  interface HtmlData {
    noteId: string | null;
    path: string;
    title: string;
    html: string;
    outline: vault_agent__wire__rendered__OutlineData[];
    properties: PropertyData[];
    assets: AssetData[];
    contentHash: string;
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
  interface InterruptedData {
    vault: string;
    path: string;
    problem: "unmarked" | "missing" | "unknown";
    mended: boolean;
  }
  interface JobData {
    id: string;
    kind: JobKind;
    trigger: Trigger;
    state: JobState;
    createdAt: string;
    startedAt: string | null;
    finishedAt: string | null;
    phase: string | null;
    phases: PhaseData[];
    rate: number | null;
    characterRate: number | null;
    etaSeconds: number | null;
    warnings: WarningData[];
    warningCount: number;
    summary: SummaryData | null;
    error: JobErrorData | null;
  }
  interface JobErrorData {
    code: string;
    message: string;
    details: Record<string, any>;
  }
  type JobKind = "index" | "reindex" | "move" | "undo";
  interface JobList {
    jobs: JobData[];
  }
  type JobState = "queued" | "running" | "succeeded" | "failed" | "cancelled" | "interrupted";
  interface JournalData {
    sessionId: string;
    agent: string;
    project: string | null;
    vault: string;
    state: "pending" | "incomplete" | "complete" | "draft" | "skipped";
    reason: string | null;
    title: string | null;
    path: string | null;
    noteId: string | null;
    generator: string | null;
    startedAt: string;
    endedAt: string | null;
    attempts: number;
    nextTryAt: string | null;
  }
  interface JournalDraftData {
    journal: JournalData;
    text: string;
  }
  interface JournalsData {
    journals: JournalData[];
  }
  type JsonValue = any;
  interface LinkData {
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
  type LinkKind = "wikilink" | "embed" | "markdown" | "image" | "frontmatter";
  interface LinksData {
    revision: string;
    hasMore: boolean;
    nextCursor: string | null;
    links: NoteLinkData[];
  }
  interface ListedVaultData {
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
  interface LocalGraphData {
    revision: string;
    nodes: NearNoteData[];
    edges: ([number, number])[];
    weights: number[];
    truncated: boolean;
  }
  interface LoggedFile {
    path: string;
    before: string | null;
    hashBefore: string | null;
    hashAfter: string | null;
    bytesBefore: number | null;
    bytesAfter: number | null;
  }
  interface LoggedWrite {
    writeId: string;
    time: string;
    agent: string;
    client: string;
    operation: string;
    state: "prepared" | "committed" | "done" | "failed" | "undone";
    files: LoggedFile[];
    fileCount: number;
    undoable: boolean;
    warning: string | null;
  }
  interface MemoryData {
    text: string;
    tokens: number;
    notes: RecalledNoteData[];
    leftOut: RecalledNoteData[];
    signals: RecallSignalsData;
    usedMode: Mode | null;
    wordMatch: WordMatchData | null;
    weights: RecallWeightsData;
  }
  interface MemorySessionDetails {
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
    journal: SessionJournalData | null;
    deliveries: DeliveryData[];
    pinned: ChosenNoteData[];
    removed: ChosenNoteData[];
    refreshing: boolean;
  }
  interface MemorySessionRow {
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
    journal: SessionJournalData | null;
    deliveries: number;
  }
  interface MemorySessionsData {
    sessions: MemorySessionRow[];
    nextCursor: string | null;
  }
  interface MentionData {
    noteId: string;
    path: string;
    title: string;
    count: number;
    places: PlaceData[];
    linked: boolean;
  }
  interface MentionsData {
    revision: string;
    total: number;
    hasMore: boolean;
    mentions: MentionData[];
  }
  interface MetadataData {
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
  interface NamedData {
    notes: NamedNoteData[];
    hasMore: boolean;
    line: number | null;
    heading: string | null;
    anchor: string | null;
  }
  interface NamedNoteData {
    noteId: string;
    path: string;
    title: string;
    match: "id" | "path" | "name" | "alias" | "title";
  }
  interface NearNoteData {
    noteId: string;
    path: string;
    title: string;
    in: number;
    out: number;
    type: string | null;
    distance: number;
    vault?: string | null;
  }
  interface NoteData {
    id: string;
    path: string;
    title: string;
    metadata: MetadataData;
    content: string;
    contentType: string;
    size: number;
    contentHash: string;
    links: LinkData[];
    attachments: LinkData[];
    linksTruncated: boolean;
    linkCount: number;
    pieces: number | null;
  }
  interface NoteLinkData {
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
  interface NoteRow {
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
  interface NotesData {
    notes: NoteRow[];
    total: number;
    hasMore: boolean;
    nextCursor: string | null;
  }
  interface OneJob {
    job: JobData;
  }
  interface OneJournal {
    journal: JournalData | null;
  }
  interface OneMemorySession {
    session: MemorySessionDetails;
  }
  interface OneWrite {
    write: LoggedWrite;
    changedSince: boolean | null;
  }
  interface PathData {
    length: number;
    notes: GraphNoteData[];
  }
  interface PhaseData {
    name: string;
    done: number;
    total: number | null;
  }
  interface PlaceData {
    line: number;
    heading: string | null;
    chunkIndex: number | null;
    snippet: string;
    matches: ([number, number])[];
  }
  interface PromotedData {
    created: boolean;
    updated: boolean;
    outdated: boolean;
    global: GlobalNoteData;
  }
  interface PropertyData {
    key: string;
    values: PropertyValueData[];
    isList: boolean;
  }
  interface PropertyValueData {
    text: string;
    noteId: string | null;
  }
  type Reason = "lexical_match" | "embedding_match" | "hybrid_match" | "related_lexical" | "related_embedding" | "related_link" | "related_neighbours" | "related_hybrid";
  interface RecallSignalsData {
    files: string[];
    tags: string[];
    prompt: boolean;
  }
  interface RecallWeightsData {
    tag: number;
    semantic: number;
    recency: number;
  }
  interface RecalledNoteData {
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
  interface RefreshData {
    before: DeliveredNoteData[];
    after: DeliveredNoteData[];
    text: string;
    tokens: number;
  }
  interface ResultData {
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
    metadata: MetadataData;
    explanation: Record<string, any> | null;
    vault?: string | null;
    also?: ElsewhereData[];
  }
  interface ResultsData {
    requestedMode: Mode | null;
    usedMode: Mode;
    limit: number;
    results: ResultData[];
    indexedAt?: string | null;
    hasMore: boolean;
    nextCursor: string | null;
    truncated: boolean;
    unknown?: UnknownWordData[];
  }
  interface SaveToHitData {
    p50: number;
    p99: number;
    count: number;
  }
  interface ScoredNoteData {
    noteId: string;
    path: string;
    title: string;
    in: number;
    out: number;
    score: number;
  }
  interface SessionData {
    token: string;
    expiresAt: number;
  }
  interface SessionJournalData {
    state: "complete" | "incomplete" | "draft" | "skipped" | "pending";
    path: string | null;
    noteId: string | null;
  }
  interface SourceData {
    path: string;
    lines: [number, number];
    query: number;
    tokens: number;
    cut: boolean;
  }
  interface StatsData {
    revision: string;
    notes: number;
    types: TypeData[];
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
  interface SuggestionData {
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
  interface SuggestionsData {
    suggestions: SuggestionData[];
  }
  interface SummaryData {
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
  interface TagData {
    tag: string;
    count: number;
    total: number;
    children: TagData[];
  }
  interface TagsData {
    revision: string;
    tags: TagData[];
    untagged: number;
    truncated: boolean;
  }
  interface TaskData {
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
    format: string | null;
  }
  type TaskStatus = "open" | "done" | "cancelled";
  interface TasksData {
    tasks: TaskData[];
    hasMore: boolean;
    nextCursor: string | null;
  }
  interface TemplateData {
    name: string;
    builtIn: boolean;
    path: string | null;
    variables: string[];
  }
  interface TemplatesData {
    templates: TemplateData[];
  }
  interface TicketData {
    ticket: string | null;
    seconds: number;
  }
  type Trigger = "user" | "start" | "watch" | "scan";
  interface TypeData {
    type: string | null;
    count: number;
  }
  interface UnknownWordData {
    word: string;
    instead: string[];
  }
  interface VaultCheckData {
    promotions: InterruptedData[];
  }
  interface VaultData {
    id: string;
    name: string;
  }
  interface VaultsData {
    vaults: ListedVaultData[];
  }
  interface WantedData {
    target: string;
    fault: "note" | "heading" | "block" | "attachment" | "ambiguous";
    count: number;
    notes: number;
  }
  interface WarningData {
    code: string;
    message: string;
    details: Record<string, any>;
  }
  interface WatchBatchData {
    at: string;
    trigger: Trigger;
    added: number;
    changed: number;
    removed: number;
    renamed: number;
    milliseconds: Record<string, number>;
    error: string | null;
  }
  interface WatchData {
    enabled: boolean;
    state: WatchState;
    mode: string | null;
    reason: string | null;
    folders: number;
    beatAt: string | null;
    lastEventAt: string | null;
    lastRunAt: string | null;
    lastScanAt: string | null;
    pending: number;
    lagSeconds: number;
    saveToHitMs: SaveToHitData | null;
    missed: number;
    everything: Record<string, number>;
    restarts: number;
  }
  interface WatchReport {
    enabled: boolean;
    state: WatchState;
    mode: string | null;
    reason: string | null;
    folders: number;
    beatAt: string | null;
    lastEventAt: string | null;
    lastRunAt: string | null;
    lastScanAt: string | null;
    pending: number;
    lagSeconds: number;
    saveToHitMs: SaveToHitData | null;
    missed: number;
    everything: Record<string, number>;
    restarts: number;
    batches: WatchBatchData[];
  }
  type WatchState = "off" | "starting" | "watching" | "polling" | "away" | "stopped";
  interface WordMatchData {
    share: number;
    needed: number;
  }
  interface WriteData {
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
    files: ChangedFile[];
    fileCount: number;
    line: number | null;
    index: IndexState;
  }
  interface WriteHealthData {
    enabled: boolean;
    state: "off" | "recovering" | "ready" | "unsupported";
    atomicity: "exchange" | "link" | "rename" | null;
    durable: boolean;
    lingering: number;
    conflicts: number;
    conflictPaths: string[];
  }
  interface WritesData {
    writes: LoggedWrite[];
    hasMore: boolean;
    nextCursor: string | null;
  }
  interface vault_agent__wire__rendered__OutlineData {
    level: number;
    text: string;
    id: string;
    line: number;
  }
  interface vault_agent__wire__written__OutlineData {
    noteId: string;
    path: string;
    headings: HeadingData[];
    blocks: BlockData[];
  }
  /** The data of the reply of a route. That of an address that is not written out is any. */
  type Data<Method extends string, Path extends string> = Replied<`${Method} ${Path}`>;

  type Replied<Asked extends string> =
    Asked extends `${infer Method} /vaults/${infer _}/${infer Rest}` ? Replied<`${Method} /${Rest}`> :
    Asked extends `DELETE /memory/sessions/${string}/notes/${string}/${string}` ? OneMemorySession :
    Asked extends `POST /memory/sessions/${string}/refresh` ? RefreshData :
    Asked extends `POST /memory/sessions/${string}/notes` ? OneMemorySession :
    Asked extends `POST /write/tasks/add` ? WriteData :
    Asked extends `POST /write/tasks/set` ? WriteData :
    Asked extends `GET /notes/${string}/outline` ? vault_agent__wire__written__OutlineData :
    Asked extends `GET /notes/${string}/frontmatter` ? FrontmatterData :
    Asked extends `GET /chunks/${string}/${string}` ? ChunkData :
    Asked extends `GET /memory/sessions/${string}` ? OneMemorySession :
    Asked extends `POST /journals/${string}/entries` ? OneJournal :
    Asked extends `POST /journals/${string}/review` ? OneJournal :
    Asked extends `GET /journals/${string}/draft` ? JournalDraftData :
    Asked extends `GET /notes/${string}/html` ? HtmlData :
    Asked extends `GET /notes/${string}/links` ? LinksData :
    Asked extends `GET /notes/${string}/backlinks` ? BacklinksData :
    Asked extends `GET /notes/${string}/mentions` ? MentionsData :
    Asked extends `GET /notes/${string}/graph` ? LocalGraphData :
    Asked extends `POST /notes/${string}/promote` ? PromotedData :
    Asked extends `DELETE /notes/${string}/promote` ? DemotedData :
    Asked extends `GET /ui/files/${string}` ? ArrayBuffer :
    Asked extends `GET /memory/sessions` ? MemorySessionsData :
    Asked extends `POST /memory/forget` ? ForgottenMemoryData :
    Asked extends `POST /sessions/events` ? DeliveredData :
    Asked extends `GET /links/broken` ? BrokenLinksData :
    Asked extends `GET /graph/layout` ? ArrayBuffer :
    Asked extends `GET /graph/path` ? PathData :
    Asked extends `GET /graph/orphans` ? GraphNotesData :
    Asked extends `GET /graph/dead-ends` ? GraphNotesData :
    Asked extends `GET /graph/central` ? CentralData :
    Asked extends `GET /graph/communities` ? CommunitiesData :
    Asked extends `POST /write/note` ? WriteData :
    Asked extends `POST /write/frontmatter` ? WriteData :
    Asked extends `POST /write/tags` ? WriteData :
    Asked extends `POST /write/replace` ? WriteData :
    Asked extends `POST /write/section` ? WriteData :
    Asked extends `POST /write/delete` ? WriteData :
    Asked extends `POST /write/move` ? WriteData | OneJob :
    Asked extends `POST /write/folder` ? WriteData :
    Asked extends `POST /write/attachment` ? WriteData :
    Asked extends `POST /write/undo` ? WriteData | OneJob :
    Asked extends `POST /writes/forget` ? ForgottenData :
    Asked extends `POST /write/template` ? WriteData :
    Asked extends `POST /write/devlog` ? WriteData :
    Asked extends `POST /write/adr` ? WriteData :
    Asked extends `POST /vaults/check` ? VaultCheckData :
    Asked extends `POST /watch/scan` ? OneJob :
    Asked extends `POST /ui/tickets` ? TicketData :
    Asked extends `POST /ui/session` ? SessionData :
    Asked extends `DELETE /ui/session` ? EndedData :
    Asked extends `GET /notes/${string}` ? NoteData :
    Asked extends `GET /attachments/${string}` ? AttachmentData :
    Asked extends `GET /jobs/${string}` ? OneJob :
    Asked extends `DELETE /jobs/${string}` ? OneJob :
    Asked extends `GET /writes/${string}` ? OneWrite :
    Asked extends `GET /health` ? HealthData :
    Asked extends `GET /vaults` ? VaultsData :
    Asked extends `POST /search` ? ResultsData | CompactResultsData :
    Asked extends `POST /related` ? ResultsData | CompactResultsData :
    Asked extends `GET /notes` ? NotesData :
    Asked extends `GET /resolve` ? NamedData :
    Asked extends `POST /grep` ? GrepData :
    Asked extends `GET /tasks` ? TasksData :
    Asked extends `POST /context` ? ContextData :
    Asked extends `POST /memory` ? MemoryData :
    Asked extends `GET /journals` ? JournalsData :
    Asked extends `POST /journals` ? OneJournal :
    Asked extends `POST /render` ? HtmlData :
    Asked extends `GET /suggest` ? SuggestionsData :
    Asked extends `GET /stats` ? StatsData :
    Asked extends `GET /tags` ? TagsData :
    Asked extends `GET /folders` ? FoldersData :
    Asked extends `GET /graph` ? GraphData | GraphObjectsData :
    Asked extends `GET /templates` ? TemplatesData :
    Asked extends `GET /devlog` ? DevlogData :
    Asked extends `GET /decisions` ? DecisionsData :
    Asked extends `POST /index` ? OneJob :
    Asked extends `POST /reindex` ? OneJob :
    Asked extends `GET /jobs` ? JobList :
    Asked extends `GET /writes` ? WritesData :
    Asked extends `GET /watch` ? WatchReport :
    any;
}
