"""What a citizen has to wake for, what comes due, and what it does about that: readings with reasons. Pure.

003 names context hunger and unresolved tension and gives them thresholds, but no formulas; these are ours: each
takes plain numbers and gives one in [0, 1], is monotone in what it reads, and `docs/loops.md` states it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import tzinfo
from itertools import chain, islice
from textwrap import shorten
from typing import Final, NamedTuple

from orchestration.features.appetite.queries import Fresh, Kind, Stirring
from orchestration.mind.energy import MOST_MULTIPLIED, MULTIPLIERS, effective_energy
from orchestration.question.reading import ASKING
from orchestration.question.time_expressions import read_planned_times
from schemas.intention import QueryMode, RetrievalIntention, StateBasedRetrieval
from schemas.memory import HalfLives, Level, ResolutionState, graph_fields
from schemas.mind.appetite import (
    Appetite,
    AppetiteSource,
    Decision,
    IntendRequest,
    LastAsked,
    PressureOrigin,
    Reading,
    ReadingName,
)
from schemas.mind.state import CitizenState
from schemas.temporal import Instant, Period, TemporalMode, to_datetime, to_instant
from substrate.emotions import normal_emotion, normal_emotions
from substrate.language.text import count_of, stems

MOST_SOURCES: Final = 8
MOST_CONTEXTS: Final = 4
GOALS_SHOWN: Final = 2
SHARED_STEMS: Final = 2
"""A memory touches a goal when this many of the goal's stems are among its own, or all of a shorter goal."""
OTHER_PERSON_SHARE: Final = 0.5
"""The words of a person who is not known to be the citizen count half, as in a waking."""
PAIN_SENSE: Final = "pain"
"""The sense of a state that is a pain (002)."""
NAME_LENGTH: Final = 80
SOURCE_LENGTH: Final = 200


class Facts(NamedTuple):
    """What an appetite is read from. `own`: of the citizen's graph. `fresh`: of others, by shared level.

    `remembered`: whether there is a memory at all. `noted`: whether the service notes its streams. `zone`: where a
    planned day begins. `mentioned`: whom and what its late words name. `half_lives` None: energy does not fade.
    """

    citizen_id: str
    now: Instant
    zone: tzinfo
    state: CitizenState
    own: Sequence[Stirring] = ()
    fresh: Sequence[Fresh] = ()
    last: LastAsked | None = None
    half_lives: HalfLives | None = None
    remembered: bool = True
    noted: bool = True
    mentioned: Sequence[str] = ()
    notes: tuple[str, ...] = ()


class _Contribution(NamedTuple):
    """A memory, and what it would give alone."""

    memory: Stirring
    amount: float


def read_readings(facts: Facts) -> Appetite:
    """The appetite of these facts, the strongest reading first."""
    due = find_due(facts.own, facts.now, facts.zone, last=_last_at(facts))
    weighed = [_Contribution(each, _pull(each, facts)) for each in _of_kind(facts, "open")]
    work = sorted(weighed, key=lambda each: (-each.amount, -each.memory.valid_at, each.memory.id))
    open_work = [each.memory.goal or _in_short(each.memory.text) for each in work[:GOALS_SHOWN]]
    contexts = (*_goals(facts)[:GOALS_SHOWN], *open_work, *facts.mentioned)
    readings = (
        _tension(work), _hunger(facts), _pain(facts), _drives(facts), _due(due, facts), _context(facts),
        _revaluations(facts),
    )  # fmt: skip
    pressure, origin = pressure_of(facts.state, due)
    return Appetite(
        citizen_id=facts.citizen_id,
        at=to_datetime(facts.now),
        last_stream=facts.last,
        readings=tuple(sorted(readings, key=lambda each: -each.amount)),
        tension_source=_in_short(work[0].memory.text, SOURCE_LENGTH) if work else None,
        dominant_emotions=dominant(facts.state.emotion_vector),
        active_contexts=tuple(islice(_distinct(map(_in_short, contexts)), MOST_CONTEXTS)),
        reality_pressure=pressure,
        pressure_from=origin,
        notes=facts.notes,
    )


