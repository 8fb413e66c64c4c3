-- Statements that write notes and links.

-- name: insert_note
-- Add a note.
INSERT INTO note (rowid, handle, path, title, size, mtime_ns, ctime_ns, inode, hash,
                  aliases, metadata, chunk_count)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: insert_document
-- Add an attachment whose text is indexed.
INSERT INTO document VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: insert_name
-- Add a name of a file. Two of its names may be one.
INSERT OR IGNORE INTO name VALUES (?, ?)

-- name: together
-- Note the seconds in which many files got their time, within ten seconds of each other.
INSERT INTO together SELECT second FROM (
    SELECT second, sum(number) OVER (
        ORDER BY second RANGE BETWEEN 5 PRECEDING AND 5 FOLLOWING
    ) AS near
    FROM (SELECT mtime_ns / 1000000000 AS second, count(*) AS number FROM note GROUP BY second)
) WHERE near >= ?

-- name: count_attachments
-- Count the attachments that a note links to. One that is linked twice counts once: it is one
-- file to fetch.
UPDATE note SET attachment_count = (
    SELECT count(DISTINCT link.dest) FROM link JOIN attachment ON attachment.handle = link.dest
    WHERE link.key >= ? AND link.key < ?
) WHERE rowid = ?
