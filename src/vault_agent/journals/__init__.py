"""Sessions of agents: their events, transcripts and journals, and notes promoted from them."""
