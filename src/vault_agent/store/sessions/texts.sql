-- What is kept of sessions for their journals, until these are written. A database of its own, so that
-- `sessions.db` holds no text of a session. What is deleted is overwritten.
CREATE TABLE IF NOT EXISTS kept (
    seq         INTEGER PRIMARY KEY,
    session_id  TEXT NOT NULL,
    kind        TEXT NOT NULL,          -- prompt, message, line, sections or draft
    name        BLOB NOT NULL,          -- two of one name are the same; empty where there is one only
    at          REAL NOT NULL,
    data        BLOB NOT NULL,
    UNIQUE (session_id, kind, name)
) STRICT;
