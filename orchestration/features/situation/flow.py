"""Reads the situation of a citizen: all that an agent of a cycle begins with, in one call (002, prepare)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

from orchestration.dependencies import Deps
from orchestration.features.appetite.feature import read_stirring
from orchestration.features.appetite.readings import find_due
from orchestration.features.rules.judgement import HeldRule, find_rules
from orchestration.features.rules.queries import read_rules
from orchestration.features.situation.queries import MOST_NEWEST, NewestMemory, read_changed, read_newest
from orchestration.features.situation.stimuli import (
    MESSAGES_SHOWN,
    READ_OF_EACH,
    active_rules,
    asked_text,
    choose_contexts,
    due_stimuli,
    felt_stimuli,
    find_heard,
    fitting_rules,
    given_stimuli,
    message_stimuli,
    signal_fields,
    sort_changes,
    tell,
)
from orchestration.features.situation.values import Changes, Shown, Situation, SituationRequest, Stimulus
from orchestration.graph_queries.existing_graphs import View, open_view
from orchestration.mind.state import felt_state
from orchestration.resonance.ask import resonate
from schemas.base import CitizenId
from schemas.errors import Fault, StoreTimeout, Unavailable
from schemas.intention import find_zone
from schemas.memory import Level
from schemas.mind.state import CitizenState
from schemas.temporal import Instant, Scope, to_datetime, to_instant
from schemas.wave_signal import Resonances, Resonate, WindowItem
from substrate.connection.errors import GraphMissing
from substrate.inference import tokens
from substrate.language.text import count_of
from substrate.store.surroundings import read_words

CHOSEN_FROM: Final = 15
"""This many of the most resonant memories of each level are chosen from: twice the working memory, and one."""
LAST_MEMORIES: Final = 3
"""Where nothing was seen, said or sensed, the signal is made of this many of the newest memories."""
NO_CYCLE: Final = "no cycle has ended yet: what changed is told from the first window that is saved (PUT …/state)"
NOTHING_TO_ASK_WITH: Final = "there is nothing to resonate with: no window, focus, stimulus, feeling or memory"


class _SeenItems(NamedTuple):
    """The window with the words of its memories, and how many of these are not there any more."""

    items: tuple[Shown, ...]
    missing: int


class _Reading(NamedTuple):
    """What is asked and of whom, the graphs, and the names of the parts that were not read in time."""

    citizen_id: str
    request: SituationRequest
    view: View
    deps: Deps
    degraded: list[str]

    async def attempt[T](self, part: str, reading: Awaitable[T], otherwise: T) -> T:
        """The part, or `otherwise` where what it needs does not answer in time."""
        try:
            return await reading
        except (GraphMissing, StoreTimeout, Fault, Unavailable):
            self.degraded.append(part)
            return otherwise


async def read_situation(citizen_id: CitizenId, request: SituationRequest, deps: Deps, now: Instant) -> Situation:
    """State, stimuli, window and focus of the last cycle, seven contexts, rules, what changed (002, prepare).

    A part that is not read in time is empty and named in `degraded`; nothing is changed.

    Raises Unavailable when no graph answers the signal, StoreMisfit.
    """
    scope = Scope.resolve_datetimes(request.as_of_time, request.known_at, now)
    view = await open_view(citizen_id, request.graphs, scope, deps, now=now)
    reading = _Reading(citizen_id, request, view, deps, [])
    state, newest, stirring = await asyncio.gather(
        felt_state(citizen_id, deps, scope, now, target=view.targets.get(Level.N1)),
        reading.attempt("newest", _read_newest(view), []),
        reading.attempt("due", read_stirring(view.targets.get(Level.N1), view.scope, deps), []),
    )
    moment = request.since or state.last_cycle_at
    since = None if moment is None else to_instant(moment)
    focus = state.focus if request.focus is None else request.focus
    messages = find_heard(newest, citizen_id, since, given=bool(request.stimuli))
    due = find_due(stirring, scope.valid.start, find_zone(request.time_zone))
    found = (*due_stimuli(due, scope.valid.start), *felt_stimuli(state), *message_stimuli(messages, since))
    stimuli = (*given_stimuli(request.stimuli), *found)
    (seen, resonances), changes, rules = await asyncio.gather(
        _resonate(reading, state, focus, stimuli, newest=newest),
        reading.attempt("changes", _read_changes(view, since), Changes()),
        reading.attempt("rules", _read_rules(reading, asked_text(stimuli, focus)), []),
    )
    echoes = [] if resonances is None else list(chain.from_iterable(resonances.levels.values()))
    shown = {stimulus.memory_id for stimulus in stimuli if stimulus.memory_id is not None}
    contexts = choose_contexts(echoes, shown)
    situation = Situation(
        citizen_id=citizen_id,
        at=to_datetime(scope.valid.start),
        since=None if since is None else to_datetime(since),
        state=state,
        stimuli=stimuli,
        window=seen.items,
        focus=focus,
        signal=None if resonances is None else resonances.signal,
        contexts=tuple(contexts),
        rules=active_rules(contexts, rules),
        changes=changes,
        text="",
        tokens=0,
        notes=_notes(reading, seen, resonances, since=since, heard=len(messages)),
        degraded=(*reading.degraded, *(resonances.degraded if resonances else ())),
    )
    return situation.model_copy(update=tell(situation, request.max_tokens, tokens.counter())._asdict())


async def _read_newest(view: View) -> list[NewestMemory]:
    target = view.targets.get(Level.N1)
    return [] if target is None else await read_newest(target, view.scope)


async def _read_changes(view: View, since: Instant | None) -> Changes:
    if since is None:
        return Changes()
    targets = view.targets.values()
    records = await asyncio.gather(*(read_changed(target, view.scope, since) for target in targets))
    return sort_changes(zip(view.targets, records, strict=True), since)


async def _read_rules(reading: _Reading, asked: str) -> list[HeldRule]:
    """The citizen's own rules that fit what there is to answer to; by their words alone without a vector."""
    target = reading.view.targets.get(Level.N1)
    if target is None or not asked:
        return []
    try:
        vector = await reading.deps.embedder.embed_query(asked)
    except Unavailable:
        vector = []
    stored = await read_rules(target, reading.view.scope, vector or None)
    return fitting_rules(find_rules(stored, reading.citizen_id), asked)


