"""The benchmarks that ask a real store, on a chat of a few turns."""

from __future__ import annotations

from random import Random

import pytest

from api.runtime.runtime import Runtime
from benchmarks.datasets import Conversation, Question, Turn
from benchmarks.growth import Step, Vectors, grow, take_step
from benchmarks.loop import OWN, RUNNING, TOLD, Loop, compare, live
from benchmarks.loop_plan import plan, split
from benchmarks.recall import OURS
from benchmarks.tuning import SHIPPED, read_family, replay
from orchestration.dependencies import Deps
from schemas.settings import Settings

TEXTS = (
    "I planted a lemon tree behind the shed.",
    "The bus was late again this morning.",
    "My sister moved to Lisbon in spring.",
    "I am learning to bake rye bread.",
)


@pytest.fixture
def runtime(deps: Deps) -> Runtime:
    return Runtime(Settings(), deps, None)


def chat(name: str) -> Conversation:
    turns = tuple(Turn(f"t{n}", "user", text, None, "s") for n, text in enumerate(TEXTS))
    return Conversation(name, turns, (Question("Where did my sister move?", "x", frozenset(("t2",))),))


async def test_evidence_is_found_at_each_step_of_a_growing_chat(runtime: Runtime, fresh_citizen: str) -> None:
    vectors = Vectors(runtime)
    for turns in (2, 6):
        step = Step()
        parts = grow(chat("one"), [chat("two")], turns)
        await take_step(parts, f"{fresh_citizen}-{turns}", runtime, vectors=vectors, step=step)
        assert step.turns == [turns]
        assert [piece.fate for piece in step.pieces] == ["found"]
        assert set(step.rankings) >= {OURS, "BM25", "cosine"}
        assert "t2" in step.rankings[OURS][0]


async def test_a_replay_scores_every_weight_from_one_retrieval(runtime: Runtime) -> None:
    grid = read_family(["own=0,2"])
    outcomes = await replay("tiny", [chat("one")], grid, rt=runtime, figure="rec@5")
    assert [(each.group, each.conversation) for each in outcomes] == [("tiny", "one")]
    assert outcomes[0].figures == dict.fromkeys((SHIPPED, "own=0", "own=2"), 1.0)


async def test_a_life_in_the_loop_is_measured_beside_one_that_was_only_told(
    runtime: Runtime, fresh_citizen: str
) -> None:
    asked = (*chat("one").questions, Question("What do I learn to bake?", "x", frozenset(("t3",))))
    lived = Conversation(fresh_citizen, chat("one").turns, asked, ("Which car do I drive?", "Who is my dentist?"))
    chance = Random(1)
    questions = split(lived, 1, chance)
    seen = await live(Loop(lived, runtime), plan(lived, questions, chance, only="fact"), questions)
    groups = compare(seen)
    assert {"heard", "never asked", "own fact", "never said, never asked"} <= groups.keys()
    assert all(groups["never asked"]["all"][memory]["rec@5"] == 1.0 for memory in (TOLD, OWN, RUNNING))
    assert groups["own fact"]["all"].keys() & {TOLD, OWN, RUNNING} == {OWN, RUNNING}
    assert all(groups["own fact"]["all"][memory]["rec@10"] == 1.0 for memory in (OWN, RUNNING))
