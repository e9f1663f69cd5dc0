"""Whether what is now stands above what was: facts that change, beside BM25 and cosine.

    python -m benchmarks.currency [--facts N] [--seed N] [--chats DIRECTORY] [--json]

Two sets: `facts`, generated facts (benchmarks/changed_facts.py) that change plainly, in passing, with a return to
the former value, or twice on one day, among what others have, what might be, and what the assistant quotes; and
the chats of benchmarks/chats. Each question is asked after the last message, of what was said until then.

`first`: of the messages that gave the fact a value, the right one stands first: the present one for a question in
the present, the one asked for in a question about the past. `in 5`: it is among the first five turns. `right`: of
the changes that answers in the mode `evolution` infer, those between two values of one fact; `told`: facts with
such a change. All are shares of n.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Final

import numpy as np
import orjson

from api.runtime.runtime import Runtime, now
from benchmarks.baselines import indexed_text, rank_bm25, rank_cosine
from benchmarks.changed_facts import generate_chats
from benchmarks.chat import DIRECTORY, Chat, load_chats
from benchmarks.chat_answers import PAST, PRESENT, Probe, intention, open_store, own_probes, store_chat
from benchmarks.datasets import Conversation, Question, Turn
from orchestration.retrieval import retrieve_consciousness_context
from schemas.memory import ConsciousnessNode
from schemas.stream import ConsciousnessStream
from schemas.temporal import TemporalMode

OURS: Final = "Substrate"
CUTOFF: Final = 5
FACTS: Final = 300
SEED: Final = 11


@dataclass
class Inferred:
    """The changes that answers infer: how many, how many of them right, and the facts told rightly."""

    said: int = 0
    right: int = 0
    told: set[tuple[str, tuple[str, ...]]] = field(default_factory=set)


@dataclass
class Results:
    """For each method, kind and manner, whether each answer had the right message first, and in the first five."""

    rows: defaultdict[tuple[str, str, str], list[tuple[bool, bool]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    inferred: Inferred = field(default_factory=Inferred)
    facts: int = 0

    def add(self, method: str, probe: Probe, ranking: Sequence[str]) -> None:
        """Add the ranking of a method for a question."""
        values = [each for each in ranking if each in (*probe.expected, *probe.former)]
        first = bool(values) and values[0] in probe.expected
        found = bool(set(ranking[:CUTOFF]) & set(probe.expected))
        for manner in ("all", probe.group):
            self.rows[method, probe.kind, manner].append((first, found))


def changing(chat: Chat) -> list[Probe]:
    """Return the questions of a chat about facts that change."""
    return [probe for probe in own_probes(chat) if probe.kind in (PRESENT, PAST)]


def message_id(node: ConsciousnessNode) -> str:
    """Return the id that the sender gave to a message."""
    return str(node.extra.get("id") or node.node_id.rpartition(":")[2])


def rank_turns(stream: ConsciousnessStream) -> list[str]:
    """Return the ids of the turns of a stream, best first, each after those of its exact duplicates."""
    return [message_id(node) for node in stream.activation_tiers.ordered() if node.speaker]


def compare_inferred(chat: Chat, stream: ConsciousnessStream, inferred: Inferred) -> None:
    """Count what a stream infers about the changes of a chat."""
    ids = {node.node_id: message_id(node) for node in stream.activation_tiers.ordered()}
    for change in stream.temporal_dissonances:
        if not change.inferred:
            continue
        was, now_so = ids.get(change.node_id), ids.get(change.corrected_by or "")
        facts = [fact for fact in chat.changes if was in fact.values and now_so in fact.values]
        inferred.said += 1
        inferred.right += bool(facts)
        inferred.told |= {(chat.id, fact.values) for fact in facts}


def rank_baselines(
    chat: Chat, probes: Sequence[Probe], vectors: Mapping[str, Sequence[float]]
) -> Iterator[tuple[str, Probe, list[str]]]:
    """Yield the rankings of BM25 and cosine over all messages."""
    turns = tuple(Turn(each.id, each.role, each.text, each.time, chat.id) for each in chat.messages)
    questions = tuple(Question(probe.question, probe.kind, frozenset(probe.expected)) for probe in probes)
    ids = [turn.id for turn in turns]
    texts = np.array([vectors[indexed_text(turn)] for turn in turns])
    asked = np.array([vectors[probe.question] for probe in probes])
    for probe, ranking in zip(probes, rank_bm25(Conversation(chat.id, turns, questions), questions), strict=True):
        yield "BM25", probe, ranking
    for probe, ranking in zip(probes, rank_cosine(texts, asked, ids), strict=True):
        yield "cosine", probe, ranking


async def embed_chat(chat: Chat, probes: Sequence[Probe], rt: Runtime) -> dict[str, Sequence[float]]:
    """Return the vector of each message and question."""
    texts = [indexed_text(Turn(each.id, each.role, each.text, each.time, chat.id)) for each in chat.messages]
    texts += [probe.question for probe in probes]
    return dict(zip(texts, await rt.deps.embedder.embed_texts(texts), strict=True))


async def measure(chats: Sequence[Chat]) -> Results:
    """Store each chat and ask its questions of all methods."""
    results = Results()
    async with open_store() as rt:
        for chat in filter(changing, chats):
            await store_chat(chat, rt)
            probes = changing(chat)
            results.facts += len(chat.changes)
            for method, probe, ranking in rank_baselines(chat, probes, await embed_chat(chat, probes, rt)):
                results.add(method, probe, ranking)
            for probe in probes:
                asked = intention(chat, probe)
                stream = await retrieve_consciousness_context(asked, rt.deps, now())
                results.add(OURS, probe, rank_turns(stream))
                if probe.kind == PRESENT:
                    history = asked.model_copy(
                        update={"temporal_mode": TemporalMode.EVOLUTION, "as_of_time": None, "known_at": None}
                    )
                    whole = await retrieve_consciousness_context(history, rt.deps, now())
                    compare_inferred(chat, whole, results.inferred)
    return results


def show(name: str, results: Results) -> Iterator[str]:
    """Yield the lines of a set's table."""
    yield f"{name}, {results.facts} facts"
    yield f"{'kind':10}{'manner':10}{'method':12}{'n':>5}{'first':>8}{'in 5':>8}"
    for (method, kind, manner), rows in sorted(results.rows.items(), key=lambda row: (row[0][1:], row[0][0])):
        first, found = (fmean(values) for values in zip(*rows, strict=True))
        yield f"{kind:10}{manner:10}{method:12}{len(rows):5}{first:8.3f}{found:8.3f}"
    inferred = results.inferred
    right = inferred.right / inferred.said if inferred.said else 0.0
    told = f"told {len(inferred.told)} of {results.facts} facts"
    yield f"changes inferred: {inferred.said}, right {right:.3f}; {told}"


def as_json(results: Results) -> dict[str, object]:
    """Return the figures by name."""
    rows = {
        " / ".join(key): {
            "n": len(rows),
            "first": fmean(row[0] for row in rows),
            "in_5": fmean(row[1] for row in rows),
        }
        for key, rows in results.rows.items()
    }
    inferred = results.inferred
    return {
        "facts": results.facts,
        "rows": rows,
        "said": inferred.said,
        "right": inferred.right,
        "told": len(inferred.told),
    }


def main() -> None:
    """Measure both sets and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, default=FACTS)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--chats", type=Path, default=DIRECTORY)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    sets = {"facts": generate_chats(options.facts, options.seed), "chats": load_chats((), options.chats)}
    measured = {name: asyncio.run(measure(chats)) for name, chats in sets.items() if chats}
    if options.json:
        figures = {name: as_json(results) for name, results in measured.items()}
        print(orjson.dumps(figures, option=orjson.OPT_INDENT_2).decode())
        return
    for name, results in measured.items():
        print("\n".join(show(name, results)), end="\n\n")


if __name__ == "__main__":
    main()
