"""Reads what agents record of their sessions.

```
recorder  what is kept of a session, and the secrets that go before it is
claude    Claude Code: one JSON object a line
codex     Codex: rollouts, one JSON object a line
gemini    Gemini CLI: one JSON object, or one a line
read      which files may be opened, their lines within bounds, what they say, and past sessions
```

None of these formats is official. A line that is not understood is skipped.
"""
