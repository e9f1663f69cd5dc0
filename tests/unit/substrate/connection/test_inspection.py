"""What is wrong among the servers of a store is said, each fault with what to do."""

from __future__ import annotations

import pytest

from substrate.connection.inspection import ServerReport, find_faults

WHOLE = (
    ServerReport("a:1", "primary", "8.6.0", "4.20.1", replicas=1, slots=8_192),
    ServerReport("b:1", "primary", "8.6.0", "4.20.1", replicas=1, slots=8_192),
    ServerReport("a:2", "replica", "8.6.0", "4.20.1", lag=0),
    ServerReport("b:2", "replica", "8.6.0", "4.20.1", lag=0),
)


def test_of_servers_that_are_as_they_should_be_nothing_is_said() -> None:
    assert list(find_faults(WHOLE, 1)) == []


@pytest.mark.parametrize(
    ("place", "changed", "said"),
    [
        (1, {"replicas": 0}, "b:1 has too few replicas (0): a write waits for 1"),
        (1, {"slots": 0}, "8,192 slots are on no server: their graphs are not there"),
        (3, {"module": "4.18.0"}, "the versions of FalkorDB differ: 4.18.0, 4.20.1"),
        (2, {"module": ""}, "a:2 has no FalkorDB"),
        (2, {"role": ""}, "a:2 does not answer"),
    ],
)
def test_what_is_wrong_with_one_server_is_said_alone(place: int, changed: dict[str, str | int], said: str) -> None:
    reports = list(WHOLE)
    reports[place] = ServerReport(**{**reports[place]._asdict(), **changed})
    [(fault, remedy)] = find_faults(reports, 1)
    assert fault == said
    assert remedy.endswith(".")


def test_replicas_that_nobody_asks_for_are_not_missed() -> None:
    assert list(find_faults([WHOLE[0]._replace(replicas=0, slots=None)], 0)) == []
