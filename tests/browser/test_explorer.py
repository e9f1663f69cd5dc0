"""What a person sees and does on the page: asked, woken, moved in time, opened, refused."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.acceptance.conftest import ADMIN_KEY, Service
from tests.browser.conftest import PICTURES, Scheme, Visit, Visitor, ask, lives, settled, texts, visiting

MENDED = "What went wrong between Felix and me in July, and how was it mended?"
HOSTILE = "<img src=x onerror='window.broken = true'><script>window.broken = true</script>"


def test_a_closed_service_asks_for_a_key_and_keeps_it_in_this_tab_alone(visit: Visit, ada: Service) -> None:
    page = visit(Visitor(key=None, refusals=1))
    page.get_by_label("Key", exact=True).last.fill("sk-not-this-one-0123456789abcdef")
    page.get_by_role("button", name="Use this key").click()
    dialog = page.get_by_role("dialog", name="This service asks for a key")
    expect(dialog.get_by_role("alert")).to_contain_text("key")
    dialog.get_by_label("Key").fill(ADMIN_KEY)
    dialog.get_by_role("button", name="Use this key").click()
    expect(dialog).to_be_hidden()
    ask(page, MENDED)
    assert texts(page, ".focus .name")
    assert page.evaluate("JSON.stringify({...localStorage}) + document.cookie + location").find(ADMIN_KEY) == -1


def test_an_open_service_is_called_open(visit: Visit, harbour: Service) -> None:
    page = visit(Visitor(key=None, refusals=1), harbour.url)
    expect(page.get_by_text("This service is open")).to_be_visible()
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.get_by_text("Options").click()
    page.get_by_label("collective").uncheck()
    page.get_by_label("ecosystem").uncheck()
    ask(page, "anything", citizen="nobody")
    expect(page.locator("#tiers")).to_contain_text("Nothing came to mind")
    page.get_by_role("tab", name="Beliefs").click()
    expect(page.locator("#beliefs")).to_have_text("nobody has changed no belief yet.")


def test_a_question_brings_its_tiers_its_graph_and_its_paths(visit: Visit) -> None:
    page = visit()
    ask(page, MENDED)
    counts = [page.locator(f".{tier} .memory").count() for tier in ("focus", "peripheral", "background")]
    assert counts[:2] == [5, 20]
    assert 0 < counts[2] <= 50
    graph = page.get_by_role("img", name=re.compile(r"^\d+ memories and \d+ links between them"))
    assert int(graph.get_attribute("data-nodes") or 0) >= sum(counts)
    assert int(graph.get_attribute("data-links") or 0) > 20
    expect(page.locator("#said")).to_contain_text(f"{sum(counts)} of")
    page.get_by_role("tab", name="Paths").click()
    path = page.locator("button.path").first
    path.click()
    expect(path).to_have_attribute("aria-pressed", "true")
    expect(path.locator(".step.lit")).to_have_count(path.locator(".step").count())
    assert int(graph.get_attribute("data-lit") or 0) == path.locator(".step").count()


def test_a_waking_brings_open_work_and_says_what_it_cannot_do(visit: Visit) -> None:
    page = visit(Visitor())
    lives(page, "ada")
    page.get_by_role("tab", name="Wake").click()
    wake = page.locator("#wake").get_by_role("button", name="Wake")
    page.locator("#wake").get_by_label("Feelings").fill("drive 0.8, 7")
    wake.click()
    expect(page.locator("#trouble")).to_contain_text("Feelings cannot be read")
    page.get_by_label("Look for").select_option("open work")
    page.locator("#wake").get_by_label("Feelings").fill("drive 0.8, uncertainty 0.3")
    wake.click()
    settled(page)
    expect(page.locator("#trouble")).to_be_empty()
    assert "Waiting for Luca's word on the stream" in texts(page, ".memory .name")


def test_the_sliders_ask_what_was_true_then_and_what_was_known_then(visit: Visit) -> None:
    page = visit()
    ask(page, "Where is the office?")
    expect(page.locator("#tiers")).to_contain_text("tram depot")
    page.get_by_label("What was true").fill("500")
    settled(page)
    card = page.locator(".focus .card", has_text="Where we work")
    expect(card.locator("ins, .words:not(.was)")).to_contain_text("old ropewalk")
    expect(card.locator(".was del")).to_contain_text("tram depot on Cooper Street")
    page.get_by_label("What we knew").press("Home")
    settled(page)
    expect(page.locator("#tiers")).to_contain_text("Nothing came to mind")
    page.get_by_role("button", name="Back to now").click()
    settled(page)
    expect(page.locator("#tiers")).to_contain_text("tram depot")


def test_a_memory_opens_with_its_records_on_both_axes(visit: Visit) -> None:
    page = visit()
    ask(page, "Where is the office?")
    page.get_by_role("button", name=re.compile("Where we work")).click()
    memory = page.get_by_role("dialog", name="Where we work")
    expect(memory.locator(".because")).to_contain_text("It came to mind because")
    expect(memory.locator(".records > li")).to_have_count(3)
    assert memory.get_by_role("img", name=re.compile("^True from")).count() == 3
    assert memory.get_by_role("img", name=re.compile("^Known from .* until now$")).count() == 2
    memory.get_by_text("Why it came to mind").click()
    expect(memory.get_by_role("row", name=re.compile("relevance"))).to_be_visible()
    page.keyboard.press("Escape")
    expect(memory).to_be_hidden()


def test_beliefs_identity_quality_and_engine_have_each_their_place(visit: Visit) -> None:
    page = visit()
    ask(page, MENDED)
    tab = page.get_by_role("tab", name="Memories")
    tab.focus()
    for name in ("Paths", "Beliefs"):
        page.keyboard.press("ArrowRight")
        expect(page.get_by_role("tab", name=name)).to_be_focused()
    belief = page.locator(".belief", has_text="The state of invalidation in phase 2")
    expect(belief.locator(".before")).to_contain_text("Phase 2 is incomplete")
    expect(belief.locator(".after")).to_contain_text("Phase 2 was complete all along")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#identity .card").nth(1)).to_contain_text("in memories")
    page.keyboard.press("ArrowRight")
    assert page.locator("#quality .grade strong").inner_text() in ("excellent", "good", "acceptable", "poor")
    page.get_by_role("button", name="Check the whole memory").click()
    expect(page.locator(".findings li").first).to_contain_text("was retracted")
    chart = page.get_by_role("img", name=re.compile("N1, completeness at 1 check; last"))
    expect(chart.locator("circle")).to_have_count(1)
    page.keyboard.press("End")
    page.get_by_role("tab", name="Engine").click()
    expect(page.locator("#engine")).to_contain_text("embedded")
    expect(page.locator("#engine")).to_contain_text("N1_vector".lower().replace("_", " "))
    expect(page.locator("#health")).to_contain_text("engine ready")


def test_the_last_ten_streams_stand_under_beliefs_and_a_click_asks_one_again(visit: Visit, ada: Service) -> None:
    ada.remember("nadia", id="oven", name="Oven", description="The oven is cold.", tags=["bakery"])
    for number in range(10):
        asked = {"citizen_id": "nadia", "query_text": f"Is the oven cold at {number}?", "query_levels": ["N1"]}
        assert ada.http.post("/v1/retrieve", json=asked).status_code == 200
    page = visit()
    page.get_by_text("Options").click()
    page.get_by_label("collective").uncheck()
    page.get_by_label("ecosystem").uncheck()
    ask(page, HOSTILE, citizen="nadia")
    change = {"citizen_id": "nadia", "description": "The oven is hot."}
    assert ada.http.post("/v1/memories/N1/oven/supersede", json=change).status_code == 200
    page.get_by_role("tab", name="Beliefs").click()
    streams = page.locator("#beliefs ol").last.locator("li")
    expect(streams).to_have_count(10)
    expect(streams.first).to_contain_text(HOSTILE)
    expect(streams.nth(1)).to_contain_text("showed 1")
    streams.nth(1).get_by_role("button", name="Is the oven cold at 9?").click()
    expect(streams.nth(1)).to_contain_text("1 closed since")


def test_the_text_of_a_memory_never_becomes_markup_of_the_page(visit: Visit, ada: Service) -> None:
    ada.remember("mallory", id=HOSTILE, name=HOSTILE, description=HOSTILE, felt_quality=HOSTILE, tags=["x"])
    ada.relate("mallory", (HOSTILE, "ABOUT", HOSTILE))
    page = visit()
    ask(page, "img onerror window broken", citizen="mallory")
    expect(page.locator(".focus .words").first).to_have_text(HOSTILE)
    page.locator(".focus .memory").first.click()
    expect(page.locator(".records .words")).to_have_text(HOSTILE)
    assert page.locator("img, body script").count() == 0
    assert page.evaluate("window.broken") is None


def pale(page: Page) -> list[str]:
    """Texts whose contrast is less than AA wants: 4.5, or 3 where they are large."""
    found: list[str] = page.evaluate(CONTRAST)
    return found


CONTRAST = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const light = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    const part = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
    return [0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b), a];
  };
  const behind = (e) => {
    for (let at = e; at; at = at.parentElement) {
      const [l, a] = light(getComputedStyle(at).backgroundColor);
      if (a > 250) return l;
    }
    return 1;
  };
  const seen = (e) => e.checkVisibility() && !e.closest("#graph, :disabled");
  return [...document.querySelectorAll("body *")].filter((e) => seen(e)
    && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())).flatMap((e) => {
    const style = getComputedStyle(e);
    const [a, b] = [light(style.color)[0], behind(e)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.6 && style.fontWeight >= 700);
    return ratio < (large ? 3 : 4.5) ? [`${ratio.toFixed(2)} ${e.outerHTML.slice(0, 120)}`] : [];
  });
}"""


