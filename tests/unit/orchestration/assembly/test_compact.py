"""A stream as a text made for a prompt (`form=compact`)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.assembly.budget import stems_of
from orchestration.assembly.compact import REASONS, tell
from orchestration.mind.dissonance import detect_temporal_dissonances
from orchestration.traversal.graph import graph_edges
from orchestration.traversal.paths import NO_STATE
from schemas.memory import ClosedReason, ConsciousnessNode, MetadataValidationReport
from schemas.stream import (
    ActivationTiers,
    ConsciousnessStream,
    ConsciousnessSummary,
    Degradation,
    TraversalGraph,
)
from schemas.temporal import TemporalMode
from tests.builders import a_node, a_relationship

DAY = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
CONTEST = {"by": "kai", "reason": "It is blue.", "statement_id": "s", "link_id": "l", "since": DAY}


def stream(tiers: ActivationTiers, **fields: Any) -> ConsciousnessStream:
    return ConsciousnessStream.model_validate(
        {
            "intention_id": "i",
            "citizen_id": "ada",
            "temporal_mode": "current",
            "retrieved_at": DAY,
            "levels": {},
            "activation_tiers": tiers,
            "traversal_graph": TraversalGraph(),
            "energy_feedback_potential": 0.0,
            "metadata_validation": MetadataValidationReport(),
            "consciousness_summary": ConsciousnessSummary(),
            "retrieval_latency_ms": 1.0,
            "query_count": 6,
            **fields,
        }
    )


def compact(told: ConsciousnessStream, *, ids: bool = False) -> str:
    return tell(told, ids=ids).text


def line(**fields: Any) -> str:
    text = compact(stream(ActivationTiers(focus=(a_node(valid_at=DAY, **fields),))))
    return text.splitlines()[1]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (
            {"name": "D1:3", "speaker": "Caroline", "description": "I went to the harbour."},
            "- [8 May 2023] Caroline: I went to the harbour.",
        ),
        (
            {"name": "Harbour", "description": "Where the boats are.", "retrieval_source": "N1_vector"},
            "- [8 May 2023] Harbour: Where the boats are.",
        ),
        (
            {"name": "Where the boats…", "description": "Where the boats are."},
            "- [8 May 2023] Where the boats are.",
        ),
        (
            {
                "name": "schema",
                "resolution_state": "in_progress",
                "emotion_vector": {"drive": 0.85, "fear": 0.0, "calm": 0.2, "joy": 0.85, "awe": 0.1},
            },
            "- [8 May 2023] schema (in progress; drive 0.85, joy 0.85, calm 0.2)",
        ),
        (
            {"name": "old", "invalid_at": DAY + timedelta(days=1), "invalidation_reason": "reality_changed"},
            "- [8 May 2023] old (true until 9 May 2023; the world changed)",
        ),
        (
            {"name": "wrong", "expired_at": DAY + timedelta(days=2), "invalidation_reason": "discovered_false"},
            "- [8 May 2023] wrong (believed until 10 May 2023; found to be false)",
        ),
        (
            {"name": "two\nlines", "description": 'one \r\n\r\n and\u2028another; "quoted" # & <kept>'},
            '- [8 May 2023] two lines: one and another; "quoted" # & <kept>',
        ),
    ],
)
def test_a_memory_is_one_line(fields: dict[str, Any], expected: str) -> None:
    assert line(**fields) == expected


@pytest.mark.parametrize(
    ("fields", "mark"),
    [
        ({"source": "citizen"}, ""),
        ({"source": "ingestion", "speaker": "Kai"}, ""),
        ({"source": "ingestion"}, " (ingested)"),
        ({"source": "tool"}, " (a tool's word)"),
        ({"source": "tool", "speaker": "Kai"}, " (a tool's word)"),
        ({"source": "upkeep"}, " (upkeep's word)"),
        ({"source": "system"}, " (the system's word)"),
        ({"level": "N2", "author": "kai"}, " (collective; kai's word)"),
        ({"level": "N2", "collective": "atlas"}, " (collective atlas; a citizen's word)"),
        ({"level": "N3", "source": "ingestion", "speaker": "Kai"}, " (ecosystem; ingested)"),
        (
            {"level": "N2", "contested": [CONTEST]},
            " (collective; a citizen's word; contested by kai: It is blue.)",
        ),
    ],
)
def test_what_is_not_the_citizens_own_present_word_says_so_and_nothing_else_does(
    fields: dict[str, Any], mark: str
) -> None:
    name = fields.get("speaker", "Boat")
    assert (
        line(name="Boat", description="The boat is red.", **fields)
        == f"- [8 May 2023] {name}: The boat is red.{mark}"
    )


@pytest.mark.parametrize(
    "empty",
    [
        {"node_type": "Person", "name": "Ann"},
        {"node_type": "Session", "name": "session 1: boats", "source": "ingestion"},
        {"node_type": "Place", "name": "Bergen", "source": "ingestion"},
    ],
)
def test_a_name_without_a_text_is_not_told_and_does_not_count_as_missing(empty: dict[str, Any]) -> None:
    tiers = ActivationTiers(focus=(a_node(valid_at=DAY, name="Tea"),), peripheral=(a_node(valid_at=DAY, **empty),))
    assert compact(stream(tiers)) == "# In focus\n- [8 May 2023] Tea"
    described = {**empty, "node_type": "Person", "description": "She rows."}
    assert "She rows." in compact(stream(ActivationTiers(peripheral=(a_node(valid_at=DAY, **described),))))


SHARED = {
    name: a_node(node_id=name, name=name, description=text, level=level, valid_at=DAY)
    for name, text, level in (
        ("own", "The bakery opens early.", "N1"),
        ("near", "The ferry of the harbour leaves at six.", "N2"),
        ("far", "A court rules on prices.", "N3"),
    )
}


def ids_told(tiers: ActivationTiers, question: str) -> list[str]:
    return [node.node_id for node in tell(stream(tiers), None, stems_of(question)).memories]


@pytest.mark.parametrize("names", list(permutations(SHARED)))
def test_the_own_life_comes_first_and_what_is_shared_where_it_has_the_words_of_the_question(
    names: tuple[str, ...],
) -> None:
    nodes = tuple(SHARED[name] for name in names)
    asked = "When does the harbour ferry leave?"
    fitting = [name for name in names if name != "far"]
    assert ids_told(ActivationTiers(focus=nodes), asked) == [*fitting, "far"]
    assert ids_told(ActivationTiers(peripheral=nodes), asked) == fitting
    assert ids_told(ActivationTiers(background=nodes), asked) == fitting
    woken = [name for name in names if name != "own"]
    assert ids_told(ActivationTiers(focus=nodes), "") == ["own", *woken]
    assert ids_told(ActivationTiers(peripheral=nodes), "") == ["own"]


def test_the_whole_text_by_hand() -> None:
    blocked = a_node(node_id="a", name="schema design", valid_at=DAY, resolution_state="blocked")
    asked = a_node(node_id="b", name="asked Luca", valid_at=DAY)
    far = a_node(node_id="c", name="far", valid_at=DAY)
    tiers = ActivationTiers(focus=(blocked, asked), peripheral=(far,))
    links = (
        a_relationship(
            source_id="a",
            target_id="b",
            relation_type="RESOLVED_BY",
            goal="decide the\nschema",
            resolution_state="resolved",
            emotion_vector={"relief": 0.7},
        ),
        a_relationship(source_id="b", target_id="c"),
    )
    old = a_node(
        node_id="a",
        name="phase 2",
        description="It is unfinished.",
        created_at=DAY,
        expired_at=DAY + timedelta(days=2),
        invalidation_reason="discovered_false",
    )
    new = a_node(
        node_id="a",
        name="phase 2",
        description="It was\ndone all along.",
        version=2,
        created_at=DAY + timedelta(days=2),
        correction_pattern_id="open-the-branch",
        emotion_vector={"shame": 0.6},
    )
    changes = detect_temporal_dissonances([old, new], TemporalMode.FULL_HISTORY)
    text = compact(
        stream(
            tiers,
            traversal_graph=TraversalGraph(edges=graph_edges(links, NO_STATE)),
            temporal_dissonances=changes,
            degraded=[Degradation(query="N2_graph", reason="no answer within 1.25 s")],
            omitted=3,
        )
    )
    assert text == "\n".join(
        [
            "# In focus",
            "- [8 May 2023] schema design (blocked)",
            "- [8 May 2023] asked Luca",
            "",
            "# Peripheral",
            "- [8 May 2023] far",
            "",
            "# Links in focus",
            "- schema design → resolved by → asked Luca (resolved; goal: decide the schema; relief 0.7)",
            "",
            "# Beliefs that changed",
            "- [10 May 2023] phase 2: was “It is unfinished.”, now “It was done all along.” (found to be false;"
            " Corrected by open-the-branch; believed since 8 May 2023; shame 0.6)",
            "",
            "# Missing",
            "- N2_graph: no answer within 1.25 s",
            "- 3 memories did not fit",
        ]
    )


memories = st.builds(
    lambda name, text, speaker, state: a_node(
        node_id=name, name=name or "m", description=text, speaker=speaker, resolution_state=state
    ),
    st.text(max_size=20),
    st.text(max_size=60),
    st.none() | st.text(max_size=10),
    st.sampled_from([None, "blocked", "resolved"]),
)


@given(st.lists(memories, max_size=5), st.lists(memories, max_size=5))
def test_each_memory_is_one_line_and_the_same_stream_gives_the_same_text(
    focus: list[ConsciousnessNode], rest: list[ConsciousnessNode]
) -> None:
    tiers = ActivationTiers(focus=tuple(focus), peripheral=tuple(rest))
    text = compact(stream(tiers))
    assert text == compact(stream(tiers))
    assert sum(one.startswith("- ") for one in text.splitlines()) == len(focus) + len(rest)


def test_every_reason_for_which_a_record_is_closed_has_words() -> None:
    assert set(REASONS) == set(get_args(ClosedReason))
