"""Snippets show why a chunk was found, and never contain all of it."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.clocks import assert_linear

from vault_agent.search.query import compile_query
from vault_agent.search.snippet import (
    SNIPPET_CHARACTERS,
    beginning,
    locate,
    plain_line,
    snippet_around,
    snippets,
)
from vault_agent.text.terms import located_terms, terms

MONEY = "from $5 to $10, $HOME/$USER or $ 4 $"
SHELL = "cp ${HOME}/${USER} $(a)/$(b)"
FILLER = "Nothing of note happens in this sentence at all. " * 12


def snippet(text: str, information: dict[str, float]):
    [found] = snippets([text], information)
    return found


def of(text: str, query: str):
    return snippet(text, dict.fromkeys(compile_query(query).term_weights, 1.0))


def marked(text: str, query: str) -> list[str]:
    found = of(text, query)
    return [found.text[start:end] for start, end in found.matches]


def test_all_headings_at_the_beginning_are_left_out():
    text = "# Garden\n\n## What is it?\n\nA place.\n\n## More\n\nAnd more of it."
    assert snippet(text, {"place": 1.0}).text.startswith("A place.")
    assert snippet("# Garden\n## What is it?\n", {"garden": 1.0}).text.startswith("What")


def test_the_passage_with_most_matches_is_shown():
    text = f"A zebra. {FILLER}The zebra ate the quince by the river. {FILLER}"
    found = of(text, "zebra quince river")
    assert "The zebra ate the quince by the river." in found.text


def test_a_snippet_starts_at_a_sentence_and_splits_no_word():
    found = of(f"{FILLER}The zebra sleeps. {FILLER}", "zebra")
    body = found.text.strip("…")
    assert found.text.startswith("…Nothing") or found.text.startswith("…The")
    assert f" {body} " in f" {plain_line(FILLER + 'The zebra sleeps. ' + FILLER)} "


@pytest.mark.parametrize(
    ("markdown", "line"),
    [
        ("- Investing\n- Education\n- Learning\n", "Investing · Education · Learning"),
        ("* [ ] Buy\n\n* [x] Dig\n", "Buy · Dig"),
        ("1. One\n2. Two\n   goes on\n", "One · Two goes on"),
        ("See:\n\n- a\n  - b\n\nThen rest.\n", "See: · a · b · Then rest."),
        ("Prose.\n\nMore prose.\n", "Prose. More prose."),
        ("Text\n\n## Part\nBody\n\n## Next\n\nEnd\n", "Text · Part · Body · Next · End"),
        ("| a | b |\n|---|---|\n| c | d |\n", "a b · c d"),
        ("> - quoted\n> - list\n", "quoted · list"),
        ("- **Bold** one\n- [[Note|name]]\n- [x](http://y)\n", "Bold one · name · x"),
        ("-not a list\n-either\n", "-not a list -either"),
    ],
)
def test_items_of_a_list_do_not_run_together(markdown: str, line: str):
    assert plain_line(markdown) == line


def test_a_snippet_begins_and_ends_at_items():
    text = "".join(f"- Number {number} of many things\n" for number in range(40))
    found = of(text, "21")
    assert found.text.startswith("…Number ")
    assert found.text.endswith(" of many things…")


def test_matches_include_every_inflection():
    text = f"{FILLER}Running is fun; he runs, C++ and getUserName too. {FILLER}"
    assert marked(text, "run c++ user") == ["Running", "runs", "C++", "UserName"]
    assert marked(text, "user") == ["UserName"]


@pytest.mark.parametrize(
    ("text", "query", "match"),
    [
        ("吾輩は猫である。名前はまだ無い。" * 30, "名前", "名前"),
        ("駅前のラーメン屋に行った。" * 30, "らーめん", "ラーメン"),
        ("駅前のらーめん屋に行った。" * 30, "ラーメン", "らーめん"),
        ("Überall ist es schön. " * 30, "uberall", "Überall"),
        ("กินข้าวผัดกับเพื่อนทุกวัน" * 30, "ข้าว", "ข้าว"),
        ("한국어를 배웁니다. " * 30, "한국어", "한국어"),
        ("Very happy 👍 today. " * 30, "👍", "👍"),
    ],
)
def test_matches_in_other_scripts_have_correct_ranges(text: str, query: str, match: str):
    assert match in marked(text, query)


@pytest.mark.parametrize(
    "source",
    [
        "See [the paper](https://example.org/zebra/2024) here. ",
        "See ![](pictures/zebra-2.png) here. ",
        "See [[Animals/Zebra|this one]] here. ",
        'See <a href="https://example.org/zebra">this</a> here. ',
        "See %% zebra %% here. ",
        "```zebra\nrun()\n```\n",
        "See https://example.org/zebra?zebra=1#zebra here. ",
        "See <https://example.org/(zebra)> here. ",
        "See it (at https://example.org/zebra). ",
        "See www.example.org/zebra, and more. ",
    ],
)
def test_what_a_reader_does_not_see_is_never_shown(source: str):
    text = f"{FILLER}{source}{FILLER}" if source[0] != "`" else f"{FILLER}\n{source}{FILLER}"
    assert marked(text, "zebra") == []
    shown = plain_line(text)
    assert "zebra" not in shown.lower()
    assert "://" not in shown


def test_an_address_is_left_out_where_the_words_stand_in_the_heading():
    text = "# Slow rye\n\nBy [Ada](https://example.org/slow-rye), in May. It rises twice.\n"
    shown = snippet(text, {"rye": 1.0})
    assert "By Ada, in May." in shown.text
    assert shown.matches == ()


def test_common_words_are_not_highlighted_beside_rare_ones():
    found = snippet("the zebra of the plain " * 20, {"the": 0.1, "of": 0.1, "zebra": 5.0})
    assert {found.text[start:end] for start, end in found.matches} == {"zebra"}


@pytest.mark.parametrize("text", ["", "Short.", "\n\n", "word", "猫", "# Title\n"])
def test_a_chunk_of_one_word_has_an_empty_snippet(text: str):
    assert of(text, "short line word").text == ""


@pytest.mark.parametrize(
    ("text", "query", "shown"),
    [
        ("# Title\n\nOne short line.", "short", "One short line."),
        ("# Title\n\nword", "title", "word"),
        ("# 猫\n\n名前はまだ無い。", "名前", "名前はまだ無い。"),
        ("One short line.", "short", "One short…"),
        ("One short line.", "line", "…short line."),
        ("One short line.", "one line", "One short…"),
        ("- milk\n- eggs\n- bread\n", "absent", "milk · eggs…"),
        ("吾輩は猫である", "吾輩", "吾輩は猫であ…"),
        ("名前はまだ無い猫", "い猫", "…前はまだ無い猫"),
    ],
)
def test_a_short_chunk_shows_all_but_its_heading_or_a_word(text: str, query: str, shown: str):
    assert of(text, query).text == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# A day\n\n- met, see «[[Here]]»\n", "met, see Here"),
        ("# A day\n\n«[a](here.md)»\n", "a"),
        ("# «[[Here]]»\n\nWhat it says.\n", "Here What it…"),
        ("«[[Here]]»\n", ""),
        ("see «[[Here]]»\n", "…Here"),
        ("«[[Here|it]]» is new", "it is…"),
    ],
)
def test_a_link_in_a_short_chunk_is_shown_without_all_of_the_chunk(text: str, shown: str):
    before, link, after = re.split("[«»]", text)
    found = snippet_around(before + link + after, len(before), len(before + link))
    assert found.text == shown


def test_a_snippet_does_not_get_shorter_as_its_chunk_grows():
    lengths = [len(of("word " * words + "end.", "absent").text) for words in range(2, 60)]
    assert all(after >= before - len(" word") for before, after in pairwise(lengths))


@pytest.mark.parametrize(
    ("text", "query", "line"),
    [
        ("# Zebra\n\nFirst.\n\nA zebra runs.\n" + FILLER, "zebra", 4),
        ("# Zebra\n\nNothing else here at all.", "zebra", None),
        ("One zebra.\nTwo.\nA zebra ate the quince.\n" + FILLER, "zebra quince", 2),
        ("One.\r\n**Zebra** crossing.\r\n" + FILLER, "zebra", 1),
        (f"See zebra crossing.\n{FILLER}\nThe zebra ate a quince.\n", "zebra quince", 2),
        (FILLER, "absent", None),
        ("日記\n\n吾輩は猫である。\n名前はまだ無い。\n" * 9, "名前", 3),
    ],
)
def test_the_line_of_the_match_is_known(text: str, query: str, line: int | None):
    assert of(text, query).line == line


def test_an_emoji_that_is_joined_is_never_cut():
    family, flag = "👨‍👩‍👧‍👦", "🇯🇵"
    for number in range(20, 60):
        text = snippet("x " * 20 + family * number + flag, {"u1f469": 1.0}).text
        for whole in (family, flag):
            text = text.replace(whole, "")
        assert not set(text) & set(family + flag), number


@pytest.mark.parametrize(
    "link",
    ["[](../U.md)", "![](U.md)", "[[U|]]", "[![](a.png)](U.md)", "<a href='U.md'></a>", "[**](U)"],
)
@pytest.mark.parametrize("words", [0, 1, 12, 200])
def test_a_link_without_visible_text_has_an_excerpt_without_a_match(link: str, words: int):
    before = "An ordinary sentence. " * words
    for after in ("", "\n", " And more."):
        found = snippet_around(before + link + after, len(before), len(before + link))
        assert all(start < end for start, end in found.matches)


@pytest.mark.parametrize("chain", [1, 30, 40, 200])
def test_a_match_after_a_chain_of_joined_emoji_is_shown(chain: int):
    text = "alpha " + "👨\u200d" * chain + "zebraword"
    for tail in ("", " and more"):
        assert marked(f"{text}{tail}", "zebraword")[0].endswith("zebraword")


def test_without_a_match_the_snippet_is_the_beginning():
    found = of(f"First words here. {FILLER}", "absent")
    assert found.text.startswith("First words")
    assert found.matches == ()


def test_markdown_syntax_is_removed():
    text = (
        '## Heading\n\n> [!note] A **bold** [link](x/y.md "t") and [[Target|shown]]\n'
        '- [ ] task `code` ==mark==\n\n| a | b |\n|---|---|\n<span class="x">in</span> %%gone%%\n'
    )
    assert plain_line(text) == "A bold link and shown · task code mark · a b in"


def test_tags_of_html_are_not_shown_and_types_are():
    text = (
        'or <button id=HH>Open it</button> with <input type="text"/> in a List<Word> of Map<K, V>'
    )
    assert plain_line(text) == "or Open it with in a List<Word> of Map<K, V>"
    found = of(f"{text}. {FILLER}", "open")
    assert [found.text[a:b] for a, b in found.matches] == ["Open"]


@pytest.mark.parametrize(
    ("markdown", "line"),
    [
        ("As known[^1], and more.[^a-b]\n\n[^1]: Not by all.", "As known, and more. · Not by all."),
        ("the energy $E = mc^2$ and $$\n\\int x\n$$ end", "the energy E = mc^2 and \\int x end"),
        (MONEY, MONEY),
        (SHELL, SHELL),
        ("See <https://a.example/?c=d> ^at\n\nMore ^2-x", "See a.example More"),
        ("a class [^abc]+ or `[^1]` of 2 ^ 3", "a class [^abc]+ or [^1] of 2 ^ 3"),
        ("- [[BUG] It [now] fails](https://a.example/1)", "[BUG] It [now] fails"),
        ("It works. [^1] And[^2][^3] more", "It works. And more"),
        ("One ^a1\n\n- two ^b2\n- three ^c3\n", "One · two · three"),
        ("`grep -v '[^0-9]'` and `a[^1]`", "grep -v '[^0-9]' and a[^1]"),
        (
            "```\nif [[ $a =~ [^0-9] ]]\nsed 's/[^a]$//'\n```",
            "if [[ $a =~ [^0-9] ]] sed 's/[^a]$//'",
        ),
        ("x = y ^z\nand 2 ^10\nhere", "x = y ^z and 2 ^10 here"),
        ("[![badge](http://a/b.png)](http://c) text", "badge text"),
        (
            "(see https://me:pw@a.example/x_(y)?k=v). www.b.example/q!",
            "(see a.example). b.example!",
        ),
        ("<mailto:ada@a.example>", "ada@a.example"),
        ("- Site: <a.example/x> ^site\n<!-- - Other ^other-->\n", "Site: a.example/x"),
        ("a List<int> and <word>", "a List<int> and <word>"),
        ("Site: [pay](https://a.example)^pay", "Site: pay"),
        (
            "Id: zebra\nMade by: [[Ada]]\n\nIt eats: grass",
            "Id: zebra · Made by: Ada · It eats: grass",
        ),
    ],
)
def test_marks_of_footnotes_formulas_addresses_and_blocks_are_left_out(markdown: str, line: str):
    assert plain_line(markdown) == line


def test_prose_with_the_words_goes_before_labels_and_lists():
    labels = "Plugin: zebra-count\nMade by: [[Ada Lane of the Orchard]]\nFor phones: yes, all\n\n"
    lists = "- zebra\n- lion\n\n"
    found = of(
        f"# Zebra\n\n{labels}{lists}It counts every zebra of a herd by its stripes.", "zebra"
    )
    assert found.text == "…It counts every zebra of a herd by its stripes."


@given(st.text(max_size=1500), st.text(max_size=40))
def test_snippets_are_one_line_within_the_limit(text: str, query: str):
    found = of(text, query)
    assert len(found.text) <= SNIPPET_CHARACTERS
    assert found.text.isprintable() or not text.isprintable()
    assert "\n" not in found.text
    assert all(0 <= a < b <= len(found.text) for a, b in found.matches)
    assert list(found.matches) == sorted(found.matches)
    assert not text.strip() or found.text.strip("…") != text.strip()


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("# Only a heading\n", ""),
        ("# {{title}}\n\n<!-- [{{title}}](https://example.org) -->\n{{date}} <% tp.now() %>", ""),
        ("%% Add a description. %%\n\nA [[Note|plan]] of ==seeds==.", "A plan of seeds."),
        (
            "[![Downloads](https://img.example/b.svg)](https://example.org) ![a](b.png)\nHello",
            "Hello",
        ),
        ("![[plan.pdf]] > quoted", "quoted"),
        ("word " * 80, "word word word word word word word…"),
    ],
)
def test_the_beginning_of_a_note_is_what_it_says(markdown: str, shown: str):
    assert beginning(markdown, 36) == shown


WORDS = [
    *("garden", "gardens", "Gardening", "GARDEN", "dying", "lying", "ties", "skies", "early"),
    *("C++", "C#", "c#", ".NET", "v2.1", "iPhone15Pro", "HTTPServer", "GitHub", "20Guides"),
    *(
        "foo_barBaz",
        "O'Neil’s",
        "don't",
        "cafés",
        "naïve",
        "straße",
        "İstanbul",
        "Σίσυφος",
        "東京都",
    ),
]


@given(st.lists(st.sampled_from(WORDS), min_size=1), st.sampled_from(WORDS))
def test_each_word_with_a_term_of_the_query_is_located(words: list[str], word: str):
    text, wanted = " ".join(words), dict.fromkeys(terms(word), 1.0)
    places = locate(text, wanted)
    for own_terms, start, end in located_terms(text):
        if not wanted.keys().isdisjoint(own_terms):
            assert any(start <= place[0] < place[1] <= end for place in places), (text, word)


def test_the_time_to_locate_terms_grows_with_the_length_of_a_word():
    def make(times: int) -> str:
        return f"é {'a' * 3_000 * times}."

    assert_linear(make, lambda text: locate(text, {"zebra": 1.0}))
