"""A stream that is asked again, as of then and known then, has the same answer but for what was erased."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from random import Random
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from api.runtime.runtime import open_runtime
from benchmarks.replay_lives import Life
from orchestration.dependencies import Deps
from orchestration.features.feedback.feature import take_back, tell
from orchestration.features.replay.flow import list_streams, read_stream, replay
from orchestration.mind.stream_notes import read_last_stream, read_stream_note, store_notes
from orchestration.transfer.exporter import export
from orchestration.transfer.importer import import_lines
from orchestration.writing.erasure import erase
from schemas.commands import Correct, EraseCitizen, EraseMemory, Retract, Supersede, Undo
from schemas.errors import NotFound
from schemas.memory import Level
from schemas.mind.feedback import Feedback
from schemas.paging import Paged
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from schemas.stream import ConsciousnessStream
from substrate.graphs.names import GraphOf
from tests.integration.store import ASKED, ask, remember, stored

BEGUN = 1_750_000_000_000_000


@pytest.fixture(scope="module")
async def long_notes(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Deps]:
    """A store that keeps notes for a whole simulated life."""
    store = StoreSettings(data=tmp_path_factory.mktemp("store"), names="off", stream_notes_days=36_500)
    embedding = EmbeddingSettings(embedding="tests.integration.small_embedder:Small")
    async with open_runtime(Settings(store=store, embedding=embedding)) as runtime:
        yield runtime.deps


def shown(stream: ConsciousnessStream) -> list[tuple[str, int]]:
    return [(memory.node_id, memory.version) for memory in stream.activation_tiers.ordered()]


@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(seed=st.integers(0, 2**32), erases=st.booleans())
async def test_whatever_happened_since_it_knew_the_same(long_notes: Deps, seed: int, erases: bool) -> None:
    life = Life(f"c{uuid4().hex}", long_notes, Random(seed), BEGUN, erases=erases)
    await life.tell(30)
    for _ in range(8):
        await life.ask()
        await life.change()
        await life.change()
    for stream in life.asked:
        replayed = await replay(stream.stream_id, long_notes, life.now)
        then = [memory for memory in replayed.memories if memory.place_then or memory.fate == "erased"]
        assert [(memory.id, memory.version) for memory in then] == shown(stream)
        gone = {memory.id for memory in replayed.memories if memory.fate == "erased"}
        assert gone == {memory_id for memory_id, _ in shown(stream)} & life.erased
        assert "unknown" not in replayed.causes
        if not life.erased:
            assert replayed.same, replayed.causes
            assert replayed.causes == ()


async def test_it_says_what_became_of_each_memory(deps: Deps, fresh_citizen: str) -> None:
    whose = fresh_citizen
    ids = ("kept", "changed", "wrong", "gone", "undone")
    await stored(deps, *(remember(whose, name, description=f"The boat is {name}.") for name in ids))
    stream = await ask(deps, whose, "What about the boat?")
    changes = (
        Supersede(citizen_id=whose, id="changed", description="The boat is sold."),
        Correct(citizen_id=whose, id="undone", description="The boat sank."),
        Undo(citizen_id=whose, id="undone"),
        Retract(citizen_id=whose, id="wrong"),
    )
    for number, change in enumerate(changes):
        await stored(deps, change, now=ASKED + 1_000 * (number + 1))
    later = ASKED + 9_000
    await erase(EraseMemory(level=Level.N1, citizen_id=whose, id="gone"), deps, later, deps.directory)
    replayed = await replay(stream.stream_id, deps, later)
    by_id = {memory.id: memory for memory in replayed.memories}
    assert {name: memory.fate for name, memory in by_id.items()} == {
        "kept": "same", "changed": "closed", "wrong": "closed", "gone": "erased", "undone": "closed",
    }  # fmt: skip
    assert replayed.same
    assert by_id["gone"].name is None
    assert "gone" not in {name for memory in replayed.memories if memory.id != "gone" for name in (memory.name,)}
    new = by_id["changed"].replaced_by
    assert new is not None
    assert (new.description, by_id["changed"].reason) == ("The boat is sold.", "reality_changed")
    assert (by_id["wrong"].replaced_by, by_id["wrong"].reason) == (None, "discovered_false")
    assert by_id["undone"].replaced_by is not None
    assert by_id["undone"].replaced_by.description == "The boat is undone."
    assert await read_last_stream(whose, deps) is not None
    assert len((await list_streams(whose, Paged(), deps)).streams) == 1


async def test_other_weights_and_another_model_are_named(deps: Deps, fresh_citizen: str) -> None:
    texts = ("The boat lies at the lake.", "A cat sleeps.", "The boat of Egor is red.", "Bread for the boat trip.")
    await stored(deps, *(remember(fresh_citizen, f"m{at}", description=text) for at, text in enumerate(texts)))
    told = Feedback(query_text="Where is the boat?", used=("m3",), feedback_id="told")
    await tell(fresh_citizen, told, deps, ASKED)
    stream = await ask(deps, fresh_citizen, "Where is the boat?", now=ASKED + 2_000)
    assert (await replay(stream.stream_id, deps, ASKED + 3_000)).same
    lighter = replace(deps, channel_weights=replace(deps.channel_weights, likeness=0.0, use=0.0))
    other = await replay(stream.stream_id, lighter, ASKED + 3_000)
    assert (other.same, other.order_changed, other.causes) == (False, True, ("weights",))
    await take_back(fresh_citizen, ["told"], deps, ASKED + 4_000)
    assert set((await replay(stream.stream_id, deps, ASKED + 5_000)).causes) <= {"weights"}
    note = await read_stream_note(stream.stream_id, fresh_citizen, deps)
    assert note is not None
    assert note.model == deps.embedder.model


async def test_a_page_of_streams_goes_on_and_old_ones_go(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "boat"))
    asked = [(await ask(deps, fresh_citizen, f"boat {at}", now=ASKED + at)).stream_id for at in range(5)]
    await store_notes(deps)
    first = await list_streams(fresh_citizen, Paged(limit=3), deps)
    rest = await list_streams(fresh_citizen, Paged(limit=3, cursor=first.next), deps)
    assert [stream.stream_id for stream in (*first.streams, *rest.streams)] == asked[::-1]
    assert rest.next is None
    late = await ask(deps, fresh_citizen, "boat", now=ASKED + 91 * 86_400_000_000)
    await store_notes(deps)
    assert [one.stream_id for one in (await list_streams(fresh_citizen, Paged(), deps)).streams] == [
        late.stream_id
    ]


async def test_notes_are_erased_with_their_citizen_and_go_along_with_an_export(
    deps: Deps, fresh_citizen: str
) -> None:
    await stored(deps, remember(fresh_citizen, "boat", description="The boat lies at the lake."))
    stream = await ask(deps, fresh_citizen, "Where is the boat?")
    await store_notes(deps)
    lines = list(await export([GraphOf(Level.N1, fresh_citizen)], deps, embeddings=False))
    await erase(EraseCitizen(citizen_id=fresh_citizen), deps, ASKED + 5, deps.directory)
    with pytest.raises(NotFound):
        await read_stream(stream.stream_id, deps)
    await import_lines(lambda: lines, deps, ASKED + 9, progress=lambda *_: None)
    assert (await read_stream(stream.stream_id, deps)).tiers.focus[0].id == "boat"
    assert (await replay(stream.stream_id, deps, ASKED + 10)).same
    other = f"{fresh_citizen}2"
    await import_lines(lambda: lines, deps, ASKED + 9, citizen_id=other, progress=lambda *_: None)
    [moved] = (await list_streams(other, Paged(), deps)).streams
    assert (await replay(moved.stream_id, deps, ASKED + 10)).same
    assert (await read_stream(moved.stream_id, deps)).citizen_id == other


@pytest.mark.parametrize("stream_id", ["", "ada", "ada~", "~1", "nobody~00000"])
async def test_what_is_no_stream_is_not_found(deps: Deps, stream_id: str) -> None:
    with pytest.raises(NotFound):
        await replay(stream_id, deps, ASKED)
