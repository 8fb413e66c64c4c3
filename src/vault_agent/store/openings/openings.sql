-- Kept outside the index, so that a rebuild does not forget it.
CREATE TABLE IF NOT EXISTS opening (
    seq     INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,       -- milliseconds since 1970
    scope   TEXT NOT NULL,          -- what the searcher may see: who sees something else learns nothing of it
    terms   TEXT NOT NULL,          -- of the search, sorted, separated by spaces
    path    TEXT NOT NULL,
    weight  REAL NOT NULL
) STRICT;
