"""Filters: a question and a list keep to the types, tags and buckets that they name, on the real engine."""

from __future__ import annotations

from typing import Any

import pytest

from orchestration.dependencies import Deps
from schemas.commands import Supersede
from schemas.intention import Filters
from schemas.memory import Level
from schemas.temporal import Scope
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.store import listing, reader
from substrate.store.filters import filter_values
from tests.integration.store import NOW, ask, day, found, ids, moment, relate, remember, stored

CROWD = 60
FEW = {"cup", "pot", "leaf"}


async def crowded(deps: Deps, citizen: str) -> None:
    """A crowd that fits every question best, three in a corner of their own, and links between both."""
    crowd = [
        remember(citizen, f"crowd{number}", description="Tea with milk.", buckets=("all", "all/crowd"))
        for number in range(CROWD)
    ]
    few = [
        remember(
            citizen, one, description=f"A {one}, for tea.", node_type="Thing", tags=(one, "few"), buckets=("all",)
        )
        for one in sorted(FEW)
    ]
    links = [relate(citizen, "cup", f"crowd{number}") for number in range(5)]
    await stored(deps, *crowd, *few, *links, relate(citizen, "crowd1", "pot"), now=day(10))


async def test_a_filter_sees_the_labels_of_the_moment_that_is_asked_about(deps: Deps, fresh_citizen: str) -> None:
    who: dict[str, Any] = {"citizen_id": fresh_citizen, "id": "m"}
    await stored(deps, remember(fresh_citizen, "m", buckets=("old",), valid_at=moment(1)), now=day(2))
    await stored(deps, Supersede(**who, buckets=("new",), effective_at=moment(10)), now=day(11))

    async def seen(bucket: str, **when: Any) -> list[str]:
        return ids(found(await ask(deps, fresh_citizen, "m", filters={"buckets": [bucket]}, **when)))

    then = {"temporal_mode": "point_in_time", "as_of_time": moment(5)}
    assert (await seen("old"), await seen("new")) == ([], ["m"])
    assert (await seen("old", **then), await seen("new", **then)) == (["m"], [])
    ever = {"temporal_mode": "full_history"}
    assert (await seen("old", **ever), await seen("new", **ever)) == (["m", "m"], ["m"])


@pytest.mark.parametrize("label", ["", " ", ",", "x" * 1001, "a\x00b"])
def test_a_label_that_is_none_is_refused(label: str) -> None:
    with pytest.raises(ValueError, match="tags"):
        Filters(tags=(label,))


async def _reads(deps: Deps, citizen: str, label: str | None) -> int:
    """How many queries it takes to list the members of the bucket `few`."""
    counting, graph = Counting(deps), graph_name(Level.N1, citizen)
    wanted = listing.ListQuery(Scope.at(NOW, NOW), None, 500, filter_values(Filters(tags=("few",))), label)
    page = await listing.list_memories(Graph(counting.connection, graph), wanted, listing.ListPosition())
    assert {row[0] for row in page.rows} == FEW
    return counting.count


class Counting:
    """The connection of a store, counting what is read."""

    def __init__(self, deps: Deps) -> None:
        self.count = 0
        whole = deps.connection
        counting = self

        class Counted(type(whole)):  # type: ignore[misc]
            async def read(self, *args: Any, **more: Any) -> Any:
                counting.count += 1
                return await super().read(*args, **more)

        self.connection = Counted.__new__(Counted)
        self.connection.__dict__.update(whole.__dict__)


async def test_a_list_of_a_label_reads_its_members_alone(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await crowded(deps, fresh_citizen)
    monkeypatch.setattr(listing, "MEMORIES_A_READ", 10)
    narrow = await reader.rarest_label(deps.graph(graph_name(Level.N1, fresh_citizen)), ["@all", "#few"])
    assert narrow == ("#few", 3)
    assert await _reads(deps, fresh_citizen, "#few") <= 3
    assert await _reads(deps, fresh_citizen, None) > CROWD / 10
