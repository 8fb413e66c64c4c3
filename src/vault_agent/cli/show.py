"""`vault-agent show`."""

from __future__ import annotations

from copy import copy

from vault_agent.cli.get import note

# The same command as `get note`, which is its older name.
command = copy(note)
command.name = "show"
