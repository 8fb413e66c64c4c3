"""What requests are made of, as pydantic models, and values as JSON."""
