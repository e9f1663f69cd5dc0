"""Long texts: stored once, searched in passages, and gone with their memory."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from typing import Any

import pytest

from api.runtime.runtime import open_runtime
from orchestration.dependencies import Deps
from orchestration.graph_queries import six_queries
from orchestration.transfer.exporter import export
from orchestration.transfer.importer import import_lines
from orchestration.upkeep.repair import run_repair
from orchestration.upkeep.sweep import sweep
from orchestration.writing.erasure import erase
from orchestration.writing.passage_filling import fill
from orchestration.writing.passages import LongText
from schemas.commands import EraseMemory, Supersede
from schemas.memory import ConsciousnessNode, Level
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from schemas.temporal import TemporalMode
from schemas.upkeep.findings import Finding, SweepRequest
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.graphs.names import GraphOf, graph_name
from tests.integration.store import NOW, ask, day, moment, remember, stored

HELD = Query(
    "held_passages",
    "OPTIONAL MATCH (q:Passage) WITH count(q) AS passages "
    "OPTIONAL MATCH (t:PassageTrace) RETURN passages, count(t)",
)
WORDS = "river stone cloud market letter garden engine paper window winter music bread harbor lantern".split()
CODE = "The vault code is 7741 and Marta keeps it in the blue drawer."
QUESTION = "What is the vault code that Marta keeps?"


def prose(seed: object, *needles: str, paragraphs: int = 25) -> str:
    """A text of paragraphs about nothing, with needles between them."""
    rng = random.Random(str(seed))
    parts = [" ".join(rng.choices(WORDS, k=50)).capitalize() + "." for _ in range(paragraphs)]
    for place, needle in enumerate(needles, start=1):
        parts.insert(place * len(parts) // (len(needles) + 1), needle)
    return "\n\n".join(parts)


def graph_of(deps: Deps, citizen: str) -> Graph:
    return deps.graph(graph_name(Level.N1, citizen))


async def held(deps: Deps, citizen: str) -> tuple[int, int]:
    """The numbers of passages and of their vectors in a graph."""
    [[passages, traces]] = await graph_of(deps, citizen).read(HELD)
    return passages, traces


async def first(deps: Deps, citizen: str, question: str, **fields: Any) -> ConsciousnessNode:
    stream = await ask(deps, citizen, question, **fields)
    assert not stream.degraded
    return stream.activation_tiers.ordered()[0]


async def test_the_passage_that_answers_is_shown_with_its_place(deps: Deps, fresh_citizen: str) -> None:
    text = prose(1, CODE)
    await stored(deps, remember(fresh_citizen, "doc", description=text))
    memory = await first(deps, fresh_citizen, QUESTION)
    assert memory.passage is not None
    assert CODE in memory.description
    assert text[memory.passage.start : memory.passage.end] == memory.description
    assert memory.passage.length == len(text)


async def test_the_compact_form_holds_the_passage_and_its_place(deps: Deps, fresh_citizen: str) -> None:
    text = prose(2, CODE)
    await stored(deps, remember(fresh_citizen, "doc", description=text))
    stream = await ask(deps, fresh_citizen, QUESTION, form="compact", max_tokens=400)
    assert stream.text is not None
    assert CODE in stream.text
    assert f" of {len(text)}" in stream.text


async def test_many_passages_of_one_memory_leave_room_for_others(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(six_queries, "EXACT_PASSAGES", 0)
    monkeypatch.setattr(six_queries, "PASSAGE_K", 4)
    crowd = "\n\n".join(f"{CODE[:-1]}, says page {number}. {'It is said. ' * 70}" for number in range(20))
    await stored(deps, remember(fresh_citizen, "crowd", description=crowd))
    await stored(deps, *(remember(fresh_citizen, f"doc{n}", description=prose(n, CODE)) for n in "12"))
    found = (await ask(deps, fresh_citizen, QUESTION)).activation_tiers.ordered()
    assert all(CODE in memory.description for memory in found if memory.node_id != "crowd")
    assert {memory.node_id for memory in found} == {"crowd", "doc1", "doc2"}


async def test_erasing_a_memory_erases_its_passages_of_every_version(deps: Deps, fresh_citizen: str) -> None:
    await stored(
        deps, remember(fresh_citizen, "doc", description=prose(3, CODE)), remember(fresh_citizen, "other")
    )
    await stored(deps, Supersede(citizen_id=fresh_citizen, id="doc", description=prose(4)), now=NOW + 10)
    passages, traces = await held(deps, fresh_citizen)
    assert passages == traces > 15
    report = await erase(EraseMemory(citizen_id=fresh_citizen, id="doc"), deps, NOW + 20, None)
    assert report.removed.passages == passages
    assert await held(deps, fresh_citizen) == (0, 0)


async def test_a_changed_text_is_found_now_and_the_former_one_in_the_past(deps: Deps, fresh_citizen: str) -> None:
    later = CODE.replace("7741", "9026")
    await stored(
        deps, remember(fresh_citizen, "doc", description=prose(5, CODE), valid_at=moment(10)), now=day(10)
    )
    change = Supersede(citizen_id=fresh_citizen, id="doc", description=prose(6, later), effective_at=moment(20))
    await stored(deps, change, now=day(20))
    assert later in (await first(deps, fresh_citizen, QUESTION)).description
    then = {"temporal_mode": TemporalMode.POINT_IN_TIME, "as_of_time": moment(15), "known_at": moment(30)}
    memory = await first(deps, fresh_citizen, QUESTION, **then)
    assert CODE in memory.description
    assert memory.passage is not None


async def test_an_import_has_the_passages(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "doc", description=prose(10, CODE)))
    await stored(deps, Supersede(citizen_id=fresh_citizen, id="doc", description=prose(11)), now=NOW + 10)
    lines = list(await export([GraphOf(Level.N1, fresh_citizen)], deps, embeddings=False))
    other = f"{fresh_citizen}x"
    await import_lines(lambda: lines, deps, NOW, citizen_id=other, progress=lambda done, total: None)
    assert await held(deps, other) == await held(deps, fresh_citizen)


@pytest.fixture(scope="module")
async def plain(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Deps]:
    """A store without vectors: five million characters are stored in seconds."""
    store = StoreSettings(data=tmp_path_factory.mktemp("plain"), names="off")
    async with open_runtime(Settings(store=store, embedding=EmbeddingSettings(embedding="none"))) as runtime:
        yield runtime.deps


BAD_TEXTS = {
    "five million characters": (prose(12, CODE, paragraphs=100) + "\n\n") * 150,
    "one line of a million characters without spaces": f"{CODE}\n" + "".join(map(str, range(170_000))),
    "code that is never closed": "```python\n" + "value = compute(value, other)\n" * 20_000 + CODE,
    "no spaces between words": "漢字仮名交じり文。" * 20_000 + CODE,
    "line ends of other systems": prose(13, CODE, paragraphs=50).replace("\n", "\r\n") + "\u2028\ufeff\u200bend",
    "accents and emoji": "Ärger im Café 🙂. " * 20_000 + CODE,
}


@pytest.mark.parametrize("text", BAD_TEXTS.values(), ids=BAD_TEXTS)
async def test_a_text_of_any_shape_goes_in_is_found_and_is_erased(
    plain: Deps, fresh_citizen: str, text: str
) -> None:
    await stored(plain, remember(fresh_citizen, "doc", description=text))
    memory = await first(plain, fresh_citizen, QUESTION)
    assert CODE[:-1] in memory.description
    assert memory.passage is not None
    assert text[memory.passage.start : memory.passage.end] == memory.description
    await erase(EraseMemory(citizen_id=fresh_citizen, id="doc"), plain, NOW + 20, None)
    assert await held(plain, fresh_citizen) == (0, 0)


async def test_what_a_runaway_model_left_is_cut_with_a_note(plain: Deps, fresh_citizen: str) -> None:
    [receipt] = await stored(plain, remember(fresh_citizen, "doc", description=CODE + " and so on" * 9000))
    assert "9,000 repeats of 10 characters" in receipt.warnings[-1]
    assert await held(plain, fresh_citizen) == (0, 0)


UNMARK = Query("unmark", "MATCH (n:ConsciousnessNode) SET n.passages = null RETURN count(n)")
LOSE = Query("lose", "MATCH (q:Passage)-[:HAS_TRACE]->(t) WHERE q.start > $beyond DELETE t, q RETURN count(q)")


async def findings(deps: Deps, citizen: str, kind: str) -> list[Finding]:
    answer = await sweep(SweepRequest(levels=("N1",), citizen_id=citizen), deps)
    return [finding for finding in answer.reports[0].findings if finding.kind == kind]


async def repaired(deps: Deps, found: list[Finding]) -> None:
    for finding in found:
        assert finding.repair is not None
        assert (await run_repair(finding.repair, deps, NOW + 50)).status == "done"


async def test_a_sweep_repairs_what_an_interrupted_write_left_out(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "doc", description=prose(13, CODE)))
    whole = await held(deps, fresh_citizen)
    assert not await findings(deps, fresh_citizen, "passages_missing")
    await graph_of(deps, fresh_citizen).write(LOSE, beyond=0)
    await repaired(deps, await findings(deps, fresh_citizen, "passages_missing"))
    assert await held(deps, fresh_citizen) == whole
    assert not await findings(deps, fresh_citizen, "passages_missing")


async def test_a_long_text_of_an_older_release_is_cut_by_a_repair(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "doc", description=prose(14, CODE)))
    await graph_of(deps, fresh_citizen).write(UNMARK)
    await graph_of(deps, fresh_citizen).write(LOSE, beyond=-1)
    assert await held(deps, fresh_citizen) == (0, 0)
    assert (await first(deps, fresh_citizen, QUESTION)).passage is None
    await repaired(deps, await findings(deps, fresh_citizen, "passages_missing"))
    assert CODE in (await first(deps, fresh_citizen, QUESTION)).description


async def test_passages_of_no_record_are_found_and_erased(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "doc", description=prose(15, CODE)), remember(fresh_citizen, "b"))
    drop = Query("drop", "MATCH (n:ConsciousnessNode {id: 'doc'})-[:HAS_TRACE]->(t) DELETE t, n RETURN 1")
    await graph_of(deps, fresh_citizen).write(drop)
    await repaired(deps, await findings(deps, fresh_citizen, "passages_stray"))
    assert await held(deps, fresh_citizen) == (0, 0)


async def test_passages_are_not_stored_of_a_memory_that_is_gone(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "other"))
    gone = LongText("doc", 7, prose(16, CODE))
    assert await fill(graph_of(deps, fresh_citizen), [gone], deps.embedder) == 0
    assert await held(deps, fresh_citizen) == (0, 0)
