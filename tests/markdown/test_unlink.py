"""Whole links, as promotion replaces them: the same links that the index has."""

from __future__ import annotations

import pytest

from vault_agent.markdown.parse import parse_note
from vault_agent.markdown.unlink import replaced, whole_links

TEXTS = (
    "<div>\n[[inside html]]\n</div>\n\n[[real]]\n",
    "[long\ntext](other.md)\n",
    "`a code\nspan [[x]]` [[y]]\n",
    "```\n[[x]]\n```\n[[y]]\n",
    "<!-- [[x]]\n\n[[x]] --> [[y]]\n",
    "> [[a]]\n> text\n[[b]]\n",
    "- [x](a.md)\n  [y](b.md)\n",
    "[x][r]\n\n[r]: other.md\n",
    "%% [[x]]\n[[x]] %% [[y]]\n",
)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("text", TEXTS)
def test_they_are_the_links_of_the_index_whatever_ends_the_lines(text: str, line_end: str):
    body = text.replace("\n", line_end)
    expected = [(link.kind, link.target) for link in parse_note(body, path="A.md").links]
    assert [(link.kind, link.target) for link in whole_links(body)] == expected
    with_lf = [link.target for link in whole_links(text)]
    assert [link.target for link in whole_links(body)] == with_lf


def test_html_and_code_with_windows_line_ends_keep_their_bytes():
    body = "<div>\r\n[[a]]\r\n</div>\r\n\r\n`x\r\n[[b]]` [long\r\ntext](c.md)\r\n"
    assert replaced(body, lambda link: f"<{link.text}>") == (
        "<div>\r\n[[a]]\r\n</div>\r\n\r\n`x\r\n[[b]]` <long\r\ntext>\r\n"
    )