def unnamed(page: Page) -> list[str]:
    """Controls that a screen reader could only call by their kind."""
    named = "e => (e.labels?.length || e.ariaLabel || (e.tagName === 'BUTTON' && e.innerText.trim()))"
    every = "[...document.querySelectorAll('button, input, select, meter')].filter(e => e.checkVisibility())"
    said: list[str] = page.evaluate(f"{every}.filter(e => !({named})(e)).map(e => e.outerHTML)")
    return said


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 820, 1440])
def test_a_large_stream_fits_every_screen(visit: Visit, harbour: Service, width: int, scheme: Scheme) -> None:
    page = visit(Visitor(width=width, height=900, scheme=scheme), harbour.url)
    page.get_by_text("Options").click()
    page.get_by_label("from each query").fill("100")
    ask(page, "Which lanterns are in the harbour?", citizen="keeper")
    graph = page.locator("#graph")
    assert int(graph.get_attribute("data-nodes") or 0) == 75
    assert int(graph.get_attribute("data-links") or 0) >= 200
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert unnamed(page) == []
    assert pale(page) == []
    PICTURES.mkdir(exist_ok=True)
    page.screenshot(path=PICTURES / f"explorer-{width}-{scheme}.png", full_page=width < 1000)


def test_the_first_screen_shows_a_life_before_anything_is_typed(visit: Visit) -> None:
    page = visit()
    page.locator("#citizens button", has_text="ada").click()
    expect(page.locator("#whose")).to_have_text("ada")
    expect(page.locator("#life-said")).to_contain_text(re.compile(r"\d+ memories in 1[45] weeks"))
    assert page.locator("#water .band").count() >= 7
    expect(page.locator("#felt")).to_contain_text("curiosity")
    expect(page.locator("#suggested button")).to_have_count(3)
    expect(page.locator(".turning")).to_have_count(1)
    expect(page.locator(".person").first).to_contain_text("Felix")
    page.locator("#suggested button").last.click()
    settled(page)
    assert "ask=" in page.url
    assert texts(page, ".focus .name")


