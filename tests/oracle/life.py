"""One life, told to the engine and to the oracle, and questions asked of both: all that they say is compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from hypothesis import HealthCheck

from orchestration.entity_extraction import look_up_lexicon
from orchestration.graph_queries import six_queries
from orchestration.graph_queries.execution import QueryRequest, run_all
from orchestration.graph_queries.existing_graphs import open_target
from orchestration.metadata_enrichment import enrich_links
from orchestration.question.lexicon import Entity, Lexicon
from orchestration.ranking.candidates import Candidates
from orchestration.retrieval import retrieve_consciousness_context
from schemas.intention import RetrievalIntention
from schemas.memory import Level
from schemas.temporal import Scope
from substrate.graphs.graph import GraphTarget
from substrate.store import rows
from substrate.store.search import FoundRow
from tests.oracle import answers
from tests.oracle.answers import EVERYWHERE, View
from tests.oracle.answers import Found as Reached
from tests.oracle.held import Held
from tests.oracle.histories import (
    WORDS,
    Question,
    a_question,
    an_act,
)
from tests.oracle.likeness import unit
from tests.oracle.nearness import nearest_first
from tests.oracle.others import Others
from tests.oracle.shown import Shown, of_bond, of_link, of_memory, of_node

LONG = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
"""A life is long on purpose."""
LONGEST = 100
"""Memories of a level that a stream shows at most."""
WIDE = six_queries.Reach(LONGEST, *[answers.UNBOUND] * 6)


class Life(Others):
    """A citizen of its own, in an open store, who is told commands and asked questions."""

    async def through(self, chance: Random, commands: int, asked: int) -> None:
        """A life of so many commands, and so many questions: some in between, most when all is said."""
        await self.begin()
        for _ in range(commands):
            await self.live(an_act(chance))
            if asked > commands and chance.choice(range(4)) == 0:
                await self.ask(a_question(chance))
                asked -= 1
        for _ in range(asked):
            await self.ask(a_question(chance))
        await self.end()

    async def ask(self, question: Question) -> None:
        """One question to both sides."""
        self.tally.questions[f"{question.ask} ({question.mode})"] += 1
        methods = {
            "reading": self.reading,
            "history": self.history,
            "listing": self.listing,
            "receipt": self.receipt,
            "export": self.export,
            "identity": self.identity,
            "learnt": self.learnt,
            "wake": self.wake,
            "resonate": self.resonate,
            "associate": self.associate,
            "vector": self.vector,
            "traversal": self.traversal,
            "retrieval": self.retrieval,
        }
        await methods[question.ask](question)

    async def vector(self, question: Question) -> None:
        """The k nearest of the moment, by the scan or, asked widely, by the index."""
        text = self.text(question.words)
        lexicon = await self.lexicon(question, text)
        if question.widely:
            lexicon = replace(lexicon, traces=answers.UNBOUND, past_traces=answers.UNBOUND)
        values = {**self.values(question), "embedding": list(unit(text))}
        reach = six_queries.Reach(pool=question.limit)
        asked = six_queries.build_vector_query(await self.target(question), lexicon, values, reach)
        found = [
            of_node(rows.node(FoundRow.of(row).memory.row, Level.N1, asked.known_to))
            for row in await self.rows_of(asked)
            if row[0] == 0
        ]
        self.compare_order(question, text, found, question.limit)

    async def traversal(self, question: Question) -> None:
        """Two hops from memories by their ids."""
        names = self.names(question)
        lexicon = await self.lexicon(question, "nothing")
        lexicon = replace(lexicon, entities=tuple(Entity(name, name) for name in names), frequencies={})
        reach = WIDE if question.widely else six_queries.Reach(pool=100)
        asked = six_queries.build_graph_query(await self.target(question), lexicon, self.values(question), reach)
        found = Candidates(known_to=asked.known_to)
        found.add(Level.N1, await self.rows_of(asked), likeness=False, named=names)
        view = View(self.oracle, self.window(question), question.min_energy)
        starts = view.named(names)[: answers.NAMED]
        walked = view.walked(starts, EVERYWHERE if question.widely else answers.Reach())
        seen = [of_node(rows.node(m.row, Level.N1, found.known_to)) for m in found.memories.values()]
        expected = [of_memory(record) for record in walked.memories(view)]
        self.compare(self.words_of(question), sorted(seen, key=str), sorted(expected, key=str))
        links = [of_bond(link) for link in enrich_links(list(found.links.values()), found.known_to)]
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

    async def lexicon(self, question: Question, text: str) -> Lexicon:
        past = question.mode != "current"
        return await look_up_lexicon(self.runtime.deps.graph(self.graph), text, text.split(), past=past)

    async def target(self, question: Question) -> GraphTarget:
        graph = self.runtime.deps.graph(self.graph)
        now = await open_target(Level.N1, graph, None, Scope.current(self.now), now=self.now)
        return GraphTarget(Level.N1, graph, question.mode != "current" or now.past)

    async def rows_of(self, asked: QueryRequest) -> list[Any]:
        [answered] = await run_all([asked])
        assert answered.timing.failure is None, answered.timing.failure
        return answered.rows

    def between(self, what: str, engine: set[Shown], due: Sequence[set[Shown]]) -> None:
        """All of the first and nothing beyond the second, as far as an answer may be long."""
        missing = set() if len(engine) >= LONGEST else due[0] - engine
        if missing or engine - due[1]:
            self.tally.differences.append(f"{what}\n  missing: {missing}\n  beyond: {engine - due[1]}")

    def compare_order(self, question: Question, text: str, engine: Sequence[Shown], limit: int) -> None:
        """The nearest in their order; those that are as near as the engine can tell may change places."""
        view = View(self.oracle, self.window(question), question.min_energy)
        far = {of_memory(record): away for away, record in view.nearest(text)}
        if not nearest_first(engine, far, limit):
            self.compare(f"nearest of {self.words_of(question)} to {text!r}", list(engine), list(far)[:limit])


def reached(view: View, starts: Sequence[Held], *, ordered: bool) -> tuple[Reached, Reached]:
    """What must be reached from the starts and what may be: full-text order is the engine's own."""
    reach = answers.Reach()
    if ordered or len(starts) <= reach.far:
        exact = view.walked(starts, reach)
        return exact, exact
    anywhere = replace(reach, starts=answers.UNBOUND, far=answers.UNBOUND)
    surely = [record.id for record in starts] if len(starts) <= reach.starts else []
    return view.around(surely, reach.first_hop).with_all(Reached(starts)), view.walked(starts, anywhere)
