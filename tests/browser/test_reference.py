"""The page of the API: it works, with files of ours alone."""

from __future__ import annotations

from urllib.parse import urlsplit

from playwright.sync_api import Browser

from tests.acceptance.conftest import Service
from tests.browser.conftest import Visitor, visiting


def test_the_page_of_the_api_works_and_asks_nobody_but_the_service(browser: Browser, ada: Service) -> None:
    with visiting(browser, f"{ada.url}/", Visitor()) as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{ada.url}/docs")
        page.locator(".opblock").first.wait_for()
        assert page.get_by_role("heading", name="Substrate").first.is_visible()
        assert page.locator(".opblock").count() >= 30
        block = page.locator(".opblock", has_text="/health/live").first
        block.locator("button.opblock-summary-control").click()
        block.get_by_role("button", name="Try it out").click()
        block.get_by_role("button", name="Execute").click()
        block.locator(".live-responses-table .response-col_description", has_text="alive").first.wait_for()
    assert {urlsplit(url).netloc for url in asked if not url.startswith("data:")} == {urlsplit(ada.url).netloc}


def test_no_answer_lets_a_page_bring_in_what_is_not_ours(ada: Service) -> None:
    for path in ("/", "/docs", "/docs/start.js", "/health/live", "/v1/keys"):
        policy = ada.http.get(path).headers["Content-Security-Policy"]
        assert "http" not in policy, path
        assert policy.startswith("default-src 'self'; "), path
