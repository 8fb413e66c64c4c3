"""Sessions of agents: their journals, what is recalled of them, and promotion."""
