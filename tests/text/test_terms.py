"""Notes and queries give the same terms in every script and spelling."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.clocks import assert_linear

from vault_agent.text.terms import (
    fold_text,
    index_terms,
    located_terms,
    part_of,
    prepare,
    sequence,
    splitter,
    terms,
    units,
)


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("running", "run"),
        ("Café", "cafe"),
        (unicodedata.normalize("NFD", "Übergröße"), "ubergrosse"),
        ("ΑΝΆΛΥΣΗ", "ανάλυση"),
        ("ёлка", "елка"),
        ("İstanbul", "istanbul"),
        ("ﾊﾝｶｸ ＡＢＣ", "ハンカク abc"),
        ("ラーメン", "らーめん"),
        ("ﾗｰﾒﾝ", "らーめん"),
        ("ヴァイオリン", "ゔぁいおりん"),
        ("いすゞ", "イスヾ"),
        ("العَرَبِيَّة", "العربية"),
        ("co\u00adoperate", "cooperate"),
        ("C++", "c++"),
        ("C#", "c#"),
        (".NET", ".net"),
        ("❤️", "❤"),
        ("👍🏽", "👍"),
        ("हिन्दी", "हिन्दी"),
        ("हिन्दी", "हिंदी"),
        ("सम्पर्क", "संपर्क"),
        ("माँ", "मां"),
        ("الكتاب", "كتاب"),
        ("والمكتبة", "مكتبه"),
        ("للبيت", "بيت"),
        ("کتاب", "كتاب"),  # a Persian keyboard's letter, and an Arabic one's
        ("ґанок", "ганок"),
    ],
)
def test_spellings_of_one_word_give_the_same_terms(written: str, asked: str):
    assert terms(written) == terms(asked) != []


@pytest.mark.parametrize("name", ["C++", "C#", ".NET", "F#"])
def test_a_name_with_signs_differs_from_its_letters(name: str):
    assert terms(name) != terms(name.strip("+#."))


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("getUserName", "user"),
        ("getUserName", "getusername"),
        ("HTTPServer", "server"),
        ("snake_case", "case"),
        ("src/main/app.py", "main"),
        ("v1.2.3", "1.2.3"),
        ("utf8Decoder", "decoder"),
        ("#project/alpha", "alpha"),
        ("東京都の猫", "東京"),
        ("iPhone用ケース", "ケース"),
        ("한국어를", "한국"),
        ("ข้าวผัด", "ข้าว"),
    ],
)
def test_a_name_is_found_in_parts(text: str, part: str):
    whole = set(terms(text))
    assert set(sequence(part)) <= whole


@pytest.mark.parametrize(("word", "other"), [("ألم", "م"), ("جمال", "جم"), ("जन्म", "जंम")])
def test_different_words_stay_different(word: str, other: str):
    assert terms(word) != terms(other)


def test_plain_english_is_not_changed():
    prose = "The quick brown fox, 42 times; it's done. See [link](a-b.md)!"
    assert prepare(prose) is prose


def test_parts_of_names_do_not_break_phrases():
    assert sequence("call getUserName now") == ["call", "getusernam", "now"]


def test_a_number_and_the_next_character_are_a_pair():
    assert {"2年", "年4", "4月"} <= set(terms("1992年4月"))


def test_every_unspaced_character_starts_a_term():
    found = terms("吾輩は猫である")
    assert [term[0] for term in found] == list("吾輩は猫である")
    assert units(prepare("猫 and 犬たち")) == ["猫", "犬", "た", "ち"]


@pytest.mark.parametrize("word", ["हिन्दी", "বাংলা", "தமிழ்", "తెలుగు", "සිංහල", "ქართული", "አማርኛ"])
def test_combining_marks_do_not_split_a_word(word: str):
    assert len(terms(word)) == 1


@given(st.text(max_size=200))
def test_no_term_is_empty_or_has_spaces(text: str):
    for term in terms(text):
        assert term
        assert " " not in term


@given(st.text(max_size=100))
def test_located_terms_are_in_text_order(text: str):
    places = [(start, end) for _, start, end in located_terms(text)]
    assert places == sorted(places)
    assert all(0 <= start < end <= len(text) for start, end in places)


@pytest.mark.parametrize(
    "piece", ["a", "A", "aB", "é", "日", "ก่", "👍", "\ud800", "\u0301", "v1.", "#+"]
)
def test_tokenizing_takes_linear_time(piece: str):
    assert_linear(lambda n: piece * (60_000 // len(piece)) * n, prepare)


# --- the terms that the index stores --------------------------------------------------------------


PIECES = [
    *("v", "V", "v2", "1.10", ".", "0", " ", "\n", "_", "-", "\0", "\1", "—", "+", "++", "#"),
    *("Parse", "note", "HTTP", "getUserName", ".NET", "é", "É", "İ", "ﬁ", "ß", "ǅ", "\ud800"),
    *("漢字", "かな", "ไทย", "한국어", "٢", "१", "😀", "\u0301"),
    *("x" * 79, "x" * 80, "é" * 39, "é" * 40, "ab" * 150, "Ab" * 45, "Ⱥ" * 30),
]


def stored(text: str) -> list[str]:
    """Return the terms that the engine stores of a text, without the signs of parts of names."""
    found = splitter().analyze(index_terms(fold_text(text)))
    return [term.removeprefix(part_of("")) for term in found]


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=12).map("".join)))
def test_stored_terms_are_those_of_a_query(text: str):
    assert stored(text) == terms(text)


@pytest.mark.parametrize("text", ["parseNote and HTTPServer", "v2.1 of C++", "日本語のnote"])
def test_a_second_look_gives_the_same_terms(text: str):
    assert stored(text) == stored(text) == terms(text)


@pytest.mark.fault(
    "Note contents",
    "a long run of letters, such as base64",
    "it is no term, and the words around it keep their positions",
)
def test_a_run_that_is_too_long_keeps_its_position():
    found = index_terms("before " + "x" * 100_000 + " after").split()

    assert (found.index("befor"), found.index("after")) == (0, 2)
    assert stored("before " + "x" * 100_000 + " after") == ["befor", "after"]


@pytest.mark.parametrize("word", ["aB", "v1.2 ", "é", "é—", "0a_", "x" * 300 + " "])
def test_time_is_linear(word: str):
    assert_linear(lambda times: word * (4_000 * times), stored)
