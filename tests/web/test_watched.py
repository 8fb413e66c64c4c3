"""What a page asks of other computers fails its test, and what the browser asks by itself does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.program import Program
from tests.web.browsers import Elsewhere, wait
from tests.web.watched import Watch

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Sent by a page without our policy, which would stop it.
ASKS = {
    "an image": "new Image().src = 'http://update.googleapis.com/image'",
    "a request": "fetch('https://other.example/request').catch(() => 0)",
    "a socket": "new WebSocket('ws://other.example/socket')",
    "a worker": """
        new Worker(URL.createObjectURL(new Blob(["fetch('http://other.example/worker')"])))""",
}


@pytest.mark.parametrize("script", ASKS.values(), ids=ASKS)
def test_what_a_page_asks_of_another_computer_fails_its_test(
    browser: Browser, site: Program, script: str
):
    watch = Watch(browser, site.endpoint, expected=("other.example", "googleapis"))
    watch.page.set_content("<p>A page without a policy")
    watch.page.evaluate(f"() => {{ {script}; }}")
    wait(watch.page, lambda: watch.elsewhere.asked)
    with pytest.raises(AssertionError, match="requests to other computers"):
        watch.close()


def test_what_the_browser_asks_by_itself_fails_no_test(
    started: tuple[Browser, Elsewhere], site: Program
):
    browser, itself = started
    watch = Watch(browser, site.endpoint)
    watch.page.set_content(
        "<form><input name=name><input name=email type=email><input name=street><input name=city>"
    )
    # It asks its maker how to fill in a form.
    for name in ("name", "email", "street", "city"):
        watch.page.locator(f"[name={name}]").press_sequentially("a")
    # What it asks for its extensions goes the way of its own profile, which no test's page has.
    session = browser.new_browser_cdp_session()
    opened = session.send("Target.createTarget", {"url": "http://update.googleapis.com/itself"})
    wait(watch.page, lambda: any("/itself" in line for line in itself.asked))
    session.send("Target.closeTarget", opened)
    watch.close()
