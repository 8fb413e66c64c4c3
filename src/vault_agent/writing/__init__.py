"""Writing: edits of notes, moves, undo, tasks and templates."""
