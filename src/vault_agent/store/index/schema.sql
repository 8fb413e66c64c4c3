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
    hash             BLOB NOT NULL,    -- SHA-256 of the file's bytes
    aliases          TEXT,             -- JSON array, NULL where empty
    metadata         TEXT,             -- JSON object: what of the frontmatter replies show
    chunk_count      INTEGER NOT NULL,
    checksum         INTEGER NOT NULL, -- of title, aliases, metadata and all rows as written
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

-- In all tables of a note's parts, key = note.rowid << 20 | place in the note. For chunks the place
-- is the chunk's index. A note has fewer than 2^20 of each part: what is over a limit is cut.

CREATE TABLE chunk (
    key          INTEGER PRIMARY KEY,
    heading_path TEXT,                 -- JSON array, NULL where empty
    start_line   INTEGER NOT NULL,
    end_line     INTEGER NOT NULL,
    text         TEXT NOT NULL
) STRICT;

-- A link as written, and what it resolves to. `lookup` is a hash of the name it asks for: a run
-- re-resolves only links whose name is affected. Bytes are those of the target in the file, without
-- its fragment; NULL where the file is not plain UTF-8, or the target is not written as it is read.
CREATE TABLE link (
    key        INTEGER PRIMARY KEY,
    lookup     INTEGER NOT NULL,
    kind       TEXT NOT NULL,
    target     TEXT NOT NULL,
    fragment   TEXT,
    text       TEXT,
    line       INTEGER NOT NULL,
    col        INTEGER NOT NULL,       -- from 1, in characters
    start_byte INTEGER,
    end_byte   INTEGER,
    chunk      INTEGER,                -- index of the chunk it stands in; NULL in frontmatter
    dest       INTEGER,                -- handle of a note or attachment; NULL is unresolved
    ambiguous  INTEGER NOT NULL DEFAULT 0
) STRICT;

-- A link to a web address: without user info, query and fragment. Never fetched.
CREATE TABLE external_link (
    key        INTEGER PRIMARY KEY,
    url        TEXT NOT NULL,
    host       TEXT NOT NULL,
    text       TEXT,
    line       INTEGER NOT NULL,
    col        INTEGER NOT NULL,
    start_byte INTEGER,                -- of the whole address in the file
    end_byte   INTEGER,
    chunk      INTEGER
) STRICT;

-- A heading (level 1 to 6) or a block (level 0) that a link's fragment can name; the name folded.
CREATE TABLE anchor (
    key   INTEGER PRIMARY KEY,
    level INTEGER NOT NULL,
    name  TEXT NOT NULL,
    line  INTEGER NOT NULL
) STRICT;

-- A tag of a note, once: folded, and as it is written first.
CREATE TABLE tag (
    key     INTEGER PRIMARY KEY,
    name    TEXT NOT NULL,
    written TEXT NOT NULL
) STRICT;

-- A value of the frontmatter; a list has a row for each of its values.
CREATE TABLE property (
    key    INTEGER PRIMARY KEY,
    name   TEXT NOT NULL,              -- lower case; nested ones joined by dots
    type   TEXT NOT NULL,              -- text, number, date, boolean, empty
    value  TEXT NOT NULL,
    listed INTEGER NOT NULL,           -- 1 where it stands in a list
    line   INTEGER NOT NULL
) STRICT;

-- A list item with a check box; the text as written, bytes those of its whole line.
CREATE TABLE task (
    key        INTEGER PRIMARY KEY,
    symbol     TEXT NOT NULL,          -- a space where it is open
    text       TEXT NOT NULL,
    indent     INTEGER NOT NULL,
    line       INTEGER NOT NULL,
    start_byte INTEGER,
    end_byte   INTEGER,
    chunk      INTEGER
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
