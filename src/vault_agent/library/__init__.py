"""The composition root: opens a vault and its index, its jobs and its indexing process."""
