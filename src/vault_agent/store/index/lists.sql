-- Statements about lists of notes and of tasks. Names in capitals are parts of statements.

-- name: DAY
-- A text that begins with a day, as a pattern.
'[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'

-- name: FILE_TIME
-- When the file of a note was changed.
strftime('%Y-%m-%dT%H:%M:%SZ', mtime_ns / 1000000000, 'unixepoch')

-- name: OWN
-- When a note was changed, as its property says.
substr(json_extract(metadata, '$.updated'), 1, 40)

-- name: SAVED_LATER
-- Whether the file was saved later than its property says, and not with many others at once. A
-- write that sets the property saves the file a moment later.
mtime_ns / 1000000000 NOT IN together AND iif(length(OWN) = 10,
    substr(FILE_TIME, 1, 10) > OWN,
    mtime_ns / 1000000000 > 60 + CAST(strftime('%s', OWN) AS INTEGER))

-- name: UPDATED
-- When a note was changed: the later of its property and its file's time.
CASE WHEN OWN GLOB DAY
    THEN iif(SAVED_LATER, FILE_TIME, OWN) ELSE FILE_TIME END

-- name: CREATED
-- When a note was created, as its properties say.
CASE WHEN json_extract(metadata, '$.created') GLOB DAY
    THEN substr(json_extract(metadata, '$.created'), 1, 40)
    WHEN json_extract(metadata, '$.date') GLOB DAY
    THEN substr(json_extract(metadata, '$.date'), 1, 40)
    ELSE '' END

-- name: updated_of
-- When each of some notes was changed.
SELECT rowid, UPDATED FROM note WHERE rowid IN (SELECT value FROM json_each(?))

-- name: sorted
-- Notes in an order.
SELECT note.rowid, note.path, {value} AS value, UPDATED FROM note
WHERE {conditions} ORDER BY value {direction}, note.path LIMIT ?

-- name: frequent_types
-- The number of notes of each type.
SELECT json_extract(metadata, '$.type') AS type, count(*) AS number FROM note
GROUP BY type ORDER BY number DESC, type LIMIT ?

-- name: with_open_tasks
-- The notes with open tasks.
SELECT DISTINCT key >> CHUNK_BITS FROM task WHERE symbol NOT IN ('x', 'X', '-')

-- name: tasks_from
-- Tasks by path and line, after a line of a note.
SELECT note.rowid, note.path, task.line, task.symbol, task.text, task.chunk
FROM note CROSS JOIN task ON task.key >= note.rowid << CHUNK_BITS
    AND task.key < (note.rowid + 1) << CHUNK_BITS
WHERE note.path >= ? AND (note.path > ? OR task.line > ?)
    AND task.symbol {operator} (SELECT value FROM json_each(?))
ORDER BY note.path, task.key LIMIT ?

-- name: tasks_with
-- Tasks that contain one of some words.
SELECT note.path, task.text FROM task JOIN note ON note.rowid = task.key >> CHUNK_BITS
WHERE task.symbol NOT IN (SELECT value FROM json_each(?))
    AND EXISTS (SELECT 1 FROM json_each(?) AS word WHERE instr(task.text, word.value) > 0)
ORDER BY note.path, task.key LIMIT 10000

-- name: counts
-- Numbers of rows that no total has.
SELECT (SELECT count(*) FROM attachment), (SELECT count(*) FROM external_link),
       (SELECT count(DISTINCT name) FROM tag),
       (SELECT count(*) FROM task WHERE symbol NOT IN ('x', 'X', '-'))

-- name: kinds
-- The number of notes of each type, in lower case.
SELECT lower(json_extract(metadata, '$.type')) AS kind, count(*) AS number FROM note
GROUP BY kind ORDER BY number DESC, kind

-- name: by_change
-- The names of all notes, the last changed first.
SELECT rowid, path, title, aliases, json_extract(metadata, '$.type') FROM note
ORDER BY mtime_ns DESC, path

-- name: headings
-- Headings that contain a text, with the headings around them.
SELECT note.path, note.title, anchor.name, anchor.line, (
    SELECT heading_path FROM chunk
    WHERE chunk.key >= note.rowid << CHUNK_BITS AND chunk.key < (note.rowid + 1) << CHUNK_BITS
        AND chunk.end_line >= anchor.line
    ORDER BY chunk.key LIMIT 1
)
FROM anchor JOIN note ON note.rowid = anchor.key >> CHUNK_BITS
WHERE anchor.level > 0 AND instr(anchor.name, ?) > 0 LIMIT ?

-- name: notes
-- All notes by path.
SELECT rowid, path, title, chunk_count, metadata, hash, UPDATED FROM note ORDER BY path

-- name: documents
-- All attachments whose text is indexed, by path.
SELECT rowid, path, title, chunk_count, hash, FILE_TIME FROM document ORDER BY path

-- name: properties
-- The properties of all notes that memory compares.
SELECT key >> CHUNK_BITS, name, value FROM property
WHERE name IN ('files', 'id', 'status', 'memory', 'session', 'promoted_from') AND type <> 'empty'
ORDER BY key
