"""No payload leaves anything in the HTML that could run, load or imitate."""

from __future__ import annotations

import re

import pytest
from tests.markdown.payloads import PAYLOADS, PLACES
from tests.markdown.rendering import Read, html_of

from vault_agent.markdown import sanitise
from vault_agent.markdown.sanitise import clean

ADDRESS = re.compile(r"(https?://|mailto:|#)", re.IGNORECASE)


def examine(html: str) -> None:
    """Fail if HTML has anything that the page must not get."""
    read = Read(html)
    assert read.open == []
    assert read.comments == []
    for tag, attributes in read.elements:
        assert tag in sanitise._ELEMENTS
        for name, value in attributes.items():
            known = sanitise._ATTRIBUTES.get(tag, set()) | sanitise._ATTRIBUTES["*"]
            assert name in known | {"rel", "type", "disabled"}, name
            if name == "id":
                assert value.startswith("n-")
            elif name == "src":
                assert value.startswith("/ui/files/")
            elif name == "href":
                assert ADDRESS.match(value) or value.startswith("/ui/files/"), value
            elif name == "class":
                kept = {each for each in value.split() if not each.startswith("language-")}
                assert kept <= sanitise._CLASSES
            elif name == "target":
                assert value == "_blank"
        if tag == "a":
            assert attributes["rel"] == "noopener noreferrer nofollow"
        if tag == "input":
            assert attributes["type"] == "checkbox"
            assert "disabled" in attributes


def test_there_are_enough_payloads():
    assert len(set(PAYLOADS)) > 120
    assert len(set(PAYLOADS)) * len(PLACES) > 300


@pytest.mark.fault(
    "The web page",
    "a note with scripts, handlers, other schemes, mutation attacks, in every place of a note",
    "shown as text or dropped; no script runs, no request leaves",
)
@pytest.mark.parametrize("place", PLACES)
def test_no_payload_survives_anywhere_in_a_note(place: str):
    for payload in PAYLOADS:
        html = html_of(place.format(payload), Other=place.format(payload)).html
        examine(html)
        assert sorted(clean(html)) == sorted(html)  # but for the order of attributes


@pytest.mark.parametrize("place", ["{0}", "<p>{0}</p>", "<a href='#'>{0}", "<table><tr><td>{0}"])
def test_the_sanitiser_alone_stops_every_payload(place: str):
    """What the renderer does before is for looks only."""
    for payload in PAYLOADS:
        examine(clean(place.format(payload)))


def test_two_payloads_together_make_no_third():
    for payload in PAYLOADS:
        for other in PAYLOADS[::7]:
            examine(html_of(f"{payload}{other}\n\n{other}{payload}").html)


def test_the_names_of_files_are_no_way_in():
    for payload in PAYLOADS:
        examine(html_of("![[a.png]] [[Other]]", path=f"{payload}.md", Other="x").html)
