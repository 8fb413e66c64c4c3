"""Asks a local chat model with an OpenAI-compatible endpoint.

```
client       `ChatClient`: one question, one answer
unavailable  errors with what the user can do
```
"""
