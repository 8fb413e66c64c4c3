-- What agents got of the vaults' notes. Prompts are here as a hash only.
CREATE TABLE IF NOT EXISTS delivery (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    session     TEXT NOT NULL,
    agent       TEXT NOT NULL,
    vault       TEXT NOT NULL,          -- the identity of the project's vault
    at          REAL NOT NULL,
    event       TEXT NOT NULL,          -- start, prompt, refresh or manual
    text        TEXT NOT NULL,
    tokens      INTEGER NOT NULL,
    max_tokens  INTEGER NOT NULL,
    note_count  INTEGER NOT NULL,
    prompt_hash BLOB,
    signals     TEXT NOT NULL,          -- JSON object
    notes       TEXT NOT NULL,          -- JSON array
    left_out    TEXT NOT NULL           -- JSON array
) STRICT;
CREATE INDEX IF NOT EXISTS delivery_of_session ON delivery (session, seq);
CREATE INDEX IF NOT EXISTS delivery_at ON delivery (at);
-- Notes that a person has put first, or taken out, in a session. `told` is 1 once the agent was told
-- that a note it had got was taken out.
CREATE TABLE IF NOT EXISTS chosen_note (
    session     TEXT NOT NULL,
    vault       TEXT NOT NULL,          -- what requests call it
    note_id     TEXT NOT NULL,
    removed     INTEGER NOT NULL,
    at          REAL NOT NULL,
    path        TEXT NOT NULL,
    title       TEXT NOT NULL,
    told        INTEGER NOT NULL,
    PRIMARY KEY (session, vault, note_id)
) STRICT, WITHOUT ROWID;
-- Since when the agent still has what it got: its context was compacted then. `refresh` is 1 if the
-- next event brings what has changed.
CREATE TABLE IF NOT EXISTS context_state (
    session     TEXT PRIMARY KEY,
    since       REAL NOT NULL,
    refresh     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
