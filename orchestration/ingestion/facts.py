"""Extracts facts from a stored conversation with a language model, and stores them as typed links.

The model only reports facts; this module decides what is stored. For two ends and a type there is one link. A link
that a new one replaces is ended only if it began earlier and the rule of trust lets a tool change it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import batched
from typing import Final

from orchestration import insertion
from orchestration.dependencies import Deps
from orchestration.entity_extraction import find_exact_name
from orchestration.identifiers import accented_name, identifier, link_name, natural_id, person_id
from orchestration.ingestion import fact_prompt
from orchestration.ingestion.episodes import Episode
from orchestration.ingestion.fact_prompt import Claim, Message, NamedThing
from orchestration.ingestion.formats.reader import ParsedFiles, move
from orchestration.ingestion.speakers import resolve_speakers
from schemas.commands import Command, Relate, Remember, Unrelate, Writer
from schemas.errors import InvalidRequest
from schemas.language_model import FactsReport, ModelCall, Supersession
from schemas.memory import ResolutionState, Source
from schemas.temporal import Instant, to_datetime, to_instant
from substrate.graphs.graph import Graph
from substrate.inference.language import LanguageModel, ModelRequest
from substrate.language.text import name_key
from substrate.store import reader
from substrate.store.vocabulary import links_from, read_vocabulary

AT_ONCE: Final = 4
"""Windows of a conversation that are sent to the model at the same time."""
SECONDS: Final = 60.0
"""Deadline of the request for one window."""
NOBODY: Final = Writer()


@dataclass(slots=True)
class _Extraction:
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
class _FactJob:
    """An episode whose facts are stored, and the graph and writer for them."""

    episode: Episode
    graph: Graph
    deps: Deps
    now: Instant
    writer: Writer

    def sign(self, command: Command) -> Command:
        """The command for the graph of the episode, by its writer."""
        return move(command, self.episode.graph).with_writer(self.writer)


def require_language_model(deps: Deps) -> LanguageModel:
    """Return the configured language model. Raises InvalidRequest when there is none."""
    if deps.language_model is None:
        raise InvalidRequest(
            "extracting facts needs a language model, and none is configured",
            remedy="Set SUBSTRATE_LLM, or leave out extract_facts: the conversation is stored without one.",
        )
    return deps.language_model


async def store_facts(parsed: ParsedFiles, deps: Deps, now: Instant, writer: Writer = NOBODY) -> FactsReport:
    """Extract the facts of conversations that are stored already, and store them as `writer`.

    When the model fails, the facts of that window are missing, and the report has a note. Raises InvalidRequest
    when no model is configured, Unavailable when the engine does not answer; the same call can then be repeated.
    """
    model, extraction = require_language_model(deps), _Extraction()
    for unresolved in parsed.items:
        item, _ = await resolve_speakers(unresolved, deps)
        if isinstance(item, Episode):
            job = _FactJob(item, deps.graph(item.graph_name), deps, now, writer)
            await _extract(job, model, extraction)
        else:
            extraction.notes.append(f"{item.id} is no conversation: no facts were extracted from it")
    return extraction.report()


async def _extract(job: _FactJob, model: LanguageModel, extraction: _Extraction) -> None:
    vocabulary = await read_vocabulary(job.graph)
    for group in batched(fact_prompt.split_windows(job.episode), AT_ONCE):
        prompts = [fact_prompt.build_prompt(window, vocabulary) for window in group]
        asked = (model.ask(ModelRequest("facts", prompt, SECONDS), fact_prompt.Facts) for prompt in prompts)
        answers = await asyncio.gather(*asked)
        for window, (value, call) in zip(group, answers, strict=True):
            extraction.calls.append(call)
            if value is None:
                extraction.notes.append(f"no facts from {window[0].key} to {window[-1].key}: {call.failure}")
            else:
                claims: list[Claim] = []
                for fact in value.facts:
                    try:
                        claims.append(fact_prompt.check_fact(fact, window))
                    except ValueError as error:
                        extraction.left_out[str(error)] += 1
                # By time, so that a later fact can end an earlier one.
                claims.sort(key=lambda claim: claim.valid_at or to_datetime(job.now))
                await _store(claims, window, job, extraction)
        if all(value is None for value, _ in answers):
            extraction.notes.append(f"the model was not asked about what follows in {job.episode.id}")
            return


async def _store(
    claims: Sequence[Claim], window: Sequence[Message], job: _FactJob, extraction: _Extraction
) -> None:
    """Store the claims one by one; a link that any conversation has stored already is not stored again."""
    person = job.episode.person
    speakers = {accented_name(message.speaker): person(message.speaker) for message in window}
    for claim in claims:
        source, target = [await _end(end, claim, job, speakers) for end in (claim.subject, claim.object)]
        link_id = natural_id(_id(source), claim.relation, _id(target))
        if await reader.link_history(job.graph, link_name(link_id)):
            extraction.known += 1
            continue
        new = [end for end in (source, target) if isinstance(end, Remember)]
        link = _link(claim, _id(source), _id(target), job)
        commands = list(map(job.sign, (*new, link)))
        receipts = await insertion.apply(commands, job.deps, job.now, whole=job.episode.command_id)
        faults = [fault for receipt in receipts for fault in receipt.faults]
        if faults:
            extraction.left_out["; ".join(faults)] += 1
            continue
        extraction.memories += list(map(_id, new))
        extraction.links.append(link_id)
        if claim.replaces:
            extraction.supersessions += await _replace(link_id, link, job)


def _id(end: Remember | str) -> str:
    return end if isinstance(end, str) else str(end.id)


async def _end(end: NamedThing, claim: Claim, job: _FactJob, speakers: dict[str, str]) -> Remember | str:
    """Return an end of a fact: the id of a speaker or of a stored memory with its name and type, or a new one."""
    name, node_type = end
    if speaker := speakers.get(accented_name(name)):
        return speaker
    if memory_id := await find_exact_name(name, node_type, job.graph):
        return memory_id
    memory_id = person_id(name) if node_type == "Person" else identifier(f"{node_type.lower()}:{name_key(name)}")
    if await reader.read_heads(job.graph, [memory_id]):
        return memory_id
    return Remember(
        command_id=job.episode.command_id,
        citizen_id=job.episode.citizen_id,
        id=memory_id,
        node_type=node_type,
        name=name,
        confidence=claim.confidence,
        valid_at=claim.valid_at,
        source=Source.TOOL,
    )


def _link(claim: Claim, source_id: str, target_id: str, job: _FactJob) -> Relate:
    model = job.deps.language_model
    return Relate(
        command_id=job.episode.command_id,
        citizen_id=job.episode.citizen_id,
        source_id=source_id,
        target_id=target_id,
        relation_type=claim.relation,
        goal="remember what was said",
        mindstate="extraction",
        energy=0.5,
        confidence=claim.confidence,
        emotion_vector={},
        resolution_state=ResolutionState.RESOLVED,
        formation_trigger="extraction",
        valid_at=claim.valid_at,
        invalid_at=claim.invalid_at,
        source=Source.TOOL,
        episode_id=identifier(job.episode.id),
        extra={"evidence": list(claim.evidence), "model": model.model if model else None},
    )


async def _replace(link_id: str, link: Relate, job: _FactJob) -> list[Supersession]:
    """End the links that this link replaces: of the same type, from the same memory, and with an earlier start."""
    at = to_datetime(job.now) if link.valid_at is None else link.valid_at
    supersessions = []
    kind, since = link.relation_type, to_instant(at)
    for earlier in await links_from(job.graph, link.source_id, relation_type=kind, at=since):
        if earlier.target_id == link.target_id:
            continue
        end = Unrelate(
            command_id=identifier(f"facts:{job.episode.id}:{earlier.link_id}:{at.isoformat()}"),
            citizen_id=link.citizen_id,
            id=earlier.link_id,
            expected_version=earlier.version,
            effective_at=at,
            reason="reality_changed",
            source=Source.TOOL,
        )
        [receipt] = await insertion.apply([job.sign(end)], job.deps, job.now)
        supersessions.append(
            Supersession(
                ended=earlier.link_id,
                by=link_id,
                effective_at=at,
                applied=receipt.status == "stored",
                reason="; ".join(receipt.faults),
            )
        )
    return supersessions
