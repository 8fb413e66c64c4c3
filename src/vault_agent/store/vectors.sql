-- Which text has which row of which file. The vectors themselves are in vectors/{space}.rows, so
-- that they can be mapped into memory.

-- A space: vectors that can be compared with each other. The id is also the name of its file.
CREATE TABLE IF NOT EXISTS space (
    id              INTEGER PRIMARY KEY,
    model           TEXT NOT NULL,
    dimension       INTEGER NOT NULL,
    query_prefix    TEXT NOT NULL,
    document_prefix TEXT NOT NULL,
    probe           BLOB NOT NULL
) STRICT;

-- `key` is the hash of model and exact input. `truncated` is 1 where the endpoint took only the
-- beginning of the input.
CREATE TABLE IF NOT EXISTS vector (
    space       INTEGER NOT NULL,
    key         BLOB NOT NULL,
    row         INTEGER NOT NULL,
    truncated   INTEGER NOT NULL,
    PRIMARY KEY (space, key)
) STRICT, WITHOUT ROWID;

-- What searches of a generation use: the keys of its chunks that have a vector, as int64, and their
-- rows, as uint32. `total` counts all of its chunks. `generation` is `Meta.identity`, and `agent`
-- the agent whose index it is of, or empty.
CREATE TABLE IF NOT EXISTS published (
    generation  INTEGER PRIMARY KEY,
    space       INTEGER NOT NULL,
    total       INTEGER NOT NULL,
    chunks      BLOB NOT NULL,
    rows        BLOB NOT NULL,
    agent       TEXT NOT NULL DEFAULT ''
) STRICT;
