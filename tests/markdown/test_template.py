"""Filling templates."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import yaml

from vault_agent.errors import VaultAgentError
from vault_agent.markdown.template import fill, formatted, variables

NOW = datetime(2025, 1, 5, 7, 8, 9, tzinfo=UTC)  # a Sunday in the first week


def filled(template: str, title: str = "T", **values: str) -> str:
    return fill(template, title=title, now=NOW, values=values)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("# {{title}}\n", "# T\n"),
        ("{{date}} {{time}}", "2025-01-05 07:08"),
        ("{{date:YYYY/MM/DD}} {{time:HH-mm-ss}}", "2025/01/05 07-08-09"),
        ("{{date:}}", "2025-01-05"),
        ("{{var:a}}{{var: b c }}", "12"),
        ("{{ title }} {{Title}} {{title:x}} {{}}", "{{ title }} {{Title}} {{title:x}} {{}}"),
        ("<% no end", "<% no end"),
        ("a\r\nb {{title}}", "a\r\nb T"),
    ],
)
def test_places_are_filled(template: str, text: str):
    assert filled(template, **{"a": "1", "b c": "2"}) == text


@pytest.mark.fault(
    "Names, tasks, templates",
    "a variable that contains places",
    "they stay text",
)
def test_what_is_filled_in_is_not_filled_again():
    assert filled("{{var:a}}", a="{{title}} {{var:b}}") == "{{title}} {{var:b}}"


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("YYYY-MM-DD HH:mm:ss", "2025-01-05 07:08:09"),
        ("dd ddd dddd", "Su Sun Sunday"),
        ("MMM MMMM", "Jan January"),
        ("[W]WW", "W01"),
        ("YYYY-MM-DDTHH:mm", "2025-01-05T07:08"),
        ("[YYYY]", "YYYY"),
    ],
)
def test_a_time_has_a_format(form: str, text: str):
    assert formatted(NOW, form) == text


@pytest.mark.parametrize("form", ["D", "YY", "YYYYY", "h:mm A", "gggg-[W]ww", "x" * 101])
def test_other_letters_of_a_format_are_refused(form: str):
    with pytest.raises(VaultAgentError) as refused:
        formatted(NOW, form)
    assert refused.value.code == "TEMPLATE_UNSUPPORTED"


@pytest.mark.fault(
    "Names, tasks, templates",
    "a template with `<% %>`; a format of dates that is not supported; a missing variable",
    "refused, nothing is run or made",
)
@pytest.mark.parametrize(
    ("template", "code", "details"),
    [
        ("a <% tp.date.now() %> b", "TEMPLATE_UNSUPPORTED", {}),
        ("```\n<%* x\n%>\n```", "TEMPLATE_UNSUPPORTED", {}),
        ("{{var:a}} {{var:b}} {{var:b}}", "INVALID_REQUEST", {"variables": ["a", "b"]}),
    ],
)
def test_a_template_that_cannot_be_filled_is_refused(template, code, details):
    with pytest.raises(VaultAgentError) as refused:
        filled(template)
    assert (refused.value.code, refused.value.details) == (code, details)


@pytest.mark.parametrize("value", ["a\0", "a\ud800"])
def test_a_value_is_text_that_a_note_can_contain(value: str):
    with pytest.raises(VaultAgentError) as refused:
        filled("{{var:a}}", a=value)
    assert refused.value.code == "INVALID_REQUEST"


def test_the_variables_of_a_template_are_listed_once():
    assert variables("{{var:b}} {{title}} {{var: a}} {{var:b}}") == ("b", "a")


HOSTILE = [
    "plain",
    "a: b",
    "# no",
    "x # y",
    "'q'",
    '"q"',
    "{a}",
    "[b]",
    "a\nkey: b",
    "2024",
    "yes",
    "- a",
    "\\n",
    "é\u2028",
    "",
    "12:30",
    "*a",
    "a, b] c",
]


@pytest.mark.fault(
    "Names, tasks, templates",
    "a title or variable with `: `, quotes, line ends, braces, in frontmatter",
    "reads back as it was given, or is refused",
)
@pytest.mark.parametrize(
    "place",
    [
        "{{title}}",
        '"{{title}}"',
        "'{{title}}'",
        "{{var:v}}",
        "{{var:v}} # comment",
        "[{{title}}, b]",
        "[a, '{{title}}']",
        '["{{var:v}}"]',
        "\n  - {{title}}",
        "\n- '{{var:v}}'",
    ],
)
def test_a_value_in_frontmatter_reads_back(place: str):
    note = f"---\nbefore: 1\nkey: {place}\nafter: {{{{date}}}}\n---\n# b\n"
    for value in HOSTILE:
        text = filled(note, value, v=value)
        values = yaml.load(text.split("---\n")[1], yaml.BaseLoader)  # every scalar is text
        assert list(values) == ["before", "key", "after"], value
        found = values["key"]
        assert value == found or value in found
        assert values["after"] == "2025-01-05"
        assert text.endswith("---\n# b\n")


def test_text_around_a_value_in_frontmatter_stays():
    text = filled("---\na: 'it''s {{title}}'\nb: On {{date}} # {{time}}\n---\n", "x\ny")
    assert yaml.safe_load(text.split("---\n")[1]) == {"a": "it's x\ny", "b": "On 2025-01-05"}


def test_a_text_block_in_frontmatter_gets_no_quotation_marks():
    text = filled("---\na: |\n  On {{title}}\n  end\nb: {c: {{var:v}}}\n---\n", "x: y", v="p, q")
    assert yaml.safe_load(text.split("---\n")[1]) == {"a": "On x: y\nend\n", "b": {"c": "p, q"}}


def test_a_template_may_have_the_character_that_marks_places():
    template = "---\na: '\ue000 \ue0007\ue000 {{title}}'\n---\n"
    assert filled(template) == template.replace("{{title}}", "T")


def test_a_comment_in_frontmatter_stays_one_line():
    text = filled("---\n# for {{title}}\na: 1 # {{title}}\n---\n", "x\ny: 2")
    assert text == "---\n# for x y: 2\na: 1 # x y: 2\n---\n"


def test_a_value_that_would_change_the_keys_is_refused():
    with pytest.raises(VaultAgentError) as refused:
        filled("---\n{{var:v}}: 1\n---\n", v="x: 1\ny")
    assert refused.value.code == "TEMPLATE_UNSUPPORTED"


def test_frontmatter_that_is_broken_in_the_template_stays_so():
    assert filled("---\na: [\nb: {{title}}\n---\n") == "---\na: [\nb: T\n---\n"
