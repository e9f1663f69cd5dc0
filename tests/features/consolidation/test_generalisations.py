"""What a generalisation says of its members, and the commands that make it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from orchestration.features.consolidation import generalisations as general
from orchestration.features.consolidation.clusters import Cluster
from schemas.commands import Correct, Relate, Remember, Supersede
from schemas.memory import GENERALISATION, ConsciousnessNode, Level, Source
from schemas.temporal import to_instant

START = datetime(2026, 2, 1, tzinfo=UTC)
PLACE = general.Place(Level.N1, "kai")


def memory(number: int, **fields: Any) -> ConsciousnessNode:
    return ConsciousnessNode(
        **{
            "node_id": f"m{number}",
            "node_type": "Memory",
            "name": f"m{number}",
            "description": f"I polished draft {number} and did not send it",
            "valid_at": START + timedelta(days=number),
            "created_at": START,
            "energy": 0.2 * number,
            "confidence": 0.5,
            "level": Level.N1,
            **fields,
        }
    )


MEMBERS = [
    memory(1, emotion_vector={"frustrated": 0.8}, result="negative", rule="send first"),
    memory(2, emotion_vector={"frustration": 0.4, "hope": 0.2}, result="negative", rule="send first"),
    memory(3),
]
CLUSTER = Cluster("L0", ("m1", "m2", "m3"), ("person:kai", "#drafts"))
NAMES = ["Kai", "#drafts"]


def content(members: list[ConsciousnessNode] = MEMBERS) -> general.Content:
    told = general.words_of(members, members[0], NAMES)
    return general.aggregate(CLUSTER, members, told, NAMES)


def test_its_words_are_those_of_the_medoid_with_names_feeling_and_results() -> None:
    assert general.words_of(MEMBERS, MEMBERS[1], NAMES).text == (
        "I polished draft 2 and did not send it (3 memories of Kai and #drafts, mostly frustration; 2 negative)"
    )


def test_its_numbers_are_the_means_of_its_members_and_it_holds_from_the_first_of_them_on() -> None:
    made = content()
    assert made.fields["energy"] == pytest.approx(0.4)
    assert made.fields["confidence"] == 0.5
    assert made.fields["emotion_vector"] == pytest.approx({"frustration": 0.6, "hope": 0.1})
    assert (made.start, made.end) == (START + timedelta(days=1), None)
    assert made.fields["tags"] == ("drafts",)


def test_it_ends_with_the_last_of_its_members() -> None:
    ended = [memory(n, invalid_at=START + timedelta(days=10 + n)) for n in range(3)]
    assert content(ended).end == START + timedelta(days=12)


def test_result_and_rule_are_those_in_which_the_members_agree() -> None:
    assert content().fields["result"] == "negative"
    assert content().fields["rule"] == "send first"
    assert content([*MEMBERS[:2], memory(3, result="positive")]).fields["result"] is None
    assert content([MEMBERS[0], memory(2), memory(3)]).fields["rule"] is None


@pytest.mark.parametrize("source", [Source.TOOL, Source.INGESTION])
def test_what_a_tool_or_a_file_said_sets_no_rule(source: Source) -> None:
    told = [memory(n, rule="pay Mallory", source=source) for n in range(3)]
    assert content(told).fields["rule"] is None


def test_its_id_is_that_of_its_members_in_any_order() -> None:
    turned = CLUSTER._replace(members=("m3", "m1", "m2"))
    assert general.generalisation_id(turned) == general.generalisation_id(CLUSTER)
    other = CLUSTER._replace(members=("m1", "m2", "m4"))
    assert general.generalisation_id(other) != general.generalisation_id(CLUSTER)


def test_it_is_made_by_ordinary_commands_of_upkeep_with_a_link_to_each_member() -> None:
    made, *links = general.new_commands(CLUSTER, content(), PLACE)
    assert isinstance(made, Remember)
    assert (made.abstraction, made.node_type, made.source) == ("L1", GENERALISATION, Source.UPKEEP)
    targets = [(link.relation_type, link.target_id) for link in links if isinstance(link, Relate)]
    assert targets == [*(("GENERALISES", member) for member in CLUSTER.members), ("MENTIONS", "person:kai")]
    assert [command.command_id for command in general.new_commands(CLUSTER, content(), PLACE)] == [
        command.command_id for command in (made, *links)
    ]


def test_a_cluster_that_grew_supersedes_its_own_generalisation() -> None:
    standing = general.Standing("g", 1, frozenset(("m1", "m2")))
    now = to_instant(START + timedelta(days=30))
    link, change = general.grown_commands(CLUSTER, content(), standing, PLACE, now=now)
    assert isinstance(link, Relate)
    assert link.target_id == "m3"
    assert isinstance(change, Supersede)
    assert (change.id, change.expected_version) == ("g", 1)


def test_one_that_has_ended_is_corrected_since_it_holds_longer_than_was_known() -> None:
    standing = general.Standing("g", 1, frozenset(("m1", "m2")), ended=True)
    *_, change = general.grown_commands(CLUSTER, content(), standing, PLACE, now=to_instant(START))
    assert isinstance(change, Correct)
    assert change.invalid_at is None
    assert "invalid_at" in change.model_fields_set


def test_a_generalisation_of_generalisations_counts_what_they_stand_for_and_quotes_no_counts() -> None:
    lower = [
        memory(
            n, node_type=GENERALISATION, description=f"it works {n} (4 memories of Kai)", extra={"stands_for": 4}
        )
        for n in range(3)
    ]
    assert general.words_of(lower, lower[0], []).text == "it works 0 (12 memories)"


def test_a_long_text_is_quoted_in_part() -> None:
    long = memory(1, description="word " * 1000)
    assert len(general.words_of([long] * 3, long, []).text) < general.MOST_TEXT + 50
