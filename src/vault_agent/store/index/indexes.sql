-- Created after the bulk load of a new generation, which is several times faster.
CREATE INDEX link_by_lookup ON link (lookup);
CREATE INDEX link_by_dest ON link (dest) WHERE dest IS NOT NULL;
CREATE INDEX tag_by_name ON tag (name);
CREATE INDEX property_by_name ON property (name, value);
CREATE UNIQUE INDEX note_by_path ON note (path);
CREATE UNIQUE INDEX attachment_by_path ON attachment (path);
