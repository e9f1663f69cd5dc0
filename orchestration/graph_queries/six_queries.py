"""The six queries of an intention: likeness and traversal in each graph of three levels."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Final

from orchestration.dependencies import FAR
from orchestration.graph_queries.execution import QueryRequest
from orchestration.graph_queries.existing_graphs import View
from orchestration.graph_queries.plural_pools import build_pool_query
from orchestration.question.lexicon import Lexicon, discriminative_terms, is_common
from orchestration.question.reading import ASKING, INSTRUCTION_WORDS, Question
from orchestration.writing.records import tag_names
from schemas.errors import Fault, StoreTimeout
from schemas.intention import Filters, RetrievalIntention
from schemas.memory import Level
from schemas.temporal import Scope
from substrate.graphs.graph import Graph, GraphTarget
from substrate.store import reader, search
from substrate.store.filters import felt_values
from substrate.store.reader import RarestLabel
from substrate.text import name_key

EXACT_BELOW = 256
"""A graph with fewer traces is scanned: as fast as the index there, and no filter can starve it."""
EXACT_WITHIN = 2000
"""Of a label with so few memories these are scanned, however large the graph."""
OVERFETCH = 3
"""The index takes its k nearest before time and filters: ask for this many times what is wanted."""
WIDER = 8
"""A starved search is repeated with this many times the k, then by the exact scan."""
MAX_K = 4000
BROAD_POOL, BROAD_EXPANDED = 160, 60
"""For a broad question: its answer is not among the nearest alone."""
MIN_POOL = 40
"""Candidates of each query at least: ranking needs more to choose from than a short answer shows."""
WORDS_ALONE: Final = 120
"""Starts of the traversal where there is no embedding to find what shares no word with the question."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How far the queries of a question look (003, decision 3: two links).

    `pool` candidates per query; of the first `expanded_hits` by likeness and the first `expanded_anchors` by words
    the strongest `first_hop` links each; from the first `far` of both a second link. On the development
    conversations fewer cost recall, and more brought little for their time. `instructions`: standing instructions
    of the asker are starts too. `no_anchors`: words that are searched only when there are no others, because a
    date stands in every session.
    """

    pool: int
    expanded_hits: int = 16
    expanded_anchors: int = 10
    first_hop: int = 4
    far: int = FAR
    second_starts: int = 3
    second_hop: int = 3
    instructions: bool = field(default=False, kw_only=True)
    no_anchors: frozenset[str] = field(default=frozenset(), kw_only=True)

    def values(self, expanded: int) -> dict[str, int]:
        """The parameters of a query that follows the links of its first `expanded` starts."""
        return {
            "limit": self.pool,
            "expanded": expanded,
            "first_hop": self.first_hop,
            "far": self.far,
            "second_starts": self.second_starts,
            "second_hop": self.second_hop,
        }


def choose_reach(question: Question, limit: int, embedding: Sequence[float], far: int) -> Reach:
    """How far to look for an answer of `limit` memories per level; farther by words without an embedding."""
    pool, time_words = max(MIN_POOL, 2 * limit), question.time_words
    if question.broad:
        reach = Reach(max(pool, BROAD_POOL), BROAD_EXPANDED, BROAD_EXPANDED, far=far, no_anchors=time_words)
    else:
        reach = Reach(pool, far=far, instructions=question.seeks_action, no_anchors=time_words)
    if embedding:
        return reach
    return replace(reach, pool=max(reach.pool, WORDS_ALONE), expanded_anchors=WORDS_ALONE)


def shared_values(intention: RetrievalIntention, scope: Scope) -> dict[str, Any]:
    """The parameters that all queries of an intention share: its time scope and its filters."""
    return {
        **scope.bounds(),
        **felt_values(intention),
    }


async def find_rarest_labels(filters: Filters | None, view: View) -> dict[Level, RarestLabel]:
    """In each graph the rarest label that the filters demand; a graph that does not answer is left out."""
    names = [] if filters is None else tag_names(filters.tags, filters.buckets)
    if not names:
        return {}

    async def find_rarest(graph: Graph) -> RarestLabel | None:
        try:
            return await reader.rarest_label(graph, names)
        except (StoreTimeout, Fault):
            return None

    labels = await asyncio.gather(*(find_rarest(target.graph) for target in view.targets.values()))
    return {level: label for level, label in zip(view.targets, labels, strict=True) if label is not None}


async def prepare_queries(
    intention: RetrievalIntention,
    question: Question,
    lexicons: Mapping[Level, Lexicon],
    view: View,
    *,
    embedding: Sequence[float],
    far: int,
) -> list[QueryRequest]:
    """The queries of an intention. Reads first which label of its filters is the rarest in each graph."""
    reach = choose_reach(question, intention.max_results_per_level, embedding, far)
    labels = await find_rarest_labels(intention.filters, view)
    return build_queries(intention, view, lexicons, reach, embedding=embedding, labels=labels)


def build_queries(
    intention: RetrievalIntention,
    view: View,
    lexicons: Mapping[Level, Lexicon],
    reach: Reach,
    *,
    embedding: Sequence[float],
    labels: Mapping[Level, RarestLabel],
) -> list[QueryRequest]:
    """Two queries for each graph, one where there is no embedding; one more where plurality is asked for."""
    shared = shared_values(intention, view.scope)
    requests = []
    for level, lexicon in lexicons.items():
        target = view.targets[level]
        if embedding:
            values = {**shared, "embedding": list(embedding)}
            requests.append(build_vector_query(target, lexicon, values, reach, label=labels.get(level)))
        requests.append(build_graph_query(target, lexicon, shared, reach))
        if intention.plurality is not None:
            words, moment = discriminative_terms(lexicon), view.scope.moment(view.now)
            pools = build_pool_query(intention, intention.plurality, target, words, values=shared, moment=moment)
            requests.append(pools)
    return requests


def build_vector_query(
    target: GraphTarget,
    lexicon: Lexicon,
    values: Mapping[str, Any],
    reach: Reach,
    *,
    label: RarestLabel | None = None,
) -> QueryRequest:
    """Likeness in one graph: by the index with over-fetch, or by the exact scan where that is as cheap.

    A memory may have many traces of its past, of which one or two are of the moment: k grows by their mean number.
    With a label that the question demands, only its members are wanted.
    """
    values = {**values, **reach.values(reach.expanded_hits)}
    if label is not None and not target.past:
        return _build_label_query(target, lexicon, values, label)
    texts = search.THEN if target.past else search.NOW
    traces = lexicon.traces + (lexicon.past_traces if target.past else 0)
    if traces <= EXACT_BELOW:
        return QueryRequest("vector", target, texts.scan, values)
    crowded = min(WIDER, max(1, traces // max(1, lexicon.memories)))
    k = min(OVERFETCH * reach.pool * crowded, MAX_K)
    wider = ((texts.nearest, {**values, "k": min(k * WIDER, MAX_K)}), (texts.scan, values))
    wanted = reach.pool if k < traces else 0
    return QueryRequest("vector", target, texts.nearest, {**values, "k": k}, wanted, wider)


def _build_label_query(
    target: GraphTarget, lexicon: Lexicon, values: Mapping[str, Any], label: RarestLabel
) -> QueryRequest:
    """Likeness among the present members of a label: by a scan of the members, unless they are many."""
    members = {**values, "label": label.name}
    pool = values["limit"]
    k = OVERFETCH * pool * max(1, lexicon.traces // max(1, label.members))
    if label.members <= EXACT_WITHIN or k > MAX_K:
        return QueryRequest("vector", target, search.MEMBERS_NOW, members)
    wider = ((search.NOW.nearest, {**values, "k": min(k * WIDER, MAX_K)}), (search.MEMBERS_NOW, members))
    return QueryRequest("vector", target, search.NOW.nearest, {**values, "k": k}, pool, wider)


def build_graph_query(
    target: GraphTarget, lexicon: Lexicon, values: Mapping[str, Any], reach: Reach
) -> QueryRequest:
    """Two hops in one graph from the named memories and from those that share words with the question."""
    query = (search.THEN if target.past else search.NOW).reached
    values = {
        **values,
        **reach.values(reach.expanded_anchors),
        "entities": [entity.id for entity in lexicon.entities],
        "instruction_words": [INSTRUCTION_WORDS] if reach.instructions else [],
        "askers": sorted(ASKING),
    }
    first, *wider = [{**values, "words": words} for words in _build_word_queries(lexicon, reach)]
    again = tuple((query, values) for values in wider)
    return QueryRequest("graph", target, query, first, reach.expanded_anchors, again)


def _build_word_queries(lexicon: Lexicon, reach: Reach) -> list[str]:
    """Full-text queries, sent in turn as long as too few memories are found.

    For the discriminative terms without the `no_anchors` of the reach and the names of those who speak, unless
    nothing would be left. When all are common, first for memories that hold two of them: each word is in
    thousands.
    """
    terms = discriminative_terms(lexicon)
    names = {word for name in lexicon.speakers() for word in name_key(name).split()}
    terms = [term for term in terms if term not in names | reach.no_anchors] or terms
    pairs = combinations(terms, 2) if all(is_common(term, lexicon) for term in terms) else ()
    both = "|".join(f"({term} {other})" for term, other in pairs)
    return [both, "|".join(terms)] if both else ["|".join(terms)]
