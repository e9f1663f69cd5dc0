"""Pages of a list: a cursor keeps its list and its moment, and is refused for any other."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from api.request_parsing.pagination import LinkListRequest, ListKind, MemoryListRequest, read_page
from schemas.errors import InvalidRequest, NotFound
from schemas.intention import Filters
from schemas.temporal import to_datetime
from substrate.graphs.graph import Graph
from substrate.store.listing import ListPage, ListPosition, ListQuery

NOW = 1_000_000


class Reads:
    """A list of three pages that records what is asked of it."""

    def __init__(self) -> None:
        self.calls: list[tuple[ListQuery, ListPosition]] = []

    def kind(self, name: str = "memories") -> ListKind:
        return ListKind(name, self.read)

    async def read(self, graph: Graph, wanted: ListQuery, start: ListPosition) -> ListPage:
        self.calls.append((wanted, start))
        following = ListPosition(start.first + 1, "m")
        return ListPage([[start.first]], following if following.first < 3 else None)


def runtime(*, exists: bool = True) -> Any:
    async def for_reading(_name: str) -> bool:
        return exists

    async def read(_query: object) -> list[list[int]]:
        return [[NOW]]

    graphs, graph = SimpleNamespace(for_reading=for_reading), SimpleNamespace(name="citizen_ada", read=read)
    return SimpleNamespace(deps=SimpleNamespace(graphs=graphs, graph=lambda _name: graph))


def request(**fields: Any) -> MemoryListRequest:
    return MemoryListRequest(citizen_id="ada", as_of_time=to_datetime(500), **fields)


async def test_all_pages_have_the_moment_of_the_first() -> None:
    read, cursor = Reads(), None
    rows: list[Any] = []
    while True:
        page = await read_page(read.kind(), request(cursor=cursor), runtime(), NOW)
        rows += page.rows
        cursor = page.next
        if cursor is None:
            break
    assert rows == [[0], [1], [2]]
    assert [start.behind for _, start in read.calls] == ["", "m", "m"]
    assert len({wanted.scope for wanted, _ in read.calls}) == 1


async def test_a_cursor_is_refused_for_another_list_or_moment() -> None:
    cursor = (await read_page(Reads().kind(), request(), runtime(), NOW)).next
    links = Reads().kind("links")
    with pytest.raises(InvalidRequest, match="of a list of memories, not of links"):
        await read_page(links, LinkListRequest(citizen_id="ada", cursor=cursor), runtime(), NOW)
    later = MemoryListRequest(citizen_id="ada", as_of_time=to_datetime(600), cursor=cursor)
    with pytest.raises(InvalidRequest, match="of another moment"):
        await read_page(Reads().kind(), later, runtime(), NOW)


async def test_a_graph_that_does_not_exist_is_not_found() -> None:
    with pytest.raises(NotFound):
        await read_page(Reads().kind(), request(), runtime(exists=False), NOW)
    with pytest.raises(InvalidRequest, match="N1 is personal"):
        await read_page(Reads().kind(), MemoryListRequest(), runtime(), NOW)


def test_a_request_names_its_kind_and_its_labels() -> None:
    assert request(node_type="Goal", tag="sea").kind == "Goal"
    both = request(tag="sea", tags=("wind",), bucket="home", speakers=("Ada",)).filters
    wanted = Filters(tags=("wind", "sea"), buckets=("home",), speakers=("Ada",))
    assert both.model_dump() == wanted.model_dump()
    assert LinkListRequest(citizen_id="ada").filters == Filters()
