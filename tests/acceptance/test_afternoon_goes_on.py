"""The weeks after the afternoon come as a ChatGPT export: every door tells what is so now, what was, what fits."""

from __future__ import annotations

import asyncio
import io
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pytest

from api.cli import program
from api.client import Substrate
from tests.acceptance import afternoon
from tests.acceptance.conftest import ADMIN_KEY, Service
from tests.acceptance.test_mcp import over_http, text_of

house = afternoon.house
EXPORT = Path(__file__).parent / "data" / "afternoon_conversations.json"
FILE = "conversations.json"
"""The name that the file has in an export; a conversation is known by its own id, whatever the file is called."""
TURNS = 26
BRANCH = "12th of January"
"""Stands only in a question that was edited, and in the answer to it."""
NOTHING_FITS = "Nothing fits the question. The nearest"
HELD, CHANGED_ON = "held until 24 October 2025", "2025-10-24"


class Question(NamedTuple):
    """What is asked; `as_of` a moment, as known now; `mode` of time."""

    text: str
    as_of: str | None = None
    mode: str | None = None


class Changed(NamedTuple):
    """A fact that changed: the questions about the present and the past, and words of what answers each."""

    now: Question
    new: str
    before: Question
    former: str


class Answer(NamedTuple):
    """What a door answers; `held` are the days until which its memories seem to have held, by words."""

    memories: tuple[str, ...]
    nothing_fits: bool
    confidence: float
    focus: tuple[str, ...] | None = None
    held: Mapping[str, str] | None = None


CLASS = Changed(
    Question("On which day is my Norwegian class?"),
    "the Norwegian class is on Wednesdays now",
    Question("On which day was my Norwegian class before?"),
    "my Norwegian class is on Mondays",
)
CHANGED = (
    Changed(
        Question("Where do I live?"),
        "I live in Sandviken now",
        Question("Where did I live before I moved?"),
        "I live in two rooms on Nordnes",
    ),
    Changed(
        Question("On which day is Mr Aasen in?"),
        "he's only in on Thursdays now",
        Question("On which day was Mr Aasen in before?"),
        "he's only in on Tuesdays",
    ),
    Changed(  # Back to a former value: of three, the second is what was before.
        Question("How do I get to work?"),
        "I take the bus to work again",
        Question("How did I use to get to work?"),
        "I cycle to work now",
    ),
    CLASS,
)
UNSAID = {fact.former for fact in CHANGED if fact is not CLASS}
"""Former values that stand below the new one without a word that they hold no longer."""
IN_FOCUS = Question("Where did I live before?")
"""Brings the former home into focus, below the new one."""
CYCLING = Question("How do I get to work?", as_of="2025-10-17T10:00:00Z")
TUESDAY = Question("What did I do last Tuesday?", as_of="2025-10-17T10:00:00Z")
OF_TUESDAY = {"Took the train to Sandefjord", "and I forgot my umbrella"}
OPEN_UNTIL = Question("Until when does the whaling room stay open?")
ELSEWHERE = (
    Question("Which antibiotic did the vet give the parrot?"),
    Question("How high is the interest on my mortgage?"),
    Question("Which marathon did Kenji run in Osaka?"),
)
EVOLUTION = Question(CLASS.now.text, mode="evolution")
ASKED = (
    *(question for fact in CHANGED for question in (fact.now, fact.before)),
    IN_FOCUS,
    CYCLING,
    TUESDAY,
    OPEN_UNTIL,
    *ELSEWHERE,
)


class Door(Protocol):
    """A way to the memory of a citizen who lived the afternoon and the weeks after it."""

    citizen: str

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """The answer to each question."""


def fields_of(question: Question) -> dict[str, str]:
    if question.mode is not None:
        return {"temporal_mode": question.mode}
    if question.as_of is None:
        return {}
    return {"temporal_mode": "point_in_time", "as_of_time": question.as_of, "known_at": "now"}


def answer_in(stream: Mapping[str, Any]) -> Answer:
    tiers = stream["activation_tiers"]
    found = [memory for tier in ("focus", "peripheral", "background") for memory in tiers[tier]]
    # A session and a mere name are no memories that a model is told.
    every = [memory for memory in found if memory["node_type"] != "Session" and memory["description"]]
    return Answer(
        tuple(memory["description"] for memory in every),
        stream["nothing_fits"],
        stream["answer_confidence"],
        tuple(memory["description"] for memory in tiers["focus"]),
        {memory["description"]: memory["overtaken_at"][:10] for memory in every if memory.get("overtaken_at")},
    )


class Rest:
    citizen = "noor-rest"

    def __init__(self, service: Service) -> None:
        self.http = service.http

    def take_in(self) -> Mapping[str, Any]:
        content = b64encode(EXPORT.read_bytes()).decode()
        sent = self.http.post("/v1/files", json={"citizen_id": self.citizen, "name": FILE, "content": content})
        assert sent.status_code == 200, sent.text
        return dict(sent.json())

    def stream(self, question: Question, **fields: str) -> dict[str, Any]:
        body = {"citizen_id": self.citizen, "query_text": question.text, **fields_of(question), **fields}
        answer = self.http.post("/v1/retrieve", json=body)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        return [answer_in(self.stream(question)) for question in questions]


