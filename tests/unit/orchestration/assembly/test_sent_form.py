"""A stream as it is sent: whole, by reference, and only some sections."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from orchestration.assembly.sent_form import sparse_row, stream_json
from orchestration.traversal.graph import build_graph
from schemas.base import Sparse
from schemas.intention import Form
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship, Level, ResolutionState
from schemas.stream import LEVEL_NAMES, ActivationTiers, ConsciousnessLevelResults, ConsciousnessStream
from schemas.stream_forms import PART_FIELDS, StreamAnswer, as_stream, reference, referenced
from schemas.temporal import TemporalMode
from tests.builders import NOW, a_node

COLLECTIVES = (None, "atlas")
ALWAYS = {"stream_id", "intention_id", "citizen_id", "temporal_mode", "retrieved_at", "form", "omitted"}


@st.composite
def streams(draw: st.DrawFn) -> ConsciousnessStream:
    """A stream in which ids repeat over graphs and versions, and memories over its sections."""
    places = [(Level.N1, None), *((Level.N2, collective) for collective in COLLECTIVES)]
    keys = st.tuples(st.sampled_from(places), st.sampled_from("abc"), st.integers(1, 3))
    nodes = [_node(*key, draw) for key in draw(st.lists(keys, unique=True, max_size=8))]
    links = [_link(draw(st.sampled_from("xyz")), *draw(st.tuples(*[st.sampled_from(nodes)] * 2))) for _ in nodes]
    links = list({reference(link): link for link in links}.values())
    some = st.lists(st.sampled_from(nodes), unique_by=id, max_size=5) if nodes else st.just([])
    cut = draw(st.integers(0, len(nodes)))
    tiers = ActivationTiers(focus=tuple(nodes[:cut][:5]), background=tuple(nodes[cut:]))
    levels = {
        LEVEL_NAMES[level]: ConsciousnessLevelResults(
            vector_results=tuple(node for node in draw(some) if node.level is level),
            graph_results=tuple(node for node in nodes if node.level is level),
            relationships=tuple(link for link in links if link.level is level),
        )
        for level in Level
    }
    graph = build_graph(nodes, tiers, [link for level in levels.values() for link in level.relationships])
    return a_stream(levels=levels, activation_tiers=tiers, traversal_graph=graph)


def _node(place: tuple[Level, str | None], name: str, version: int, draw: st.DrawFn) -> ConsciousnessNode:
    level, collective = place
    fields: dict[str, Any] = {"level": level, "collective": collective, "version": version}
    fields["created_at"] = NOW + timedelta(hours=version)
    fields["tags"] = draw(st.sampled_from([(), ("boat",)]))
    fields["emotion_vector"] = draw(st.sampled_from([None, {"joy": 0.5}]))
    fields["relevance_score"] = draw(st.sampled_from([0.0, 0.25, 1.5]))
    return a_node(node_id=name, **fields)


def _link(name: str, source: ConsciousnessNode, target: ConsciousnessNode) -> ConsciousnessRelationship:
    ends: dict[str, Any] = {"source_id": source.node_id, "target_id": target.node_id}
    return ConsciousnessRelationship(
        link_id=name,
        relation_type="NEXT",
        goal="sail",
        mindstate="calm",
        energy=0.5,
        confidence=0.5,
        energy_transfer_coefficient=0.5,
        resolution_state=ResolutionState.IN_PROGRESS,
        valid_at=NOW,
        created_at=NOW,
        level=source.level,
        collective=source.collective,
        **ends,
    )


def a_stream(**fields: Any) -> ConsciousnessStream:
    whole: dict[str, Any] = {
        "intention_id": "i",
        "citizen_id": "ada",
        "temporal_mode": TemporalMode.CURRENT,
        "retrieved_at": NOW,
        **fields,
    }
    return ConsciousnessStream(**whole)


@settings(max_examples=30)
@given(streams())
def test_references_name_each_record_once_and_lose_nothing(stream: ConsciousnessStream) -> None:
    sent = referenced(stream)
    assert len({id(node) for node in sent.memories.values()}) == len(sent.memories)
    assert sent.expanded() == stream


@settings(max_examples=30)
@given(streams(), st.sampled_from(["full", "references", "compact"]))
def test_what_is_sent_is_read_as_the_same_stream(stream: ConsciousnessStream, form: Form) -> None:
    answer = as_stream(StreamAnswer.model_validate_json(stream_json(stream, form, tuple(PART_FIELDS))).root)
    assert answer.token_counts is not None
    assert answer.model_copy(update={"token_counts": None}) == stream


def plain(value: Any) -> Any:
    """The value with a dictionary in place of each model, so that its JSON is made at once."""
    if isinstance(value, Sparse):
        return plain(sparse_row(value))
    if isinstance(value, BaseModel):
        return plain({name: each for name, each in vars(value).items() if each is not None})
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return list(map(plain, value)) if isinstance(value, tuple) else value


@settings(max_examples=30)
@given(streams(), st.sampled_from(["full", "references", "compact"]))
def test_records_that_are_made_once_are_sent_as_their_models(stream: ConsciousnessStream, form: Form) -> None:
    body = stream_json(stream, form, tuple(PART_FIELDS))
    model = stream if form == "full" else referenced(stream)
    sent, _, counts = body.rpartition(b',"token_counts":')
    assert counts
    assert sent + b"}" == orjson.dumps({**plain(model), "form": form}, option=orjson.OPT_UTC_Z)


@settings(max_examples=30)
@given(streams())
def test_no_null_and_no_default_of_a_record_is_sent(stream: ConsciousnessStream) -> None:
    sent = orjson.loads(stream_json(stream, "full"))
    assert None not in sent.values()
    for tier in sent["activation_tiers"].values():
        for node in tier:
            assert not {"invalid_at", "extra", "contested", "goal"} & node.keys()
            assert [] not in node.values()


@pytest.mark.parametrize("form", ["full", "references", "compact"])
def test_the_parts_that_are_asked_for_are_sent_and_no_others(form: Form) -> None:
    stream = a_stream(text="A text.", levels={"n1_personal": ConsciousnessLevelResults()})
    for part, fields in PART_FIELDS.items():
        sent = orjson.loads(stream_json(stream, form, [part]))
        others = {field for other in PART_FIELDS.values() for field in other} - set(fields)
        assert not others & sent.keys()
        assert sent.keys() >= ALWAYS
    assert "levels" in orjson.loads(stream_json(stream, form, ["levels"]))
    assert ("levels" in orjson.loads(stream_json(stream, form))) is (form != "compact")
