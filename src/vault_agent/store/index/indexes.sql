-- Made after the bulk load of a new generation: building them at once is several times cheaper.
CREATE INDEX link_by_lookup ON link (lookup);
CREATE INDEX link_by_dest ON link (dest) WHERE dest IS NOT NULL;
