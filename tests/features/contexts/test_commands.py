"""The commands that write a context."""

from __future__ import annotations

from typing import Any

from orchestration.features.contexts.commands import edge_commands, memory_command
from orchestration.features.contexts.mending import mend
from orchestration.features.contexts.values import WriteContext
from schemas.memory import CONTEXT, ResolutionState

IDS = {"kai": "person:kai", "egor": "person:egor", "m-7": "m-7"}


def a_context(**given: Any) -> WriteContext:
    return WriteContext(**{"citizen_id": "kai", "description": "Egor criticized the plan.", **given})


def test_the_memory_has_what_the_context_says_and_nothing_that_it_does_not() -> None:
    full = memory_command(
        mend(a_context(action="show the plan", emotion="joy", intensity=0.4, result="positive", certainty=0.8)),
        "c",
    )
    assert (full.node_type, full.name, full.emotion_vector) == (CONTEXT, "show the plan", {"joy": 0.4})
    assert (full.result, full.confidence, full.command_id) == ("positive", 0.8, "c")
    bare = memory_command(mend(a_context()), "c")
    assert not bare.model_fields_set & {"confidence", "emotion_vector", "result", "rule", "intensity"}
    assert bare.name == "Egor criticized the plan."


def test_a_long_description_gives_a_short_name() -> None:
    assert len(memory_command(mend(a_context(description="word " * 100)), "c").name) <= 80
    assert len(memory_command(mend(a_context(description="w" * 300)), "c").name) <= 80


def test_an_edge_takes_what_it_lacks_from_its_context_and_says_so() -> None:
    context = mend(a_context(emotion="joy", intensity=0.4, certainty=0.8, action="wait")).context
    edges = mend(a_context(edges=["Egor|CRITICIZED|Kai"])).context.edges
    [edge] = edge_commands(context, "x", edges, IDS)
    command = edge.command
    assert (command.source_id, command.target_id, command.id) == ("person:egor", "person:kai", "x:0")
    assert (command.energy, command.confidence, command.goal, command.mindstate) == (0.4, 0.8, "wait", "joy")
    assert command.emotion_vector == {"joy": 0.4}
    assert (command.episode_id, command.resolution_state) == ("x", ResolutionState.RESOLVED)
    assert edge.shown.filled == ("goal", "mindstate", "energy", "certainty")
    assert not command.model_fields_set & {"goal", "mindstate", "energy", "confidence"}


def test_what_an_edge_says_itself_counts() -> None:
    said = {"source": "m-7", "relation_type": "saw", "target": "Kai", "goal": "learn", "energy": 0.9}
    context = mend(a_context(nodes=[{"id": "m-7"}], edges=[said])).context
    [edge] = edge_commands(context, "x", context.edges, IDS)
    assert (edge.command.source_id, edge.command.goal, edge.command.energy) == ("m-7", "learn", 0.9)
    assert edge.shown.filled == ("mindstate", "certainty")
