"""Pages of HTML that are hostile or broken."""

from __future__ import annotations

import time

import pytest

from vault_agent.extract.markup import read_page
from vault_agent.extract.parts import TextPart


def test_a_section_that_html_does_not_know_is_a_comment():
    found = read_page("<p>before<![if IE]>, <![unknown[ x ]]>after</p>")
    assert found.parts == (TextPart(None, "before, after"),)


@pytest.mark.fault(
    "Attachments",
    "a page of HTML begins many comments and ends none",
    "its end is left out, and the text before it is searched",
)
@pytest.mark.parametrize("begin", ["<!--", "<?", "</a", "<a b"])
def test_what_has_no_end_is_not_read_again_and_again(begin: str):
    before = time.process_time()
    found = read_page(f"<p>medlar</p>{begin * 100_000}")
    assert found.parts[0].text.startswith("medlar")
    assert time.process_time() - before < 3
