"""What notebooks and other programs show of a stream: well-formed, and without markup of a memory."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree

from schemas.memory import ConsciousnessNode, Level, ResolutionState
from schemas.stream import ActivationTiers, ConsciousnessStream, GraphEdge, GraphNode, TraversalGraph

HOSTILE = "<script>alert(1)</script> \x00 & \"quoted\" 'so'"
AT = datetime(2026, 3, 1, tzinfo=UTC)
SPACE = "{http://graphml.graphdrawing.org/xmlns}"


def graph() -> TraversalGraph:
    felt: dict[str, Any] = {"energy": 0.5, "confidence": 0.8, "level": Level.N1, "emotion_vector": {"joy": 0.5}}
    told: dict[str, Any] = {"node_type": "Memory", "activation_score": 0.4, "activation_tier": "focus"}
    nodes = [
        GraphNode(node_id=name, content=HOSTILE, valid_at=AT, created_at=AT, **told, **felt)
        for name in ("a", "b&")
    ]
    made: dict[str, Any] = {"goal": "g", "mindstate": "m", "energy_transfer_coefficient": 0.5}
    edge = GraphEdge(
        edge_id="l", source_id="a", target_id="b&", relation_type="ABOUT", traversal_weight=0.3,
        resolution_state=ResolutionState.RESOLVED, **made, **felt,
    )  # fmt: skip
    held: dict[str, Any] = {"nodes": tuple(nodes), "edges": (edge,)}
    return TraversalGraph.model_construct(**held)


def test_the_node_link_form_names_each_memory_once_and_links_them() -> None:
    linked = graph().node_link()
    assert [node["id"] for node in linked["nodes"]] == ["N1|a", "N1|b&"]
    [edge] = linked["edges"]
    assert (edge["source"], edge["target"], edge["key"]) == ("N1|a", "N1|b&", "l")
    assert (linked["directed"], linked["multigraph"]) == (True, True)


def test_graphml_is_well_formed_and_declares_what_it_says() -> None:
    root = ElementTree.fromstring(graph().graphml())
    declared = {key.get("id"): key.get("attr.type") for key in root.iter(f"{SPACE}key")}
    assert (declared["node-energy"], declared["node-content"], declared["edge-relation_type"]) == (
        "double", "string", "string",
    )  # fmt: skip
    nodes = list(root.iter(f"{SPACE}node"))
    assert [node.get("id") for node in nodes] == ["N1|a", "N1|b&"]
    said = {data.get("key"): data.text for data in nodes[0]}
    assert said["node-content"] == HOSTILE.replace("\x00", "")
    assert said["node-emotion_vector"] == '{"joy": 0.5}'
    used = {data.get("key") for data in root.iter(f"{SPACE}data")}
    assert used == set(declared)


def html(focus: tuple[ConsciousnessNode, ...], peripheral: tuple[ConsciousnessNode, ...]) -> str:
    tiers: dict[str, Any] = {"focus": focus, "peripheral": peripheral, "background": ()}
    stream: dict[str, Any] = {"activation_tiers": ActivationTiers.model_construct(**tiers)}
    return ConsciousnessStream.model_construct(**stream)._repr_html_()


def test_a_notebook_shows_a_stream_without_markup_of_its_memories() -> None:
    said: dict[str, Any] = {"name": HOSTILE, "description": HOSTILE, "valid_at": AT}
    memory = ConsciousnessNode.model_construct(**said)
    shown = html((memory,), (memory,))
    assert "<script" not in shown
    assert (shown.count("<circle"), shown.count("<li>")) == (2, 1)
    assert "Nothing" in html((), ())
