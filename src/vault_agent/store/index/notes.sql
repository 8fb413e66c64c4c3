-- Statements about notes, their chunks and properties. A key is the row of its note, shifted by
-- CHUNK_BITS, and the number of the part in the note.

-- name: NOTE
-- The columns of a note, in the order of `StoredNote`.
rowid, handle, path, title, chunk_count, aliases, metadata, attachment_count

-- name: AMONG
-- Some rows or keys.
(SELECT value FROM json_each(?))

-- name: note
-- All notes, to choose from.
SELECT NOTE FROM note

-- name: notes
-- Some notes, as one JSON array.
SELECT json_group_array(json_array(NOTE)) FROM note WHERE rowid IN AMONG

-- name: headings
-- The heading paths of some chunks, as one JSON array.
SELECT json_group_array(json_array(key, heading_path)) FROM chunk WHERE key IN AMONG

-- name: chunks
-- Some chunks in the order of `StoredChunk`, as one JSON array.
SELECT json_group_array(json_array(key, heading_path, start_line, end_line, text))
FROM chunk WHERE key IN AMONG

-- name: tags
-- All tags of all notes.
SELECT name, written, key >> CHUNK_BITS FROM tag

-- name: chunk_texts
-- Some chunks with the titles of their notes or documents.
SELECT chunk.key, coalesce(note.title, document.title), chunk.heading_path, chunk.text
FROM json_each(?) AS asked CROSS JOIN chunk ON chunk.key = asked.value
LEFT JOIN note ON note.rowid = chunk.key >> CHUNK_BITS
LEFT JOIN document ON document.rowid = chunk.key >> CHUNK_BITS
WHERE coalesce(note.title, document.title) IS NOT NULL

-- name: share
-- How many notes with text there are up to a path, and in all.
SELECT coalesce(sum(path <= ?1), 0), count(*) FROM note
WHERE chunk_count > 0 AND (?2 IS NULL OR rowid IN (SELECT value FROM json_each(?2)))

-- name: note_texts
-- Notes with their text, in the order of their paths.
SELECT path, (SELECT start_line FROM chunk WHERE key = note.rowid << CHUNK_BITS), CAST((
    SELECT group_concat(text, '') FROM (
        SELECT text FROM chunk
        WHERE key >= note.rowid << CHUNK_BITS AND key < (note.rowid + 1) << CHUNK_BITS
        ORDER BY key
    )
) AS BLOB)
FROM note WHERE path >= ?1 AND chunk_count > 0
AND (?2 IS NULL OR rowid IN (SELECT value FROM json_each(?2))) ORDER BY path

-- name: bodies
-- The whole text of each of some notes, in their order.
SELECT CAST(coalesce((
    SELECT group_concat(text, '') FROM (
        SELECT text FROM chunk
        WHERE key >= asked.value << CHUNK_BITS AND key < (asked.value + 1) << CHUNK_BITS
        ORDER BY key
    )
), '') AS BLOB)
FROM json_each(?) AS asked ORDER BY asked.key

-- name: at
-- Files at some paths or below them. "0" is the character after "/". Cross joins keep SQLite from
-- reading the table first.
SELECT {columns} FROM (SELECT value AS place FROM json_each(?)) CROSS JOIN {table}
WHERE path = place
UNION ALL
SELECT {columns} FROM (SELECT value AS place FROM json_each(?)) CROSS JOIN {table}
WHERE path > place || '/' AND path < place || '0'

-- name: notes_named
-- The notes with one of some names.
SELECT DISTINCT note.path, note.aliases FROM json_each(?) AS asked
CROSS JOIN name ON name.lookup = asked.value CROSS JOIN note ON note.handle = name.handle

-- name: attachments_named
-- The attachments with one of some names.
SELECT DISTINCT attachment.path FROM json_each(?) AS asked
CROSS JOIN name ON name.lookup = asked.value
CROSS JOIN attachment ON attachment.handle = name.handle

-- name: rows
-- The notes with some handles.
SELECT rowid, path, hash FROM note WHERE handle IN (SELECT value FROM json_each(?))

-- name: values
-- The values of a property of some notes.
SELECT asked.value, property.value FROM json_each(?) AS asked
CROSS JOIN property ON property.key >= asked.value << CHUNK_BITS
    AND property.key < (asked.value + 1) << CHUNK_BITS
WHERE property.name = ? AND property.type <> 'empty' ORDER BY property.key

-- name: with_value
-- The first notes with a value of a property.
SELECT note.rowid, note.path FROM property JOIN note ON note.rowid = property.key >> CHUNK_BITS
WHERE property.name = ? AND property.value = ? COLLATE NOCASE ORDER BY note.path LIMIT ?