def test_a_click_on_a_time_asks_what_it_thought_then_and_the_address_says_the_same_again(visit: Visit) -> None:
    page = visit()
    lives(page, "ada")
    page.wait_for_selector("#water .band")
    page.get_by_label("What was true").fill("600")
    settled(page)
    assert "then=" in page.url
    assert "true=" in page.url
    shown = texts(page, "#tiers .memory .name")
    assert len(shown) > 3
    page.reload()
    settled(page)
    assert texts(page, "#tiers .memory .name") == shown
    page.get_by_role("link", name="Substrate").click()
    expect(page.locator("#start")).to_be_visible()
    page.go_back()
    settled(page)
    expect(page.locator("#answer")).to_be_visible()


def test_a_belief_that_changed_is_a_card_that_turns_and_says_who_said_so(visit: Visit) -> None:
    page = visit()
    ask(page, MENDED)
    page.get_by_role("tab", name="Beliefs").click()
    belief = page.locator(".belief", has_text="The state of invalidation in phase 2")
    belief.get_by_role("button", name=re.compile("^Turn the card")).click()
    expect(belief.locator(".turning")).to_have_class("turning turned")
    expect(belief.locator(".who-said")).to_contain_text("The citizen itself said so")
    expect(belief.locator(".after")).to_contain_text("It had been wrong")
    belief.get_by_role("button", name=re.compile("^Turn back")).click()
    expect(belief.locator(".turning")).to_have_class("turning")