class Python:
    citizen = "noor-python"

    def __init__(self, service: Service) -> None:
        self.url = service.url

    def take_in(self) -> Mapping[str, Any]:
        with Substrate(self.url, ADMIN_KEY) as memory:
            return memory.ingest_file(self.citizen, EXPORT).model_dump()

    def stream(self, question: Question) -> dict[str, Any]:
        asked: dict[str, Any] = {"query_text": question.text, **fields_of(question)}
        with Substrate(self.url, ADMIN_KEY) as memory:
            return memory.retrieve(citizen_id=self.citizen, **asked).model_dump(mode="json")

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        return [answer_in(self.stream(question)) for question in questions]


class Mcp:
    """It takes no files: it asks the memory into which the export went over REST."""

    citizen = Rest.citizen

    def __init__(self, service: Service) -> None:
        self.service = service

    async def _recall(self, questions: Sequence[Question]) -> list[tuple[str, dict[str, Any]]]:
        told = []
        async with over_http(self.service) as tools:
            for question in questions:
                time = {} if question.as_of is None else {"as_of_time": question.as_of, "known_at": "now"}
                asked = {"citizen_id": self.citizen, "query": question.text, "max_tokens": 100_000, **time}
                answer = await tools.call_tool("recall", asked)
                assert not answer.is_error, text_of(answer)
                told.append((text_of(answer), answer.structured_content))
        return told

    def texts(self, questions: Sequence[Question]) -> list[str]:
        return [text for text, _ in asyncio.run(self._recall(questions))]

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        return [
            Answer(
                tuple(memory["text"] for memory in values["memories"]),
                values["nothing_fits"],
                values["answer_confidence"],
            )
            for _, values in asyncio.run(self._recall(questions))
        ]


class CommandLine:
    citizen = "noor-cli"

    def __init__(self, service: Service) -> None:
        self.data = service.data

    def run(self, *words: str) -> str:
        said = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
        with redirect_stdout(said), pytest.raises(SystemExit) as end:
            program.main(["--data", str(self.data), *words, "-c", self.citizen])
        said.seek(0)
        assert end.value.code == 0
        return said.read()

    def take_in(self) -> str:
        return self.run("ingest", str(EXPORT))

    def stream(self, question: Question) -> dict[str, Any]:
        mode = [] if question.mode is None else ["--mode", question.mode]
        time = [] if question.as_of is None else ["--as-of", question.as_of, "--known-at", "now"]
        return dict(json.loads(self.run("ask", question.text, *mode, *time, "--json")))

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        return [answer_in(self.stream(question)) for question in questions]


@pytest.fixture(scope="module")
def reports(house: Service) -> dict[str, Any]:
    """The afternoon is heard, then the export goes in by three doors, twice; what each said both times."""
    told: dict[str, Any] = {}
    for door in (Rest(house), Python(house), CommandLine(house)):
        said = [afternoon.wire(message) for message in afternoon.NOOR.messages]
        body = {"citizen_id": door.citizen, "messages": said}
        assert house.http.post(f"/v1/episodes/{afternoon.CHAT}/turns", json=body).status_code == 200
        told[type(door).__name__] = (door.take_in(), door.take_in())
    return told


@pytest.fixture(scope="module")
def answers(house: Service, reports: Mapping[str, Any]) -> dict[str, dict[Question, Answer]]:
    """What each door answers to each question."""
    assert reports
    doors: list[Door] = [Rest(house), Python(house), Mcp(house), CommandLine(house)]
    return {type(door).__name__: dict(zip(ASKED, door.ask(ASKED), strict=True)) for door in doors}


@pytest.fixture(scope="module")
def told(answers: Mapping[str, dict[Question, Answer]]) -> dict[Question, Answer]:
    """What came back over REST; the other doors give the same."""
    return answers["Rest"]


def test_the_export_goes_in_once_and_what_was_edited_away_is_left_out(
    house: Service, reports: Mapping[str, Any]
) -> None:
    for name in ("Rest", "Python"):
        first, again = reports[name]
        assert (list(first["formats"]), first["turns"], first["refused"]) == (["chatgpt"], TURNS, 0), name
        assert any("messages of other branches (2)" in note for note in first["notes"]), name
        assert again["stored"] == 0, name
    first, again = reports["CommandLine"]
    assert f"{TURNS} turns" in first
    assert "messages of other branches (2)" in " ".join(first.split())
    assert "stored 0, there already" in again
    for door in (Rest, Python, CommandLine):
        asked: dict[str, str | int] = {"citizen_id": door.citizen, "limit": 500}
        kept = house.http.get("/v1/memories", params=asked).json()["memories"]
        turns = [memory["description"] for memory in kept if memory["node_type"] == "Turn"]
        assert len(turns) == len(afternoon.NOOR.messages) + TURNS, door
        assert not any(BRANCH in text for text in turns), door


