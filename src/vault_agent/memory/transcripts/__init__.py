"""Reads what agents record of their sessions.

```
opening   which files may be opened, and their lines within bounds
recorder  what is kept of a session, and the secrets that go before it is
claude    Claude Code: one JSON object a line
codex     Codex: rollouts, one JSON object a line
gemini    Gemini CLI: one JSON object, or one a line
read      the transcript of a session, by its agent
```

None of these formats is official. A line that is not understood is skipped.
"""
