"""Asks a local reranker how relevant passages are to a query.

```
client   `Reranker`: one query with its passages, one score for each, within a time limit
replies  the forms of requests and replies of the servers that people use
```
"""
