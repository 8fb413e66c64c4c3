-- Journals of sessions: how far each is. Their text is in the vault, never here.
CREATE TABLE IF NOT EXISTS journal (
    session_id  TEXT PRIMARY KEY,
    agent       TEXT NOT NULL,
    vault       TEXT NOT NULL,              -- the identity of the project's vault
    state       TEXT NOT NULL,              -- pending, incomplete, complete, draft or skipped
    reason      TEXT,
    title       TEXT,
    path        TEXT,
    hash        TEXT,                       -- of the note as we wrote it
    hash_next   TEXT,                       -- of the note that is being written
    generator   TEXT,
    started_at  REAL NOT NULL,
    ended_at    REAL,
    since       REAL NOT NULL,              -- when it was first to be written for this end
    attempts    INTEGER NOT NULL,
    next_at     REAL                        -- when it is tried again; NULL: never
) STRICT;
CREATE INDEX IF NOT EXISTS journal_due ON journal (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS journal_of_vault ON journal (vault, started_at);
