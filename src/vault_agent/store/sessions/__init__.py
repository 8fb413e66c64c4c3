"""The record of agents' sessions: one for all vaults, changed in one transaction each time.

`sessions.db` holds no prompt and no output. What journals need of them waits in `session-texts.db`.
"""