def test_an_answer_that_does_not_fit_looks_like_one(visit: Visit) -> None:
    page = visit()
    ask(page, "asdf qwer zxcv")
    expect(page.locator("#answer")).to_have_attribute("data-verdict", "none")
    expect(page.locator("#tiers")).to_contain_text("Nothing fits the question.")
    expect(page.locator("#verdict")).to_be_visible()
    ask(page, "Where is the office?")
    expect(page.locator("#answer")).to_have_attribute("data-verdict", "good")
    expect(page.locator("#verdict")).to_be_hidden()


def test_a_memory_is_corrected_and_retracted_from_the_page_and_each_is_taken_back(
    visit: Visit, ada: Service
) -> None:
    ada.remember("olga", id="well", name="The well", description="The well is dry.", resolution_state="blocked")
    page = visit()
    ask(page, "Is the well dry?", citizen="olga")
    page.locator(".focus .memory").first.click()
    memory = page.get_by_role("dialog", name="The well")
    memory.get_by_role("button", name="Correct").click()
    memory.get_by_label("What is right").fill("The well has water.")
    memory.get_by_role("button", name="Correct it").click()
    expect(page.locator(".focus .words:not(.was)").first).to_have_text("The well has water.")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#done")).to_contain_text("Taken back")
    expect(page.locator(".focus .words:not(.was)").first).to_have_text("The well is dry.")
    page.locator(".focus .memory").first.click()
    memory.get_by_role("button", name="Retract").click()
    expect(page.locator(".memory", has_text="The well")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".focus .words").first).to_have_text("The well is dry.")


def test_a_key_that_may_only_read_is_told_so(visit: Visit, ada: Service) -> None:
    page = visit(Visitor(key=ada.key("citizen:ada:read"), refusals=1))
    page.get_by_text("Options").click()
    page.get_by_label("collective").uncheck()
    page.get_by_label("ecosystem").uncheck()
    ask(page, "Where is the office?")
    page.get_by_role("button", name=re.compile("Where we work")).first.click()
    page.get_by_role("dialog").get_by_role("button", name="Retract").click()
    expect(page.get_by_role("dialog")).to_contain_text("This key may read here and not write.")


STRANGE = {
    "long": "x" * 10_000,
    "arabic": "ذاكرة البحر والميناء القديم",
    "wave": "🌊",
    "hostile": HOSTILE,
}


@pytest.mark.parametrize("width", [390, 1440])
def test_names_that_no_page_expects_stay_inside_it(visit: Visit, ada: Service, width: int) -> None:
    for name, text in STRANGE.items():
        fields = {"id": name, "name": text[:200], "node_type": "Person" if name == "wave" else "Memory"}
        ada.remember("strange", **fields, description=f"{text} sea", emotion_vector={text[:60]: 0.5})
    page = visit(Visitor(width=width))
    page.get_by_text("Options").click()
    page.get_by_label("collective").uncheck()
    page.get_by_label("ecosystem").uncheck()
    ask(page, "the sea", citizen="strange")
    assert page.locator("#tiers .memory").count() == len(STRANGE)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("#tiers .memory").last.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert page.evaluate(
        "document.querySelector('#memory').scrollWidth <= document.querySelector('#memory').clientWidth"
    )
    assert page.locator("img, body script").count() == 0
    assert page.evaluate("window.broken") is None


def test_the_answer_stands_above_the_fold_of_a_phone(visit: Visit) -> None:
    page = visit(Visitor(width=390, height=844))
    ask(page, "Where is the office?")
    box = page.locator(".focus .card").first.bounding_box()
    assert box is not None
    assert box["y"] + 120 < 844


