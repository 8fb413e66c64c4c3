"""Loaded by each Python process that a test starts: none of them lowers its priority.

Beside other work, a process of low priority gets little of the processor, and what waits for it
takes many times as long.
"""

import os

if hasattr(os, "nice"):  # not on Windows
    os.nice = lambda _increment: 0
