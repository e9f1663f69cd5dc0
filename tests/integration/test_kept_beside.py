"""What is kept beside the memories goes along with a backup, and goes for good with what it is about."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from api.runtime.backup import restore_backup
from api.runtime.runtime import Runtime, open_runtime
from orchestration.dependencies import Deps
from orchestration.features.contexts.feature import read_agent_log, write_context
from orchestration.features.contexts.values import AgentLogQuery, WriteContext
from orchestration.features.imagination.flow import imagine, list_predictions
from orchestration.features.imagination.values import Imagine, PredictionQuery
from orchestration.features.replay.flow import list_streams, replay
from orchestration.features.rules.feature import check_rules
from orchestration.features.rules.values import RulesCheck
from orchestration.features.sharing.feature import contest, list_contested, share
from orchestration.features.sharing.values import ContestedQuery, ContestRequest, Share, Shared
from orchestration.mind.state import change_state, state_history
from orchestration.transfer.backup import back_up
from orchestration.transfer.exporter import export
from orchestration.transfer.importer import import_lines
from orchestration.writing.erasure import erase_naming_copies as erase
from schemas.commands import EraseCitizen, EraseCollective, EraseMemory, ErasureReport, Writer
from schemas.memory import GraphKey, Level, graph_key
from schemas.mind.state import StateChange
from schemas.paging import Paged
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from substrate.cypher.query import Query
from substrate.graphs.names import GraphOf, graph_name
from tests.integration.store import ASKED, NOW, ask, remember, stored

SECRETS = (b"plan with the green door", b"never open the green door", b"too early for a green door")
"""Words of the rule, the context and its note; each citizen has its own teapot besides."""
CHECKS = Query("checks_left", "MATCH (k:RuleCheck) RETURN count(k)")
LATER = ASKED + 1_000
RULES = 6
"""The place of the rules in what is told. Their checks stay with the store."""


class Lived(NamedTuple):
    """A citizen with all that is kept beside its memories, its collective, and the id of the copy there."""

    citizen: str
    collective: str
    copy: str

    @property
    def key(self) -> GraphKey:
        return graph_key(Level.N2, self.collective)

    @property
    def graphs(self) -> list[GraphOf]:
        return [GraphOf(Level.N1, self.citizen), GraphOf(self.key, None)]


def at(directory: Path) -> Settings:
    small = EmbeddingSettings(embedding="tests.integration.small_embedder:Small")
    return Settings(store=StoreSettings(data=directory, names="off"), embedding=small)


@pytest.fixture(scope="module")
async def own(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Runtime]:
    """A store whose snapshots are not compressed, so that they can be searched."""
    async with open_runtime(at(tmp_path_factory.mktemp("beside") / "data")) as runtime:
        await runtime.deps.connection.command("CONFIG SET", "rdbcompression", "no")
        yield runtime


async def lived(deps: Deps, citizen: str) -> Lived:
    """A context that answers a prediction, an open prediction, a checked rule, streams, a contested copy."""
    whose = Writer(author=citizen, steward=False)
    collective = f"of-{citizen}"
    teapot = f"The teapot of {citizen} holds the key"
    await stored(deps, remember(citizen, "rule", rule=SECRETS[1].decode(), severity="block"))
    await stored(deps, remember(citizen, "pot", name=teapot, description=teapot))
    await change_state(citizen, StateChange.model_validate({"window": ("pot",), "goal": "tea"}), deps, NOW + 1)
    await check_rules(RulesCheck(citizen_id=citizen, action="open the green door"), deps, NOW + 2)
    told = [
        await imagine(Imagine(citizen_id=citizen, action=what, nodes=(teapot,), keep=True), deps, NOW + 3)
        for what in ("show the plan", "make tea")
    ]
    context = {
        "id": "shown", "description": f"Kai saw the {SECRETS[0].decode()}.", "action": "show it", "nodes": ["Kai"],
        "edges": ["Kai|SAW|plan"], "emotion": "fear", "intensity": 0.5, "result": "negative",
        "outcome_of": told[0].prediction_id, "agent_log": [{"agent": "critic", "said": SECRETS[2].decode()}],
    }  # fmt: skip
    await write_context(WriteContext.model_validate({"citizen_id": citizen, **context}), deps, NOW + 4, whose)
    shared = await share(
        Share(citizen_id=citizen, id="pot", level=Level.N2, collective=collective), whose, deps, NOW + 5
    )
    assert isinstance(shared, Shared)
    against = ContestRequest(
        citizen_id="bo", level=Level.N2, collective=collective, id=shared.id, reason="It is not so."
    )
    assert (await contest(against, Writer(author="bo", steward=False), deps, NOW + 6)).faults == ()
    await ask(deps, citizen, "Where is the key?", levels=("N1", "N2"), collectives=(collective,))
    return Lived(citizen, collective, shared.id)


async def told(deps: Deps, life: Lived) -> list[Any]:
    """All that the doors tell of what is kept beside the memories."""
    rules = RulesCheck(citizen_id=life.citizen, action="open the green door")
    contested = ContestedQuery(level=Level.N2, collective=life.collective)
    streams = await list_streams(life.citizen, Paged(), deps)
    replayed = [await replay(each.stream_id, deps, LATER) for each in streams.streams]
    return [
        streams,
        [one.same for one in replayed],
        await list_predictions(life.citizen, PredictionQuery(), deps),
        await read_agent_log(life.citizen, AgentLogQuery(), deps),
        await list_contested(contested, deps, LATER),
        await state_history(life.citizen, Paged(), deps),
        (await check_rules(rules, deps, LATER, keep=False)).rules,
        [memory for one in replayed for memory in one.memories],
    ]


async def test_a_restored_store_has_all_that_is_kept_beside_the_memories(own: Runtime, tmp_path: Path) -> None:
    life = await lived(own.deps, "backed")
    assert own.engine is not None
    before = await told(own.deps, life)
    streams, same, predictions, log, contested, _, rules, shown = before
    assert [len(part) for part in (streams.streams, predictions.predictions, log.notes, rules)] == [1, 2, 1, 1]
    assert (same, [each.id for each in contested.memories]) == ([True], [life.copy])
    assert {life.copy, "pot"} <= {memory.id for memory in shown if memory.fate == "same"}
    await back_up(own.deps.connection, own.engine.directory, tmp_path / "backup", LATER)
    await restore_backup(tmp_path / "backup", at(tmp_path / "data"))
    async with open_runtime(at(tmp_path / "data")) as restored:
        assert await told(restored.deps, life) == before


async def test_a_citizen_and_its_collective_come_back_from_an_export(own: Runtime) -> None:
    life = await lived(own.deps, "moved")
    before = await told(own.deps, life)
    lines = list(await export(life.graphs, own.deps, embeddings=True))
    for command in (EraseCollective(collective=life.collective), EraseCitizen(citizen_id=life.citizen)):
        await erased(own, command)
    report = await import_lines(lambda: lines, own.deps, LATER, progress=lambda *_: None)
    assert sorted(report.graphs) == sorted(origin.graph for origin in life.graphs)
    assert list(await export(life.graphs, own.deps, embeddings=True)) == lines
    after = await told(own.deps, life)
    [rule] = after.pop(RULES)
    assert (rule.outcome, rule.record.checked, before.pop(RULES)[0].record.checked) == ("broken", 0, 1)
    assert after == before


async def erased(own: Runtime, command: EraseMemory | EraseCitizen | EraseCollective) -> ErasureReport:
    assert own.engine is not None
    return await erase(command, own.deps, LATER, own.engine.directory)


def on_disk(own: Runtime, *needles: bytes) -> set[bytes]:
    """Which of the needles are in any file of the data directory."""
    assert own.engine is not None
    texts = [path.read_bytes() for path in own.engine.directory.rglob("*") if path.is_file()]
    return {needle for needle in needles if any(needle in text for text in texts)}


async def test_what_is_kept_beside_a_memory_goes_with_it(own: Runtime) -> None:
    life = await lived(own.deps, "erasing")
    teapot = f"The teapot of {life.citizen} holds the key".encode()
    assert on_disk(own, teapot, *SECRETS) == {teapot, *SECRETS}

    def one(memory: str, **fields: Any) -> EraseMemory:
        return EraseMemory(citizen_id=life.citizen, id=memory, **fields)

    report = await erased(own, one("pot", with_copies=True))
    assert [(copy.id, copy.erased) for copy in report.copies] == [(life.copy, True)]
    assert report.removed.predictions == 2
    assert on_disk(own, teapot) == set()
    [stream] = (await list_streams(life.citizen, Paged(), own.deps)).streams
    fates = {memory.id: memory.fate for memory in (await replay(stream.stream_id, own.deps, LATER)).memories}
    assert {fates["pot"], fates[life.copy]} == {"erased"}
    contested = ContestedQuery(level=Level.N2, collective=life.collective)
    assert (await list_contested(contested, own.deps, LATER)).memories == ()

    assert (await erased(own, one("shown"))).removed.context_notes == 1
    assert (await read_agent_log(life.citizen, AgentLogQuery(), own.deps)).notes == ()
    await erased(own, one("rule"))
    graph = own.deps.graph(graph_name(Level.N1, life.citizen))
    assert await graph.read(CHECKS) == [[0]]


async def test_what_is_kept_beside_a_citizen_goes_with_it(own: Runtime) -> None:
    life = await lived(own.deps, "leaving")
    await ask(own.deps, life.citizen, "Where is the key?", now=LATER)
    report = await erased(own, EraseCitizen(citizen_id=life.citizen, with_copies=True))
    counts = report.removed
    assert (counts.predictions, counts.context_notes, counts.states) == (2, 1, 1)
    assert [(copy.id, copy.erased) for copy in report.copies] == [(life.copy, True)]
    await erased(own, EraseCollective(collective=life.collective))
    assert on_disk(own, f"teapot of {life.citizen}".encode()) == set()
    assert len(own.deps.notes) == 0
