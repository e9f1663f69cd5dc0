"""When something was said, what is planned, who speaks, and what a name stands for: as a service answers it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.acceptance.conftest import Service
from tests.acceptance.test_rest_pages import get

NOW = datetime.now(UTC)
NOT_THEN = "nothing that was found is of the time that the question names"


def hear(service: Service, citizen: str, *said: tuple[str, datetime | None], speaker: str = "user") -> None:
    messages = [
        {"speaker": speaker, "text": text, **({} if time is None else {"timestamp": time.isoformat()})}
        for text, time in said
    ]
    stored = service.http.post("/v1/episodes", json={"citizen_id": citizen, "messages": messages})
    assert stored.status_code == 200, stored.text


def asked(service: Service, citizen: str, question: str, **fields: Any) -> Any:
    body = {"citizen_id": citizen, "query_text": question, "query_levels": ["N1"], **fields}
    answer = service.http.post("/v1/retrieve", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def shown(stream: Any) -> list[str]:
    """The texts that were said, the most relevant first."""
    tiers, texts = stream["activation_tiers"], {}
    for memory in (
        *stream["levels"]["n1_personal"]["vector_results"],
        *stream["levels"]["n1_personal"]["graph_results"],
    ):
        texts[memory["node_id"]] = memory["description"]
    order = [one["node_id"] for tier in ("focus", "peripheral", "background") for one in tiers[tier]]
    return [texts[one] for one in order if texts.get(one, "").endswith((".", "🐙"))]


@pytest.mark.parametrize(
    "question", ["What did I say today?", "What did we talk about today?", "Was habe ich heute gesagt?"]
)
def test_what_was_said_long_ago_and_brought_in_today_was_not_said_today(
    service: Service, citizen: str, question: str
) -> None:
    hear(service, citizen, ("I painted the fence green.", datetime(2024, 5, 3, 10, tzinfo=UTC)))
    answer = asked(service, citizen, question)
    assert answer["nothing_fits"]
    assert NOT_THEN in answer["notes"]
    hear(service, citizen, ("My sister came for lunch.", None))
    answer = asked(service, citizen, question)
    assert not answer["nothing_fits"]
    assert NOT_THEN not in answer["notes"]
    assert shown(answer)[0] == "My sister came for lunch."


def test_what_was_planned_for_a_day_stands_before_what_was_said_on_it(service: Service, citizen: str) -> None:
    before, then = NOW - timedelta(days=20), NOW - timedelta(days=6)
    plan, remark = "I have a dentist appointment in two weeks.", "Marta told me a story about her dentist."
    hear(service, citizen, (plan, before), (remark, then))
    day = f"{then.day} {then:%B %Y}"
    assert shown(asked(service, citizen, f"What dentist appointment was planned for {day}?"))[0] == plan
    assert shown(asked(service, citizen, f"What did Marta tell me about the dentist on {day}?"))[0] == remark


def test_what_is_planned_for_a_day_to_come_is_of_that_day(service: Service, citizen: str) -> None:
    hear(service, citizen, ("I have a dentist appointment in two weeks.", NOW - timedelta(days=1)))
    day = NOW + timedelta(days=13)
    question = f"What do I have on {day.day} {day:%B %Y}?"
    assert NOT_THEN not in asked(service, citizen, question)["notes"]
    other = NOW + timedelta(days=11)
    assert NOT_THEN in asked(service, citizen, f"What do I have on {other.day} {other:%B %Y}?")["notes"]


@pytest.mark.parametrize("question", ["Who is Betty?", "What is Betty?"])
def test_what_a_name_was_given_to_stands_before_a_street_of_that_name(
    service: Service, citizen: str, question: str
) -> None:
    streets = ["I live near Betty Street.", "Betty Street has a bakery.", "The market is on Betty Street."]
    hear(
        service,
        citizen,
        *((text, None) for text in ("My old blue car, called Betty, broke down again.", *streets)),
    )
    assert shown(asked(service, citizen, question))[0] == "My old blue car, called Betty, broke down again."


def test_an_emoji_is_a_word(service: Service, citizen: str) -> None:
    hear(service, citizen, ("The bus was late.", None), ("Look who is here 🐙", None), ("We had cake.", None))
    assert shown(asked(service, citizen, "🐙"))[0] == "Look who is here 🐙"


def test_a_role_in_brackets_and_a_character_that_nobody_sees_make_no_other_person(
    service: Service, citizen: str
) -> None:
    for speaker in ("Junlei", "Junlei (tech lead)", "Jun\u200blei"):
        hear(service, citizen, (f"I am here, says {len(speaker)}.", None), speaker=speaker)
    people = get(service, citizen, "memories", node_types="Person")["memories"]
    assert [person["name"] for person in people] == ["Junlei"]
    turns = get(service, citizen, "memories", speakers="Junlei")["memories"]
    assert {turn["extra"].get("speaker", "") for turn in turns} == {"", "Jun\u200blei", "Junlei (tech lead)"}


def test_a_date_means_its_whole_day(service: Service, citizen: str) -> None:
    hear(service, citizen, ("The kettle broke.", datetime(2026, 3, 31, 14, tzinfo=UTC)))
    for filters in ({"valid_to": "2026-03-31"}, {"valid_from": "2026-03-31", "valid_to": "2026-03-31"}):
        assert shown(asked(service, citizen, "kettle", filters=filters)) == ["The kettle broke."]
        assert [one["name"] for one in get(service, citizen, "memories", speakers="user", **filters)["memories"]]
    assert shown(asked(service, citizen, "kettle", filters={"valid_to": "2026-03-31T00:00:00Z"})) == []
    assert shown(asked(service, citizen, "kettle", filters={"valid_from": "2026-04-01"})) == []
    seen = asked(service, citizen, "kettle", as_of_time="2026-03-31", known_at="now")
    assert shown(seen) == ["The kettle broke."]
