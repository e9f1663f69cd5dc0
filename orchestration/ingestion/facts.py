"""Facts from a conversation that is stored, by a language model: typed links, and what they end.

The model only says what it reads; what is stored is decided here. A link is made once, by its ends and its type. A
link that a new one replaces is ended only where the dates fit and the rule of trust lets a tool change it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from orchestration import insertion
from orchestration.dependencies import Deps
from orchestration.entity_extraction import memories_called
from orchestration.identifiers import accented_name, identifier, link_name, natural_id, person_id
from orchestration.ingestion import fact_prompt
from orchestration.ingestion.episodes import Episode
from orchestration.ingestion.fact_prompt import Claim, Said
from orchestration.ingestion.formats.parsed import Intake
from orchestration.ingestion.speakers import met
from schemas.commands import Relate, Remember, Unrelate, Writer
from schemas.errors import InvalidRequest
from schemas.language_model import FactsReport, ModelCall, Supersession
from schemas.memory import Level, ResolutionState, Source
from schemas.temporal import Instant, to_datetime, to_instant
from substrate.graphs.names import graph_name
from substrate.inference.language.model import LanguageModel, Question
from substrate.store import reader
from substrate.store.vocabulary import Vocabulary, held_out, read_vocabulary
from substrate.text import name_key

AT_ONCE: Final = 4
"""Windows of a conversation that the model is asked about at the same time."""
SECONDS: Final = 60.0
NOBODY: Final = Writer()

WHAT_WAS_SAID: Final = "remember what was said"


@dataclass(slots=True)
class _Drawn:
    links: list[str] = field(default_factory=list)
    memories: list[str] = field(default_factory=list)
    known: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    supersessions: list[Supersession] = field(default_factory=list)
    calls: list[ModelCall] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def report(self) -> FactsReport:
        why = (f"left out because {reason} ({count:,})" for reason, count in self.left_out.items())
        return FactsReport(
            links=tuple(self.links),
            memories=tuple(self.memories),
            known=self.known,
            left_out=self.left_out.total(),
            supersessions=tuple(self.supersessions),
            model_calls=tuple(self.calls),
            notes=(*self.notes, *why),
        )


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the facts of an episode go."""

    episode: Episode
    graph: str
    deps: Deps
    now: Instant
    writer: Writer


def needed_model(deps: Deps) -> LanguageModel:
    """The language model. Raises InvalidRequest when none is configured."""
    if deps.language_model is None:
        raise InvalidRequest(
            "Facts are read out of a conversation by a language model, and none is configured.",
            remedy="Set SUBSTRATE_LLM, or leave out extract_facts: the conversation is stored without one.",
        )
    return deps.language_model


async def draw_facts(intake: Intake, deps: Deps, now: Instant, writer: Writer = NOBODY) -> FactsReport:
    """Read the facts out of the conversations of an intake that is stored, and store them as `writer` sends them.

    A model that fails costs the facts of its part: the report says which. Raises InvalidRequest when no model is
    configured, Unavailable when the engine does not answer; the same call can then be repeated.
    """
    model, drawn = needed_model(deps), _Drawn()
    for one in intake.items:
        item, _ = await met(one, deps)
        if isinstance(item, Episode):
            place = _Place(item, graph_name(Level.N1, item.citizen_id), deps, now, writer)
            await _draw(place, model, drawn)
        else:
            drawn.notes.append(f"{item.id} is no conversation: no facts were read out of it")
    return drawn.report()


async def _draw(place: _Place, model: LanguageModel, drawn: _Drawn) -> None:
    vocabulary = await read_vocabulary(place.deps.graph(place.graph))
    for group in _groups(list(fact_prompt.windows(place.episode))):
        answers = await asyncio.gather(
            *(model.ask(_question(one, vocabulary), fact_prompt.Facts) for one in group)
        )
        for window, (value, call) in zip(group, answers, strict=True):
            drawn.calls.append(call)
            if value is None:
                drawn.notes.append(f"no facts from {window[0].key} to {window[-1].key}: {call.failure}")
            else:
                await _settle(_claims(value, window, drawn, place.now), window, place, drawn)
        if all(value is None for value, _ in answers):
            drawn.notes.append(f"the model was not asked about what follows in {place.episode.id}")
            return


def _groups(windows: Sequence[tuple[Said, ...]]) -> Iterator[Sequence[tuple[Said, ...]]]:
    for start in range(0, len(windows), AT_ONCE):
        yield windows[start : start + AT_ONCE]


