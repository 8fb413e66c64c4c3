"""Open vaults: their indexes, reads and writes, the registered ones, and searches over several."""