def pressure_of(state: CitizenState, due: Sequence[Due]) -> tuple[float, PressureOrigin]:
    """The reality pressure: what the state keeps, else what is due makes it, else .5."""
    if state.reality_pressure is not None:
        return state.reality_pressure, "kept"
    if not due:
        return CALM, "default"
    return round(pressure(most_due(due)), 4), "due"


def _reading(name: ReadingName, amount: float, reason: str, sources: Sequence[_Contribution] = ()) -> Reading:
    shown: list[AppetiteSource] = []
    for memory, alone in sources[:MOST_SOURCES]:
        named, share = _in_short(memory.name), round(min(1.0, alone), 4)
        shown.append(AppetiteSource(id=memory.id, **graph_fields(memory.graph), name=named, amount=share))
    further = max(0, len(sources) - MOST_SOURCES)
    return Reading(name=name, amount=round(amount, 4), reason=reason, sources=tuple(shown), further=further)


def _of_kind(facts: Facts, *kinds: Kind) -> list[Stirring]:
    return [each for each in facts.own if each.kind in kinds]


def _last_at(facts: Facts) -> Instant | None:
    return None if facts.last is None else to_instant(facts.last.at)


def _pull(memory: Stirring, facts: Facts) -> float:
    state = memory.work or ResolutionState.IN_PROGRESS.value
    energy = memory.energy
    if facts.half_lives is not None:
        energy = effective_energy(energy, state, facts.now - memory.valid_at, facts.half_lives)
    name = (memory.speaker or "").lower()
    is_own = not name or name in ASKING or name == facts.citizen_id.lower()
    return pull(energy, state) * (1.0 if is_own else OTHER_PERSON_SHARE)


def _tension(work: Sequence[_Contribution]) -> Reading:
    if not work:
        return _reading("unresolved_tension", 0.0, "nothing is blocked or in progress")
    first = work[0].memory
    how = "is blocked" if first.work == ResolutionState.BLOCKED.value else "is in progress"
    further = len(work) - 1
    more = f", and {further} more {'is' if further == 1 else 'are'} open" if further else ""
    amount = tension(each.amount for each in work)
    return _reading("unresolved_tension", amount, f"{_quoted(first)} {how}{more}", work)


def _hunger(facts: Facts) -> Reading:
    news = sum(each.total for each in facts.fresh)
    newest = [_Contribution(each, hunger(0, 1)) for fresh in facts.fresh for each in fresh.newest]
    told = f"{count_of(news, 'new memory')} of others in shared levels"
    if not facts.remembered:
        return _reading("context_hunger", 0.0, "nothing is remembered that it could ask for")
    if facts.last is None and facts.noted:
        return _reading("context_hunger", hunger(None, news), "it never asked for a stream", newest)
    if facts.last is None:
        reason = f"this service notes no streams; there are {told}"
        return _reading("context_hunger", hunger(0, news), reason, newest)
    since = max(0, facts.now - to_instant(facts.last.at))
    reason = f"its last stream was {_ago(since)}" + (f", and there are {told} since" if news else "")
    return _reading("context_hunger", hunger(since, news), reason, newest)


def _pain(facts: Facts) -> Reading:
    name, amount = pain(facts.state.emotion_vector)
    sensed = facts.state.senses.get(PAIN_SENSE)
    if sensed is not None and sensed.intensity > amount:
        about = f": {_in_short(sensed.text)}" if sensed.text else ""
        return _reading("pain", sensed.intensity, f"it senses pain {sensed.intensity:.2g}{about}")
    if not amount:
        return _reading("pain", 0.0, "nothing hurts")
    told = [source for source in facts.state.sources if source.field == "emotion_vector"]
    ids = list(chain.from_iterable(source.memory_ids for source in told if normal_emotion(source.name) == name))
    sources: list[AppetiteSource] = []
    for memory_id in ids[:MOST_SOURCES]:
        named = next((_in_short(each.name) for each in facts.own if each.id == memory_id), memory_id)
        sources.append(AppetiteSource(id=memory_id, level=Level.N1, name=named, amount=round(amount, 4)))
    reason, further = f"it feels {name} {amount:.2g}", max(0, len(ids) - MOST_SOURCES)
    return Reading(name="pain", amount=round(amount, 4), reason=reason, sources=tuple(sources), further=further)