def _question(window: Sequence[Said], vocabulary: Vocabulary) -> Question:
    return Question("facts", fact_prompt.messages(window, vocabulary), SECONDS)


def _claims(value: fact_prompt.Facts, window: Sequence[Said], drawn: _Drawn, now: Instant) -> list[Claim]:
    """What the text carries, in the order of time, so that a later fact may end an earlier one."""
    claims = []
    for fact in value.facts:
        try:
            claims.append(fact_prompt.claim(fact, window))
        except ValueError as error:
            drawn.left_out[str(error)] += 1
    return sorted(claims, key=lambda one: one.valid_at or to_datetime(now))


async def _settle(claims: Sequence[Claim], window: Sequence[Said], place: _Place, drawn: _Drawn) -> None:
    """Store the claims one by one: what is known is not stored again, by this conversation or any other."""
    speakers = {accented_name(said.speaker): place.episode.person(said.speaker) for said in window}
    for claim in claims:
        source, target = [await _end(end, claim, place, speakers) for end in (claim.subject, claim.object)]
        link_id = natural_id(_id(source), claim.relation, _id(target))
        if await reader.link_history(place.deps.graph(place.graph), link_name(link_id)):
            drawn.known += 1
            continue
        new = [end for end in (source, target) if isinstance(end, Remember)]
        link = _link(claim, (_id(source), _id(target)), place)
        sent = [one.written_by(place.writer) for one in (*new, link)]
        receipts = await insertion.apply(sent, place.deps, place.now, whole=place.episode.command_id)
        faults = [fault for receipt in receipts for fault in receipt.faults]
        if faults:
            drawn.left_out["; ".join(faults)] += 1
            continue
        drawn.memories += [_id(end) for end in new]
        drawn.links.append(link_id)
        if claim.replaces:
            drawn.supersessions += await _replace(link_id, link, place)


def _id(end: Remember | str) -> str:
    return end if isinstance(end, str) else str(end.id)


async def _end(end: tuple[str, str], claim: Claim, place: _Place, speakers: dict[str, str]) -> Remember | str:
    """The memory that an end is: who speaks, one of its name and type, or a new one."""
    name, node_type = end
    if speaker := speakers.get(accented_name(name)):
        return speaker
    graph = place.deps.graph(place.graph)
    if called := await memories_called(name, node_type, graph):
        return called
    memory_id = person_id(name) if node_type == "Person" else identifier(f"{node_type.lower()}:{name_key(name)}")
    if await reader.existing(graph, [memory_id]):
        return memory_id
    return Remember(
        command_id=place.episode.command_id,
        citizen_id=place.episode.citizen_id,
        id=memory_id,
        node_type=node_type,
        name=name,
        confidence=claim.confidence,
        valid_at=claim.valid_at,
        source=Source.TOOL,
    )


def _link(claim: Claim, ends: tuple[str, str], place: _Place) -> Relate:
    model = place.deps.language_model
    return Relate(
        command_id=place.episode.command_id,
        citizen_id=place.episode.citizen_id,
        source_id=ends[0],
        target_id=ends[1],
        relation_type=claim.relation,
        goal=WHAT_WAS_SAID,
        mindstate="extraction",
        energy=0.5,
        confidence=claim.confidence,
        emotion_vector={},
        resolution_state=ResolutionState.RESOLVED,
        formation_trigger="extraction",
        valid_at=claim.valid_at,
        invalid_at=claim.invalid_at,
        source=Source.TOOL,
        episode_id=identifier(place.episode.id),
        extra={"evidence": list(claim.evidence), "model": model.model if model else None},
    )


async def _replace(link_id: str, link: Relate, place: _Place) -> list[Supersession]:
    """End what the link replaces: links of the same type from the same memory that began before it."""
    at = to_datetime(place.now) if link.valid_at is None else link.valid_at
    of = (link.source_id, link.relation_type)
    held = await held_out(place.deps.graph(place.graph), of, to_instant(at))
    over = []
    for one in held:
        if one.target_id == link.target_id:
            continue
        end = Unrelate(
            command_id=identifier(f"facts:{place.episode.id}:{one.link_id}:{at.isoformat()}"),
            citizen_id=link.citizen_id,
            id=one.link_id,
            expected_version=one.version,
            effective_at=at,
            reason="reality_changed",
            source=Source.TOOL,
        ).written_by(place.writer)
        [receipt] = await insertion.apply([end], place.deps, place.now)
        over.append(
            Supersession(
                ended=one.link_id,
                by=link_id,
                effective_at=at,
                applied=receipt.status == "stored",
                reason="; ".join(receipt.faults),
            )
        )
    return over
