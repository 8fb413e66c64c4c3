"""Embeds texts with a local OpenAI-compatible endpoint.

```
embedder    the protocol and its values, for callers of other packages
client      `HttpEmbedder`: the embedder over HTTP, and queries
documents   documents: retries, halving, truncation
probe       which model the endpoint serves, and whether it is consistent
run         `embed_all`: a long run of batches, saved as they arrive
unavailable errors with what the user can do
check       a check of the configured endpoint
settings    the settings of an endpoint
prefixes    the prefixes of known models, and the exact input of a chunk
endpoint    one POST: checked vectors, or a `Fault` of a known kind
replies     the meaning of a reply (pure functions)
gate        how many document requests are in flight; queries go first
```
"""
