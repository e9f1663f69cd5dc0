"""A stream that was found before shows at each moment the energies that are left, and is else as it was."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestration.assembly.sent_form import FadingStream
from orchestration.mind.energy import DAY, Decay
from schemas.memory import HALF_LIVES, HalfLives
from schemas.stream import ActivationTiers, ConsciousnessLevelResults, ConsciousnessStream
from schemas.temporal import to_instant
from tests.builders import a_node, a_relationship
from tests.unit.orchestration.assembly.test_sent_form import a_stream

STATES = ("blocked", "in_progress", "resolved")
MOMENTS = st.lists(st.integers(0, 400 * DAY) | st.integers(0, 1000), min_size=1, max_size=5)


def stream_at(decay: Decay) -> ConsciousnessStream:
    """Four memories that stand in several places, and three links."""
    found = [a_node(node_id=f"m{number}", energy=number / 4) for number in range(4)]
    joined = [a_relationship(link_id=f"l{number}", resolution_state=state) for number, state in enumerate(STATES)]
    nodes, links = decay.show(found), decay.show(joined)
    level = ConsciousnessLevelResults(vector_results=nodes[1:3], graph_results=nodes, relationships=links)
    other = ConsciousnessLevelResults(graph_results=nodes[:1])
    tiers = ActivationTiers(focus=nodes[:1], peripheral=nodes[1:2], background=nodes[2:])
    return a_stream(levels={"n1_personal": level, "n2_collective": other}, activation_tiers=tiers)


BEGUN = to_instant(a_node().valid_at)


@given(MOMENTS)
def test_at_any_moment_it_is_the_stream_that_would_be_found_then(ages: list[int]) -> None:
    fading = FadingStream(stream_at(Decay(HALF_LIVES, BEGUN)))
    for age in ages:
        decay = Decay(HALF_LIVES, BEGUN + age)
        shown = fading.at(decay)
        assert shown == stream_at(decay)
        assert fading.shows(decay)
        assert fading.at(decay) is shown


def test_energies_that_were_made_otherwise_are_not_taken_for_its_own() -> None:
    fading = FadingStream(stream_at(Decay(HALF_LIVES, BEGUN + DAY)))
    others = (
        Decay(HalfLives(blocked=1, in_progress=1, unset=1, resolved=1), BEGUN + DAY),
        Decay(None, BEGUN + DAY),
    )
    assert [fading.shows(other) for other in others] == [False, False]
