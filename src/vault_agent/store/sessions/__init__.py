"""The record of agents' sessions: one database for all vaults. It holds no prompt and no output."""
