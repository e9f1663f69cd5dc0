"""What a citizen may answer to, what changed for it, and what of it the working memory holds (002). Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from datetime import datetime
from itertools import islice
from textwrap import shorten
from typing import Any, Final, NamedTuple

from orchestration.appraisal.feelings import read_emotions
from orchestration.assembly.displayed_text import one_line
from orchestration.features.appetite.readings import Due, lack, pain
from orchestration.features.rules.judgement import HeldRule
from orchestration.features.situation.queries import ChangedRecord, NewestMemory
from orchestration.features.situation.values import (
    CHANGE_KINDS,
    ActiveRule,
    Change,
    ChangeKind,
    Changes,
    Context,
    GivenStimulus,
    Shown,
    Situation,
    Stimulus,
    StimulusKind,
)
from orchestration.question.reading import ANSWERING
from orchestration.resonance.ranking import (
    PAIN,
    UNSATISFIED,
    Echo,
    diversify,
    dominant_emotion,
    low_drives,
    split_by_emotion,
    strongest_emotion,
)
from schemas.memory import GraphKey, Level, ResolutionState, graph_fields
from schemas.mind.state import CitizenState, is_pain
from schemas.temporal import Instant, long_date, to_datetime
from schemas.wave_signal import WORKING_MEMORY, Resonance, Weights, WindowItem
from substrate.emotions import normal_emotions
from substrate.language.text import name_key, stems, word_language

MESSAGES_SHOWN: Final = 5
ANSWERED: Final = frozenset(("given", "message", "sense"))
"""Stimuli with words of their own: with the focus they are what memories are compared with by meaning."""
READ_OF_EACH: Final = 600
"""This many characters of each text are read for the signal, which reads 288 words of all."""
READ_OF_ALL: Final = 4_000
"""This many characters of all that is to be answered are compared by meaning."""
DUE_SHOWN: Final = 3
INFERRED: Final = Weights(emotion=0.5, result=0.5)
"""What is read from texts, or felt for other reasons, counts half of what a signal is given."""
LAST_WORDS: Final = 3
"""Where no cycle has ended yet, this many of the last messages are what there is to answer to."""


def given_stimuli(given: Iterable[GivenStimulus]) -> Iterator[Stimulus]:
    """What reached the citizen with the request."""
    for one in given:
        yield Stimulus(kind="given", text=one.text, speaker=one.speaker, strength=1.0, reason="it was given")


def felt_stimuli(state: CitizenState) -> Iterator[Stimulus]:
    """Pain, drives below 0.3, and what else the citizen senses, each by its strength, the strongest first.

    Pain is the sense of that name, else the strongest painful emotion.
    """
    found = []
    for name, sense in state.senses.items():
        reason = f"the state has it with an intensity of {sense.intensity:.2g}"
        kind: StimulusKind = "pain" if is_pain(name) else "sense"
        text = f"{name}: {sense.text}" if sense.text else name
        found.append(Stimulus(kind=kind, text=text, strength=sense.intensity, reason=reason))
    for name, drive in state.drives.items():
        if drive.satisfaction < UNSATISFIED:
            reason = f"its satisfaction of {drive.satisfaction:.2g} is below {UNSATISFIED:.2g}"
            found.append(Stimulus(kind="drive", text=name, strength=lack(drive.satisfaction), reason=reason))
    name, amount = pain(state.emotion_vector)
    if not state.pain and amount:
        found.append(Stimulus(kind="pain", text=name, strength=amount, reason=f"it feels {name} {amount:.2g}"))
    yield from sorted((one for one in found if one.strength), key=lambda one: (-one.strength, one.kind, one.text))


def due_stimuli(due: Sequence[Due], now: Instant) -> Iterator[Stimulus]:
    """What comes due, the most due first."""
    for one in due[:DUE_SHOWN]:
        planned = to_datetime(one.period.start)
        yield Stimulus(
            kind="due",
            text=one.memory.text,
            strength=min(1.0, one.amount),
            reason=f"{'due since' if one.period.start <= now else 'due on'} {long_date(planned)}",
            memory_id=one.memory.id,
            level=Level.N1,
            at=planned,
        )


def find_heard(
    newest: Sequence[NewestMemory], citizen_id: str, since: Instant | None, *, given: bool
) -> list[NewestMemory]:
    """What others said that became known from `since` on, in the order of time.

    Where no cycle has ended it is their last words, unless something was `given` to answer to.
    `newest`: the newest memories, the latest first. The words of the citizen and of an assistant are its own.
    """
    own = {*ANSWERING, name_key(citizen_id)}
    said = [one for one in newest if one.speaker and name_key(one.speaker) not in own]
    if since is None:
        return [] if given else said[:LAST_WORDS][::-1]
    return [one for one in said if one.known_at >= since][::-1]


def message_stimuli(messages: Sequence[NewestMemory], since: Instant | None) -> Iterator[Stimulus]:
    """The last messages, in the order of time."""
    reason = "it was said last" if since is None else "it became known after the last cycle"
    for one in messages[-MESSAGES_SHOWN:]:
        yield Stimulus(
            kind="message",
            text=one.text,
            strength=1.0,
            reason=reason,
            memory_id=one.memory_id,
            level=Level.N1,
            speaker=one.speaker,
            at=to_datetime(one.valid_at),
        )


def asked_text(stimuli: Iterable[Stimulus], focus: str | None) -> str:
    """What memories and rules are compared with: the stimuli that have words of their own, and the focus."""
    asked = [one.text[-READ_OF_EACH:] for one in stimuli if one.kind in ANSWERED] + ([focus] if focus else [])
    return "\n".join(asked)[:READ_OF_ALL]


def signal_fields(
    window: Sequence[Shown], stimuli: Sequence[Stimulus], focus: str | None, state: CitizenState
) -> dict[str, Any]:
    """The fields of the signal: the window, then the stimuli, then the focus; low drives, emotion and result.

    The emotion is `hurt` with a pain above 0.5, else that of the texts, else the strongest that is felt.
    """
    # A memory of the window is there by its id alone: what it is linked with is read of the graph (002).
    seen = [one for one in window if one.memory_id or one.text]
    items = [_item(one.memory_id, None if one.memory_id else one.text, one.shown_at) for one in seen]
    items += [
        _item(one.memory_id, None if one.kind == "due" else one.text) for one in stimuli if one.kind != "drive"
    ]
    fields: dict[str, Any] = {"window": items, "focus": focus, "drive_bias": low_drives(state)}
    if asked := asked_text(stimuli, focus):
        fields["query_text"] = asked
    fields["weights"] = INFERRED
    if state.pain > PAIN:
        return {**fields, "weights": Weights(), "emotion": "hurt", "intensity": state.pain, "result": "negative"}
    felt = normal_emotions(state.emotion_vector)
    strongest = strongest_emotion(felt)
    texts = [item.text for item in items if item.text] + ([focus] if focus else [])
    if strongest is not None and not read_emotions("\n".join(texts)):
        fields |= {"emotion": strongest, "intensity": felt[strongest]}
    return fields


def _item(memory_id: str | None, text: str | None, shown_at: datetime | None = None) -> WindowItem:
    return WindowItem(id=memory_id, text=None if text is None else text[:READ_OF_EACH], shown_at=shown_at)


CHANGES_SHOWN: Final = 10
LINKED: Final = "linked"
"""The work of a record whose resolution a link tells."""


class _OfKind(NamedTuple):
    kind: ChangeKind
    change: Change


def sort_changes(records: Iterable[tuple[GraphKey, Sequence[ChangedRecord]]], since: Instant) -> Changes:
    """The changes of the memories of each graph since a moment, by kind, the latest first, at most ten of each."""
    told: defaultdict[ChangeKind, list[Change]] = defaultdict(list)
    for key, of_graph in records:
        by_memory: defaultdict[str, list[ChangedRecord]] = defaultdict(list)
        for record in sorted(of_graph, key=lambda record: (record.known_at, record.at)):
            by_memory[record.memory_id].append(record)
        for of_memory in by_memory.values():
            one = _read(of_memory, key, since)
            if one is not None:
                told[one.kind].append(one.change)
    for changes in told.values():
        changes.sort(key=lambda change: (change.at, change.memory_id), reverse=True)
    more = {kind: len(told[kind]) - CHANGES_SHOWN for kind in CHANGE_KINDS if len(told[kind]) > CHANGES_SHOWN}
    return Changes(**{kind: tuple(told[kind][:CHANGES_SHOWN]) for kind in CHANGE_KINDS}, more=more)


def _read(records: Sequence[ChangedRecord], key: GraphKey, since: Instant) -> _OfKind | None:
    """What the records of one memory, the first known first, say together; None where a reader sees no change."""
    first, last = records[0], max(records, key=lambda record: record.at)
    was_known = first.known_at < since
    before = first.before
    resolved = any(record.work == LINKED for record in records) or (
        was_known and first.work != ResolutionState.RESOLVED and last.state == ResolutionState.RESOLVED
    )
    if resolved:
        kind: ChangeKind = "resolved"
    elif not last.holds:
        kind = "closed"
    else:
        kind = "corrected" if was_known else "new"
    if (kind == "closed" and not was_known) or (kind == "corrected" and before == last.now):
        return None
    change = Change(
        memory_id=last.memory_id,
        **graph_fields(key),
        text=last.now if last.holds else before or "",
        before=before if kind == "corrected" else None,
        reason=last.reason if kind in ("corrected", "closed") else None,
        speaker=last.speaker,
        at=to_datetime(last.at),
    )
    return _OfKind(kind, change)


SHARED: Final = 0.9
"""The factor on the resonance of a shared memory: of two that fit as well the citizen's own comes first."""
LEAST_FITTING: Final = 1 / 3
"""From this likeness on, or this share of its words, a rule fits what there is to answer to."""


