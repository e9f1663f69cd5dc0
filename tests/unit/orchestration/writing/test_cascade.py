"""What follows from a resolution, worked out from links and states alone."""

from __future__ import annotations

from orchestration.writing.cascade import Plan, Planning, Root
from substrate.store.work_links import WorkLink, WorkState

BLOCKED, OVER = (frozenset({state}) for state in ("blocked", "resolved"))


def link(at: str, source: str, kind: str, target: str) -> WorkLink:
    return WorkLink(at, f"{source}|{kind}|{target}", kind, source, target)


def plan(links: list[WorkLink], waits: list[WorkLink], *, room: int = 9, **states: frozenset[str]) -> Plan:
    """What follows when the memory `b` is resolved."""
    planning = Planning(Root("b"))
    assert planning.take_frontier() == ["b"]
    planning.add_links(links)
    planning.add_states({name: WorkState(name, held) for name, held in states.items()})
    return planning.finish(waits, cut=False, room=room)


def test_what_waited_goes_on_with_its_last_link() -> None:
    found = plan([link("b", "x", "BLOCKED_BY", "b"), link("b", "b", "BLOCKS", "x")], [], x=BLOCKED)
    assert [(step.id, step.state) for step in found.steps] == [
        ("x|BLOCKED_BY|b", "resolved"),
        ("b|BLOCKS|x", "resolved"),
        ("x", "in_progress"),
    ]


def test_what_still_waits_for_something_else_stays_and_says_for_what() -> None:
    waits = [link("x", "x", "DEPENDS_ON", "c")]
    found = plan([link("b", "x", "BLOCKED_BY", "b")], waits, x=BLOCKED, c=BLOCKED)
    assert [step.id for step in found.steps] == ["x|BLOCKED_BY|b"]
    assert [(each.id, each.awaited) for each in found.waiting] == [("x", ("c",))]


def test_a_blocker_that_is_over_holds_nothing_up() -> None:
    waits = [link("x", "x", "DEPENDS_ON", "c")]
    found = plan([link("b", "x", "BLOCKED_BY", "b")], waits, x=BLOCKED, c=OVER)
    assert [step.id for step in found.steps] == ["x|BLOCKED_BY|b", "x"]


def test_links_of_work_come_first_and_what_has_no_room_is_counted() -> None:
    links = [link("b", "b", "FELT", "a"), link("b", "x", "BLOCKED_BY", "b"), link("b", "y", "BLOCKED_BY", "b")]
    found = plan(links, [], room=3, x=BLOCKED, y=BLOCKED)
    assert [step.id for step in found.steps] == ["x|BLOCKED_BY|b", "x"]
    assert found.further == 3


def test_a_resolved_link_to_a_solution_leads_to_its_problem() -> None:
    planning = Planning(Root("p|RESOLVED_BY|s", link("", "p", "RESOLVED_BY", "s")))
    assert planning.take_frontier() == []
    planning.add_states({"p": WorkState("p", BLOCKED)})
    assert planning.take_frontier() == ["p"]
    assert [step.id for step in planning.finish([], cut=False, room=9).steps] == ["p"]


def test_a_problem_without_a_state_is_left_alone() -> None:
    planning = Planning(Root("p|RESOLVED_BY|s", link("", "p", "RESOLVED_BY", "s")))
    planning.add_states({"p": WorkState("p", frozenset({""}))})
    assert planning.take_frontier() == []
    assert planning.finish([], cut=False, room=9).steps == ()
