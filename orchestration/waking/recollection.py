"""Finds what was told in plain words and fits a state: by what the state is about, and of the open and the new."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Literal

from orchestration.assembly.stream import shown_ids
from orchestration.dependencies import Deps
from orchestration.entity_extraction import look_up_lexicons
from orchestration.graph_queries.execution import QueryRequest, QueryResult, Reading, kept_records, run_all
from orchestration.graph_queries.existing_graphs import Fewest, View
from orchestration.graph_queries.recall import as_recalled
from orchestration.graph_queries.six_queries import prepare_queries
from orchestration.question.lexicon import Lexicon
from orchestration.question.reading import ASKING, ROLES, Question
from orchestration.ranking.activation import Activation
from orchestration.ranking.candidates import Candidate, CandidateLink, Candidates, Key
from orchestration.ranking.channel_weights import CHANNEL_WEIGHTS
from orchestration.ranking.channels import likeness_score, table_of, word_score
from orchestration.ranking.consciousness_score import FOCUS, consciousness_scores, in_rank_order
from orchestration.waking.scoring import SPREAD_SHARE, WakingState, plain_goal
from orchestration.waking.told import (
    TellingMemory,
    channels_of,
    is_told,
    may_answer,
    read_told,
    thin_out,
    told_parts,
)
from schemas.errors import Fault, StoreTimeout, Unavailable
from schemas.intention import EMOTIONAL_MODES, Filters, QueryMode, RetrievalIntention, StateBasedRetrieval
from schemas.memory import GraphKey, Level, ResolutionState
from schemas.temporal import Scope
from substrate.connection.errors import GraphMissing
from substrate.connection.kept import Record
from substrate.connection.together import together
from substrate.graphs.graph import GraphTarget
from substrate.store import told as store
from substrate.store.feelings import OPEN_STATES

LIKENESS_SHARE: Final = 2 / 3
"""The share of likeness in how much a memory is about something; the rest is words. A goal has few of them."""
STARTS: Final = 8
"""What was told after this many memories, those that are most about the state, is read too."""
ANSWERED: Final = 2
"""What was said right after this many of the told memories in focus comes with them."""
OTHERS: Final = sorted(ROLES - ASKING)
RESOLVED: Final = ResolutionState.RESOLVED.value
type ToldKind = Literal["lately", "after", "solved"]
_READING: Final[Mapping[ToldKind, Reading]] = {
    "lately": store.read_lately,
    "after": store.read_after,
    "solved": store.read_solved,
}


@dataclass(frozen=True, slots=True)
class Cue:
    """What a state is about, as a question to the citizen's own graph, and the queries that it makes.

    `target`: that graph; None for a citizen that has none. `filters`: those of the waking.
    """

    view: View
    target: GraphTarget | None = None
    lexicons: Mapping[GraphKey, Lexicon] = field(default_factory=dict)
    requests: tuple[QueryRequest, ...] = ()
    filters: Filters | None = None


@dataclass(frozen=True, slots=True)
class Recollection:
    """What was told in plain words and fits: the memories, the parts of their scores, their links to solutions."""

    told: Mapping[Key, TellingMemory] = field(default_factory=dict)
    parts: Mapping[Key, Mapping[str, float]] = field(default_factory=dict)
    solutions: Sequence[CandidateLink] = ()
    results: Sequence[QueryResult] = ()

    def scores(self) -> dict[Key, float]:
        """The score of each memory that fits, in [0, 1]."""
        return {key: min(1.0, sum(parts.values())) for key, parts in self.parts.items()}


def cue_text(waking: WakingState) -> str:
    """The goal in plain words; without a goal, in a mode of feeling, the feelings; nothing for past activity."""
    if waking.mode is QueryMode.WHAT_I_WAS_DOING:
        return ""
    if waking.goal:
        return plain_goal(waking.goal)
    felt = [name for name, amount in waking.emotions.items() if amount]
    return f"I feel {' and '.join(felt)}" if felt and waking.mode in EMOTIONAL_MODES else ""


async def prepare_cue(
    state: StateBasedRetrieval,
    waking: WakingState,
    view: View,
    deps: Deps,
    *,
    meaning: list[float] | None,
    fewest: Mapping[GraphKey, Fewest],
) -> Cue:
    """The queries for what was told; none where the citizen has no graph of its own. `meaning`: that of the goal.

    `fewest`: how many memories can pass the filters in each graph.

    Raises Unavailable when the engine does not answer.
    """
    target = view.targets.get(Level.N1)
    if target is None:
        return Cue(view)
    own, text = view._replace(targets={Level.N1: target}), cue_text(waking)
    (lexicons, vector), requests = await asyncio.gather(
        _read_cue(text, own, deps, meaning), _ask_lately(state, waking, target, view)
    )
    if lexicons:
        asked = RetrievalIntention(
            query_text=text,
            citizen_id=state.citizen_id,
            query_levels=(Level.N1,),
            max_results_per_level=state.max_results_per_level,
            filters=state.filters,
        )
        question = Question(text)
        for one in prepare_queries(asked, question, lexicons, own, embedding=vector, far=deps.far, fewest=fewest):
            requests.append(replace(one, kind="cue" if one.kind == "vector" else "words"))
    return Cue(own, target, lexicons, tuple(as_recalled(requests, view.recall)), state.filters)


async def _ask_lately(
    state: StateBasedRetrieval, waking: WakingState, target: GraphTarget, view: View
) -> list[QueryRequest]:
    solved = waking.mode is QueryMode.RESOLUTION_PATTERNS
    if waking.mode in EMOTIONAL_MODES and cue_text(waking) and (waking.goal or not solved):
        return []
    states = (RESOLVED,) if solved else OPEN_STATES
    try:
        values = await store.lately_values(target, view.scope, OTHERS, state.filters, states=states)
    except (GraphMissing, StoreTimeout, Fault):
        return []
    return [_request("lately", target, values)]


async def _read_cue(
    text: str, own: View, deps: Deps, meaning: list[float] | None
) -> tuple[Mapping[GraphKey, Lexicon], list[float]]:
    """The lexicons and the vector of what the state is about; nothing where it is about nothing."""

    async def embed() -> list[float]:
        try:
            return await deps.embedder.embed_query(text)
        except Unavailable:
            return []

    if not text:
        return {}, []
    if meaning is not None:  # that of the goal, which was embedded already
        return await look_up_lexicons(text, own), meaning
    return await asyncio.gather(look_up_lexicons(text, own), embed())


def _request(kind: ToldKind, target: GraphTarget, values: Mapping[str, Any]) -> QueryRequest:
    """A query for what was told, which is kept where it depends on the state of the graph alone."""
    query = getattr(store.THEN if target.past else store.NOW, kind)
    keeps = not target.past and bool(values["unfiltered"])
    return QueryRequest(kind, target, query, values, reading=_READING[kind] if keeps else None)


async def recollect(
    cue: Cue, results: Sequence[QueryResult], waking: WakingState, *, unresolved: bool
) -> Recollection:
    """What fits of all that the queries of a waking found in the citizen's own graph, and of what was told after.

    `results`: those of the cue, and those of the mode, among which a memory told in plain words may be.
    """
    if cue.target is None:
        return Recollection()
    candidates = Candidates(known_to=cue.view.scope.known.end, kept=kept_records(results))
    for result in results:
        if result.key == Level.N1:
            candidates.add(result.key, result.rows, likeness=result.request.kind == "cue")
    about, known = measure_about(candidates, cue, waking)
    more = await _read_after(candidates, about, waking, cue)
    for result in more:
        candidates.add(result.key, result.rows, likeness=False)
    links = [link for link in candidates.links.values() if link.get("relation_type") == "RESOLVED_BY"]
    earlier = await _read_earlier(candidates, cue.view.scope, target=cue.target)
    told = read_told(candidates.memories.values(), about, links, earlier)
    parts: dict[Key, Mapping[str, float]] = {}
    for key, one in told.items():
        if may_answer(one, waking, unresolved=unresolved) and (scored := told_parts(one, waking, known)):
            parts[key] = scored
    if waking.mode is QueryMode.WHAT_I_WAS_DOING:
        parts = thin_out(parts, told)
    own = [result for result in results if result.request in cue.requests]
    return Recollection(told, parts, links, (*own, *more))


def measure_about(candidates: Candidates, cue: Cue, waking: WakingState) -> tuple[dict[Key, float], float]:
    """How much each candidate is about the cue, in [0, 1]: by likeness and by words, as a question is answered.
    And how much the words of the goal say of where to look (`Table.known`)."""
    text = cue_text(waking)
    if not text:
        return {}, 1.0
    table = table_of(Question(text), candidates, cue.lexicons, CHANNEL_WEIGHTS)
    words = word_score(table, 1.0 - LIKENESS_SHARE)
    whole = LIKENESS_SHARE + (1.0 - LIKENESS_SHARE) * table.known
    both = zip(table.keys, likeness_score(table, LIKENESS_SHARE), words, strict=True)
    return {key: (likeness + said) / whole for key, likeness, said in both}, table.known if waking.goal else 1.0


async def _read_after(
    candidates: Candidates, about: Mapping[Key, float], waking: WakingState, cue: Cue
) -> list[QueryResult]:
    """What was told after the memories that are most about the state, and what resolved these; without a goal also
    what resolved any other."""
    target, memories = cue.target, candidates.memories
    if target is None or all(channel.name != "before" for channel in channels_of(waking)):
        return []
    told: list[Key] = []
    ways: list[str] = []
    for key, memory in memories.items():
        if is_told(memory):
            told.append(key)
            if not waking.goal and memory.get("resolution_state") == RESOLVED:
                ways.append(key[1])
    starts = sorted(filter(about.get, told), key=lambda key: (-about[key], key))[:STARTS]
    ids = [key[1] for key in starts]
    values = store.after_values(cue.view.scope, ids, OTHERS, cue.filters)
    after = _request("after", target, values)
    solved = _request("solved", target, {**values, "ids": list(dict.fromkeys((*ids, *ways)))})
    return await run_all([each for each in (after, solved) if each.values["ids"]])


async def _read_earlier(
    candidates: Candidates, scope: Scope, *, target: GraphTarget
) -> Mapping[str, store.Earlier]:
    """What the earlier records of the candidates that have some say; nothing when it cannot be read in time."""
    changed = sorted(key[1] for key, memory in candidates.memories.items() if key[2] > 1 and is_told(memory))
    try:
        return await store.read_earlier(target, scope, changed) if changed else {}
    except (GraphMissing, StoreTimeout, Fault):
        return {}


def add_told(
    candidates: Candidates, scores: Mapping[Key, float], recollection: Recollection, limit: int
) -> dict[Key, float]:
    """The scores with those of the best `limit` told memories; `candidates` gains these, as found over links.

    003's scores of memories told in plain words give way: they would go by what was inferred.
    """
    told = recollection.scores()
    best = sorted(told, key=lambda key: (-told[key], -recollection.told[key].memory.get("valid_at"), key))[:limit]
    for key in best:
        memory, told_memory = candidates.memories.get(key), recollection.told[key].memory
        if memory is None:
            record = Record(told_memory.row) if told_memory.shown else told_memory.record
            candidates.memories[key] = Candidate(key, record, hops=0)
        elif memory.hops is None:
            memory.hops = 0
    given = {key: score for key, score in scores.items() if key not in recollection.told}
    return {**given, **{key: told[key] for key in best}}


async def add_links(
    candidates: Candidates,
    activation: Activation,
    state: StateBasedRetrieval,
    waking: WakingState,
    *,
    view: View,
    notes: list[str],
) -> Activation:
    """The activation with what was said right after what is told in focus; `candidates` gains that, and every
    link that holds between what is shown. Unchanged where they come too late, which `notes` then says.
    """
    ids = shown_ids(state, candidates, activation)
    told: dict[str, float] = {}
    for key, amount, *_ in activation.order[:FOCUS]:
        shown = key[1] in ids.get(key[0], ()) and key[0] == Level.N1
        if shown and len(told) < ANSWERED and is_told(candidates.memories[key]):
            told[key[1]] = amount
    hidden = [RESOLVED] if state.include_only_unresolved and waking.mode is QueryMode.RELATED_UNRESOLVED else []
    reading = partial(store.read_between, scope=view.scope, filters=state.filters, hidden=hidden)
    try:
        found = await together(
            *(reading(view.targets[key], ids=ids[key], told=list(told) if key == Level.N1 else []) for key in ids)
        )
    except (GraphMissing, StoreTimeout, Fault):
        notes.append("the links between what is shown were not read in time")
        return activation
    beside: list[Candidate] = []
    shares: list[float] = []
    for graph, rows in zip(ids, found, strict=True):
        for memory, source in candidates.add_links(graph, rows):
            beside.append(memory)
            shares.append(SPREAD_SHARE * told[source])
    scores = in_rank_order(consciousness_scores(beside, shares, waking.emotions, waking.pressure))
    parts = dict(activation.parts)
    for score in scores:
        parts[score.key] = {"mode": 0.0, "spread": score.activation}
    return replace(activation, order=(*activation.order, *scores), parts=parts)
