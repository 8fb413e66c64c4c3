"""The templates that are built in."""

from __future__ import annotations

from typing import Final

_DECISION = """\
---
type: decision
title: {{title}}
tags: []
status: proposed
---

# {{title}}

## Context
[What prompted this decision?]

## Options Considered
1. **Option A** — [description, pros, cons]
2. **Option B** — [description, pros, cons]

## Decision
[What was decided and why]

## Consequences
[What changes as a result of this decision]
"""

_BUG = """\
---
type: bug
title: {{title}}
tags: []
status: investigating
severity: medium
---

# {{title}}

## Symptoms
[What's happening]

## Reproduction
[Steps to reproduce]

## Root Cause
[What's causing it]

## Fix
[How it was fixed]

## Prevention
[How to prevent similar bugs]
"""

_MODULE = """\
---
type: module
title: {{title}}
tags: []
files: []
---

# {{title}}

## Purpose
[What this module does]

## Key Files
- `path/to/main.rs` — [role]

## Dependencies
- Depends on: [[other-module]]
- Depended on by: [[consuming-module]]

## Known Issues
- [Issue 1]

## History
- [[journal-xyz]] — Last session that modified this
"""

_PATTERN = """\
---
type: pattern
title: {{title}}
tags: []
---

# {{title}}

## Problem
[What problem this pattern solves]

## Solution
[How it works]

## Example
[Code that shows it]

## When to Use
[Where it fits, and where it does not]
"""

_MEETING = """\
---
type: meeting
title: {{title}}
tags: []
date: {{date}}
---

# {{title}}

## Attendees
- [Name]

## Topics
- [What to talk about]

## Notes
[What was said, and ideas]

## Decisions
- [What was decided]

## Tasks
- [ ] [What to do next]
"""

_BRAINSTORM = """\
---
type: brainstorm
title: {{title}}
tags: []
date: {{date}}
---

# {{title}}

## Question
[What to find ideas for]

## Ideas
- [Idea]

## Favourites
- [Idea] — [why]

## Next Steps
- [ ] [What to do next]
"""

_JOURNAL = """\
---
id: {{id}}
type: journal
title: {{title}}
tags: []
files: []
project: {{project}}
session: {{session}}
agent: {{agent}}
status: complete
---

# {{title}}

## Goal
[What was to be done]

## Approach
[How it was done]

## Key Decisions
- [Decision] — because [reason]

## Problems Encountered
- [Problem] — resolved by [solution]

## Outcome
[What came of it]

## Files Changed
- `path/to/file.rs` — [what changed]

## Open Questions
- [What is left]

## Related
- [[other-note]]
"""

BUILT_IN: Final = {
    "decision": _DECISION,
    "bug": _BUG,
    "module": _MODULE,
    "pattern": _PATTERN,
    "meeting": _MEETING,
    "brainstorm": _BRAINSTORM,
    "journal": _JOURNAL,
}

RECORD: Final = """\
## Context
[What prompted this decision?]

## Options Considered
1. **Option A** — [description, pros, cons]
2. **Option B** — [description, pros, cons]

## Decision
[What was decided and why]

## Consequences
[What changes as a result of this decision]
"""
"""The text below the title of a new decision record."""


def is_unfilled(line: str) -> bool:
    """Whether a line of a note is one of a built-in template that nobody has filled in."""
    return line.strip() in _UNFILLED


def _to_fill_in(template: str) -> set[str]:
    """Return the lines below a template's headings. They are to be replaced."""
    body = template.partition("\n---\n")[2]
    lines = (line.strip() for line in body.split("\n"))
    return {line for line in lines if "[" in line and not line.startswith("#")}


_UNFILLED: Final = frozenset(line for text in BUILT_IN.values() for line in _to_fill_in(text))
