"""The queries of an intention: likeness and traversal in each graph, and one more for plural candidates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from itertools import combinations
from typing import Any, Final, NamedTuple

from orchestration.dependencies import FAR, Deps
from orchestration.graph_queries.execution import QueryRequest, QueryResult, kept_records, run_all
from orchestration.graph_queries.existing_graphs import Fewest, View
from orchestration.question.languages import languages
from orchestration.question.lexicon import Lexicon, discriminative_terms, is_common
from orchestration.question.reading import ASKING, Question, Request, instruction_words
from orchestration.question.time_expressions import Event, NamedPeriod, read_told_times
from orchestration.ranking.candidates import Candidate, Candidates
from orchestration.ranking.consciousness_score import DAY, seeded_numbers
from orchestration.ranking.texts import MOST_READ_FOR_DAYS
from schemas.intention import Filters, Plural, Plurality, RetrievalIntention
from schemas.memory import GraphKey
from schemas.temporal import Instant, Period, to_datetime, to_instant
from substrate.graphs.graph import GraphTarget, Query, Search
from substrate.language.text import name_key, search_form, stem, stems, words
from substrate.likeness.port import Role
from substrate.store import passages, search
from substrate.store.filters import EVERY_MEMORY, felt_values, filter_values
from substrate.store.search import FoundRow

EXACT_BELOW = 256
"""A graph with fewer traces is scanned: as fast as the index there, and no filter can starve it."""
EXACT_WITHIN = 2000
"""Of a label with so few memories these are scanned, however large the graph."""
OVERFETCH = 3
"""The index takes its k nearest before time and filters: ask for this many times what is wanted."""
WIDER = 8
"""A starved search is repeated with this many times the k, then by the exact scan."""
MAX_K = 4000
CROWDED = 4
"""With a past vector for this many of the present, a search for the present leaves out those of the past."""
PASSAGE_K = 240
"""Passages that the index is asked for: those of some twenty long texts."""
EXACT_PASSAGES = 2000
"""This many passages are scanned at once, in about 2 ms."""
PASSAGES_SCANNED = 20_000
"""This many passages are scanned when the index found them in too few memories: about 20 ms."""
FEWEST_LONG_TEXTS = 5
"""With passages of fewer memories among the nearest, the index is asked for more."""
BROAD_POOL, BROAD_EXPANDED = 160, 60
"""For a broad question: its answer is not among the nearest alone."""
SEVERAL_POOL = 120
"""For one that several memories answer: each has a part of it, and is like the question by that part alone."""
MIN_POOL = 40
"""Candidates of each query at least: ranking needs more to choose from than a short answer shows."""
SHORT: Final = timedelta(days=4) // timedelta(microseconds=1)
"""A period of up to this many microseconds is looked at with the time after it."""
AFTERMATH: Final = timedelta(days=2) // timedelta(microseconds=1)
WORDS_ALONE: Final = 120
"""Starts of the traversal where there is no embedding to find what shares no word with the question."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How far the queries of a question look (003, decision 3: two links).

    `pool` candidates per query; of the first `expanded_hits` by likeness and the first `expanded_anchors` by words
    the strongest `first_hop` links each; from the first `far` of both a second link. On the development
    conversations fewer cost recall, and more brought little for their time. `instructions`: standing instructions
    of the asker are starts too. `periods`: those that the question names; what they hold is found too. `favoured`:
    speakers whose words take the places of others' that fit a little better. `asked`: what
    was only asked is found too.
    """

    pool: int
    expanded_hits: int = 16
    expanded_anchors: int = 10
    first_hop: int = 4
    far: int = FAR
    second_starts: int = 3
    second_hop: int = 3
    instructions: bool = field(default=False, kw_only=True)
    periods: tuple[NamedPeriod, ...] = field(default=(), kw_only=True)
    favoured: tuple[str, ...] = field(default=(), kw_only=True)
    asked: bool = field(default=False, kw_only=True)

    def values(self, expanded: int) -> dict[str, Any]:
        """The parameters of a query that follows the links of its first `expanded` starts."""
        return {
            "limit": self.pool,
            "expanded": expanded,
            "first_hop": self.first_hop,
            "far": self.far,
            "second_starts": self.second_starts,
            "second_hop": self.second_hop,
            "favoured": list(self.favoured),
        }


def choose_reach(question: Question, limit: int, embedding: Sequence[float], far: int) -> Reach:
    """How far to look for an answer of `limit` memories per level; farther by words without an embedding."""
    pool = max(MIN_POOL, 2 * limit)
    if question.broad:
        reach = Reach(max(pool, BROAD_POOL), BROAD_EXPANDED, BROAD_EXPANDED, far=far)
    else:
        pool = max(pool, SEVERAL_POOL) if question.several else pool
        reach = Reach(pool, far=far, instructions=question.request is not Request.NONE)
    favoured = () if question.others or question.whole else tuple(sorted(ASKING))
    reach = replace(reach, periods=question.periods, favoured=favoured, asked=question.asked)
    if embedding:
        return reach
    return replace(reach, pool=max(reach.pool, WORDS_ALONE), expanded_anchors=WORDS_ALONE)


def prepare_queries(
    intention: RetrievalIntention,
    question: Question,
    lexicons: Mapping[GraphKey, Lexicon],
    view: View,
    *,
    embedding: Sequence[float],
    far: int,
    fewest: Mapping[GraphKey, Fewest],
) -> list[QueryRequest]:
    """Two queries for each graph, one where there is no embedding; one more where plurality is asked for.

    `fewest`: how many memories can pass the filters in each graph.
    """
    reach = choose_reach(question, intention.max_results_per_level, embedding, far)
    shared = {**view.scope.bounds(), **felt_values(intention), "asked": reach.asked}
    requests = []
    for level, lexicon in lexicons.items():
        target = view.targets[level]
        if embedding:
            values = {**shared, "embedding": list(embedding)}
            requests.append(build_vector_query(target, lexicon, values, reach, fewest=fewest.get(level)))
        requests.append(build_graph_query(target, lexicon, shared, reach))
        if reach.periods:
            requests.append(build_period_query(target, shared, reach, embedding))
        if lexicon.passages:
            requests.append(build_passage_query(target, lexicon, shared, reach.pool, embedding=embedding))
        if intention.plurality is not None:
            words, moment = discriminative_terms(lexicon), view.scope.moment(view.now)
            pools = build_pool_query(intention, intention.plurality, target, words, values=shared, moment=moment)
            requests.append(pools)
    return requests


def build_vector_query(
    target: GraphTarget, lexicon: Lexicon, values: Mapping[str, Any], reach: Reach, *, fewest: Fewest | None = None
) -> QueryRequest:
    """Likeness in one graph: by the index with over-fetch, or by the exact scan where that is as cheap.

    A memory may have many traces of its past, of which one or two are of the moment: k grows by their mean number,
    and in proportion to how few of all memories can pass the filters. Whoever finds too little scans.
    """
    values = {**values, **reach.values(reach.expanded_hits)}
    texts = search.THEN if target.past else search.NOW
    traces = lexicon.traces + (lexicon.past_traces if target.past else 0)
    scan: tuple[Query, Mapping[str, Any]] = texts.scan, values
    if fewest is not None and fewest.label is not None and not target.past:
        scan = search.MEMBERS_NOW, {**values, "label": fewest.label}  # exact among the members of a label
    if traces <= EXACT_BELOW or (fewest is not None and fewest.members <= EXACT_WITHIN):
        return QueryRequest("vector", target, *scan)
    crowded = min(WIDER, max(1, traces // max(1, lexicon.memories)))
    rare = 1 if fewest is None else max(1, lexicon.memories // max(1, fewest.members))
    k = OVERFETCH * reach.pool * crowded * rare
    if rare > 1 and k > MAX_K:
        return QueryRequest("vector", target, *scan)
    k = min(k, MAX_K)
    # A search for the present leaves out what is past where that is much.
    much, held = CROWDED * lexicon.past_traces > lexicon.traces, lexicon.traces + lexicon.past_traces
    near = Search(values["embedding"], k, open_only=not target.past, crowded=much, held=held)
    others = {name: value for name, value in values.items() if name != "embedding"}
    more = {**others, "near": near._replace(k=min(k * WIDER, MAX_K))}
    wanted = reach.pool if k < traces or not values["unfiltered"] else 1
    return QueryRequest(
        "vector", target, texts.nearest, {**others, "near": near}, wanted, ((texts.nearest, more), scan)
    )


def build_passage_query(
    target: GraphTarget, lexicon: Lexicon, values: Mapping[str, Any], pool: int, *, embedding: Sequence[float]
) -> QueryRequest:
    """The passages of long texts by likeness and by words.

    One text may have more passages near the question than the index is asked for: when too few memories are
    found, it is asked for more, and where that is cheap for all.
    """
    texts = passages.THEN if target.past else passages.NOW
    values = {**values, "limit": pool, "words": "|".join(discriminative_terms(lexicon))}
    if not embedding:
        return QueryRequest("passages", target, texts.worded, values)
    values["embedding"] = list(embedding)
    everything = (texts.scan, {**values, "k": PASSAGES_SCANNED})
    if lexicon.passages <= EXACT_PASSAGES:
        return QueryRequest("passages", target, *everything)
    near = Search(embedding, PASSAGE_K, Role.PASSAGES, held=lexicon.passages)
    farther = (texts.nearest, {**values, "near": near._replace(k=MAX_K)})
    more = everything if lexicon.passages <= PASSAGES_SCANNED else farther
    nearest = {**values, "near": near}
    return QueryRequest("passages", target, texts.nearest, nearest, FEWEST_LONG_TEXTS, (more,))


def build_graph_query(
    target: GraphTarget, lexicon: Lexicon, values: Mapping[str, Any], reach: Reach
) -> QueryRequest:
    """Two hops in one graph from the named memories and from those that share words with the question."""
    texts = search.THEN if target.past else search.NOW
    query = texts.instructed if reach.instructions else texts.reached
    values = {
        **values,
        **reach.values(reach.expanded_anchors),
        "entities": [entity.id for entity in lexicon.entities],
        "instruction_words": [instruction_words()] if reach.instructions else [],
        "askers": sorted(ASKING),
    }
    first, *wider = [{**values, "words": words} for words in _build_word_queries(lexicon)]
    again = tuple((query, values) for values in wider)
    return QueryRequest("graph", target, query, first, reach.expanded_anchors, again)


def build_period_query(
    target: GraphTarget, values: Mapping[str, Any], reach: Reach, embedding: Sequence[float]
) -> QueryRequest:
    """What began in the periods that the question names: of each graph the nearest to it; without an embedding
    the earliest."""
    texts = search.THEN if target.past else search.NOW
    periods = []
    for each in (named.period for named in reach.periods):  # people tell of a few days in the days after them too
        is_short = each.end - each.start <= SHORT
        periods.append([each.start, each.end + AFTERMATH if is_short else each.end])
    values = {**values, "periods": periods, "limit": reach.pool}
    if not embedding:
        return QueryRequest("period", target, texts.begun, values)
    return QueryRequest("period", target, texts.begun_near, {**values, "embedding": list(embedding)})


def _build_word_queries(lexicon: Lexicon) -> list[str]:
    """Full-text queries, sent in turn as long as too few memories are found.

    For the discriminative terms without the names of those who speak, unless nothing would be left. When all are
    common, first for memories that hold two of them: each word is in thousands.
    """
    terms = discriminative_terms(lexicon)
    names = {word for name in lexicon.speakers() for word in words(name_key(name))}
    terms = [term for term in terms if term not in names] or terms
    forms = list(dict.fromkeys(search_form(term, lexicon.language) for term in terms))
    pairs = combinations(forms, 2) if all(is_common(term, lexicon) for term in terms) else ()
    both = "|".join(f"({form} {other})" for form, other in pairs)
    return [both, "|".join(forms)] if both else ["|".join(forms)]


_NEW_EACH_TIME = {"collectives", "intention_id", "state_id", "generated_at", "generated_by"}
_PRESENTATION = {"explain", "form", "max_tokens", "parts"}


def build_pool_query(
    request: Plural,
    plurality: Plurality,
    target: GraphTarget,
    words: Sequence[str],
    *,
    values: Mapping[str, Any],
    moment: Instant,
) -> QueryRequest:
    """The query for the three pools of one graph.

    `values`: the parameters of time scope and filters. A memory is recent as seen from `moment`.
    """
    pool_values = {
        **values,
        **plurality.model_dump(include={"recent", "matching", "chance", "importance_floor"}),
        "words": "|".join(words),
        # Drawn by the request without what is new each time it is sent, and how the answer is shown.
        "lots": seeded_numbers(f"{target.key}|{request.model_dump_json(exclude=_NEW_EACH_TIME | _PRESENTATION)}"),
        "recent_from": moment - int(plurality.recent_days * DAY),
    }
    return QueryRequest("pools", target, (search.THEN if target.past else search.NOW).pools, pool_values)


async def draw(
    request: Plural,
    targets: Iterable[tuple[GraphTarget, Sequence[str]]],
    bounds: Mapping[str, int],
    filters: Filters | None,
) -> list[QueryResult]:
    """The pools of each graph, given with its discriminative terms.

    `bounds`: the parameters of the time scope. Empty when the request asks for no plurality.
    """
    if request.plurality is None:
        return []
    values, moment = {**bounds, **EVERY_MEMORY, **filter_values(filters)}, bounds["valid_from"]
    requests = [
        build_pool_query(request, request.plurality, target, words, values=values, moment=moment)
        for target, words in targets
    ]
    return await run_all(requests)


def memory_ids(results: Iterable[QueryResult], graph: GraphKey) -> list[str]:
    """The ids of the memories of one graph."""
    own = [result for result in results if result.key == graph]
    return [FoundRow.of(row).id for result in own for row in result.rows]


TELLING: Final = Reach(12, expanded_hits=0, expanded_anchors=0, far=0)
"""How many memories may tell of the event; nothing is followed from them."""


async def with_event_periods(
    question: Question, lexicons: Mapping[GraphKey, Lexicon], view: View, deps: Deps, *, zone: tzinfo
) -> tuple[Question, Sequence[QueryResult]]:
    """The question with the periods that its event stands for, as memories tell, and the results of the lookup.

    The event may be told by a memory that the filters of the question leave out.
    """
    event = question.event
    if event is None or not lexicons:
        return question, ()
    if view.recall is not None:
        return replace(question, periods=(*question.periods, *view.recall.periods)), ()
    embedding = await deps.embedder.embed_query(event.text)
    results = await run_all([*_requests(event, lexicons, view, embedding)])
    candidates = Candidates(known_to=view.scope.known.end, kept=kept_records(results))
    for result in results:
        candidates.add(result.key, result.rows, likeness=result.request.kind == "event_likeness")
    periods = find_event_periods(event, list(candidates.memories.values()), zone)
    return replace(question, periods=(*question.periods, *periods)), results


def _requests(
    event: Event, lexicons: Mapping[GraphKey, Lexicon], view: View, embedding: Sequence[float]
) -> Iterator[QueryRequest]:
    """In each graph the memories that share words with the event, and those that are like it."""
    values = {**view.scope.bounds(), **EVERY_MEMORY}
    spoken = frozenset(words(event.text))
    for level, lexicon in lexicons.items():
        target = view.targets[level]
        frequencies = {word: count for word, count in (lexicon.frequencies or {}).items() if word in spoken}
        own = replace(lexicon, frequencies=frequencies, entities=())
        yield replace(build_graph_query(target, own, values, TELLING), kind="event_words")
        if embedding:
            likest = build_vector_query(target, own, {**values, "embedding": list(embedding)}, TELLING)
            yield replace(likest, kind="event_likeness")


TOLD_BY: Final = 2
"""This many memories that tell best of an event are taken for it."""
LESS_SURE: Final = 0.7
"""What the second of them counts."""
SHARE: Final = 0.5
"""What the share of the event's words that a memory holds counts beside its likeness."""
OWN: Final = 0.1
"""What counts that the asker said it."""
BIRTHDAY: Final = 1.0
"""What counts that a text tells of its speaker's birthday."""
NEAR: Final = timedelta(days=10)
"""What was before or after an event was within so long of it, where the question does not say."""
NEAR_WEIGHT: Final = 0.1
"""How surely such a question means that time: "what did I drive before the van" asks of years."""
_DAY: Final = timedelta(days=1)
_WEEK: Final = timedelta(days=7)