def test_every_door_gives_the_same_answers(answers: Mapping[str, dict[Question, Answer]]) -> None:
    for question in ASKED:
        expected = answers["Rest"][question]
        for name, told in answers.items():
            answer = told[question]
            assert answer.memories == expected.memories, (name, question)
            assert answer.nothing_fits == expected.nothing_fits, (name, question)
            assert answer.confidence == pytest.approx(expected.confidence, abs=1e-6), (name, question)
            assert answer.focus in (None, expected.focus), (name, question)
            assert answer.held in (None, expected.held), (name, question)


@pytest.mark.parametrize("fact", CHANGED, ids=lambda fact: fact.now.text)
def test_what_is_now_comes_first_and_what_was_stays_in_focus(
    told: Mapping[Question, Answer], fact: Changed
) -> None:
    answer = told[fact.now]
    assert answer.focus is not None
    assert fact.new in answer.focus[0]
    assert any(fact.former in text for text in answer.focus)


@pytest.mark.parametrize("fact", CHANGED, ids=lambda fact: fact.before.text)
def test_asked_of_the_past_what_was_before_comes_first(told: Mapping[Question, Answer], fact: Changed) -> None:
    answer = told[fact.before]
    assert fact.former in answer.memories[0]
    assert any(fact.new in text for text in answer.memories)


def test_what_was_before_is_in_focus_where_it_is_not_first(told: Mapping[Question, Answer]) -> None:
    assert any(CHANGED[0].former in text for text in told[IN_FOCUS].focus or ())


def test_what_seems_to_hold_no_longer_is_shown_so_and_what_is_not_shown_so_is_named(
    told: Mapping[Question, Answer],
) -> None:
    for fact in CHANGED:
        held = told[fact.now].held
        assert held is not None
        assert not any(fact.new in text for text in held)
        assert any(fact.former in text for text in held) or fact.former in UNSAID
    for question in (CLASS.now, CLASS.before):
        held = told[question].held or {}
        assert [day for text, day in held.items() if CLASS.former in text] == [CHANGED_ON]


def test_the_texts_of_all_doors_say_until_when_it_held(house: Service, reports: Mapping[str, Any]) -> None:
    assert reports
    question, command = CLASS.now, CommandLine(house)
    for text in (
        str(Rest(house).stream(question, form="compact")["text"]),
        *Mcp(house).texts([question]),
        command.run("ask", question.text, "--compact"),
    ):
        line, *_ = (line for line in text.splitlines() if CLASS.former in line)
        assert HELD in line
    assert HELD in " ".join(command.run("ask", question.text).split())


def test_a_change_that_nobody_recorded_is_told_as_an_inferred_change_of_reality(
    house: Service, reports: Mapping[str, Any]
) -> None:
    assert reports
    for door in (Rest(house), Python(house), CommandLine(house)):
        [change] = door.stream(EVOLUTION)["temporal_dissonances"]
        assert (change["dissonance_type"], change["inferred"]) == ("reality_changed", True)
        assert change["original_belief"].startswith(CLASS.former)
        assert change["corrected_belief"].startswith(CLASS.new)
        assert change["corrected_at"].startswith(CHANGED_ON)


def test_as_of_a_moment_between_what_held_then_comes_first(told: Mapping[Question, Answer]) -> None:
    answer = told[CYCLING]
    assert "I cycle to work now" in answer.memories[0]
    assert not any(CHANGED[2].new in text for text in answer.memories)


def test_last_tuesday_is_the_tuesday_before_the_moment_asked_of(told: Mapping[Question, Answer]) -> None:
    first = told[TUESDAY].memories[: len(OF_TUESDAY)]
    assert all(any(text.startswith(words) for text in first) for words in OF_TUESDAY)
    assert not told[TUESDAY].nothing_fits
    assert not any("Sandviken" in text for text in told[TUESDAY].memories)


def test_what_was_edited_away_answers_nothing(told: Mapping[Question, Answer]) -> None:
    assert "the 1st of March" in told[OPEN_UNTIL].memories[0]
    assert not any(BRANCH in text for text in told[OPEN_UNTIL].memories)


def test_to_a_question_about_something_else_nothing_fits(told: Mapping[Question, Answer]) -> None:
    for question in ELSEWHERE:
        answer = told[question]
        assert (answer.nothing_fits, answer.focus) == (True, ()), question
        assert answer.memories, question
    for question in set(ASKED) - set(ELSEWHERE):
        assert not told[question].nothing_fits, question


def test_the_texts_of_all_doors_say_that_nothing_fits(house: Service, reports: Mapping[str, Any]) -> None:
    assert reports
    question, command = ELSEWHERE[0], CommandLine(house)
    for text in (
        str(Rest(house).stream(question, form="compact")["text"]),
        *Mcp(house).texts([question]),
        command.run("ask", question.text, "--compact"),
        command.run("ask", question.text),
    ):
        assert NOTHING_FITS in text
        assert "In focus" not in text
        assert "in focus" not in text
