"""Speaker, time and task in a question lead to the turns that it means."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from orchestration.dependencies import Deps
from orchestration.ingestion.episodes import Episode, Session, Turn
from orchestration.ingestion.formats import ParsedFiles
from orchestration.ingestion.pipeline import ingest
from orchestration.retrieval import retrieve_consciousness_context
from schemas.intention import RetrievalIntention
from schemas.stream import ConsciousnessStream
from schemas.temporal import to_instant

BEGUN = datetime(2023, 5, 7, 10, tzinfo=UTC)
NOW = to_instant(datetime(2024, 1, 1, tzinfo=UTC))
TALK = (
    ("Ada", "I planted tomatoes in the garden today."),
    ("Ben", "Lovely! I went fishing on the lake with my brother."),
    ("Ada", "Where do you fish?"),
    ("Ben", "By the old mill, early."),
    ("Ada", "My garden needs rain."),
    ("Ben", "So does mine. Ada, your garden is the best in town."),
)
CHAT = (
    ("user", "Always give distances in miles when I ask about routes."),
    ("assistant", "Understood."),
    ("user", "I walk from the harbour to the castle on Sundays."),
    ("assistant", "A fine walk. The castle closes at five."),
    ("user", "I cycle from the castle to the mill in summer."),
    ("assistant", "Take the river route to the mill."),
)


async def told(deps: Deps, citizen: str, talk: tuple[tuple[str, str], ...], apart: timedelta) -> None:
    sessions = tuple(
        Session(
            f"s{n}",
            f"s{n}",
            BEGUN + n * apart,
            (Turn(f"t{2 * n}", *talk[2 * n]), Turn(f"t{2 * n + 1}", *talk[2 * n + 1])),
        )
        for n in range(len(talk) // 2)
    )
    report = await ingest(ParsedFiles((Episode("talk", citizen, sessions),)), deps, NOW)
    assert not report.refused


async def answer(deps: Deps, citizen: str, text: str) -> ConsciousnessStream:
    intention = RetrievalIntention(
        intention_id="i", query_text=text, citizen_id=citizen, explain=True, form="compact", generated_at=BEGUN
    )
    return await retrieve_consciousness_context(intention, deps, NOW)


def turns(stream: ConsciousnessStream) -> list[str]:
    shown = stream.activation_tiers.ordered()
    return [node.node_id.removeprefix("talk:") for node in shown if node.node_type == "Turn"]


def terms(stream: ConsciousnessStream, turn: str) -> dict[str, float]:
    [node] = [node for node in stream.activation_tiers.ordered() if node.node_id == f"talk:{turn}"]
    return dict(node.score_terms or {})


async def test_the_words_of_the_one_who_is_named_come_first(deps: Deps, fresh_citizen: str) -> None:
    await told(deps, fresh_citizen, TALK, timedelta(days=60))
    assert turns(await answer(deps, fresh_citizen, "What did Ada say about the garden?"))[0] in ("t0", "t4")
    assert turns(await answer(deps, fresh_citizen, "What did Ben say about the garden?"))[0] == "t5"


async def test_a_turn_that_answers_a_question_gains_relevance_from_it(deps: Deps, fresh_citizen: str) -> None:
    await told(deps, fresh_citizen, TALK, timedelta(days=60))
    asked = await answer(deps, fresh_citizen, "Where does Ben fish?")
    assert turns(asked).index("t3") < 3
    assert terms(asked, "t3")["spread"] > terms(asked, "t4")["spread"]


async def test_a_time_that_is_named_leads_to_its_turns(deps: Deps, fresh_citizen: str) -> None:
    await told(deps, fresh_citizen, TALK, timedelta(days=60))
    september = await answer(deps, fresh_citizen, "What was with the garden in September?")
    may = await answer(deps, fresh_citizen, "What was with the garden in May 2023?")
    assert turns(september)[0] in ("t4", "t5")
    assert turns(may)[0] == "t0"
    assert ("time" in terms(may, "t0"), "time" in terms(may, "t4")) == (True, False)


async def test_i_means_the_user_and_you_the_assistant_in_a_chat(deps: Deps, fresh_citizen: str) -> None:
    await told(deps, fresh_citizen, CHAT, timedelta(days=30))
    mine = await answer(deps, fresh_citizen, "How did I get to the mill from the castle?")
    yours = await answer(deps, fresh_citizen, "Which route to the mill did you recommend?")
    assert turns(mine)[0] == "t4"
    assert turns(yours)[0] == "t5"


async def test_a_standing_instruction_is_found_where_something_is_to_be_done(
    deps: Deps, fresh_citizen: str
) -> None:
    await told(deps, fresh_citizen, CHAT, timedelta(days=30))
    asked = await answer(deps, fresh_citizen, "Can you plan my way to the lighthouse?")
    assert terms(asked, "t0")["wish"] > 0.0
    assert turns(asked).index("t0") < 3
    assert "wish" not in terms(await answer(deps, fresh_citizen, "How many routes did I cycle?"), "t0")


@pytest.mark.parametrize(
    "text",
    ["What did Ada say about the garden?", "Give me a summary of our talks", "Can you help me in May?", "fish"],
)
async def test_the_same_request_has_the_same_answer_byte_for_byte(
    deps: Deps, fresh_citizen: str, text: str
) -> None:
    await told(deps, fresh_citizen, TALK, timedelta(days=60))
    timed = {"retrieval_latency_ms", "stage_ms", "timings"}
    answers = {(await answer(deps, fresh_citizen, text)).model_dump_json(exclude=timed) for _ in range(4)}
    assert len(answers) == 1
