"""Asks a local chat model with an OpenAI-compatible endpoint.

```
client  `ChatClient`: one question, one answer
```
"""
