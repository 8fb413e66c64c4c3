-- Which vector is in which row of which file. The vectors themselves are in vectors/{space}.rows,
-- so that they can be mapped into memory.

-- A space: vectors that can be compared with each other. The id is also the name of its files.
-- `ready` is 0 while a space is being copied; such a space is removed at the next opening. Rows
-- before `synced` are on the disk.
CREATE TABLE IF NOT EXISTS space (
    id              INTEGER PRIMARY KEY,
    model           TEXT NOT NULL,
    dimension       INTEGER NOT NULL,
    query_prefix    TEXT NOT NULL,
    document_prefix TEXT NOT NULL,
    probe           BLOB NOT NULL,
    ready           INTEGER NOT NULL,
    synced          INTEGER NOT NULL DEFAULT 0
) STRICT;

-- `key` is the hash of model and exact input, `crc` that of the row's bytes. `truncated` is 1 where
-- the endpoint took only the beginning of the input.
CREATE TABLE IF NOT EXISTS vector (
    space       INTEGER NOT NULL,
    key         BLOB NOT NULL,
    row         INTEGER NOT NULL,
    crc         INTEGER NOT NULL,
    truncated   INTEGER NOT NULL,
    PRIMARY KEY (space, key)
) STRICT, WITHOUT ROWID;

-- Inputs that could not be embedded the last time. They are tried again by every run.
CREATE TABLE IF NOT EXISTS failure (
    space       INTEGER NOT NULL,
    key         BLOB NOT NULL,
    reason      TEXT NOT NULL,
    PRIMARY KEY (space, key)
) STRICT, WITHOUT ROWID;
