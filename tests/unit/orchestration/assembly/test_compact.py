"""A stream as a text made for a prompt (`form=compact`)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.assembly.compact import NO_MEMORIES, compact
from orchestration.mind.dissonance import detect_temporal_dissonances
from orchestration.traversal.graph import graph_edges
from orchestration.traversal.probability import NO_STATE
from schemas.memory import ConsciousnessNode
from schemas.stream import (
    ActivationTiers,
    ConsciousnessStream,
    ConsciousnessSummary,
    Degradation,
)
from schemas.stream_parts import TraversalGraph
from schemas.temporal import TemporalMode
from schemas.validation import MetadataValidationReport
from tests.builders import a_node, a_relationship

DAY = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


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


def line(**fields: Any) -> str:
    text = compact(stream(ActivationTiers(focus=(a_node(valid_at=DAY, **fields),)), entities=["Caroline"]))
    return text.splitlines()[1]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (
            {"name": "D1:3", "speaker": "Caroline", "description": "I went to the harbour."},
            "- [8 May 2023] Caroline: I went to the harbour. (found over links; own word)",
        ),
        (
            {"name": "Harbour", "description": "Where the boats are.", "retrieval_source": "N1_vector"},
            "- [8 May 2023] Harbour: Where the boats are. (found by likeness; own word)",
        ),
        ({"name": "Caroline", "level": "N2"}, "- [8 May 2023] Caroline (named; collective; a citizen's word)"),
        (
            {
                "name": "schema",
                "resolution_state": "in_progress",
                "emotion_vector": {"drive": 0.85, "fear": 0.0, "calm": 0.2, "joy": 0.85, "awe": 0.1},
            },
            "- [8 May 2023] schema (found over links; own word; in progress; drive 0.85, joy 0.85, calm 0.2)",
        ),
        (
            {"name": "old", "invalid_at": DAY + timedelta(days=1), "invalidation_reason": "reality_changed"},
            "- [8 May 2023] old (found over links; own word; true until 9 May 2023; the world changed)",
        ),
        (
            {"name": "wrong", "expired_at": DAY + timedelta(days=2), "invalidation_reason": "discovered_false"},
            "- [8 May 2023] wrong (found over links; own word; believed until 10 May 2023; found to be false)",
        ),
        (
            {"name": "two\nlines", "description": 'one \r\n\r\n and\u2028another; "quoted" # & <kept>'},
            '- [8 May 2023] two lines: one and another; "quoted" # & <kept> (found over links; own word)',
        ),
    ],
)
def test_a_memory_is_one_line(fields: dict[str, Any], expected: str) -> None:
    assert line(**fields) == expected


def test_with_ids_a_line_has_the_id_of_its_memory() -> None:
    text = compact(
        stream(ActivationTiers(peripheral=(a_node(node_id="m_1", name="Tea", valid_at=DAY),))), ids=True
    )
    assert text.splitlines()[1] == "- [8 May 2023] Tea (found over links; own word; id m_1)"


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
            "- [8 May 2023] schema design (found over links; own word; blocked)",
            "- [8 May 2023] asked Luca (found over links; own word)",
            "",
            "# Peripheral",
            "- [8 May 2023] far (found over links; own word)",
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


def test_an_empty_stream_says_so() -> None:
    assert compact(stream(ActivationTiers())) == NO_MEMORIES
    degraded = stream(ActivationTiers(), degraded=[Degradation(query="N1_graph", reason="late")])
    assert compact(degraded) == f"{NO_MEMORIES}\n\n# Missing\n- N1_graph: late"


def test_where_nothing_fits_the_memories_are_named_as_the_nearest() -> None:
    near = ActivationTiers(peripheral=(a_node(valid_at=DAY, name="Tea", description="Tom takes it black."),))
    text = compact(stream(near, answer_confidence=0.1, nothing_fits=True))
    assert text.splitlines()[0] == "# Nothing fits the question. The nearest"
    assert "Tom takes it black." in text
    assert compact(stream(near)).splitlines()[0] == "# Peripheral"


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


def test_what_seems_to_have_been_overtaken_says_until_when_it_held_and_how_often_it_was_said() -> None:
    text = line(
        overtaken_by="lisbon", overtaken_at=datetime(2025, 6, 4, tzinfo=UTC), duplicates=("again", "once more")
    )
    assert "4 June 2025, it seems" in text
    assert "said 3 times" in text
