"""One life, told to the engine and to the oracle at once: all that they say is compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from random import Random
from typing import Any
from uuid import uuid4

from hypothesis import HealthCheck

from api.addresses import Asked, LinkPlace, Place, link_seen, record_seen
from api.runtime import Runtime
from orchestration import insertion, six_queries
from orchestration.activation.found import NODE_START, Found
from orchestration.entity_extraction import look_up
from orchestration.lexicon import Entity, Lexicon
from orchestration.metadata_enrichment import relationships
from orchestration.records import link_name
from orchestration.retrieval import retrieve_consciousness_context
from schemas.command import Command
from schemas.commands import ANY_COMMAND
from schemas.intention import RetrievalIntention
from schemas.memory import Level, ResolutionState
from schemas.temporal import to_datetime, to_instant
from substrate import reader, rows
from substrate.graph_schema import graph_name
from tests.oracle import answers
from tests.oracle.answers import EVERYWHERE, View
from tests.oracle.answers import Found as Reached
from tests.oracle.histories import KINDS, NAMES, WORDS, Again, Instant, Question, Step, a_question, a_step
from tests.oracle.likeness import unit
from tests.oracle.shown import Shown, as_told, of_bond, of_link, of_memory, of_node, seen_or_none
from tests.oracle.store import Held, Oracle, Window, ever, moment, present

LONG = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
"""A life is long on purpose."""
DAY = 86_400_000_000
BEGINNING = to_instant(datetime.fromisoformat("2026-01-01T00:00:00Z"))
FIRST_COMMAND = BEGINNING + 20 * DAY
KNOWN_FROM_THE_START = 12
LONGEST = 100
"""Memories of a level that a stream shows at most."""
NEARLY = 2e-6
"""The engine computes likeness with 24 bits: distances this close may change places."""
WIDE = six_queries.Reach(LONGEST, *[answers.UNBOUND] * 6)

ABOUT_LINKS = ("supersede_link", "correct_link", "resolve_link", "unrelate", "undo_link")
STATES = tuple(ResolutionState)


def on(day: int | None) -> datetime | None:
    return None if day is None else to_datetime(BEGINNING + day * DAY)


@dataclass
class Tally:
    """What was done, and every difference that was found."""

    commands: Counter[str] = field(default_factory=Counter)
    questions: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)


@dataclass
class Life:
    """A citizen of its own, in an open store."""

    runtime: Runtime
    tally: Tally = field(default_factory=Tally)
    citizen: str = field(default_factory=lambda: f"o{uuid4().hex}")
    oracle: Oracle = field(default_factory=Oracle)
    now: int = FIRST_COMMAND
    sent: list[Command] = field(default_factory=list)

    @property
    def graph(self) -> str:
        return graph_name(Level.N1, self.citizen)

    async def begin(self) -> None:
        """The first memories, which most commands then speak of."""
        for who in range(KNOWN_FROM_THE_START):
            start = on(3 * who)
            await self.send(self.command("remember", id=NAMES[who], name=NAMES[who], valid_at=start))

    async def whole(self, chance: Random, commands: int, asked: int) -> None:
        """A life of so many commands, and so many questions: some in between, most when all is said."""
        await self.begin()
        for _ in range(commands):
            await self.live(a_step(chance))
            if asked > commands and chance.choice(range(4)) == 0:
                await self.ask(a_question(chance))
                asked -= 1
        for _ in range(asked):
            await self.ask(a_question(chance))
        await self.end()

    async def end(self) -> None:
        """Leave nothing behind."""
        await self.runtime.deps.connection.command("GRAPH.DELETE", self.graph)

    # --- commands ---------------------------------------------------------------------------------------

    async def live(self, step: Step | Again) -> None:
        """One command on both sides."""
        self.now += step.tick
        command = self.again(step) if isinstance(step, Again) else self.told(step)
        if command is not None:
            await self.send(command)

    async def send(self, command: Command) -> None:
        self.sent.append(command)
        expected = self.oracle.apply(command, self.now)
        [receipt] = await insertion.apply([command], self.runtime.deps, self.now)
        kind = receipt.command
        self.tally.commands[kind if receipt.status == "stored" else f"{kind} refused"] += 1
        self.compare(f"receipt of {command!r}", as_told(receipt), expected)

    def command(self, verb: str, **fields: Any) -> Command:
        known = {name: value for name, value in fields.items() if value is not None}
        return ANY_COMMAND.validate_python({"command": verb, "citizen_id": self.citizen, **known})

    def again(self, step: Again) -> Command:
        """An earlier command once more, or another one under its id."""
        command = self.sent[step.place % len(self.sent)]
        if not step.altered:
            return command
        other = {"energy": 0.123} if "energy" in type(command).model_fields else {"id": NAMES[step.place % 7]}
        return command.model_copy(update=other)

    def told(self, step: Step) -> Command | None:
        """The command of an outline; None for what no command can say."""
        named = {"command_id": uuid4().hex if step.named else None}
        if step.verb in ("remember", "relate"):
            start, end = on(step.start), on(step.end)
            if start is not None and end is not None and end <= start:
                return None
            held = {"valid_at": start, "invalid_at": end, **named}
            return self.remembered(step, held) if step.verb == "remember" else self.related(step, held)
        who = self.link(step.who) if step.verb in ABOUT_LINKS else NAMES[step.who]
        seen = self.oracle.latest(who).version if self.oracle.records_of(who) else 1
        versions = {"any": None, "seen": seen, "stale": seen + 1}
        revised = {"id": who, "expected_version": versions[step.version], **named}
        return self.command(step.verb, **revised, **self.change(step))

    def change(self, step: Step) -> dict[str, Any]:
        """What a change of a memory or a link says of it."""
        if step.verb in ("undo", "undo_link"):
            return {"undoes": self.sent[-step.kind].command_id if step.kind else None}
        if step.verb in ("resolve", "resolve_link"):
            return {"resolution_state": STATES[step.kind]}
        content: dict[str, Any] = {}
        if step.verb not in ("correct", "correct_link"):
            content["effective_at"] = on(step.start)
        if step.verb not in ("retract", "unrelate"):
            content["energy"] = energy(step)
        if step.verb in ("supersede", "correct"):
            content["description"] = self.text(step.words)
        return content

    def link(self, place: int) -> str:
        """The id of a link that was made, or of none."""
        made = sorted({record.id for record in self.oracle.records if record.ends is not None})
        return made[place % len(made)] if made else "brix|NEAR|brix"

    def remembered(self, step: Step, held: Mapping[str, Any]) -> Command:
        who = NAMES[step.who]
        content = {"name": who, "description": self.text(step.words), "energy": energy(step)}
        return self.command("remember", id=who, **content, **held)

    def related(self, step: Step, held: Mapping[str, Any]) -> Command:
        ends = {"source_id": NAMES[step.who], "target_id": NAMES[step.other]}
        felt = {"energy": energy(step), "confidence": 0.9, "emotion_vector": {}, "goal": "g", "mindstate": "m"}
        if step.kind == len(KINDS):
            own = {"id": f"own_{step.words[0]}", "relation_type": "OWN"}
            return self.command("relate", **own, **ends, **felt, **held)
        return self.command("relate", relation_type=KINDS[step.kind], **ends, **felt, **held)

    def text(self, words: Iterable[int]) -> str:
        return " ".join(sorted(WORDS[word] for word in words))

    # --- questions --------------------------------------------------------------------------------------

    async def ask(self, question: Question) -> None:
        """One question to both sides."""
        self.tally.questions[f"{question.ask} ({question.mode})"] += 1
        methods = {
            "reading": self.reading,
            "history": self.history,
            "vector": self.vector,
            "traversal": self.traversal,
            "retrieval": self.retrieval,
        }
        await methods[question.ask](question)

    async def reading(self, question: Question) -> None:
        """One memory, or one link, as it is or was."""
        times = {name: at for name, at in self.times(question).items() if name in ("as_of_time", "known_at")}
        asked = Asked.model_validate({"citizen_id": self.citizen, **times})
        window = self.window(question) if times else present(self.now)
        if question.widely:
            link_id = self.link(question.who)
            row = await seen_or_none(link_seen(LinkPlace(Level.N1, link_id), asked, self.runtime, self.now))
            due = [of_link(record) for record in self.oracle.seen(window) if record.id == link_id]
            found = [] if row is None else [of_bond(rows.link(row[2:], (row[0], row[1]), Level.N1))]
        else:
            who = NAMES[question.who]
            row = await seen_or_none(record_seen(Place(Level.N1, who), asked, self.runtime, self.now))
            due = [of_memory(record) for record in self.oracle.seen(window) if record.id == who]
            found = [] if row is None else [of_node(rows.node(row, Level.N1))]
        self.compare(self.words_of(question), found, due)

    async def history(self, question: Question) -> None:
        """All records of one memory or of one link."""
        connection = self.runtime.deps.connection
        if question.widely:
            identity = self.link(question.who)
            every = await reader.link_history(connection, self.graph, link_name(identity))
            found = [of_bond(rows.link(row[2:], (row[0], row[1]), Level.N1)) for row in every]
            due = [of_link(record) for record in self.oracle.records_of(identity)]
        else:
            identity = NAMES[question.who]
            every = await reader.history(connection, self.graph, identity)
            found = [of_node(rows.node(row, Level.N1)) for row in every]
            due = [of_memory(record) for record in self.oracle.records_of(identity)]
        self.compare(self.words_of(question), sorted(found, key=str), sorted(due, key=str))

    async def vector(self, question: Question) -> None:
        """The k nearest of the moment, by the scan or, asked widely, by the index."""
        text = self.text(question.words)
        lexicon = await self.lexicon(question, text)
        if question.widely:
            lexicon = replace(lexicon, traces=answers.UNBOUND, past_traces=answers.UNBOUND)
        values = {**self.values(question), "embedding": list(unit(text))}
        reach = six_queries.Reach(pool=question.limit)
        where = (Level.N1, self.graph)
        asked = six_queries.vector_query(where, lexicon, values, reach, past=self.past(question, lexicon))
        found = [
            of_node(rows.node(row[NODE_START:], Level.N1)) for row in await self.rows_of(asked) if row[0] == 0
        ]
        self.compare_order(question, text, found, question.limit)

    async def traversal(self, question: Question) -> None:
        """Two hops from memories by their ids."""
        names = self.names(question)
        lexicon = await self.lexicon(question, "nothing")
        lexicon = replace(lexicon, entities=tuple(Entity(name, name) for name in names), frequencies={})
        reach = WIDE if question.widely else six_queries.Reach(pool=100)
        where = (Level.N1, self.graph)
        past = self.past(question, lexicon)
        asked = six_queries.graph_query(where, lexicon, self.values(question), reach, past=past)
        found = Found()
        found.add(Level.N1, await self.rows_of(asked), likeness=False)
        view = View(self.oracle, self.window(question), question.min_energy)
        starts = view.named(names)[: answers.NAMED]
        walked = view.walked(starts, EVERYWHERE if question.widely else answers.Reach())
        seen = [of_node(rows.node(m.row[NODE_START:], Level.N1)) for m in found.memories.values()]
        expected = [of_memory(record) for record in walked.memories(view)]
        self.compare(self.words_of(question), sorted(seen, key=str), sorted(expected, key=str))
        links = [of_bond(link) for link in relationships(list(found.bonds.values()))]
        due = [of_link(link) for link in walked.relations(view)]
        self.compare(f"links of {self.words_of(question)}", sorted(links, key=str), sorted(due, key=str))

    async def retrieval(self, question: Question) -> None:
        """The whole stream: what is nearest, what was reached, and the links between."""
        names = self.names(question) if question.other is not None else []
        text = " ".join(names) or WORDS[question.words[0]]
        intention = RetrievalIntention.model_validate(
            {
                "query_text": text,
                "citizen_id": self.citizen,
                "query_levels": ["N1"],
                "max_results_per_level": LONGEST,
                "min_energy": question.min_energy,
                "temporal_mode": question.mode,
                **self.times(question),
            }
        )
        stream = await retrieve_consciousness_context(intention, self.runtime.deps, self.now)
        assert stream.degraded == ()
        level = stream.levels["n1_personal"]
        self.compare_order(question, text, [of_node(node) for node in level.vector_results], LONGEST)
        view = View(self.oracle, self.window(question), question.min_energy)
        starts = view.named(names)[: answers.NAMED] if names else view.holding(text)
        hits = [record.id for _, record in view.nearest(text)][: answers.HITS]
        least, most = reached(view, starts, ordered=bool(names))
        least = least.with_all(view.around(hits, answers.FIRST_HOP))
        most = most.with_all(view.beyond(hits, replace(answers.Reach(), starts=answers.HITS, far=answers.HITS)))
        nodes = {of_node(node) for node in level.graph_results}
        due = [{of_memory(record) for record in found.memories(view)} for found in (least, most)]
        self.between(f"reached of {self.words_of(question)}", nodes, due)
        links = {of_bond(link) for link in level.relationships}
        due = [{of_link(link) for link in found.relations(view)} for found in (least, most)]
        self.between(f"links of {self.words_of(question)}", links, due)

    # --- what a question says ---------------------------------------------------------------------------

    def names(self, question: Question) -> list[str]:
        other = [] if question.other is None else [NAMES[question.other]]
        return list(dict.fromkeys([NAMES[question.who], *other]))

    def instant(self, instant: Instant) -> int:
        known = self.oracle.instants()
        return known[instant.place % len(known)] + instant.beside

    def times(self, question: Question) -> dict[str, datetime]:
        """The times that the question names."""
        valid = self.instant(question.valid)
        known = None if question.known is None else self.instant(question.known)
        if question.mode == "point_in_time":
            beside = {} if known is None else {"known_at": to_datetime(known)}
            return {"as_of_time": to_datetime(valid), **beside}
        if question.mode == "evolution":
            start, end = (valid, known) if known is None or valid < known else (known, valid)
            ranged = {"time_range_start": start, "time_range_end": None if end == start else end}
            return {name: to_datetime(at) for name, at in ranged.items() if at is not None}
        return {}

    def window(self, question: Question) -> Window:
        """The same as the oracle takes it."""
        times = {name: to_instant(at) for name, at in self.times(question).items()}
        if question.mode == "current":
            return present(self.now)
        if question.mode == "point_in_time":
            return moment(times["as_of_time"], times.get("known_at", times["as_of_time"]))
        return ever(times.get("time_range_start"), times.get("time_range_end"))

    def values(self, question: Question) -> dict[str, Any]:
        window = self.window(question)
        felt = {"min_energy": question.min_energy, "min_confidence": 0.0, "required_emotions": []}
        return {**window._asdict(), **felt}

    async def lexicon(self, question: Question, text: str) -> Lexicon:
        past = question.mode != "current"
        return await look_up(self.runtime.deps.connection, self.graph, text, text.split(), past=past)

    def past(self, question: Question, lexicon: Lexicon) -> bool:
        return question.mode != "current" or self.now < lexicon.pending_until

    async def rows_of(self, asked: six_queries.Asked) -> list[Any]:
        [answered] = await six_queries.run([asked], self.runtime.deps.connection)
        assert answered.timing.failure is None, answered.timing.failure
        return answered.rows

    def words_of(self, question: Question) -> str:
        return f"{question} at {self.window(question)}"

    # --- differences ------------------------------------------------------------------------------------

    def compare(self, what: str, engine: Any, oracle: Any) -> None:
        if engine != oracle:
            self.tally.differences.append(f"{what}\n  engine: {engine}\n  oracle: {oracle}")

    def between(self, what: str, engine: set[Shown], due: Sequence[set[Shown]]) -> None:
        """All of the first and nothing beyond the second, as far as an answer may be long."""
        missing = set() if len(engine) >= LONGEST else due[0] - engine
        if missing or engine - due[1]:
            self.tally.differences.append(f"{what}\n  missing: {missing}\n  beyond: {engine - due[1]}")

    def compare_order(self, question: Question, text: str, engine: Sequence[Shown], limit: int) -> None:
        """The nearest in their order; those that are as near as the engine can tell may change places."""
        view = View(self.oracle, self.window(question), question.min_energy)
        far = {of_memory(record): away for away, record in view.nearest(text)}
        due = list(far)[:limit]
        same = len(engine) == len(due) and all(
            one == other or (one in far and one[3] != other[3] and abs(far[one] - far[other]) < NEARLY)
            for one, other in zip(engine, due, strict=True)
        )
        if not same or len(set(engine)) != len(engine):
            self.compare(f"nearest of {self.words_of(question)} to {text!r}", list(engine), due)


def reached(view: View, starts: Sequence[Held], *, ordered: bool) -> tuple[Reached, Reached]:
    """What must be reached from the starts and what may be: full-text order is the engine's own."""
    reach = answers.Reach()
    if ordered or len(starts) <= reach.far:
        exact = view.walked(starts, reach)
        return exact, exact
    anywhere = replace(reach, starts=answers.UNBOUND, far=answers.UNBOUND)
    surely = [record.id for record in starts] if len(starts) <= reach.starts else []
    return view.around(surely, reach.first_hop).with_all(Reached(starts)), view.walked(starts, anywhere)


def energy(step: Step) -> float:
    return round(0.3 + 0.05 * step.strength, 2)
