"""A note that is opened in the page is raised in similar searches, if that is on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect
from tests.support.waiting import eventually
from tests.web.conftest import serve

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest
    from playwright.sync_api import Page


def test_a_result_that_is_opened_comes_first_next_time(
    visit: Callable[..., Page], tmp_path_factory: pytest.TempPathFactory
):
    for program in serve(tmp_path_factory.mktemp("own"), more=3, VAULT_AGENT_SEARCH_LEARN="true"):
        for name in ("a", "b", "c"):
            program.write(f"{name}.md", "quinces in the jam pot\n")
        eventually(lambda program=program: len(program.search("quinces").data["results"]) == 3)
        page = visit("/notes?q=quinces jam", program=program)
        expect(page.locator(".row h2")).to_have_text(["a", "b", "c"])
        with page.expect_response("**/opened") as told:
            page.locator(".row h2", has_text="c").click()
        assert told.value.json()["data"] == {"learned": True}
        again = visit("/notes?q=jam quinces", program=program)
        expect(again.locator(".row h2")).to_have_text(["c", "a", "b"])
