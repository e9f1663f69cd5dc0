"""Chromium, the service with Ada's life in it, and visits that fail when the page complained."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright
from pydantic_settings import BaseSettings

from tests.acceptance.conftest import ADMIN_KEY, Service
from tests.acceptance.example_life import FILES, take_in

PICTURES = Path(__file__).parents[2] / ".screenshots"
ARGUMENTS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
NAMES = ("chromium", "chromium-browser", "google-chrome")
LIMIT_MS = 60_000
expect.set_options(timeout=LIMIT_MS)  # a busy machine takes its time
REFUSED = "Failed to load resource"
"""How Chromium's console calls an answer of 400 and above."""

type Scheme = Literal["light", "dark"]


class Environment(BaseSettings):
    """Whether this is CI, where a missing browser is a failure."""

    ci: bool = False


def chromium() -> str:
    """The path of a Chromium; without one the test is skipped, or fails in CI."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        reason = f"no browser: install one of {', '.join(NAMES)}"
        (pytest.fail if Environment().ci else pytest.skip)(reason)
    return found


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    path = chromium()
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield running
        running.close()


@pytest.fixture(scope="package")
def ada(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A closed service that holds Ada's life."""
    service = Service(tmp_path_factory.mktemp("ada"))
    for name in FILES:
        take_in(service, name)
    yield service
    service.stop()


@pytest.fixture(scope="package")
def harbour(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """An open service, in which a keeper remembers as much as one stream can show."""
    service = Service(tmp_path_factory.mktemp("harbour"), key="")
    dense(service, "keeper")
    yield service
    service.stop()


class Visitor(NamedTuple):
    """Who looks: with which key, on which screen, in which colours; `refusals` of the service are expected."""

    key: str | None = ADMIN_KEY
    width: int = 1440
    height: int = 900
    scheme: Scheme = "light"
    refusals: int = 0


USUAL = Visitor()
type Visit = Callable[..., Page]


@contextmanager
def visiting(browser: Browser, url: str, visitor: Visitor) -> Iterator[Page]:
    """A page in a fresh context; afterwards it must have had no complaint."""
    context = browser.new_context(
        viewport={"width": visitor.width, "height": visitor.height}, color_scheme=visitor.scheme
    )
    if visitor.key is not None:
        context.add_init_script(f"sessionStorage.setItem('substrate-key', '{visitor.key}')")
    page = context.new_page()
    page.set_default_timeout(LIMIT_MS)
    complaints: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            complaints.append(message.text)

    page.on("console", heard)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(url)
    yield page
    context.close()
    refused = [said for said in complaints if said.startswith(REFUSED)]
    assert [said for said in complaints if said not in refused] == []
    assert len(refused) == visitor.refusals, refused


@pytest.fixture
def visit(browser: Browser, ada: Service) -> Iterator[Visit]:
    """Open the page, of Ada's service unless another address is given."""
    open_pages = []

    def go(visitor: Visitor = USUAL, url: str = "") -> Page:
        opened = visiting(browser, f"{url or ada.url}/", visitor)
        open_pages.append(opened)
        return opened.__enter__()

    yield go
    for opened in open_pages:
        opened.__exit__(None, None, None)


def ask(page: Page, question: str, citizen: str = "ada") -> None:
    """Ask a question and wait for its drawing."""
    lives(page, citizen)
    page.get_by_label("Question").fill(question)
    page.locator("#ask").get_by_role("button", name="Ask").click()
    settled(page)


def lives(page: Page, citizen: str) -> None:
    """Choose whose life is shown, and wait for it."""
    page.wait_for_selector("#whose:not(:text('Whose life?'))")
    page.get_by_label("Citizen").fill(citizen)
    page.get_by_label("Citizen").press("Tab")
    expect(page.locator("#whose")).to_have_text(citizen)


def settled(page: Page) -> None:
    """Wait until nothing is asked any more."""
    page.wait_for_selector("body:not([aria-busy]) #graph[data-nodes]")


def texts(page: Page, selector: str) -> list[str]:
    """What all elements of this kind say."""
    return page.locator(selector).all_inner_texts()


KINDS = ("LEADS_TO", "ABOUT", "CONTRADICTS", "JUSTIFIES", "LEARNED_FROM")
FELT = {"emotion_vector": {"calm": 0.6}, "goal": "keep_watch", "mindstate": "awake", "confidence": 0.8}


def dense(service: Service, citizen: str) -> None:
    """In each level 25 memories that are all alike, with 150 links between them: a stream as large as can be."""
    names = [f"Lantern {number} of the harbour" for number in range(25)]
    ends = [(at, (at + step) % 25) for step in range(1, 7) for at in range(25)]
    for level, whose in (("N1", {"citizen_id": citizen}), ("N2", {}), ("N3", {})):
        remember = [{**whose, "command": "remember", "level": level, "id": name, "name": name} for name in names]
        relate = [
            {
                **whose, **FELT, "command": "relate", "level": level, "source_id": names[source],
                "target_id": names[target], "relation_type": KINDS[at % 5], "energy": source / 25,
            }
            for at, (source, target) in enumerate(ends)
        ]  # fmt: skip
        for route, commands in (("/v1/memories", remember), ("/v1/links", relate)):
            answer = service.http.post(route, json=commands)
            assert answer.json()["refused"] == 0, answer.text
