"""Run one benchmark by its name.

python -m benchmarks                    lists them
python -m benchmarks NAME --help        says what one does, with its options
"""

from __future__ import annotations

import ast
import runpy
import sys
from pathlib import Path

NAMES = (
    "run",
    "quality",
    "related",
    "search",
    "watch",
    "writing",
    "web",
    "memory.journals",
    "memory.live",
    "memory.hooks",
    "attachments",
    "versus",
    "exactness",
)


def main() -> None:
    """Run the named benchmark, or list all."""
    if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
        for name in NAMES:
            print(f"{name:<18}{_summary(name)}")
        raise SystemExit(0 if len(sys.argv) < 2 else f"There is no benchmark {sys.argv[1]}.")
    name = sys.argv.pop(1)
    runpy.run_module(f"benchmarks.{name}", run_name="__main__", alter_sys=True)


def _summary(name: str) -> str:
    """Return the first line of a benchmark's docstring."""
    module = Path(__file__).parent.joinpath(*name.split("."))
    file = module / "__main__.py" if module.is_dir() else module.with_suffix(".py")
    return (ast.get_docstring(ast.parse(file.read_text("utf-8"))) or "").partition("\n")[0]


if __name__ == "__main__":
    main()
