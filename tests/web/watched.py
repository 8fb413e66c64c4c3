"""A page that is watched: for errors, reports of its policy, and what it asks of other computers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.clocks import PATIENCE
from tests.web.browsers import Elsewhere

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage

_LISTEN = """
window.reports = [];
addEventListener("securitypolicyviolation", (event) =>
  window.reports.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`));
window.shifts = 0;
new PerformanceObserver((list) => { for (const each of list.getEntries()) if (!each.hadRecentInput) window.shifts += each.value; })
  .observe({ type: "layout-shift", buffered: true });
"""
_EXPECTED = ("net::ERR_ABORTED", "Failed to load resource")  # of requests that the page gave up


class Watch:
    """A page of its own, in a context of its own.

    Args:
        browser: the browser.
        origin: the origin of the page.
        expected: texts of console messages that the test provokes.
        options: of the context.
    """

    def __init__(
        self, browser: Browser, origin: str, *, expected: tuple[str, ...] = (), **options: Any
    ) -> None:
        options.setdefault("viewport", {"width": 1440, "height": 900})
        self.elsewhere = Elsewhere()
        self.context = browser.new_context(proxy=self.elsewhere.proxy, **options)
        self.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=origin)
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE * 1000)
        self.page.add_init_script(_LISTEN)
        self.errors: list[str] = []
        self.dialogs: list[str] = []
        self._expected = expected
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._hear)
        self.page.on(
            "dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss())
        )

    def close(self) -> None:
        """Close the page, and fail if it misbehaved."""
        reports = self.page.evaluate("window.reports ?? []")
        hit = self.page.evaluate("window.hit ?? null")
        for routed in (self.page, self.context):  # what a route still fetches is not waited for
            routed.unroute_all(behavior="ignoreErrors")
        self.context.close()
        self.elsewhere.close()
        found = {
            "requests to other computers": self.elsewhere.asked,
            "dialogs": self.dialogs,
            "scripts that ran": [] if hit is None else [hit],
            "errors": self._unexpected(self.errors),
            "reports of the policy": self._unexpected(reports),
        }
        wrong = {name: messages for name, messages in found.items() if messages}
        assert not wrong, wrong

    def _unexpected(self, messages: list[str]) -> list[str]:
        known = (*_EXPECTED, *self._expected)
        return [each for each in messages if not any(text in each for text in known)]

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)
