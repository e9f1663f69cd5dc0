"""Which server answers a command, and whom a service believes about that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from redis import exceptions as redis_errors
from redis.crc import key_slot

from schemas.errors import InvalidRequest
from substrate.connection.addresses import parse_address
from substrate.connection.lines import Command
from substrate.connection.topology import (
    HOME,
    Acknowledgement,
    Address,
    Unplaced,
    find_cluster,
    find_primary,
    key_of,
    mark_of,
)

A, B, C, D = (Address("127.0.0.1", port) for port in (1, 2, 3, 4))


class Told:
    """Servers that answer what they are told to; those of which nothing is told are silent."""

    def __init__(self, told: dict[Address, list[Any]]) -> None:
        self.told = told

    async def __call__(self, address: Address, commands: Sequence[Command]) -> list[Any]:
        if address not in self.told:
            raise redis_errors.ConnectionError("refused")
        return self.told[address]


def view(epoch: int, *shards: tuple[int, int, Address, Address], state: str = "ok") -> list[Any]:
    """What a server of a cluster says: its state, and who holds which slots with which replica."""
    info = f"cluster_state:{state}\r\ncluster_current_epoch:{epoch}\r\n"
    return [info, [[first, last, list(one), list(other)] for first, last, one, other in shards]]


@pytest.mark.parametrize(
    ("url", "kind", "servers", "name"),
    [
        ("redis://db:1", "", [], ""),
        ("unix:///run/x.sock", "", [], ""),
        ("redis+sentinel://s1,s2:5/main", "sentinel", [("s1", 26379), ("s2", 5)], "main"),
        ("rediss+cluster://ada:s%40t@n1,n2:7", "cluster", [("n1", 6379), ("n2", 7)], ""),
        ("redis+cluster://[::1]:7", "cluster", [("::1", 7)], ""),
    ],
)
def test_an_address_names_one_server_or_several(
    url: str, kind: str, servers: list[tuple[str, int]], name: str
) -> None:
    address = parse_address(url)
    assert (address.kind, list(address.servers), address.name) == (kind, servers, name)


def test_an_address_is_written_as_a_url_has_it() -> None:
    assert [str(Address("db", 1)), str(Address("::1", 7))] == ["db:1", "[::1]:7"]


def test_an_address_of_several_servers_may_hold_a_user_and_a_password() -> None:
    address = parse_address("rediss+cluster://ada:s%40t@n1,n2:7")
    assert (address.username, address.password, address.encrypted) == ("ada", "s@t", True)


@pytest.mark.parametrize(
    "url",
    [
        "redis+sentinel://s1,s2",
        "redis+cluster://",
        "redis+cluster://a,,b",
        "redis+cluster://a:0",
        "redis+cluster://a:x",
        "redis+other://a",
        "http+cluster://a",
    ],
)
def test_an_address_without_a_server_or_a_name_is_refused(url: str) -> None:
    with pytest.raises(InvalidRequest):
        parse_address(url)


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (("GRAPH.RO_QUERY", "citizen_ada", "RETURN 1"), "citizen_ada"),
        (("GRAPH.CONSTRAINT", "CREATE", "citizen_ada", "UNIQUE"), "citizen_ada"),
        (("EVAL", "return 1", 1, "substrate:keys"), "substrate:keys"),
        (("OBJECT", "IDLETIME", "g"), "g"),
        (("TIME",), HOME),
        (("CONFIG GET", "dir"), HOME),
        (("GRAPH.LIST",), HOME),
    ],
)
def test_a_command_goes_where_its_key_is_and_without_one_to_one_server(words: Command, key: str) -> None:
    assert key_of(words) == key


@pytest.mark.parametrize("key", ["citizen_ada", "{citizen_ada}import-1", "{citizen_ada}:present:own"])
def test_what_confirms_a_write_lies_in_the_slot_of_its_key_and_ends_by_itself(key: str) -> None:
    name, mark, *rest = mark_of(key)
    assert name == "SET"
    assert "PX" in rest
    assert key_slot(str(mark).encode()) == key_slot(key.encode())


async def test_the_newest_view_of_a_cluster_counts_and_not_that_of_a_server_that_was_cut_off() -> None:
    ask = Told({A: view(7, (0, 16383, A, B)), B: view(9, (0, 16383, B, A)), C: view(8, (0, 16383, A, B))})
    layout = await find_cluster([A, B, C, D], [], ask)
    assert layout.primary("any") == B
    assert layout.replicas[B] == [A]


async def test_a_cluster_that_does_not_work_and_one_that_is_silent_are_told_by_their_addresses() -> None:
    with pytest.raises(Unplaced, match=r"127\.0\.0\.1:1"):
        await find_cluster([A], [], Told({}))
    with pytest.raises(Unplaced, match=r"127\.0\.0\.1:1"):
        await find_cluster([A], [], Told({A: view(9, (0, 16383, A, B), state="fail")}))


async def test_a_right_that_is_missing_to_learn_the_layout_is_named() -> None:
    refusal = redis_errors.NoPermissionError("this user has no permissions to run the 'cluster|info' command")
    with pytest.raises(Unplaced, match=r"'cluster\|info' command"):
        await find_cluster([A], [], Told({A: [refusal, view(1, (0, 16383, A, B))[1]]}))
    role = redis_errors.NoPermissionError("this user has no permissions to run the 'role' command")
    with pytest.raises(Unplaced, match="'role' command"):
        await find_primary([A], "main", Told({A: [[*map(str, B)], []]}), Told({B: [role]}))


async def test_a_slot_that_nobody_holds_has_no_primary_and_the_others_have_theirs() -> None:
    layout = await find_cluster([A], [], Told({A: view(3, (0, 100, A, B), (102, 16383, C, D))}))
    assert [layout.primaries[slot] for slot in (0, 100, 101, 102, 16383)] == [A, A, None, C, C]
    assert layout.addresses() == [A, C]


async def test_the_primary_that_most_sentinels_name_counts() -> None:
    old, new = [[*map(str, A)], []], [[*map(str, B)], []]
    asked = Told({A: old, B: new, C: new})
    layout = await find_primary([A, B, C, D], "main", asked, Told({B: [["master", 1, []]]}))
    assert layout.primary("any") == B


async def test_a_primary_that_says_it_is_a_replica_and_a_name_that_no_sentinel_knows_are_told() -> None:
    named = Told({A: [[*map(str, B)], []]})
    with pytest.raises(Unplaced, match="it is slave"):
        await find_primary([A], "main", named, Told({B: [["slave", "127.0.0.1", 1, "connected", 1]]}))
    with pytest.raises(Unplaced, match="it is silent"):
        await find_primary([A], "main", named, Told({}))
    with pytest.raises(Unplaced, match="knows a primary main"):
        await find_primary([A], "main", Told({A: [None, redis_errors.ResponseError("no such")]}), Told({}))


@pytest.mark.parametrize(
    ("asked", "reply", "met"),
    [
        (Acknowledgement(1), 1, True),
        (Acknowledgement(1), 0, False),
        (Acknowledgement(1), redis_errors.ResponseError("WAIT cannot be used with replica instances"), False),
        (Acknowledgement(1, on_disk=True), [1, 1], True),
        (Acknowledgement(1, on_disk=True), [1, 0], False),
    ],
)
def test_a_write_is_confirmed_by_the_count_of_replicas_alone(
    asked: Acknowledgement, reply: Any, met: bool
) -> None:
    assert asked.met_by(reply) is met
