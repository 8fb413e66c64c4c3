"""The composition root: opens vaults with their indexes, jobs and indexing processes."""