def choose_contexts(resonances: Iterable[Resonance], left_out: Set[str] = frozenset()) -> list[Context]:
    """At most seven memories of all levels: never more than two of an emotion, ordered by MMR (002, post-scoring).

    Memories without a text are names, not contexts; those of `left_out`, by id, are shown elsewhere.
    """
    texts = []
    for one in resonances:
        if one.memory.description and one.memory.node_id not in left_out:
            factor = 1.0 if one.memory.level == Level.N1 else SHARED
            texts.append(one.model_copy(update={"resonance": round(one.resonance * factor, 6)}))
    strongest = sorted(texts, key=lambda one: (-one.resonance, one.memory.level, one.memory.node_id))
    echoes: list[Echo] = []
    for one in strongest:
        around = frozenset(node.node_id for node in one.nodes)
        echoes.append(Echo(one, dominant_emotion(one.memory), around))
    first, _ = split_by_emotion(echoes)
    return [_context(echo.resonance) for echo in islice(diversify(first), WORKING_MEMORY)]


def fitting_rules(rules: Iterable[HeldRule], said: str) -> list[HeldRule]:
    """At most seven of the rules: those that fit what was said in meaning or in words, the nearest first."""
    language = word_language(said)
    words = stems(said, language)
    fits = []
    for rule in rules:
        own = stems(rule.text, language)
        nearness = max(rule.alike, len(own & words) / max(1, len(own)))
        if nearness >= LEAST_FITTING:
            fits.append((-nearness, rule.key, rule))
    return [rule for *_, rule in sorted(fits, key=lambda each: each[:2])[:WORKING_MEMORY]]