def _drives(facts: Facts) -> Reading:
    lacks = {name: lack(drive.satisfaction) for name, drive in facts.state.drives.items()}
    name = max(lacks, key=lambda each: (lacks[each], each), default=None)
    if name is None or not lacks[name]:
        reason = "no drive is below .3" if lacks else "no drives are declared"
        return _reading("drives", 0.0, reason)
    satisfaction = facts.state.drives[name].satisfaction
    return _reading("drives", lacks[name], f"the drive {name} has a satisfaction of {satisfaction:.2g}")


def _due(due: Sequence[Due], facts: Facts) -> Reading:
    if not due:
        return _reading("due", 0.0, "nothing is due within days")
    first = due[0]
    start, end = first.period
    when = "is due now"
    if start > facts.now:
        when = f"is due in {_length(start - facts.now)}"
    elif start < end <= facts.now:
        when = f"was due {_ago(facts.now - end)}"
    reason = f"{_quoted(first.memory)} {when}"
    more = f", and {len(due) - 1} more" if len(due) > 1 else ""
    return _reading(
        "due", most_due(due), f"{reason}{more}", [_Contribution(each.memory, each.amount) for each in due]
    )


def _context(facts: Facts) -> Reading:
    """What is new since the last stream and touches a goal, whoever wrote it; not what the goal was read from."""
    goals = _goals(facts)
    if not goals:
        return _reading("context", 0.0, "it has no goal that something could touch")
    since = _last_at(facts) or 0
    known = {memory_id for source in facts.state.sources for memory_id in source.memory_ids}
    own = [each for each in _of_kind(facts, "said", "open") if each.created_at > since and each.id not in known]
    others = [each for fresh in facts.fresh for each in fresh.newest]
    distinct = {(each.graph, each.id): each for each in (*others, *own)}
    touching = [each for each in distinct.values() if _touched_goal(each, goals)]
    if not touching or facts.last is None:
        why = "nothing new touches a goal" if facts.last else "no stream to compare with"
        return _reading("context", 0.0, why)
    goal = _touched_goal(touching[0], goals)
    touch = "touches" if len(touching) == 1 else "touch"
    reason = f"{count_of(len(touching), 'new memory')} since its last stream {touch} a goal, such as “{goal}”"
    weighed = [_Contribution(each, touched(1)) for each in touching]
    return _reading("context", touched(len(touching)), reason, weighed)


def _touched_goal(memory: Stirring, goals: Iterable[str]) -> str | None:
    told = stems(f"{memory.name} {memory.text} {memory.goal or ''}")
    for goal in goals:
        wanted = stems(goal)
        if wanted and len(wanted & told) >= min(SHARED_STEMS, len(wanted)):
            return goal
    return None


def _goals(facts: Facts) -> list[str]:
    """The goal of the state, and other open goals that its memories tell."""
    told = [source.name for source in facts.state.sources if source.field == "goal"]
    return list(dict.fromkeys([*filter(None, [facts.state.goal]), *told]))


def _revaluations(facts: Facts) -> Reading:
    waiting = _of_kind(facts, "waiting")
    if not waiting:
        return _reading("revaluations", 0.0, "no memory waits to be judged anew")
    wait = "waits" if len(waiting) == 1 else "wait"
    reason = f"{count_of(len(waiting), 'memory')} {wait} to be judged anew"
    weighed = [_Contribution(each, to_judge(1)) for each in waiting]
    return _reading("revaluations", to_judge(len(waiting)), reason, weighed)


def _distinct(texts: Iterable[str]) -> Iterator[str]:
    """The texts, without those that say nothing but what one before them said."""
    told: list[frozenset[str]] = []
    for text in texts:
        said = stems(text)
        if said and not any(said <= earlier for earlier in told):
            told.append(frozenset(said))
            yield text


