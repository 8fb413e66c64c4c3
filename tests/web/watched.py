"""A page that is watched: for errors, reports of its policy, and what it asks of other computers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.clocks import PATIENCE
from tests.web.browsers import Elsewhere

from vault_agent.web.assets import Assets

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page, ViewportSize

_LISTEN = """
window.reports = [];
addEventListener("securitypolicyviolation", (event) =>
  window.reports.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`));
window.shifts = 0;
new PerformanceObserver((list) => { for (const each of list.getEntries()) if (!each.hadRecentInput) window.shifts += each.value; })
  .observe({ type: "layout-shift", buffered: true });
"""
_EXPECTED = ("net::ERR_ABORTED", "Failed to load resource")  # of requests that the page gave up


_ASSETS = Assets()
_FREE = 3  # contexts that wait for the next test


class Place:
    """A context for the pages of an origin, and the proxy of what they ask of other computers."""

    def __init__(self, browser: Browser, origin: str, *, touch: bool = False) -> None:
        self.origin = origin
        self.elsewhere = Elsewhere()
        self.context = browser.new_context(
            proxy=self.elsewhere.proxy,
            viewport={"width": 390, "height": 844} if touch else {"width": 1440, "height": 900},
            has_touch=touch,
            is_mobile=touch,
        )
        self.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=origin)
        self._kept: Page | None = None
        self._asked = 0

    def keep_process(self) -> None:
        """Keep the process of the origin's pages while none of them is open.

        A page in a new process takes three times the processor time: all scripts are compiled anew.
        Only what has the headers of the page can share its process: a reply of the API cannot.
        """
        if self._kept is None:
            self._kept = self.context.new_page()
            self._kept.goto(f"{self.origin}/ui/assets/{_ASSETS.version}/app/icon.svg")

    def empty(self) -> None:
        """Close all pages and remove what they have stored."""
        for page in self.context.pages:
            if page is not self._kept:
                page.close()
        assert self._kept is not None
        session = self.context.new_cdp_session(self._kept)
        wanted = {"origin": self.origin, "storageTypes": "all"}
        session.send("Storage.clearDataForOrigin", wanted)
        session.detach()
        self.context.clear_cookies()

    def asked(self) -> list[str]:
        """Return what was asked of other computers since the last call."""
        new = self.elsewhere.asked[self._asked :]
        self._asked += len(new)
        return new

    def close(self) -> None:
        """Close the context and the proxy. What arrives late is in `asked`."""
        self.context.close()
        self.elsewhere.close()


class Places:
    """Gives each test a context without pages and storage, which others may have used before."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._free: list[Place] = []

    def take(self, origin: str) -> Place:
        """Return a context that nobody uses now."""
        for place in self._free:
            if place.origin == origin:
                self._free.remove(place)
                return place
        return Place(self._browser, origin)

    def give_back(self, place: Place) -> None:
        """Let other tests use a context. The one that was used longest ago is closed."""
        place.empty()
        self._free.append(place)
        if len(self._free) > _FREE:
            self._close(self._free.pop(0))

    def close(self) -> None:
        """Close all contexts."""
        while self._free:
            self._close(self._free.pop())

    def _close(self, place: Place) -> None:
        place.close()
        late = place.asked()
        assert not late, f"late requests to other computers by a page of {place.origin}: {late}"


class Watch:
    """A page of its own.

    Args:
        browser: the browser.
        origin: the origin of the page.
        places: where its context comes from; by default it has one of its own.
        expected: texts of console messages that the test provokes.
        touch: whether the page is on a phone, in a context of its own.
        viewport: the size of the page.
        media: how the page is shown, such as `color_scheme`.
    """

    def __init__(
        self,
        browser: Browser,
        origin: str,
        places: Places | None = None,
        *,
        expected: tuple[str, ...] = (),
        touch: bool = False,
        viewport: ViewportSize | None = None,
        **media: Any,
    ) -> None:
        self._places = places = None if touch else places
        self._place = Place(browser, origin, touch=touch) if places is None else places.take(origin)
        if places is not None:
            self._place.keep_process()
        self.elsewhere = self._place.elsewhere
        self.context = self._place.context
        self.page = self.context.new_page()
        if viewport is not None:
            self.page.set_viewport_size(viewport)
        if media:
            self.page.emulate_media(**media)
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
        if self._places is None:
            self._place.close()
        else:
            self._places.give_back(self._place)
        found = {
            "requests to other computers": self._place.asked(),
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