def active_rules(contexts: Iterable[Context], fitting: Iterable[HeldRule] = ()) -> tuple[ActiveRule, ...]:
    """The rules of the contexts in their order, then the `fitting` ones: each once, with the memories of it."""
    ids: dict[str, list[str]] = {}
    for context in contexts:
        rule = (context.rule or "").strip()
        if rule:
            ids.setdefault(rule, []).append(context.memory_id)
    for held in fitting:
        of_held = ids.setdefault(held.text.strip(), [])
        of_held += [memory.memory_id for memory in held.memories if memory.memory_id not in of_held]
    return tuple(ActiveRule(rule=rule, memory_ids=tuple(of_rule)) for rule, of_rule in ids.items())


def _context(resonance: Resonance) -> Context:
    memory = resonance.memory
    felt = normal_emotions(memory.emotion_vector or {})
    emotion = strongest_emotion(felt)
    return Context(
        memory_id=memory.node_id,
        level=memory.level,
        collective=memory.collective,
        name=memory.name,
        description=memory.description,
        speaker=memory.speaker,
        valid_at=memory.valid_at,
        nodes=resonance.nodes,
        edges=resonance.edges,
        emotion=emotion,
        intensity=felt.get(emotion) if memory.intensity is None and emotion is not None else memory.intensity,
        result=memory.result,
        rule=memory.rule,
        abstraction=memory.abstraction,
        score=resonance.resonance,
    )


LONGEST: Final = 300
"""This many characters of a text stand on its line; the fields of the situation have more."""
SEEN: Final = 160

