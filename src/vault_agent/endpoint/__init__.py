"""The endpoint of a local model: what may be connected to, one request, and what went wrong.

```
address      which addresses may be connected to, and which models asked
post         one POST: the body of a reply, or a `Fault` of a known kind
faults       the kinds of faults
unavailable  errors for them, with what the user can do
breaker      a circuit breaker: after a failure, nobody waits for the endpoint
client       `ModelClient`: the base of clients that ask one thing at a time
```
"""
