"""What a context says badly is refused, or mended with a warning."""

from __future__ import annotations

from typing import Any

import pytest

from orchestration.features.contexts.mending import MOST_CERTAIN, mend, sparse_warning
from orchestration.features.contexts.values import MOST_NODES, GivenEdge, WriteContext
from schemas.errors import InvalidRequest


def a_context(**given: Any) -> WriteContext:
    return WriteContext(**{"citizen_id": "kai", "description": "Egor criticized the plan.", **given})


@pytest.mark.parametrize("name", ["None", "null", "", "  ", "undefined", "N/A"])
def test_a_node_without_a_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidRequest, match=r"nodes\.1: .* is no name"):
        mend(a_context(nodes=["Kai", name]))


def test_every_fault_is_named_at_once() -> None:
    with pytest.raises(InvalidRequest) as refused:
        mend(a_context(description="none", nodes=["null", "n" * 200], edges=["Kai|NONE|Egor"]))
    assert [fault.partition(":")[0] for fault in refused.value.faults] == [
        "description", "nodes.0", "nodes.1", "edges.0.relation_type",
    ]  # fmt: skip


def test_nodes_and_edges_count_once_however_they_are_written() -> None:
    mended = mend(
        a_context(nodes=["Kai", "kai", "Egor"], edges=["Kai|LIKES|Egor", "kai|likes|EGOR", "Kai|SEES|Kai"])
    )
    assert [node.name for node in mended.context.nodes] == ["Kai", "Egor"]
    assert [edge.relation_type for edge in mended.context.edges] == ["LIKES"]
    assert len(mended.warnings) == 3


def test_the_ends_of_edges_become_nodes() -> None:
    mended = mend(a_context(nodes=["Kai"], edges=["Kai|LIKES|Egor"]))
    assert [node.name for node in mended.context.nodes] == ["Kai", "Egor"]
    assert mended.warnings == ("nodes: Egor was added, because an edge names it",)


def test_too_many_ends_are_refused() -> None:
    edges = [f"left {place}|NEXT|right {place}" for place in range(20)]
    with pytest.raises(InvalidRequest, match=f"has 40, at most {MOST_NODES}"):
        mend(a_context(edges=edges))


def test_a_circle_of_edges_is_kept() -> None:
    mended = mend(a_context(edges=["a1|NEXT|b1", "b1|NEXT|c1", "c1|NEXT|a1"]))
    assert len(mended.context.edges) == 3


def test_a_feeling_is_a_name_in_normal_form() -> None:
    assert mend(a_context(emotion="Frustrated")).context.emotion == "frustration"


def test_a_feeling_that_is_a_text_is_read_and_kept_beside() -> None:
    text = "I felt so lonely all day and did not know what to do"
    mended = mend(a_context(emotion=text))
    assert (mended.context.emotion, mended.felt) == ("loneliness", text)
    assert "kept as felt_quality" in mended.warnings[0]


def test_a_text_without_a_feeling_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="name one feeling"):
        mend(a_context(emotion="the table stands in the corner of the room"))


@pytest.mark.parametrize("name", ["neutral", "None", ""])
def test_no_feeling_is_left_out_with_a_warning(name: str) -> None:
    mended = mend(a_context(emotion=name))
    assert (mended.context.emotion, len(mended.warnings)) == (None, 1)


def test_a_result_is_a_word_or_is_read_from_its_text() -> None:
    assert mend(a_context(result=" Positive ")).context.result == "positive"
    mended = mend(a_context(result="in the end the whole thing failed"))
    assert (mended.context.result, mended.told_result) == ("negative", "in the end the whole thing failed")
    with pytest.raises(InvalidRequest, match="result: name it"):
        mend(a_context(result="the table stands in the corner"))


def test_nothing_is_beyond_doubt_and_what_nobody_gave_is_named() -> None:
    assert mend(a_context(certainty=1.0)).context.certainty == MOST_CERTAIN
    assert mend(a_context(certainty=0.7)).warnings == ()
    assert mend(a_context()).filled == ("certainty",)
    assert mend(a_context(emotion="joy", certainty=0.5)).filled == ("intensity",)


def test_a_rule_that_says_nothing_is_left_out() -> None:
    mended = mend(a_context(rule="None"))
    assert (mended.context.rule, mended.warnings) == (None, ("rule: 'None' says nothing and was left out",))


def test_several_nodes_without_edges_are_told_of() -> None:
    context = a_context(nodes=["Kai", "Egor"])
    read = GivenEdge(source="Egor", relation_type="CRITICIZED", target="Kai")
    assert "none was found" in (sparse_warning(context, ()) or "")
    assert "Egor|CRITICIZED|Kai" in (sparse_warning(context, [read]) or "")
    assert sparse_warning(a_context(nodes=["Kai"]), ()) is None
    assert sparse_warning(a_context(nodes=["Kai", "Egor"], edges=["Kai|LIKES|Egor"]), ()) is None
