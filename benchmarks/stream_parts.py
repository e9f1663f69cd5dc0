"""The cost of the parts of a full stream, without embedding and database.

    python -m benchmarks.stream_parts

A stream has 120 memories and 300 links on three levels, as rows of the engine, with emotions and goals; the
question has a goal and emotions, too. Every stream is used once, so that no cache knows its texts. `total` is the
time from the rows to the bytes of both forms; the parts are measured on other streams of the same kind.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import orjson

from api.runtime.runtime import GC_THRESHOLD
from benchmarks.synthetic import World
from orchestration.appraisal.feelings import read_emotions
from orchestration.assembly.compact import tell
from orchestration.assembly.stream import RetrievalReport, assemble, select, summarize
from orchestration.metadata_enrichment import enrich_links, enrich_memories
from orchestration.mind import energy
from orchestration.mind.dissonance import detect_temporal_dissonances
from orchestration.question.lexicon import Lexicon
from orchestration.question.reading import Question
from orchestration.ranking import consciousness_score
from orchestration.ranking.activation import Activation, Asker, activate
from orchestration.ranking.candidates import Candidates
from orchestration.stream_completion import with_coherence
from orchestration.traversal import graph as traversal
from orchestration.traversal.paths import State, suggested_paths
from orchestration.validation import metadata_report
from schemas.base import json_bytes
from schemas.intention import RetrievalIntention
from schemas.memory import GraphKey, Level, level_of
from schemas.stream import ActivationTiers, ConsciousnessStream
from schemas.temporal import END_OF_TIME, TemporalMode
from substrate.cypher.fragments import LINK_COLUMNS, NODE_COLUMNS
from substrate.emotions import normal_emotions
from substrate.language.text import query_words

NODES, LINKS = 40, 100
"""Memories and links of each level."""
STREAMS = 60
"""Streams for the total, and as many for the parts."""
NOW = 1_750_000_000_000_000
DAY = 86_400_000_000
EMOTIONS = ("drive", "joy", "frustration", "curiosity", "calm", "uncertainty", "relief", "tension")
GOALS = ("design_retrieval", "design_schema", "keep_the_store", "rest", "serve_the_first")
STATES = ("resolved", "in_progress", "blocked")
type Row = list[Any]
type Spent = dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class Case:
    """A question and the rows of its six queries: (level, rows, True for a search by likeness)."""

    intention: RetrievalIntention
    lexicons: dict[GraphKey, Lexicon]
    answers: list[tuple[Level, list[Row], bool]]

    def candidates(self) -> Candidates:
        candidates = Candidates()
        for level, rows, likeness in self.answers:
            candidates.add(level, rows, likeness=likeness)
        return candidates


def cases(count: int, seed: int = 11) -> Iterator[Case]:
    """Yield cases; no two share a text."""
    world = World(nodes=count * 3 * NODES, links=0, seed=seed)
    texts = world.texts(world.nodes, seed, 28)
    rng = np.random.default_rng(seed)
    for number, question in enumerate(world.questions(count)):
        intention = RetrievalIntention(
            query_text=question,
            citizen_id="parts",
            max_results_per_level=100,
            current_goal="design_retrieval",
            current_emotions={"drive": 0.8, "uncertainty": 0.3},
            form="compact",
        )
        words = query_words(question)
        lexicon = Lexicon(20_000, 20_000, 0, {word: int(rng.integers(5, 500)) for word in words})
        answers = [one for level in Level for one in _answers(level, f"{number}", texts, rng)]
        yield Case(intention, dict.fromkeys(Level, lexicon), answers)


def _answers(
    level: Level, name: str, texts: Iterator[str], rng: np.random.Generator
) -> list[tuple[Level, list[Row], bool]]:
    """Build rows: half of the memories by likeness; all links by traversal, each with the memory at its end."""
    memories = [_memory(f"{name}-{place}", next(texts), rng) for place in range(NODES)]
    nothing = [None] * len(LINK_COLUMNS)
    alike = [[0, 0.2 + 0.02 * place, None, None, *nothing, *memories[place]] for place in range(NODES // 2)]
    walked = [[0, 2.0 - 0.1 * place, None, None, *nothing, *memories[place]] for place in range(10)]
    ends = [(place % NODES, (place * 7 + 1) % NODES) for place in range(NODES)]
    ends += [(int(one), int(other)) for one, other in rng.integers(0, NODES, size=(LINKS - NODES, 2))]
    for place, (source, target) in enumerate(ends):
        link = _link(f"{name}-{place}", rng)
        walked.append([1 + place % 2, None, memories[source][0], memories[target][0], *link, *memories[target]])
    return [(level, alike, True), (level, walked, False)]


def _felt(rng: np.random.Generator) -> str:
    names = rng.choice(EMOTIONS, size=3, replace=False)
    return orjson.dumps({str(name): round(float(rng.uniform()), 3) for name in names}).decode()


def _memory(name: str, text: str, rng: np.random.Generator) -> Row:
    valid = NOW - int(rng.integers(0, 300)) * DAY
    values = {
        "id": f"m-{name}", "node_type": "Memory", "name": " ".join(text.split()[:4]), "description": text,
        "valid_at": valid, "invalid_at": END_OF_TIME, "created_at": valid, "expired_at": END_OF_TIME,
        "version": 1, "energy": _unit(rng), "confidence": _unit(rng), "emotion_vector": _felt(rng),
        "felt_quality": "light and quick", "goal": str(rng.choice(GOALS)),
        "resolution_state": str(rng.choice(STATES)), "tags": '["retrieval","team"]', "source": "citizen",
    }  # fmt: skip
    return [values.get(column) for column in NODE_COLUMNS]


def _link(name: str, rng: np.random.Generator) -> Row:
    values = {
        "id": f"l-{name}", "relation_type": "LEADS_TO", "goal": str(rng.choice(GOALS)), "mindstate": "steady",
        "energy": _unit(rng), "confidence": _unit(rng), "formation_trigger": "direct_experience",
        "emotion_vector": _felt(rng), "energy_transfer_coefficient": _unit(rng),
        "resolution_state": str(rng.choice(STATES)), "felt_quality": "firm", "valid_at": NOW - DAY,
        "invalid_at": END_OF_TIME, "created_at": NOW - DAY, "expired_at": END_OF_TIME, "source": "citizen",
    }  # fmt: skip
    return [values.get(column) for column in LINK_COLUMNS]


def _unit(rng: np.random.Generator) -> float:
    return round(float(rng.uniform(0.4, 1.0)), 3)


def _activation(case: Case, found: Candidates) -> Activation:
    intention = case.intention
    emotions, text = intention.current_emotions, intention.query_text
    resonant = normal_emotions(emotions) if emotions else read_emotions(text)
    state = State(intention.current_goal, emotions)
    asker = Asker(Question(text), resonant, state=state)
    return activate(found, case.lexicons, asker)


def _account() -> RetrievalReport:
    return RetrievalReport(retrieved_at=datetime.fromtimestamp(NOW / 1e6, UTC), timings=(), notes=(), entities=())


def _coherent(stream: ConsciousnessStream) -> ConsciousnessStream:
    graph = stream.traversal_graph
    likeness = {
        (min(ends), max(ends)): 0.5
        for path in graph.suggested_paths
        for ends in zip(path.path_nodes, path.path_nodes[1:], strict=False)
    }
    return with_coherence(stream, dict.fromkeys(Level, likeness))


def streamed(case: Case) -> ConsciousnessStream:
    """Build the stream from the rows."""
    candidates = case.candidates()
    activation = _activation(case, candidates)
    return assemble(case.intention, candidates, activation, _account())


def whole(case: Case) -> bytes:
    """Return the bytes of the answer, in both forms, from the rows."""
    return json_bytes(_coherent(streamed(case)))


class Clock:
    """The processor time of each part, in milliseconds; other programs affect it little."""

    def __init__(self) -> None:
        self.spent: Spent = {}

    def part[T](self, name: str, call: Callable[[], T]) -> T:
        """Return the value of the call, and record its time under the name."""
        begun = time.process_time()
        value = call()
        self.spent.setdefault(name, []).append((time.process_time() - begun) * 1000)
        return value


def parts(case: Case, clock: Clock) -> None:
    """Measure one stream part by part. The parts do not overlap; the code between them is not measured."""
    asked = case.intention
    levels = list(dict.fromkeys(map(level_of, asked.graphs)))
    state = State(asked.current_goal, asked.current_emotions)
    found = clock.part("rows_to_graph", case.candidates)
    activation = clock.part("activation", lambda: _activation(case, found))
    selection = clock.part(
        "selection", lambda: select(found, activation.order, levels, asked.max_results_per_level)
    )
    nodes = clock.part("memories", lambda: enrich_memories(activation.order, found, activation, explain=False))
    links = clock.part("links", lambda: [one for links in selection.links.values() for one in enrich_links(links)])
    order = [nodes[score.key] for score in activation.order]
    focus, peripheral, background = (
        tuple(nodes[score.key] for score in tier) for tier in consciousness_score.tiers(activation.order)
    )
    tiers = ActivationTiers(focus=focus, peripheral=peripheral, background=background)
    graph = clock.part("traversal_graph", lambda: traversal.build_graph(order, tiers, links, state))
    by_identity = {(node.graph_key, node.node_id): node for node in order}
    starts = [(node.graph_key, node.node_id) for node in tiers.focus]
    clock.part("of_which_paths", lambda: suggested_paths(by_identity, graph.edges, starts))
    clock.part("energy", lambda: energy.energy_feedback_potential(links))
    clock.part("validation", lambda: metadata_report(order, links))
    clock.part("dissonance", lambda: detect_temporal_dissonances(order, TemporalMode.FULL_HISTORY))
    clock.part("summary", lambda: summarize(order, _account().retrieved_at))
    stream = assemble(asked, found, activation, _account())
    clock.part("coherence", lambda: _coherent(stream))
    clock.part("compact", lambda: tell(stream).text)
    clock.part("json", lambda: json_bytes(stream))


def measure(streams: int = STREAMS) -> dict[str, Any]:
    """Return the median milliseconds of the whole and of each part."""
    clock = Clock()
    asked = list(cases(2 * streams + 10))
    sizes = _sizes(asked[0])
    for case in asked[:10]:
        whole(case)
        parts(case, Clock())
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD, 20, 20)
    for one, other in zip(asked[10::2], asked[11::2], strict=True):
        clock.part("total", lambda: whole(one))  # noqa: B023
        parts(other, clock)
    return {
        **sizes,
        "streams": streams,
        "p50_ms": {name: round(statistics.median(spent), 3) for name, spent in clock.spent.items()},
    }


def _sizes(case: Case) -> dict[str, int]:
    graph = streamed(case).traversal_graph
    return {"nodes": graph.node_count, "links": graph.edge_count, "paths": graph.path_count}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--streams", type=int, default=STREAMS)
    figures = measure(parser.parse_args(arguments).streams)
    sys.stdout.write(orjson.dumps(figures, option=orjson.OPT_INDENT_2).decode() + "\n")


if __name__ == "__main__":
    main()
