-- One generation of the index. It is never migrated: with another user_version it must be rebuilt.

-- Identity, settings and totals of the generation, so that an incompatible one is never queried.
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value ANY NOT NULL
) STRICT, WITHOUT ROWID;

-- Lines that many notes had when the generation was made. `indexing/index.py` finds them.
CREATE TABLE repeated (line TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

-- Seconds in which many files got their time at once, as by a checkout: nobody changed them then.
CREATE TABLE together (second INTEGER PRIMARY KEY) STRICT;

-- A note as it was last read. Each read gives it a new `rowid`, which is never used again, so a
-- full-text hit is never paired with changed text. `handle` is the first 8 bytes of the note ID
-- (SHA-256 of the path): it stays the same while the path does.
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
    metadata         TEXT,             -- JSON object: the frontmatter that replies show
    chunk_count      INTEGER NOT NULL,
    attachment_count INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Rows that the full text may still have: the last run has removed their notes.
CREATE TABLE old_row (
    rowid INTEGER PRIMARY KEY
) STRICT;

-- Notes and attachments that the last run could not index, as it saw them. Without these rows, every
-- run would treat them as new files, and every check as a change. `unread` is 1 if the file could not
-- be read, or if an attachment waits to be read: a later run tries it again, even if it is unchanged.
CREATE TABLE left_out (
    path     TEXT PRIMARY KEY,
    size     INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    inode    INTEGER NOT NULL,
    unread   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- In all tables of a note's parts, key = note.rowid << 20 | place in the note. For chunks the place
-- is the chunk's index. A note has fewer than 2^20 rows in each table: the rest is cut.

CREATE TABLE chunk (
    key          INTEGER PRIMARY KEY,
    heading_path TEXT,                 -- JSON array, NULL where empty
    start_line   INTEGER NOT NULL,
    end_line     INTEGER NOT NULL,
    text         TEXT NOT NULL
) STRICT;

-- A link as written, and the file it leads to. `lookup` is a hash of the name in its target: a run
-- resolves only links to changed names again.
CREATE TABLE link (
    key        INTEGER PRIMARY KEY,
    lookup     INTEGER NOT NULL,
    kind       TEXT NOT NULL,
    target     TEXT NOT NULL,
    fragment   TEXT,
    text       TEXT,
    line       INTEGER NOT NULL,
    col        INTEGER NOT NULL,       -- from 1, in characters
    chunk      INTEGER,                -- index of the chunk it stands in; NULL in frontmatter
    first      INTEGER,                -- its range in the chunk's text, in characters
    past       INTEGER,
    dest       INTEGER,                -- handle of a note or attachment; NULL: unresolved
    ambiguous  INTEGER NOT NULL DEFAULT 0
) STRICT;

-- A link to a web address, kept without user info, query and fragment. It is never fetched.
CREATE TABLE external_link (
    key        INTEGER PRIMARY KEY,
    url        TEXT NOT NULL,
    text       TEXT,
    line       INTEGER NOT NULL,
    col        INTEGER NOT NULL
) STRICT;

-- A heading (level 1 to 6) or a block (level 0) that a link's fragment can name. `name` is folded.
CREATE TABLE anchor (
    key   INTEGER PRIMARY KEY,
    level INTEGER NOT NULL,
    name  TEXT NOT NULL,
    line  INTEGER NOT NULL
) STRICT;

-- A tag of a note, once: `name` is folded, `written` is its first spelling.
CREATE TABLE tag (
    key     INTEGER PRIMARY KEY,
    name    TEXT NOT NULL,
    written TEXT NOT NULL
) STRICT;

-- A value of the frontmatter; a list has a row for each of its values.
CREATE TABLE property (
    key    INTEGER PRIMARY KEY,
    name   TEXT NOT NULL,              -- lower case; nested names joined by dots
    type   TEXT NOT NULL,              -- text, number, date, boolean, empty
    value  TEXT NOT NULL
) STRICT;

-- A list item with a check box. `text` is as written.
CREATE TABLE task (
    key        INTEGER PRIMARY KEY,
    symbol     TEXT NOT NULL,          -- a space if the task is open
    text       TEXT NOT NULL,
    line       INTEGER NOT NULL,
    chunk      INTEGER
) STRICT;

-- Files that are not notes. Only their names are kept, so that links to them resolve.
CREATE TABLE attachment (
    handle INTEGER PRIMARY KEY,
    path   TEXT NOT NULL
) STRICT;

-- The names by which links find a file. `lookup` is the hash of its name or of an alias, `handle`
-- is a note's or an attachment's. A run looks up the files that a link could mean here, instead of
-- reading all names.
CREATE TABLE name (
    lookup INTEGER NOT NULL,
    handle INTEGER NOT NULL,
    PRIMARY KEY (lookup, handle)
) STRICT, WITHOUT ROWID;

-- Attachments whose text is indexed, as they were last read. Rowids and handles are of the same
-- range as those of notes, and so are their chunks, but nothing that lists notes reads this table.
CREATE TABLE document (
    rowid       INTEGER PRIMARY KEY,
    handle      INTEGER NOT NULL UNIQUE,  -- also that of its row in `attachment`
    path        TEXT NOT NULL UNIQUE,
    title       TEXT NOT NULL,
    size        INTEGER NOT NULL,
    mtime_ns    INTEGER NOT NULL,
    ctime_ns    INTEGER NOT NULL,
    inode       INTEGER NOT NULL,
    hash        BLOB NOT NULL,
    chunk_count INTEGER NOT NULL
) STRICT;
