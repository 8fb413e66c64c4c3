"""Text to vectors, by a local OpenAI-compatible endpoint and nothing else.

```
embedder    the protocol and its values; all that callers outside need to know
client      `HttpEmbedder`: the embedder over HTTP, and queries
documents   retry, halving, truncation
probe       which model really answers
run         `embed_all`: a long run of batches, saved as they arrive
unavailable what to tell the user
check       one vector, or exactly what to do
prefixes    what is put before and around a text for a known model
endpoint    one POST: its reply checked, or a `Fault` of a known kind
replies     what a reply means. Pure
gate        how many document requests are in flight, and who goes first
breaker     a dead endpoint costs a search nothing after the first time
address     where a connection may go
```
"""
