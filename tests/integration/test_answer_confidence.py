"""How well a stream answers, on a real engine with the local model."""

from __future__ import annotations

import pytest

from orchestration.dependencies import Deps
from orchestration.waking.ask import retrieve_consciousness_context_from_state
from schemas.intention import Plurality, StateBasedRetrieval
from schemas.stream import ConsciousnessStream
from tests.integration.store import NOW, ask, remember, stored

LATER = NOW + 1000
LIFE = (
    "My sister Noreen runs the tomato greenhouse in Pell Lane.",
    "The exam for the captain's licence is on 16 May.",
    "We pay 475 a month for the room above the net loft.",
    "Dr Achterberg will look at my knee in the hospital of St Brannoc.",
    "Tobin and I caught 14 mackerel from the skiff on Father's Day.",
    "Hail broke 31 panes of the second glasshouse.",
)
UNKNOWN = "Which opera did the violinists rehearse in Vienna?"


async def live(deps: Deps, citizen: str) -> None:
    await stored(
        deps, *(remember(citizen, f"m{at}", name="note", description=text) for at, text in enumerate(LIFE))
    )


def focus(stream: ConsciousnessStream) -> list[str]:
    return [node.description for node in stream.activation_tiers.focus]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How much do we pay for the room?", 2),
        ("How many panes did the hail break?", 5),
        ("When is the licence exam?", 1),
        ("Who runs the greenhouse?", 0),
    ],
)
async def test_what_was_told_stands_in_focus(deps: Deps, fresh_citizen: str, question: str, answer: int) -> None:
    await live(deps, fresh_citizen)
    stream = await ask(deps, fresh_citizen, question, now=LATER)
    assert LIFE[answer] in focus(stream)
    assert not stream.nothing_fits
    assert stream.answer_confidence is not None
    assert stream.answer_confidence > 0.5


@pytest.mark.parametrize("form", ["full", "compact"])
async def test_what_was_never_spoken_of_leaves_the_focus_empty_and_the_nearest_in_the_periphery(
    deps: Deps, fresh_citizen: str, form: str
) -> None:
    await live(deps, fresh_citizen)
    stream = await ask(deps, fresh_citizen, UNKNOWN, now=LATER, form=form)
    assert stream.nothing_fits
    assert focus(stream) == []
    assert len(stream.activation_tiers.peripheral) == len(LIFE)
    assert form == "full" or (stream.text or "").startswith("# Nothing fits the question. The nearest")


async def test_each_hit_has_the_cosine_that_found_it(deps: Deps, fresh_citizen: str) -> None:
    await live(deps, fresh_citizen)
    stream = await ask(deps, fresh_citizen, "How many panes did the hail break?", now=LATER)
    likeness = {node.description: node.likeness for node in stream.levels["n1_personal"].vector_results}
    assert all(value is not None and -1.0 <= value <= 1.0 for value in likeness.values())
    assert max(likeness, key=lambda text: likeness[text] or 0.0) == LIFE[5]


async def test_another_order_of_the_same_memories_is_as_sure_of_its_answer(deps: Deps, fresh_citizen: str) -> None:
    await live(deps, fresh_citizen)
    for question in ("Who runs the greenhouse?", UNKNOWN):
        streams = [
            await ask(deps, fresh_citizen, question, now=LATER, **fields)
            for fields in ({}, {"rerank": "mmr"}, {"rerank": "rrf"}, {"plurality": Plurality()})
        ]
        assert len({stream.nothing_fits for stream in streams}) == 1
        assert len({stream.answer_confidence for stream in streams[:3]}) == 1


@pytest.mark.parametrize(
    "question",
    ["mackerel", "?", "Wann singt der Chor?", "何時ですか", "panes " * 3300, "flimbar quosti wenthal drup"],
)
async def test_any_question_has_a_confidence(deps: Deps, fresh_citizen: str, question: str) -> None:
    await live(deps, fresh_citizen)
    stream = await ask(deps, fresh_citizen, question, now=LATER)
    assert stream.answer_confidence is not None
    assert 0.0 <= stream.answer_confidence <= 1.0
    assert stream.nothing_fits == (stream.activation_tiers.focus == ())


async def test_one_word_that_was_said_fits_and_words_of_no_language_do_not(deps: Deps, fresh_citizen: str) -> None:
    await live(deps, fresh_citizen)
    assert focus(await ask(deps, fresh_citizen, "mackerel", now=LATER))[0] == LIFE[4]
    assert focus(await ask(deps, fresh_citizen, "flimbar quosti wenthal drup", now=LATER)) == []


async def test_the_explanation_says_what_each_feature_brings(deps: Deps, fresh_citizen: str) -> None:
    await live(deps, fresh_citizen)
    explained = await ask(deps, fresh_citizen, "Who runs the greenhouse?", now=LATER, explain=True)
    (why,) = [note for note in explained.notes if note.startswith("answer_confidence, in log-odds: likeness +")]
    assert ", subject +" in why
    plain = await ask(deps, fresh_citizen, "Who runs the greenhouse?", now=LATER)
    assert why not in plain.notes


async def test_a_citizen_who_never_wrote_is_told_that_nothing_fits(deps: Deps, fresh_citizen: str) -> None:
    stream = await ask(deps, fresh_citizen, "Who runs the greenhouse?", now=LATER)
    assert (stream.answer_confidence, stream.nothing_fits) == (0.0, True)


async def test_the_first_memory_of_a_store_can_be_asked_for(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "home", name="note", description="I moved to Bergen in May."))
    stream = await ask(deps, fresh_citizen, "Where do I live?", now=LATER)
    assert focus(stream) == ["I moved to Bergen in May."]


@pytest.mark.parametrize("question", ["What is it?", "And then?", "Was ist das?", "is it"])
async def test_a_question_of_function_words_alone_is_no_surer_than_one_that_was_answered(
    deps: Deps, fresh_citizen: str, question: str
) -> None:
    await live(deps, fresh_citizen)
    unsaid = await ask(deps, fresh_citizen, question, now=LATER)
    said = await ask(deps, fresh_citizen, "Who runs the tomato greenhouse?", now=LATER)
    assert unsaid.answer_confidence is not None
    assert said.answer_confidence is not None
    assert unsaid.answer_confidence < said.answer_confidence


@pytest.mark.parametrize(
    "question", [UNKNOWN, "Welche Oper haben die Geiger in Wien geprobt?", "何のオペラですか"]
)
async def test_a_store_of_one_memory_says_that_nothing_fits_what_it_never_heard_in_any_language(
    deps: Deps, fresh_citizen: str, question: str
) -> None:
    await stored(deps, remember(fresh_citizen, "home", name="note", description="I moved to Bergen in May."))
    stream = await ask(deps, fresh_citizen, question, now=LATER)
    assert (stream.nothing_fits, focus(stream)) == (True, [])


async def test_a_waking_is_no_question_and_keeps_its_focus(deps: Deps, fresh_citizen: str) -> None:
    await live(deps, fresh_citizen)
    await stored(
        deps, remember(fresh_citizen, "stuck", name="The pump", resolution_state="blocked", goal="water the beds")
    )
    state = StateBasedRetrieval(citizen_id=fresh_citizen, current_goal="water the beds")
    stream = await retrieve_consciousness_context_from_state(state, deps, LATER)
    assert (stream.answer_confidence, stream.nothing_fits) == (None, False)
    assert stream.activation_tiers.focus != ()
