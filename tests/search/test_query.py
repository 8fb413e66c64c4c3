"""Any text is a query. Only the known operators are syntax."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_agent.model.lexical import without_operators
from vault_agent.model.search import Filters
from vault_agent.search.query import MAX_TERMS, compile_query


def test_a_phrase_is_required_and_its_terms_are_searched():
    query = compile_query('alpha "beta gamma"')
    assert query.phrases == (("beta", "gamma"),)
    assert set(query.term_weights) == {"alpha", "beta", "gamma"}


def test_quotation_marks_in_a_sentence_are_not_operators():
    query = compile_query(
        'I would like to find whatever was written on "what you see is what you get" editors'
    )
    assert query.phrases == ()
    assert "editor" in query.term_weights


def test_a_minus_excludes_a_word_or_a_phrase():
    assert compile_query('a -b -"c d"').excluded == (("b",), ("c", "d"))


@pytest.mark.parametrize("text", ["well-known", "a - b", "--flag", "-", "1 -- 2"])
def test_other_dashes_exclude_nothing(text: str):
    assert compile_query(text).excluded == ()


def test_tag_and_path_filter():
    query = compile_query('tag:#work/now path:"My Folder" plan -tag:old -path:Archive')
    assert query.filters == Filters(tags=("#work/now",), path_parts=("My Folder",))
    assert query.without == Filters(tags=("old",), path_parts=("Archive",))
    assert set(query.term_weights) == {"plan"}


@pytest.mark.parametrize("text", ["foo:bar", "tag:", "path: x", 'say "unclosed', "untag:x"])
def test_unknown_operators_are_terms(text: str):
    query = compile_query(text)
    assert query.filters == Filters()
    assert query.phrases == ()
    assert query.term_weights


def test_a_repeated_term_counts_twice():
    assert compile_query("boundary layer boundary").term_weights["boundari"] == 2


def test_words_that_only_build_a_sentence_count_half_and_once():
    asked = "the effect of the heat on the boundary layer of the wing"
    weights = compile_query(asked).term_weights
    assert {term for term, weight in weights.items() if weight == 0.5} == {"the", "of", "on"}
    assert weights["boundari"] == 1


def test_words_that_build_sentences_count_in_a_short_query():
    assert compile_query("what is it about").term_weights == dict.fromkeys(
        ("what", "is", "it", "about"), 1.0
    )


def test_the_parts_of_a_path_make_no_query_long():
    assert compile_query("round prices in src/costs.py").term_weights["in"] == 1


def test_a_compound_is_searched_whole_and_in_parts():
    query = compile_query("release 1.2.3")
    assert ("1", "2", "3") in query.compounds
    assert {"1", "2", "3"} <= query.term_weights.keys()


def test_unspaced_text_is_searched_in_pairs():
    query = compile_query("東京都")
    assert list(query.term_weights) == ["東京", "京都"]
    assert list(query.units) == ["東", "京", "都"]


def test_the_number_of_query_terms_is_limited():
    query = compile_query(" ".join(f"w{n}" for n in range(1000)))
    assert len(query.term_weights) == len(query.pairs) == MAX_TERMS
    unspaced = compile_query("".join(map(chr, range(0x4E00, 0x4E00 + 1000))))
    assert len(unspaced.term_weights) == len(unspaced.units) == len(unspaced.pairs) == MAX_TERMS


@pytest.mark.parametrize("text", ['"', "*", "((((", "-", '""', "\x00", "?!", "-\x00"])
def test_text_without_words_is_an_empty_query(text: str):
    query = compile_query(text)
    assert not query.term_weights
    assert not query.phrases
    assert not query.excluded


@given(st.text(max_size=300))
def test_any_text_compiles(text: str):
    compile_query(text)


def test_nothing_in_a_prompt_is_an_operator():
    prompt = 'show "Big Map" with -draft --flag tag:x path:"a b" ["status":open] first'
    query = compile_query(without_operators(prompt))
    assert not query.phrases
    assert not query.excluded
    assert (query.filters, query.without) == (Filters(), Filters())
    assert {"big", "map", "draft", "flag", "x", "status", "open"} <= query.term_weights.keys()