def test_a_replay_walks_through_the_life_and_ends_now_or_when_it_is_stopped(visit: Visit) -> None:
    page = visit()
    ask(page, "Where is the office?")
    page.get_by_role("button", name="Replay").click()
    expect(page.locator(".focus .words:not(.was)", has_text="old ropewalk")).to_be_visible()
    assert "true=" in page.url
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Back to now").click()
    expect(page.locator(".focus .words:not(.was)", has_text="tram depot")).to_be_visible()
    assert "true=" not in page.url


def test_a_knot_of_the_river_opens_the_belief_that_changed(visit: Visit) -> None:
    page = visit()
    lives(page, "ada")
    page.locator(".knot").last.click()
    expect(page.get_by_role("dialog").locator(".records > li").nth(1)).to_be_visible()


def test_without_motion_nothing_moves(browser: Browser, ada: Service) -> None:
    with visiting(browser, f"{ada.url}/", Visitor()) as page:
        page.emulate_media(reduced_motion="reduce")
        ask(page, MENDED)
        page.get_by_role("tab", name="Paths").click()
        page.locator("button.path").first.click()
        assert page.locator(".step.lit").count() == page.locator("button.path").first.locator(".step").count()
        moving = "document.getAnimations().filter(each => each.playState === 'running').length"
        assert page.evaluate(moving) == 0


def test_what_a_citizen_hears_appears_while_the_page_is_open(visit: Visit, ada: Service) -> None:
    ada.remember("nils", id="boat", name="The boat", description="The boat is blue.")
    page = visit()
    ask(page, "What colour is the boat?", citizen="nils")
    expect(page.locator("#lately")).to_be_hidden()
    ada.remember("nils", id="mast", name="The mast broke", description="The mast broke in the storm.")
    expect(page.locator("#lately")).to_contain_text("Heard: The mast broke")
    expect(page.locator("#life-said")).to_contain_text("2 memories")
    page.screenshot(path=PICTURES / "lately.png")
    page.get_by_role("button", name="Heard: The mast broke").click()
    expect(page.get_by_role("dialog", name="The mast broke")).to_be_visible()


def test_a_memory_is_shared_from_the_page_and_the_copy_is_taken_back(visit: Visit, ada: Service) -> None:
    ada.remember("lena", id="spring", name="The spring", description="The spring has good water.")
    page = visit()
    ask(page, "Is there good water?", citizen="lena")
    page.locator(".focus .memory").first.click()
    memory = page.get_by_role("dialog", name="The spring")
    memory.get_by_role("button", name="Share", exact=True).click()
    memory.get_by_label("Share it with").select_option("the ecosystem")
    memory.get_by_role("button", name="Share it").click()
    expect(page.locator("#done")).to_contain_text("Shared “The spring”.")
    found = {"citizen_id": "lena", "query_text": "Is there good water?", "query_levels": ["N3"]}
    assert "The spring" in shared_names(ada, found)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#done")).to_contain_text("Taken back")
    assert "The spring" not in shared_names(ada, found)


def shared_names(service: Service, found: dict[str, Any]) -> list[str]:
    """The names that a question finds in the ecosystem."""
    stream = service.http.post("/v1/retrieve", json=found).json()
    return [memory["name"] for memory in stream["levels"]["n3_ecosystem"]["graph_results"]]


def test_what_came_from_a_source_is_hidden_from_the_page_and_released(visit: Visit, ada: Service) -> None:
    for number in range(3):
        ada.remember(
            "ute", id=f"sensor-{number}", name=f"Sensor {number}", description="The tank leaks.", source="tool"
        )
    page = visit()
    ask(page, "Does the tank leak?", citizen="ute")
    page.locator(".focus .memory").first.click()
    memory = page.get_by_role("dialog")
    memory.get_by_role("button", name="Distrust").click()
    memory.get_by_label("What is not to be believed").select_option("all that came from tool")
    memory.get_by_role("button", name="See what it is").click()
    expect(memory).to_contain_text("3 memories and 0 links would be hidden.")
    memory.get_by_role("button", name="Hide it all").click()
    expect(page.locator("#tiers")).not_to_contain_text("Sensor")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#tiers")).to_contain_text("Sensor")
