-- Jobs are kept outside the index, so that a rebuild does not remove its own record.
CREATE TABLE IF NOT EXISTS job (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT NOT NULL UNIQUE,
    kind        TEXT NOT NULL,
    state       TEXT NOT NULL,
    document    TEXT NOT NULL           -- the whole job as JSON
) STRICT;
DROP INDEX IF EXISTS one_active_job;    -- of an earlier version
