"""The values that pass between the rooms: frozen, by subject, free of I/O."""
