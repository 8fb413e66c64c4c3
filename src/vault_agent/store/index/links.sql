-- Statements about links. Names in capitals are numbers or parts of statements. A key is the row of
-- its note, shifted by CHUNK_BITS, and the number of the link in the note.

-- name: OF_ASKED
-- The links of a note that was asked for.
link.key >= asked.value << CHUNK_BITS
    AND link.key < (asked.value + 1) << CHUNK_BITS

-- name: PAIRS
-- Both notes of each link between two notes.
SELECT link.key >> CHUNK_BITS AS one, note.rowid AS other
FROM link JOIN note ON note.handle = link.dest
WHERE link.key >> CHUNK_BITS <> note.rowid

-- name: select
-- Links with their notes and destinations. Cross joins keep SQLite from reading another table
-- first.
SELECT link.key, note.path, link.kind, link.target, link.fragment, link.text, link.line, link.col,
       link.chunk, link.first, link.past, link.dest, link.ambiguous,
       there.rowid, there.path, there.title, attachment.path
FROM {chosen}
CROSS JOIN note ON note.rowid = link.key >> CHUNK_BITS
LEFT JOIN note AS there ON there.handle = link.dest
LEFT JOIN attachment ON attachment.handle = link.dest
WHERE {condition}

-- name: outgoing_condition
-- Links of a note, of some kinds or of all.
link.key >= ?1 AND link.key < ?2 AND {status}
    AND (?3 IS NULL OR link.kind IN (SELECT value FROM json_each(?3)))
ORDER BY link.key LIMIT ?4

-- name: external
-- The web links of a note from a number on.
SELECT key, url, text, line, col FROM external_link
WHERE key >= ? AND key < ? ORDER BY key LIMIT ?

-- name: linking
-- The notes with links to a file. The index on `dest` also holds the key, so this reads no link.
SELECT note.rowid, source.links, note.path FROM (
    SELECT key >> CHUNK_BITS AS rowid, count(*) AS links FROM link WHERE dest = ? GROUP BY 1
) AS source CROSS JOIN note ON note.rowid = source.rowid

-- name: read
-- Those of some notes whose text is indexed.
SELECT rowid FROM note
WHERE rowid IN (SELECT value FROM json_each(?)) AND (chunk_count > 0 OR size <= ?)

-- name: anchors
-- The anchors of some notes.
SELECT asked.value, anchor.level, anchor.name, anchor.line FROM json_each(?) AS asked
CROSS JOIN anchor ON anchor.key >= asked.value << CHUNK_BITS
    AND anchor.key < (asked.value + 1) << CHUNK_BITS
ORDER BY anchor.key LIMIT ?

-- name: edges
-- Both ends of all links between notes, as two JSON arrays.
SELECT json_group_array(link.key >> CHUNK_BITS), json_group_array(note.rowid)
FROM link JOIN note ON note.handle = link.dest
WHERE link.dest IS NOT NULL

-- name: unresolved_of
-- The targets of links of some notes that lead nowhere and begin with a text.
SELECT asked.value, link.target FROM json_each(?) AS asked
CROSS JOIN link ON OF_ASKED
WHERE link.dest IS NULL AND substr(link.target, 1, ?) = ? ORDER BY link.key

-- name: neighbours_of
-- The notes to which a note links, with the number of links.
SELECT note.rowid, count(*) FROM link JOIN note ON note.handle = link.dest
WHERE link.key >= ? AND link.key < ? GROUP BY note.rowid

-- name: neighbours_to
-- The notes that link to a file, with the number of links.
SELECT key >> CHUNK_BITS AS source, count(*) FROM link WHERE dest = ? GROUP BY source

-- name: counts
-- How many links lead from and to each of some notes, the latter up to a limit. The links of a note
-- are numbered from 0, so its last key tells their number without reading them.
SELECT asked.value,
    coalesce((SELECT (max(key) & LAST_PLACE) + 1 FROM link WHERE OF_ASKED), 0)
    + (SELECT count(*) FROM (
        SELECT 1 FROM link WHERE dest = note.handle LIMIT MOST_LINKS
    ))
FROM json_each(?) AS asked CROSS JOIN note ON note.rowid = asked.value

-- name: outgoing
-- The notes to which each of some notes links.
SELECT asked.value, note.rowid FROM json_each(?) AS asked
CROSS JOIN link ON OF_ASKED CROSS JOIN note ON note.handle = link.dest

-- name: incoming
-- The notes that link to each of some notes.
SELECT asked.value, link.key >> CHUNK_BITS FROM json_each(?) AS asked
CROSS JOIN note ON note.rowid = asked.value
CROSS JOIN link ON link.dest = note.handle

-- name: paired
-- Both notes of each link, the lower one first, in one number each.
SELECT json_group_array(min(one, other) << ROWID_BITS | max(one, other))
FROM (PAIRS)

-- name: connections_of
-- How many other notes each of some notes links to, or is linked from.
SELECT note, count(*) FROM (
    SELECT asked.value AS note, note.rowid AS other FROM json_each(?) AS asked
    CROSS JOIN link ON OF_ASKED
    CROSS JOIN note ON note.handle = link.dest
    UNION
    SELECT asked.value, link.key >> CHUNK_BITS FROM json_each(?) AS asked
    CROSS JOIN note ON note.rowid = asked.value CROSS JOIN link ON link.dest = note.handle
) WHERE other <> note GROUP BY note

-- name: notes_at
-- The note at a path, or all below the folder at it. "0" is the character after "/".
SELECT path FROM note
WHERE path = ?1 OR (path > ?1 || '/' AND path < ?1 || '0') ORDER BY path

-- name: attachments_at
-- The attachment at a path, or all below the folder at it.
SELECT path FROM attachment
WHERE path = ?1 OR (path > ?1 || '/' AND path < ?1 || '0') ORDER BY path

-- name: places
-- The first links to a file in each of some notes, to choose from.
json_each(?) AS asked CROSS JOIN link ON link.dest = ? AND link.key IN (
    SELECT key FROM link AS own
    WHERE dest = ? AND key >= asked.value << CHUNK_BITS
        AND key < (asked.value + 1) << CHUNK_BITS
    ORDER BY key LIMIT ?
)

-- name: with_keys
-- The links with some keys, to choose from.
json_each(?) AS asked CROSS JOIN link ON link.key = asked.value

-- name: to_names
-- The links with some names in their target, to choose from.
json_each(?) AS asked CROSS JOIN link ON link.lookup = asked.value

-- name: of_notes
-- The links of some notes, to choose from.
json_each(?) AS asked CROSS JOIN link ON OF_ASKED

-- name: of_files
-- The links of the notes with some handles, to choose from.
json_each(?) AS asked
CROSS JOIN note AS own ON own.handle = asked.value
CROSS JOIN link ON link.key >= own.rowid << CHUNK_BITS
    AND link.key < (own.rowid + 1) << CHUNK_BITS

-- name: attachments_ending
-- The attachments whose paths end in a text.
SELECT path FROM attachment WHERE lower(substr(path, -length(?1))) = ?1 ORDER BY path

-- name: linking_rowids
-- The rows of the notes with links to a file.
SELECT DISTINCT key >> CHUNK_BITS FROM link WHERE dest = ?

-- name: unresolved
-- All links that lead nowhere.
SELECT key >> CHUNK_BITS, kind, target FROM link WHERE dest IS NULL ORDER BY key

-- name: count_links
-- The number of links of a note.
SELECT count(*) FROM link WHERE key >= ? AND key < ?
