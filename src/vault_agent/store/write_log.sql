-- What was written, by whom, and how far it came. No content: that is in files, by its hash.
CREATE TABLE IF NOT EXISTS write (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT NOT NULL UNIQUE,
    at          INTEGER NOT NULL,       -- milliseconds since 1970
    agent       TEXT NOT NULL,          -- '' for the owner
    client      TEXT NOT NULL,
    operation   TEXT NOT NULL,
    state       TEXT NOT NULL,
    key         TEXT,                   -- the idempotency key of the caller
    request     BLOB,                   -- a digest of the request with that key
    reply       TEXT NOT NULL,          -- JSON, without the diff
    undoes      TEXT,                   -- the write that this one takes back
    kept        INTEGER NOT NULL,       -- whether the bytes are kept
    warning     TEXT                    -- a code, if it did not end well
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS write_key ON write (agent, key) WHERE key IS NOT NULL;
CREATE INDEX IF NOT EXISTS write_state ON write (state) WHERE state IN ('prepared', 'committed');
CREATE TABLE IF NOT EXISTS change (
    seq         INTEGER NOT NULL,       -- of the write
    position    INTEGER NOT NULL,       -- in which order it is carried out
    kind        TEXT NOT NULL,
    path        TEXT NOT NULL,
    target      TEXT,                   -- the new path of a move
    hash_before BLOB,
    hash_after  BLOB,
    size_before INTEGER,
    size_after  INTEGER,
    temporary   TEXT,                   -- the name of the temporary file beside it
    in_place    INTEGER NOT NULL,       -- always false; earlier versions read it
    swept       INTEGER NOT NULL,       -- whether its temporary files are gone
    links       INTEGER NOT NULL,       -- how many links it rewrites
    PRIMARY KEY (seq, position)
) STRICT, WITHOUT ROWID;
-- A table of its own: a log without it gets it, and is not set aside.
CREATE TABLE IF NOT EXISTS made (
    seq         INTEGER NOT NULL,       -- of the write
    path        TEXT NOT NULL,          -- of a folder that did not exist before
    PRIMARY KEY (seq, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS change_path ON change (path);
CREATE INDEX IF NOT EXISTS change_target ON change (target) WHERE target IS NOT NULL;
CREATE INDEX IF NOT EXISTS change_unswept ON change (seq) WHERE swept = 0;
