"""Streams that are kept, so that the same question costs little as long as its answer is the same.

A stream is kept for the states of all graphs that it asked, which every write changes, until the next moment at
which something begins or ends to hold there by itself. What depends on the moment of asking alone is made anew:
ids and times, how far energy has faded, the energy of the citizen.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from datetime import timedelta
from typing import Final, NamedTuple

from orchestration.assembly.budget import budget_of
from orchestration.assembly.fitting import send
from orchestration.assembly.sent_form import FadingStream, SentStream, as_sent
from orchestration.dependencies import Deps
from orchestration.graph_queries.existing_graphs import View
from orchestration.graph_queries.recall import Recall
from orchestration.mind.energy import Decay
from orchestration.mind.stream_notes import name_weights
from orchestration.question.reading import Question, read_question
from orchestration.stream_completion import Asking, fitted
from schemas.errors import Fault, StoreTimeout
from schemas.intention import RetrievalIntention, find_zone
from schemas.stream import ConsciousnessStream
from schemas.stream_forms import all_links, all_memories
from schemas.temporal import Instant, Period, Scope, TemporalMode, to_datetime
from substrate.connection.kept import AskedState, States
from substrate.connection.together import together
from substrate.store import reader
from substrate.store.state_reads import read_next_change

MADE_ANEW: Final = {"intention_id", "generated_at", "generated_by", "form", "parts", "max_tokens"}
"""What a request may say otherwise: the same is found, and shown in another form."""
MOST_WAYS: Final = 4
"""This many forms of one stream are kept."""
_BY_MODEL: Final = ("llm", "custom")
_FAR_OFF: Final = timedelta(days=400)
_STREAM_BYTES, _MEMORY_BYTES, _LINK_BYTES = 20_000, 5_000, 6_000
"""What a stream takes, and each of its memories and links with its place in the graph, beside their texts."""
_BYTES_OF_CHARACTER: Final = 2


class StreamPlace(NamedTuple):
    """Where the stream of a question is kept. `states`: of the graphs that it asked, as it found them.

    `failures`: of the connection, and `forgotten`: of what it keeps, when the question began.
    """

    question: Hashable
    states: States
    failures: int
    forgotten: int


class StreamForm:
    """A kept stream as it is shown in one form, fitted, and as it was sent, once it was."""

    __slots__ = ("_body", "_sent", "stream")

    def __init__(self, stream: ConsciousnessStream) -> None:
        self.stream = stream
        self._body: bytes | None = None
        self._sent: SentStream | None = None

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return self._sent.size if self._sent is not None else len(self._body or b"")

    def was_sent(self, body: bytes) -> None:
        """Keep what was sent."""
        self._body = body

    def again(self, stream: ConsciousnessStream) -> bytes | None:
        """What was sent, with the ids and times of this stream; None before anything was."""
        if self._sent is None and self._body is not None:
            self._sent, self._body = as_sent(self._body), None
        return None if self._sent is None else self._sent.again(stream)


class KeptStream:
    """A stream before it was fitted, with what was found for it at `at`. `until`: it holds no longer then.

    What is kept never changes; only how far its energy has faded, and that is made anew for each question.
    """

    __slots__ = ("_faded", "_fading", "_own_size", "_shown", "at", "found", "stream", "until")

    def __init__(self, stream: ConsciousnessStream, found: Recall, at: Instant) -> None:
        self.stream, self.found, self.at = stream, found, at
        self.until: Instant | None = None
        memories = {id(memory): len(memory.description) for memory in all_memories(stream)}
        text, links = _BYTES_OF_CHARACTER * sum(memories.values()), len(list(all_links(stream)))
        self._own_size = _STREAM_BYTES + len(memories) * _MEMORY_BYTES + links * _LINK_BYTES + text
        self._fading: FadingStream | None = None
        self._faded = stream
        self._shown: dict[Hashable, StreamForm] = {}

    @property
    def size(self) -> int:
        """Bytes that it takes, by estimate."""
        return self._own_size + sum(shown.size for shown in self._shown.values())

    def fades(self, deps: Deps) -> bool:
        """Whether the energies that it shows can be made anew."""
        if self._fading is None:
            fading = FadingStream(self.stream)
            if not fading.shows(Decay(deps.half_lives, self.at)):
                return False
            self._fading = fading
        return True

    def faded(self, moment: Instant, deps: Deps) -> ConsciousnessStream:
        """The stream as it is at this moment. `fades` was asked before."""
        assert self._fading is not None
        stream = self._fading.at(Decay(deps.half_lives, moment))
        if stream is not self._faded:
            self._faded, self._shown = stream, {}
        return stream

    def shown(
        self, told: ConsciousnessStream, asked: RetrievalIntention, *, answer: ConsciousnessStream | None = None
    ) -> StreamForm:
        """The stream fitted into what was asked for. `told`: with what it tells of the citizen itself.

        `answer`: the fitted stream, where it was just made.
        """
        way = (asked.form, asked.parts, asked.max_tokens, told.citizen_energy, told.rules)
        shown = self._shown.get(way)
        if shown is None:
            while len(self._shown) >= MOST_WAYS:
                del self._shown[next(iter(self._shown))]
            shown = self._shown[way] = StreamForm(fitted(told, asked) if answer is None else answer)
        return shown

    def recalled(self, view: View) -> Recall:
        """What was found, as of the moment of this question."""
        known_at, known = max(view.now, self.found.scope.known.start), view.scope.known
        scope = Scope(view.scope.valid, Period(min(known.start, known_at), min(known.end, known_at + 1)))
        return replace(self.found, scope=scope)


class Retrieved(NamedTuple):
    """A stream; where it is kept, also its place, and how it is shown. `was_kept`: since an earlier question."""

    stream: ConsciousnessStream
    place: StreamPlace | None = None
    kept: KeptStream | None = None
    shown: StreamForm | None = None
    was_kept: bool = False

    def send(self, asked: RetrievalIntention, deps: Deps) -> bytes:
        """The stream as it is sent."""
        body = None if self.shown is None else self.shown.again(self.stream)
        if body is not None:
            return body
        body = send(self.stream, asked, budget_of(asked))
        if self.place is not None and self.kept is not None and self.shown is not None:
            self.shown.was_sent(body)
            deps.connection.answers.resize(self.place.question, self.kept, self.kept.size)
        return body


def find_place(asking: Asking[RetrievalIntention], question: Question) -> StreamPlace | None:
    """Where the stream of this question is kept; None where none may be.

    None for the past, for a question about a time as seen from now, for what chance or a model decides, and where
    the stream changes the energy of the citizen: it would be another state at once.
    """
    intention, view, deps, learned = asking.request, asking.view, asking.deps, asking.learned
    answers, model = deps.connection.answers, deps.language_model
    decided = intention.plurality is not None or intention.rerank in _BY_MODEL
    asks_model = model is not None and model.question_seconds > 0
    current = intention.temporal_mode is TemporalMode.CURRENT and view.recall is None
    states: States = {
        target.graph.name: AskedState(target.reads.state, target.past)
        for target in view.targets.values()
        if target.reads.state is not None
    }
    all_said = states and len(states) == len(view.targets)
    if not answers.most_bytes or decided or asks_model or not current or intention.apply_feedback or not all_said:
        return None
    elsewhen = (to_datetime(view.now) + _FAR_OFF).astimezone(find_zone(intention.time_zone))
    if question.periods and question != read_question(intention.query_text, elsewhen):
        return None
    asked = (intention.model_dump_json(exclude=MADE_ANEW), intention.notes, question)
    ranked = (name_weights(deps, learned), learned.notes, deps.half_lives, deps.embedder.model)
    return StreamPlace((asked, ranked, tuple(view.targets)), states, deps.connection.failures, answers.forgotten)


async def holds(kept: KeptStream, view: View, deps: Deps) -> bool:
    """Whether what is kept is the answer at the moment of the question, its graphs being as they were.

    The first time that it is asked for again it is looked up how long it holds, which takes a moment: whether the
    graphs are still as the question found them is then asked again.
    """
    if view.now < kept.at or not kept.fades(deps):
        return False
    if kept.until is None:
        changes = await together(*(read_next_change(each, kept.at) for each in view.targets.values()))
        kept.until = min(kept.at if each is None else each for each in changes)
        if not await still_in(view):
            return False
    return view.now < kept.until


async def still_in(view: View) -> bool:
    """Whether all graphs are in the states in which the question found them."""
    try:
        found = await together(*(reader.read_situation(each.graph) for each in view.targets.values()))
    except (StoreTimeout, Fault):
        return False
    return all(each.reads.state == now.state for each, now in zip(view.targets.values(), found, strict=True))


def keep_stream(
    place: StreamPlace, kept: KeptStream, answer: ConsciousnessStream, asking: Asking[RetrievalIntention]
) -> Retrieved:
    """The answer. Its stream is kept unless something of it was missing, or forgotten since the question began."""
    connection, stream = asking.deps.connection, kept.stream
    missing = any(part.query != "fields" for part in stream.degraded) or stream.model_calls
    if missing or connection.failures != place.failures or connection.answers.forgotten != place.forgotten:
        return Retrieved(answer)
    connection.answers.keep(place.question, place.states, kept, kept.size)
    return Retrieved(answer, place, kept, kept.shown(answer, asking.request, answer=answer))
