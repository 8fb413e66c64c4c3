"""HTTP: one gate, one table of routes, thin handlers."""
