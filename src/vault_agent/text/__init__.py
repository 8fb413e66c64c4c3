"""Normalisation of terms and names, the same for notes and queries."""