def _quoted(memory: Stirring) -> str:
    return f"“{_in_short(memory.name)}”"


def _in_short(text: str, length: int = NAME_LENGTH) -> str:
    return shorten(text, length, placeholder="…")


def _ago(microseconds: Instant) -> str:
    return f"{_length(microseconds)} ago"


def _length(microseconds: Instant) -> str:
    hours = microseconds / HOUR
    if hours < 1.0:
        return count_of(round(hours * 60), "minute")
    return count_of(round(hours), "hour") if hours < 48.0 else count_of(round(hours / 24), "day")


LEAST: Final = 0.01
"""What is less due, more than six days away, is not mentioned."""


class Plan(NamedTuple):
    """A memory with a time that it plans, and whether that comes back."""

    memory: Stirring
    period: Period
    recurring: bool = False


class Due(NamedTuple):
    """A memory and the time that it plans. `amount`, in [0, 1]: how due it is."""

    memory: Stirring
    period: Period
    amount: float


def find_due(
    memories: Iterable[Stirring], now: Instant, zone: tzinfo, *, last: Instant | None = None
) -> list[Due]:
    """What is due, most first; of each memory the time that is nearest.

    `last`: when the citizen last asked for a stream. A rule that comes back is due once each time: not after it.
    """
    return rate_plans(read_plans(memories, now, zone), now, last=last)


def rate_plans(plans: Iterable[Plan], now: Instant, *, last: Instant | None = None) -> list[Due]:
    """The plans that are due, most first; of each memory the one that is nearest. `last`: as for `find_due`."""
    nearest: dict[str, Due] = {}
    for memory, period, recurring in plans:
        if recurring and (memory.kind != "rule" or (last is not None and last >= period.start)):
            continue
        each = Due(memory, period, nearness(period, now))
        before = nearest.get(each.memory.id)
        if each.amount >= LEAST and (before is None or each.amount > before.amount):
            nearest[each.memory.id] = each
    return sorted(nearest.values(), key=lambda each: (-each.amount, each.period, each.memory.id))


def most_due(due: Sequence[Due]) -> float:
    """How due the first is; 0 where nothing is."""
    return max((each.amount for each in due), default=0.0)


def read_plans(memories: Iterable[Stirring], now: Instant, zone: tzinfo) -> list[Plan]:
    """What the memories plan. It is the same at any moment of one day in this zone."""
    plans: list[Plan] = []
    for memory in memories:
        is_rule = memory.kind == "rule"
        if memory.kind == "planned":
            plans.append(Plan(memory, Period(memory.valid_at, memory.valid_at)))
        elif (is_rule or memory.kind == "said") and memory.work != ResolutionState.RESOLVED.value:
            text = memory.rule or memory.text if is_rule else memory.text
            is_work = is_rule or memory.goal is not None or memory.work is not None
            said, moment = (to_datetime(each).astimezone(zone) for each in (memory.valid_at, now))
            for planned in read_planned_times(text, said, moment, is_work=is_work):
                plans.append(Plan(memory, planned.period, planned.recurring))
    return plans


HUNGRY: Final = 0.7
"""Context hunger above this asks broadly (003)."""
TENSE: Final = 0.6
"""Unresolved tension above this asks for past experiences (003)."""
LEAST_ENERGY: Final = 0.5
"""Both ask for memories with at least this energy (003)."""
AWAKE: Final = 0.5
"""Anything else that is at least this strong wakes the citizen from its state."""
_WAKING: Final[tuple[ReadingName, ...]] = ("unresolved_tension", "pain", "drives", "due", "context")
"""The readings that a waking from the state answers. Memories to judge anew are answered by judging them."""


