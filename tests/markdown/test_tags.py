"""Tags are inline or in the frontmatter, as in Obsidian, and never in code, links or comments."""

from __future__ import annotations

import pytest

from vault_agent.markdown.parse import parse_note


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("#one two #three", ("one", "three")),
        ("#a/b/c #a_b #a-b #v1", ("a/b/c", "a_b", "a-b", "v1")),
        (
            "#Größe #日本語 #тег #🔥 #e\u0301te\u0301",
            ("Größe", "日本語", "тег", "🔥", "e\u0301te\u0301"),
        ),
        ("#日本、#東京。終", ("日本",)),
        ("#1984 #y1984 #2024/05", ("y1984", "2024/05")),
        ("#a, #b. (#c) #d! #e: #f;", ("a", "b", "c", "d", "e", "f")),
        ("#tag/ #Tag #TAG", ("tag",)),
        ("word#no a/#no &#39; \\#no", ()),
        ("# Heading #yes", ("yes",)),
        ("#Not-a-heading", ("Not-a-heading",)),
        ("## #\n", ()),
        ("`#no` ``#no #no``", ()),
        ("```\n#no\n```\n\n    #no\n", ()),
        ("<!-- #no --> %% #no %%", ()),
        ("<div>\n#no\n</div>", ()),
        ("[#yes](x#no) [t](<a #no.md>) ![i](b.png '#no')", ()),
        ("[[Note #no]] [[#no]] [[a|#no]]", ()),
        ("[see #yes](b.md)", ("yes",)),
        ("https://example.org/#no", ()),
        ("- [ ] #todo task\n> #quoted\n\n| #cell | x |\n|---|---|\n", ("todo", "quoted", "cell")),
    ],
)
def test_inline_tags(text, tags):
    assert parse_note(text, path="a.md").tags == tags


@pytest.mark.parametrize(
    ("yaml", "tags"),
    [
        ("tags: [one, '#two', three/four]", ("one", "two", "three/four")),
        ("tags: one, #two", ("one",)),  # to YAML the rest is a comment
        ("tags: 'one, #two three'", ("one", "two", "three")),
        ("tag: one", ("one",)),
        ("Tags:\n  - One\n  - one\n  - 2024\n  -", ("One", "2024")),
        ("tags: [two words]", ("two words",)),
        ("tags:", ()),
    ],
)
def test_frontmatter_tags(yaml, tags):
    assert parse_note(f"---\n{yaml}\n---\n", path="a.md").tags == tags


def test_frontmatter_tags_come_first_and_tags_are_unique():
    assert parse_note("---\ntags: [A, b]\n---\n#B #c #a", path="a.md").tags == ("A", "b", "c")
    assert parse_note("#Größe #GRO\u0308ßE #grösse", path="a.md").tags == ("Größe", "grösse")
