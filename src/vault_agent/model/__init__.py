"""The values that packages exchange: frozen, grouped by subject, without I/O."""