def decide(appetite: Appetite, request: IntendRequest) -> Decision:
    """The intention or the state that follows from an appetite, and why; neither where nothing is strong."""
    hunger, tension = appetite.reading("context_hunger"), appetite.reading("unresolved_tension")
    if hunger.amount > HUNGRY and appetite.active_contexts:
        about = ", ".join(appetite.active_contexts)
        intention = _intention(f"Recent developments in {about}", TemporalMode.CURRENT, appetite, request)
        return Decision(kind="broad", why=_above(hunger, HUNGRY), reading=hunger.name, intention=intention)
    if tension.amount > TENSE and appetite.tension_source:
        text = f"Past experiences similar to {appetite.tension_source}"
        intention = _intention(text, TemporalMode.EVOLUTION, appetite, request)
        if appetite.dominant_emotions:
            felt = {"required_emotions": appetite.dominant_emotions, "emotions_match": "any"}
            intention = intention.model_copy(update=felt)
        return Decision(kind="similar", why=_above(tension, TENSE), reading=tension.name, intention=intention)
    return _wake(appetite, request)


def ask_wider(decision: Decision) -> Decision | None:
    """The decision again, whatever the memories feel; None where it did not ask for feelings.

    In an ordinary chat few memories feel anything: a filter by feelings may leave nothing.
    """
    intention = decision.intention
    if intention is None or not intention.required_emotions:
        return None
    felt = " or ".join(intention.required_emotions)
    wider = RetrievalIntention.model_validate(
        intention.model_dump(exclude={"required_emotions", "emotions_match", "intention_id"}, exclude_unset=True)
    )
    why = f"{decision.why}; hardly anything else that feels {felt} was found, so it asked whatever is felt"
    return decision.model_copy(update={"intention": wider, "why": why})


def _wake(appetite: Appetite, request: IntendRequest) -> Decision:
    strong = [each for each in appetite.readings if each.name in _WAKING and each.amount >= AWAKE]
    if not strong:
        hunger = appetite.reading("context_hunger")
        most = max(appetite.readings, key=lambda each: (each.name in _WAKING, each.amount))
        why = (
            f"nothing is strong enough: context_hunger {hunger.amount:.2f} of more than {HUNGRY:g}, "
            f"{most.name} {most.amount:.2f} of {AWAKE:g} ({most.reason})"
        )
        if hunger.amount > HUNGRY:
            why = f"{_above(hunger, HUNGRY)}; but nothing tells what its contexts are"
        return Decision(kind="nothing", why=why)
    mode = QueryMode.SIMILAR_STATE if strong[0].name == "pain" else QueryMode.RELATED_UNRESOLVED
    state = StateBasedRetrieval(
        citizen_id=appetite.citizen_id,
        query_mode=mode,
        reality_pressure=appetite.reality_pressure,
        **_options(request),
    )
    return Decision(kind="state", why=_above(strong[0], AWAKE, "at least"), reading=strong[0].name, state=state)


def _intention(text: str, mode: TemporalMode, appetite: Appetite, request: IntendRequest) -> RetrievalIntention:
    return RetrievalIntention(
        citizen_id=appetite.citizen_id,
        query_text=text,
        temporal_mode=mode,
        min_energy=LEAST_ENERGY,
        reality_pressure=appetite.reality_pressure,
        time_zone=request.time_zone,
        generated_by="appetite",
        **_options(request),
    )


def _options(request: IntendRequest) -> dict[str, object]:
    names = {"apply_feedback", "explain", "max_tokens", "form", "parts", "query_levels", "collectives"}
    return request.model_dump(include=names)


def _above(reading: Reading, threshold: float, how: str = "above") -> str:
    return f"{reading.name} is {reading.amount:.2f}, {how} {threshold:g}: {reading.reason}"


