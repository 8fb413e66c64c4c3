-- Sessions of agents. Prompts, messages and the output of tools are never stored here.
CREATE TABLE IF NOT EXISTS session (
    id              TEXT PRIMARY KEY,
    agent           TEXT NOT NULL,
    vault           TEXT NOT NULL,          -- the identity of the project's vault
    started_at      REAL NOT NULL,
    last_event_at   REAL NOT NULL,
    ended_at        REAL,
    prompts         INTEGER NOT NULL,
    model           TEXT,
    transcript_path TEXT,
    cwd             TEXT NOT NULL,
    title           TEXT,
    start_commit    TEXT,
    end_reason      TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS session_of_vault ON session (vault, last_event_at);
CREATE INDEX IF NOT EXISTS session_open ON session (last_event_at) WHERE ended_at IS NULL;
-- Events that were taken, so that none counts twice. The digest is that of all but the time.
CREATE TABLE IF NOT EXISTS taken_event (
    digest  BLOB NOT NULL,
    at      REAL NOT NULL,
    PRIMARY KEY (digest, at)
) STRICT, WITHOUT ROWID;
