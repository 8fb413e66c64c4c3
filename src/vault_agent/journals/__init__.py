"""What the notes of a project are for: types of notes, journals, memory, promotion."""
