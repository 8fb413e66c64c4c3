-- Attachments whose text is indexed, as they were last read. The tables exist only where the text of
-- attachments was ever wanted. Rowids and handles are of the same range as those of notes, and so are
-- their chunks, but nothing that lists notes reads this table.
CREATE TABLE IF NOT EXISTS document (
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
) STRICT
