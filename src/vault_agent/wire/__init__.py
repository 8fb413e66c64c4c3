"""The HTTP contract as pydantic models: requests and replies."""
