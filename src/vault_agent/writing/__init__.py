"""Changes of notes: permission, the one path of every write, moves, undo, recovery."""
