"""The embedding input of a chunk and the key of its vector."""

import pytest

from vault_agent.models.settings import (
    MAX_INPUT,
    EndpointSettings,
    Prefixes,
    chunk_input,
    known_prefixes,
    vector_key,
)


@pytest.mark.parametrize(
    ("model", "query"),
    [
        ("nomic-embed-text", "search_query: "),
        ("nomic-embed-text:v1.5", "search_query: "),
        ("text-embedding-nomic-embed-text-v1.5", "search_query: "),
        ("nomic-ai/nomic-embed-text-v2-moe", "search_query: "),
        ("mixedbread-ai/mxbai-embed-large-v1", known_prefixes("mxbai-embed-large").query),
        ("snowflake-arctic-embed2", "query: "),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "query: "),
        ("embeddinggemma:300m", "task: search result | query: "),
        ("intfloat/multilingual-e5-large-instruct", ""),
        ("intfloat/e5-base-v2", "query: "),
        ("all-minilm", ""),
        ("bge-m3", ""),
        ("something-new", ""),
    ],
)
def test_known_models_are_recognised_in_every_spelling(model, query):
    assert known_prefixes(model).query == query


def test_user_prefixes_replace_the_defaults_even_if_empty():
    settings = EndpointSettings("", "nomic-embed-text", query_prefix="", document_prefix="d: ")
    assert settings.prefixes == Prefixes("", "d: ")


def test_an_input_contains_prefix_title_headings_and_text():
    text = chunk_input("passage: ", "Bread", ("Baking", "Oven"), "\nHot.\n")
    assert text == "passage: Bread\nBaking > Oven\n\nHot."


def test_a_heading_that_repeats_the_title_is_left_out():
    assert chunk_input("", "Bread", ("Bread", "Oven"), "Hot.") == "Bread\nOven\n\nHot."


def test_a_prefix_can_contain_the_title():
    prefix = known_prefixes("embeddinggemma").document
    assert chunk_input(prefix, "Bread", (), "Hot.") == "title: Bread | text: Hot."
    assert chunk_input(prefix, "", (), "Hot.") == "title: none | text: Hot."


def test_an_input_is_cut_at_its_limit():
    assert len(chunk_input("x: ", "Title", (), "a" * 20_000)) == MAX_INPUT == 8_000


def test_a_vector_key_depends_only_on_model_and_input():
    assert vector_key("m", "text") == vector_key("m", "text")
    assert len({vector_key("m", "a"), vector_key("m", "b"), vector_key("n", "a")}) == 3
    assert len(vector_key("m", "\ud800 lone")) == 16