HOUR: Final = 3_600_000_000
DAY: Final = 24 * HOUR
"""Microseconds."""
HUNGER_HOURS: Final = 12.0
"""After this many hours without a stream half the hunger has come back: .7 is passed after 21 hours."""
HUNGER_NEWS: Final = 4.0
"""This many new memories of others make as much hunger as those hours."""
CHANGES: Final = 3.0
REVALUATIONS: Final = 10.0
"""This many changes that touch a goal, and this many memories to judge anew, amount to one half."""
DUE_DAYS: Final = 1.0
"""What is planned counts half for each day that it is away."""
OVER: Final = 0.5
"""Of what was planned and is over nobody says whether it was done."""
SATISFIED: Final = 0.3
"""A drive with less satisfaction than this wants something (002)."""
CALM: Final = 0.5
"""The reality pressure where nothing is due (003)."""
PAINFUL: Final = frozenset(
    ("hurt", "pain", "grief", "despair", "dread", "existential dread", "loneliness", "sadness", "shame", "guilt",
     "regret", "disappointment")
)  # fmt: skip
"""Emotions that are a pain, whatever caused them; anger and frustration belong to what is blocked."""
DOMINANT: Final = 0.5
MOST_DOMINANT: Final = 3
"""An emotion is dominant with at least this share of the strongest; at most this many are."""


def halves(count: float, half: float) -> float:
    """1 − 2^(−count ÷ half): 0 of nothing, one half of `half`, 1 of endlessly much."""
    return 1.0 - math.exp2(-max(0.0, count) / half)


def hunger(since: Instant | None, news: int) -> float:
    """How much a citizen lacks context: 1 − 2^(−(hours ÷ 12 + news ÷ 4)).

    `since`: microseconds since its last stream; None for a citizen that never had one, which lacks all. `news`:
    memories of others that are new in the shared levels since.
    """
    return 1.0 if since is None else halves(since / HOUR / HUNGER_HOURS + news / HUNGER_NEWS, 1.0)


def pull(energy: float, state: str) -> float:
    """How much open work pulls: its energy × 1 if it is blocked, × 2/3 in progress, × 1/5 resolved (003, 5c)."""
    return energy * MULTIPLIERS[ResolutionState(state)] / MOST_MULTIPLIED


def tension(pulls: Iterable[float]) -> float:
    """1 − Π (1 − pull ÷ 2^place), the strongest at place 0: the first counts whole, each further one half as much.

    So one piece of work tells most, and a hundred small ones are no crisis.
    """
    strongest = sorted(pulls, reverse=True)
    return 1.0 - math.prod(1.0 - min(1.0, each) / 2.0**place for place, each in enumerate(strongest[:50]))


def pain(emotions: Mapping[str, float]) -> tuple[str, float]:
    """The strongest painful emotion and its intensity; "" and 0 without one."""
    felt = [(amount, name) for name, amount in normal_emotions(emotions).items() if name in PAINFUL and amount]
    amount, name = max(felt, default=(0.0, ""))
    return name, min(1.0, amount)


def lack(satisfaction: float) -> float:
    """How much a drive lacks: (.3 − satisfaction) ÷ .3; 0 from a satisfaction of .3 on (002)."""
    return max(0.0, (SATISFIED - satisfaction) / SATISFIED)


def nearness(planned: Period, now: Instant) -> float:
    """How due a planned time is: 2^(−days until it begins), 1 while it lasts; once over ½ × 2^(−days since)."""
    if now > planned.end:
        return OVER * math.exp2(-(now - planned.end) / DAY / DUE_DAYS)
    return math.exp2(-max(0, planned.start - now) / DAY / DUE_DAYS)


def touched(changes: int) -> float:
    """How much has changed about the goals: 1 − 2^(−changes ÷ 3)."""
    return halves(changes, CHANGES)


def to_judge(offered: int) -> float:
    """How much there is to judge anew: 1 − 2^(−memories ÷ 10)."""
    return halves(offered, REVALUATIONS)


def pressure(due: float) -> float:
    """The reality pressure where none was given (003, `get_current_pressure`): .5 + .5 × what is due."""
    return CALM + (1.0 - CALM) * due


def dominant(emotions: Mapping[str, float]) -> tuple[str, ...]:
    """The emotions with at least half the intensity of the strongest, at most three, strongest first."""
    felt = {name: amount for name, amount in normal_emotions(emotions).items() if amount > 0.0}
    least = DOMINANT * max(felt.values(), default=0.0)
    strong = sorted((-amount, name) for name, amount in felt.items() if amount >= least)
    return tuple(name for _, name in strong[:MOST_DOMINANT])