async def _resonate(
    reading: _Reading,
    state: CitizenState,
    focus: str | None,
    stimuli: Sequence[Stimulus],
    *,
    newest: Sequence[NewestMemory],
) -> tuple[_SeenItems, Resonances | None]:
    """The window, and what resonates with it, the stimuli and the focus; None without anything to ask with."""
    request = reading.request
    seen = await _read_seen(reading, state.window if request.window is None else request.window)
    fields = signal_fields(seen.items, stimuli, focus, state)
    if not fields["window"] and fields["focus"] is None:
        fields["window"] = [WindowItem(text=one.text[:READ_OF_EACH]) for one in newest[:LAST_MEMORIES][::-1]]
    if not any(value for name, value in fields.items() if name != "weights"):
        return seen, None
    signal = Resonate(
        citizen_id=reading.citizen_id,
        query_levels=request.query_levels,
        collectives=request.collectives,
        max_results_per_level=CHOSEN_FROM,
        as_of_time=request.as_of_time,
        known_at=request.known_at,
        **fields,
    )
    return seen, await resonate(signal, reading.deps, reading.view.now)


async def _read_seen(reading: _Reading, items: Sequence[WindowItem]) -> _SeenItems:
    ids = [item.id for item in items if item.id is not None]
    view = reading.view
    each = asyncio.gather(*(read_words(target, view.scope, ids) for target in view.targets.values()))
    found: Sequence[Mapping[str, str]] = await reading.attempt("window", each, [])
    words = {memory_id: text for of_graph in found for memory_id, text in of_graph.items()}
    shown = tuple(
        Shown(memory_id=item.id, text=item.text if item.id is None else words.get(item.id), shown_at=item.shown_at)
        for item in items
    )
    return _SeenItems(shown, 0 if "window" in reading.degraded else sum(one.text is None for one in shown))


def _notes(
    reading: _Reading, seen: _SeenItems, resonances: Resonances | None, *, since: Instant | None, heard: int
) -> tuple[str, ...]:
    notes = [*reading.request.notes, *reading.view.notes]
    if since is None:
        notes.append(NO_CYCLE)
    if seen.missing:
        count = count_of(seen.missing, "memory")
        notes.append(f"{count} of the window can not be read: erased, closed, or never one of the citizen's")
    if since is not None and heard > MESSAGES_SHOWN:
        atleast = "at least " if heard >= MOST_NEWEST else ""
        notes.append(f"{atleast}{heard - MESSAGES_SHOWN} earlier messages since then are not among the stimuli")
    if resonances is None:
        return (*notes, NOTHING_TO_ASK_WITH)
    return tuple(dict.fromkeys((*notes, *resonances.notes)))
