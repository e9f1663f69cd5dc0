"""A memory that is asked and told all day: what was asked, thanked and repeated is stored, and is no evidence."""

from __future__ import annotations

from typing import Any

import pytest

from api.runtime.runtime import now
from orchestration.dependencies import Deps
from orchestration.ingestion import hearing
from orchestration.ingestion.hearing import NewMessages
from orchestration.ingestion.storing import Job
from orchestration.retrieval import retrieve_consciousness_context
from schemas.intention import RetrievalIntention
from schemas.memory import Level
from schemas.stream import ConsciousnessStream
from substrate.cypher.query import Query
from substrate.graphs.names import graph_name

STEPS = Query(
    "test_steps", "MATCH (n:ConsciousnessNode) WHERE n.node_type = 'Turn' RETURN n.description, n.step, n.extra"
)
ACCOUNT = "What is my bank account number?"
OVEN = "My oven is from 2009."


async def hear(deps: Deps, citizen: str, *said: tuple[str, str], talk: str = "talk") -> None:
    for number, (role, text) in enumerate(said):
        sent: dict[str, Any] = {"role": role, "content": text, "id": f"{talk}-{number}-{now()}"}
        report = await hearing.hear_messages(NewMessages(citizen, talk, [sent]), Job(deps, now()))
        assert report.refused == 0


async def ask(deps: Deps, citizen: str, question: str, **fields: Any) -> ConsciousnessStream:
    intention = RetrievalIntention(citizen_id=citizen, query_text=question, **fields)
    return await retrieve_consciousness_context(intention, deps, now())


def told(stream: ConsciousnessStream) -> list[str]:
    return [node.description for node in stream.activation_tiers.ordered() if node.speaker]


async def steps(deps: Deps, citizen: str) -> dict[str, str | None]:
    return {row[0]: row[1] for row in await deps.graph(graph_name(Level.N1, citizen)).read(STEPS)}


async def test_a_question_that_was_heard_is_no_answer_to_itself(deps: Deps, fresh_citizen: str) -> None:
    await hear(deps, fresh_citizen, ("user", OVEN))
    before = await ask(deps, fresh_citizen, ACCOUNT)
    await hear(deps, fresh_citizen, ("user", ACCOUNT), ("assistant", "I am not sure."))
    after = await ask(deps, fresh_citizen, ACCOUNT)
    assert (before.nothing_fits, after.nothing_fits) == (True, True)
    assert after.answer_confidence == pytest.approx(before.answer_confidence, abs=0.02)
    assert ACCOUNT not in told(after)


@pytest.mark.parametrize("times", [1, 2, 8])
async def test_a_question_asked_before_never_stands_above_its_answer(
    deps: Deps, fresh_citizen: str, times: int
) -> None:
    question = "How old is my oven?"
    await hear(deps, fresh_citizen, ("user", OVEN), ("user", "The oven door is painted green."))
    for _ in range(times):
        await ask(deps, fresh_citizen, question)
        await hear(deps, fresh_citizen, ("user", question), ("assistant", f"You told me: {OVEN}"))
    stream = await ask(deps, fresh_citizen, question)
    assert told(stream) == [OVEN, "The oven door is painted green."]
    marked = await steps(deps, fresh_citizen)
    assert (marked[question], marked[f"You told me: {OVEN}"], marked[OVEN]) == ("Question", "Echo", None)


async def test_what_the_answering_side_did_itself_stays_findable(deps: Deps, fresh_citizen: str) -> None:
    await hear(deps, fresh_citizen, ("user", OVEN))
    await ask(deps, fresh_citizen, "How old is my oven?")
    fact = "I booked the oven service for Tuesday at nine, reference K-882."
    await hear(deps, fresh_citizen, ("user", "How old is my oven?"), ("assistant", fact))
    stream = await ask(deps, fresh_citizen, "When is the oven service booked?")
    assert fact in [node.description for node in stream.activation_tiers.focus]


async def test_a_turn_that_asks_and_tells_tells(deps: Deps, fresh_citizen: str) -> None:
    text = "Since I moved to Faro, which bus do I take?"
    await hear(deps, fresh_citizen, ("user", text))
    stream = await ask(deps, fresh_citizen, "Where do I live?")
    assert told(stream) == [text]


async def test_the_running_message_is_never_its_own_answer(deps: Deps, fresh_citizen: str) -> None:
    text = "Tom drinks his tea with milk, tell me whether he likes cake."
    await hear(deps, fresh_citizen, ("user", "Tom likes apple cake."), talk="before")
    await hear(deps, fresh_citizen, ("user", text))
    assert text in told(await ask(deps, fresh_citizen, text))
    assert text not in told(await ask(deps, fresh_citizen, text, conversation="talk"))
    assert text in told(await ask(deps, fresh_citizen, text, conversation="before"))


async def test_an_earlier_message_that_ends_like_the_running_one_is_found(deps: Deps, fresh_citizen: str) -> None:
    await hear(deps, fresh_citizen, ("user", "The apple cake."), ("user", "Who baked the apple cake."))
    assert "The apple cake." in told(
        await ask(deps, fresh_citizen, "Who baked the apple cake.", conversation="talk")
    )


async def test_the_running_message_is_known_without_the_blocks_of_its_host(deps: Deps, fresh_citizen: str) -> None:
    text = "Tom drinks his tea with milk."
    sent = f"<relevant-memories>\n- Tom likes cake.\n</relevant-memories>\n{text}"
    await hear(deps, fresh_citizen, ("user", sent), ("user", "The tea shop is in Oslo."))
    assert text in told(await ask(deps, fresh_citizen, sent))
    assert text not in told(await ask(deps, fresh_citizen, sent, conversation="talk"))


async def test_memories_that_a_host_put_into_a_message_are_nobodys_words(deps: Deps, fresh_citizen: str) -> None:
    block = "<relevant-memories>\n- My dentist is Doctor Old.\n</relevant-memories>"
    await hear(
        deps, fresh_citizen, ("user", f"{block}\nPlease book the train."), ("user", "My dentist is Doctor New.")
    )
    stream = await ask(deps, fresh_citizen, "Who is my dentist?")
    assert told(stream)[0] == "My dentist is Doctor New."
    assert not any("Old" in text for text in told(stream))
    rows = await deps.graph(graph_name(Level.N1, fresh_citizen)).read(STEPS)
    assert any("Doctor Old" in (row[2] or "") for row in rows)
