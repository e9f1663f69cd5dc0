"""What there is for a citizen to answer to: what was given, what it feels and lacks, who spoke (002). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from orchestration.appraisal.feelings import read_emotions
from orchestration.features.appetite.due import Due
from orchestration.features.appetite.formulas import lack, pain
from orchestration.features.situation.queries import NewestMemory
from orchestration.features.situation.values import GivenStimulus, Shown, Stimulus, StimulusKind
from orchestration.question.reading import ANSWERING
from orchestration.resonance.ranking import PAIN, UNSATISFIED
from schemas.memory import Level
from schemas.mind.state import CitizenState, is_pain
from schemas.temporal import Instant, long_date, to_datetime
from schemas.wave_signal import Weights, WindowItem
from substrate.emotions import normal_emotions
from substrate.language.text import name_key

MESSAGES_SHOWN: Final = 5
ANSWERED: Final = frozenset(("given", "message", "sense"))
"""Stimuli with words of their own: with the focus they are what memories are compared with by meaning."""
READ_OF_EACH: Final = 600
"""So many characters of each text are read for the signal, which reads 288 words of all."""
READ_OF_ALL: Final = 4_000
"""So many characters of all that is to be answered are compared by meaning."""
DUE_SHOWN: Final = 3
INFERRED: Final = Weights(emotion=0.5, result=0.5)
"""What is read from texts, or felt for other reasons, counts half of what a signal is given."""
LAST_WORDS: Final = 3
"""Where no cycle has ended yet, so many of the last messages are what there is to answer to."""


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


def heard(
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
    items = [_seen(one) for one in window if one.memory_id or one.text]
    items += [
        _item(one.memory_id, None if one.kind == "due" else one.text) for one in stimuli if one.kind != "drive"
    ]
    low = {name: drive.satisfaction for name, drive in state.drives.items() if drive.satisfaction < UNSATISFIED}
    fields: dict[str, Any] = {"window": items, "focus": focus, "drive_bias": low}
    if asked := asked_text(stimuli, focus):
        fields["query_text"] = asked
    fields["weights"] = INFERRED
    if state.pain > PAIN:
        return {**fields, "weights": Weights(), "emotion": "hurt", "intensity": state.pain, "result": "negative"}
    felt = {name: amount for name, amount in normal_emotions(state.emotion_vector).items() if amount}
    texts = [item.text for item in items if item.text] + ([focus] if focus else [])
    if felt and not read_emotions("\n".join(texts)):
        strongest = min(felt, key=lambda name: (-felt[name], name))
        fields |= {"emotion": strongest, "intensity": felt[strongest]}
    return fields


def _seen(one: Shown) -> WindowItem:
    """A memory of the window by its id alone: what it is linked with is read of the graph (002)."""
    return _item(one.memory_id, None if one.memory_id else one.text, one.shown_at)


def _item(memory_id: str | None, text: str | None, shown_at: datetime | None = None) -> WindowItem:
    return WindowItem(id=memory_id, text=None if text is None else text[:READ_OF_EACH], shown_at=shown_at)
