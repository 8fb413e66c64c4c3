"""Which characters are hidden is written once, so that no reply shows a name otherwise."""

from __future__ import annotations

import re
from pathlib import Path

from vault_agent.text.visible import CONTROLS, HIDDEN, hidden, visible

PACKAGE = Path(__file__).parent.parent.parent / "src" / "vault_agent"
OF_TERMS = {"text/terms.py", "text/words.py"}
"""Which characters are no part of a term: an index is built with it, and is another rule."""


def test_a_name_with_hidden_characters_can_be_copied_back():
    name = "a\xadb\u180ec\ufff9d\u202ee\U000e0041f\u2028g\x9bh"
    assert visible(name) == r"a\u{ad}b\u{180e}c\u{fff9}d\u{202e}e\u{e0041}f\u{2028}g\u{9b}h"
    assert hidden(visible(name)) == name


def test_words_and_emoji_stay_as_they_are():
    for name in ("می‌خواهم", "👩‍🚀", "❤️"):
        assert re.search(f"[{CONTROLS}{HIDDEN}]", name) is None


def test_no_other_module_lists_them():
    for module in sorted(PACKAGE.rglob("*.py")):
        name = module.relative_to(PACKAGE).as_posix()
        if name not in OF_TERMS | {"text/visible.py"}:
            assert not re.search(r"u202[a-e]|u2066|ufff9", module.read_text("utf-8")), name
