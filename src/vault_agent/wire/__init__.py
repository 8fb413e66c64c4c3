"""The HTTP contract as pydantic models: what a client may send, and what it gets back."""
