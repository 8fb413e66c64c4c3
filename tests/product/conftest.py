"""The real program. It is stopped at the end of each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.program import Program


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    """Return a program with a small vault, not yet started."""
    with Program(tmp_path) as made:
        small_vault(made)
        yield made


def small_vault(made: Program) -> None:
    """Write the notes of a small vault."""
    made.write(
        "Bread.md",
        "---\naliases: [Loaf]\ntags: [baking]\n---\n# Bread\n\nFlour, water and patience. "
        "The dough rests overnight in a cool place. See [[Starter]].\n\n## Crust\n\n"
        "Steam makes the crust crackle; bake it hot, and let it cool before cutting it.\n",
    )
    made.write(
        "Starter.md",
        "# Starter\n\nFeed the sourdough starter every morning with rye flour.\n\n"
        "Back to [[Loaf]].\n\n![[jar.png]]\n",
    )
    made.write("日記/東京.md", "# 東京\n\n今日は東京で新しい図書館を見た。静かで本が多い。\n")
    made.write("jar.png", b"\x89PNG" + bytes(range(256)))
