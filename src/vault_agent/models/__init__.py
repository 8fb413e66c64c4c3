"""Local models behind the endpoints of the settings: embeddings and a reranker.

```
client     `ModelClient.ask`: one request to an endpoint, the pause after a failure, and which
           addresses may be connected to
faults     the kinds of faults, and their errors with what the user can do
vectors    vectors and what became of a text, and the checks of a reply
embedder   `Embedder`: the documents and queries of one model; retries, halving, truncation
run        `embed_all`: a long run of batches, saved as they arrive
settings   the settings of the endpoint, the prefixes of known models, the exact input of a chunk
built_in   `served`: the child process of the built-in model, started when it is asked
minilm     the program of that child: all-MiniLM-L6-v2 behind `/v1/embeddings`
reranker   `Reranker`: how relevant passages are to a query
```
"""
