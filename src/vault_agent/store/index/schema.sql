-- One generation of the index. Disposable: no migrations, another user_version means "reindex".

-- What the generation is, so that an incompatible one is never queried.
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value ANY NOT NULL
) STRICT, WITHOUT ROWID;

-- A note as it was last read. `rowid` is new at each reading and never used again, so a full-text
-- hit can't be paired with text that has changed since. `handle` is the first 8 bytes of the note
-- ID (SHA-256 of the path): stable while the path is.
CREATE TABLE note (
    rowid            INTEGER PRIMARY KEY,
    handle           INTEGER NOT NULL UNIQUE,
    path             TEXT NOT NULL,
    title            TEXT NOT NULL,
    size             INTEGER NOT NULL,
    mtime_ns         INTEGER NOT NULL,
    ctime_ns         INTEGER NOT NULL,
    inode            INTEGER NOT NULL,
    hash             BLOB NOT NULL,
    aliases          TEXT,             -- JSON array, NULL where empty
    metadata         TEXT,             -- JSON object: tags, date, created, updated
    chunk_count      INTEGER NOT NULL,
    checksum         INTEGER NOT NULL, -- of title, aliases, metadata, chunks and links as written
    attachment_count INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Files that have a note's name and could not be read as one, as they were then: without these,
-- every run would take them for new, and every look at the vault for a change. `unread` is 1 where
-- the system gave nothing: that may pass without a trace on the file, so the next run tries again.
CREATE TABLE left_out (
    path     TEXT PRIMARY KEY,
    size     INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    inode    INTEGER NOT NULL,
    unread   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- key = note.rowid << 20 | chunk index.
CREATE TABLE chunk (
    key          INTEGER PRIMARY KEY,
    heading_path TEXT,                 -- JSON array, NULL where empty
    start_line   INTEGER NOT NULL,
    end_line     INTEGER NOT NULL,
    text         TEXT NOT NULL
) STRICT;

-- A link as written, and what it resolves to. key = note.rowid << 20 | ordinal in the note.
-- `lookup` is a hash of the name it asks for: a run re-resolves only links whose name is affected.
CREATE TABLE link (
    key       INTEGER PRIMARY KEY,
    lookup    INTEGER NOT NULL,
    kind      TEXT NOT NULL,
    target    TEXT NOT NULL,
    fragment  TEXT,
    text      TEXT,
    line      INTEGER NOT NULL,
    dest      INTEGER,                 -- handle of a note or attachment; NULL is unresolved
    ambiguous INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Files that are not notes: known by name, so that links to them resolve. Never read.
CREATE TABLE attachment (
    handle INTEGER PRIMARY KEY,
    path   TEXT NOT NULL
) STRICT;

-- By which names links find a file: the hashes of its own name and of its aliases. So a run looks
-- up the files that a link could mean instead of reading all names. `handle` is a note's or an
-- attachment's.
CREATE TABLE name (
    lookup INTEGER NOT NULL,
    handle INTEGER NOT NULL,
    PRIMARY KEY (lookup, handle)
) STRICT, WITHOUT ROWID;

-- The vault's symbolic links, and where each really leads; NULL where it can't be followed. A run
-- that looks at single paths must know whether one of them is seen under a second name.
CREATE TABLE symlink (
    path   TEXT PRIMARY KEY,
    target TEXT
) STRICT, WITHOUT ROWID;
