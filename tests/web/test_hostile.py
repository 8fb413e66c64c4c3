"""Nothing that a note holds runs, loads or imitates: through each view that shows it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from tests.support.program import Program
from tests.web.browsers import expect
from tests.web.conftest import serve
from tests.web.payloads import PAYLOADS, line

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

A_NOTE = 16  # payloads in a note


def yaml(text: str) -> str:
    return json.dumps(line(text))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Program]:
    """Serve a vault in which each payload stands in each place of a note."""
    servers = serve(tmp_path_factory.mktemp("hostile"), more=0)
    program = next(servers)
    for number in range(0, len(PAYLOADS), A_NOTE):
        some = PAYLOADS[number : number + A_NOTE]
        head = (
            f"title: {yaml(some[0])}\ntype: {yaml(some[1])}\nstatus: {yaml(some[2])}\n"
            f"tags: [{', '.join(yaml(each) for each in some[:6])}]\n"
            f"aliases: [{', '.join(yaml(each) for each in some[6:])}]\n"
            f"{yaml(some[3])}: {yaml(some[4])}\nlinks: [{yaml('[[' + line(some[5]) + ']]')}]\n"
        )
        body = "\n\n".join(
            f"## {line(each)}\n\n{each}\n\nlink [[Target|{line(each)}]]" for each in some
        )
        program.write(f"h/Hostile {number}.md", f"---\n{head}---\n{body}\n")
    program.write("h/<b onclick=hit=1> &quot;'.md", "# Name\n\nSee [[Target]].\n")
    program.write("h/Target.md", "# Target\n\nPlain.\n")
    program.finish(program.submit())
    yield program
    for _ in servers:
        pass


def rows_of(program: Program) -> list[str]:
    notes = program.call("GET", "/notes?limit=200&path=h").data["notes"]
    return [note["noteId"] for note in notes]


def test_reading_runs_nothing(visit: Callable[..., Page], hostile: Program):
    page = visit("/notes", program=hostile)
    for note in rows_of(hostile):
        page.evaluate("hash => location.hash = hash", f"#/notes/{note}")
        expect(page.locator("article.read")).to_have_attribute("aria-busy", "false")
        expect(page.locator(".prose")).to_have_count(1)
        for kind in ("pointerover", "focus", "click"):
            page.evaluate(
                "kind => document.querySelectorAll('.prose *').forEach(each =>"
                " each.tagName !== 'A' && each.tagName !== 'BUTTON'"
                " && each.dispatchEvent(new Event(kind, {bubbles: true})))",
                kind,
            )
        bad = page.locator(
            ".prose :is(script, style, iframe, object, embed, form, link, meta, base, svg:not(.i), template),"
            ".prose [style]:not(math *), .prose [onclick], .prose [onerror],"
            ".prose [href^='javascript:' i], .prose img[src]:not([src^='/ui/files/'])"
        )
        assert bad.count() == 0, bad.first.evaluate("each => each.outerHTML.slice(0, 300)")
        assert page.evaluate(
            "document.getElementById('app') === document.body.querySelector('div')"
        )


def test_lists_and_searches_show_text(visit: Callable[..., Page], hostile: Program):
    page = visit("/notes", program=hostile)
    for words in ("onerror", "script", "javascript", "evil example"):
        page.locator("#find").fill(words)
        expect(page.locator(".row").first).to_be_visible()
        expect(page.locator(".scroll.busy")).to_have_count(0)
        assert page.locator(".row :is(script, img, iframe, a, form)").count() == 0
    page.locator("#find").fill("")
    page.get_by_role("button", name="Tags").click()
    expect(page.locator(".menu .entry").first).to_be_visible()
    page.locator(".menu .entry").first.click()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.get_by_role("dialog").get_by_role("combobox").fill("img")
    expect(page.get_by_role("option").first).to_be_visible()
    assert page.locator("dialog :is(script, img, iframe)").count() == 0


def test_backlinks_side_and_graph_show_text(visit: Callable[..., Page], hostile: Program):
    target = hostile.call("GET", "/resolve?name=h/Target.md").data["notes"][0]["noteId"]
    page = visit(f"/notes/{target}", program=hostile)
    expect(page.locator(".ref").first).to_be_visible()
    assert page.locator(".ref :is(script, img, iframe, form)").count() == 0
    page.get_by_role("radio", name="3 steps away").click()
    page.keyboard.press("Control+g")
    expect(page.locator(".filters")).to_be_visible()
    page.keyboard.press("l")
    expect(page.locator(".graph-list .entry").first).to_be_visible()
    page.locator(".graph-list .entry").first.click()
    expect(page.locator(".preview")).to_be_visible()
    assert page.locator(".graph :is(script, img, iframe, form)").count() == 0


@pytest.mark.fault("The web page", "the same without the sanitiser", "the page's policy stops it")
def test_the_policy_holds_alone(visit: Callable[..., Page], hostile: Program):
    """With no sanitiser at all, the policy of the page still stops scripts and requests."""
    target = hostile.call("GET", "/resolve?name=h/Target.md").data["notes"][0]["noteId"]
    raw = "".join(
        each for each in PAYLOADS if "http-equiv=refresh" not in each and "autofocus" not in each
    )
    reply = hostile.call("GET", f"/notes/{target}/html").body
    reply["data"]["html"] = f"<div><form id=n-f></form>{raw}</div>"
    page = visit(
        "/notes",
        program=hostile,
        expected=("Content Security Policy", "script-src", "style-src", "img-src", "media-src", "frame-src",
                  "object-src", "base-uri", "default-src", "Refused", "-src-", "form-action", "ERR_", "404",
                  "data:", "base URLs", "Error: <", "Unexpected", "attribute"),
    )  # fmt: skip
    page.route("**/html*", lambda route: route.fulfill(json=reply))
    page.evaluate("hash => location.hash = hash", f"#/notes/{target}")
    expect(page.locator(".prose form").first).to_be_attached()
    page.wait_for_function("() => window.reports.length > 0")  # something is stopped
    page.wait_for_timeout(500)  # for what is not


def test_no_other_script_can_make_html(visit: Callable[..., Page]):
    page = visit(expected=("Trusted", "TrustedHTML", "trusted-types", "require-trusted"))
    tried = page.evaluate(
        """() => {
          const tries = [
            () => { document.body.innerHTML = "<b>x</b>"; },
            () => { trustedTypes.createPolicy("other", { createHTML: (x) => x }); },
            () => { trustedTypes.createPolicy("vault-agent", { createHTML: (x) => x }); },
            () => { new Worker("/ui/assets/x.js"); },
          ];
          return tries.map((each) => { try { each(); return "done"; } catch { return "refused"; } });
        }"""
    )
    assert tried == ["refused"] * 4