type Count = Callable[[str], int]


class SituationText(NamedTuple):
    """A text, its tokens, and how many lines had no room."""

    text: str
    tokens: int
    left_out: int


def tell(situation: Situation, most: int, count: Count) -> SituationText:
    """The situation as headings and lines, never more than `most` tokens.

    The lines are taken in their order, which is that of their weight: state, what there is to answer to, focus,
    rules, working memory, changes, window. One that is too long is left out, and shorter ones after it may fit.
    """
    blocks: list[list[str]] = []
    left, left_out = most, 0
    for heading, lines in _blocks(situation):
        block: list[str] = []
        for line in lines:
            added = f"- {line}" if block else f"# {heading}\n- {line}"
            cost = count(f"{added}\n\n")
            if cost > left:
                left_out += 1
                continue
            block.append(added)
            left -= cost
        if block:
            blocks.append(block)
    while blocks:  # the tokens of a whole may be more than those of its parts: then the last lines go
        text = "\n\n".join(map("\n".join, blocks))
        tokens = count(text)
        if tokens <= most:
            return SituationText(text, tokens, left_out)
        blocks[-1].pop()
        left_out += 1
        blocks = [block for block in blocks if block]
    return SituationText("", 0, left_out)


def _blocks(situation: Situation) -> Iterator[tuple[str, Sequence[str]]]:
    since = "" if situation.since is None else f" since {long_date(situation.since)}"
    focus = [] if situation.focus is None else [_short(situation.focus, LONGEST)]
    seen = [_short(item.text, SEEN) for item in situation.window if item.text]
    yield "State", list(_state_lines(situation.state))
    yield "To answer to", list(map(_stimulus_line, situation.stimuli))
    yield "In mind", focus
    yield "Rules", [_short(rule.rule, LONGEST) for rule in situation.rules]
    yield "Working memory", list(map(_context_line, situation.contexts))
    yield f"Changed{since}", list(_change_lines(situation))
    yield "Seen in the last cycle", seen


def _state_lines(state: CitizenState) -> Iterator[str]:
    felt = sorted(state.emotion_vector.items(), key=lambda item: (-item[1], item[0]))
    emotions = [f"{one_line(name)} {amount:.2g}" for name, amount in felt if amount]
    yield ", ".join((f"energy {state.energy:.2g}", *emotions))
    if state.goal is not None:
        yield f"goal: {_short(state.goal, LONGEST)}"
    drives = sorted(state.drives.items(), key=lambda item: (item[1].satisfaction, item[0]))
    if drives:
        yield "drives: " + ", ".join(f"{one_line(name)} {drive.satisfaction:.2g}" for name, drive in drives)


def _stimulus_line(stimulus: Stimulus) -> str:
    said = _short(stimulus.text, LONGEST)
    if stimulus.kind in ("given", "message"):
        when = "" if stimulus.at is None else f"[{long_date(stimulus.at)}] "
        return f"{when}{one_line(stimulus.speaker)}: {said}" if stimulus.speaker else f"{when}{said}"
    return f"{stimulus.kind}: {said} ({stimulus.reason})"


def _context_line(context: Context) -> str:
    name, text = one_line(context.speaker or context.name), _short(context.description, LONGEST)
    felt = "" if context.emotion is None or context.intensity is None else f" {context.intensity:.2g}"
    remarks = [f"{one_line(context.emotion)}{felt}" if context.emotion else "", one_line(context.result or "")]
    told = "; ".join(remark for remark in (f"resonates {context.score:.2f}", *remarks) if remark)
    return f"[{long_date(context.valid_at)}] {name}: {text} ({told})"


def _change_lines(situation: Situation) -> Iterator[str]:
    """The rarest kinds first: what is new fills any budget."""
    for kind in reversed(CHANGE_KINDS):
        changes: Iterable[Change] = getattr(situation.changes, kind)
        for change in changes:
            speaker = f"{one_line(change.speaker)}: " if change.speaker else ""
            was = f" (before: {_short(change.before, SEEN)})" if change.before else ""
            yield f"{kind}: {speaker}{_short(change.text, LONGEST)}{was}"
        if kind in situation.changes.more:
            yield f"{kind}: {situation.changes.more[kind]} more"


def _short(text: str, most: int) -> str:
    return shorten(one_line(text), most, placeholder=" …")