class _Event(NamedTuple):
    fit: float
    memory: Candidate


def find_event_periods(event: Event, memories: Sequence[Candidate], zone: tzinfo) -> tuple[NamedPeriod, ...]:
    """The periods that an event stands for, as the memories tell that are likest to it; days are those of `zone`.

    A memory that names a day ("the wedding was yesterday") tells of an event on that day, any other on its own.
    """
    event_stems = frozenset(map(stem, words(event.text))) & stems(event.text)
    told = [_Event(_fit(memory, event, event_stems), memory) for memory in memories]
    told.sort(key=lambda each: (-each.fit, each.memory.key))
    days = dict.fromkeys(_day(each.memory, zone) for each in told if each.fit > 0.0)
    weights = (1.0, LESS_SURE)
    return tuple(_period(event, day, weight) for day, weight in zip(list(days)[:TOLD_BY], weights, strict=False))


def _fit(memory: Candidate, event: Event, event_stems: frozenset[str]) -> float:
    text = memory.get("description") or ""
    if memory.get("node_type") in ("Session", "Person"):
        return 0.0
    share = len(event_stems & stems(text)) / len(event_stems) if event_stems else 0.0
    own = (memory.get("speaker") or "").lower() in ASKING
    says_birthday = (language.events["birthday"].search(text[:MOST_READ_FOR_DAYS]) for language in languages())
    birthday = event.birthday and own and any(says_birthday)
    return (memory.likeness or 0.0) + SHARE * share + OWN * own + BIRTHDAY * birthday


def _day(memory: Candidate, zone: tzinfo) -> datetime:
    """The day of which a memory tells, at midnight."""
    began = to_datetime(int(memory.get("valid_at"))).astimezone(zone)
    told = read_told_times((memory.get("description") or "")[:MOST_READ_FOR_DAYS], began)
    day = to_datetime(told[0].start).astimezone(zone) if len(told) == 1 else began
    return day.replace(hour=0, minute=0, second=0, microsecond=0)


def _period(event: Event, day: datetime, weight: float) -> NamedPeriod:
    if event.side == "on":
        start, end = day, day + _DAY
    elif event.away is None:
        start, end = (day - NEAR, day + _DAY) if event.side == "before" else (day, day + NEAR)
        weight *= NEAR_WEIGHT
    else:
        start, end = _away(event, day, event.away)
    return NamedPeriod(Period(to_instant(start), to_instant(end)), weight)


def _away(event: Event, day: datetime, away: timedelta) -> tuple[datetime, datetime]:
    """The day so long before or after the event; of a week or more, the whole of it up to the event."""
    if event.side == "before":
        return (day - away, day) if away >= _WEEK else (day - away, day - away + _DAY)
    return (day, day + away + _DAY) if away >= _WEEK else (day + away, day + away + _DAY)
