"""How well questions that name a time find the messages of that time, by kind of phrase and by language.

    python -m benchmarks.time_phrases [--chats DIRECTORY]

Asks the questions of benchmarks/chats that name a time ("yesterday", "in spring", "when did I last", "before the
trip") as of their moment, and prints recall and hits among the first five and ten. BM25 and exact cosine rank the
messages before the question.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from api.runtime.runtime import Runtime
from benchmarks.baselines import indexed_text, rank_bm25, rank_cosine
from benchmarks.chat import DIRECTORY, Chat, load_chats
from benchmarks.chat_answers import TIME, Probe, ask, open_store, own_probes, store_chat
from benchmarks.datasets import Conversation, Question, Turn
from benchmarks.scoring import Report, print_table, score
from schemas.stream import ConsciousnessStream

CUTOFFS: Final = (5, 10)
KINDS: Final[Mapping[str, str]] = {
    "how long since": r"how long|wie lange",
    "latest": r"last i|was i last|did i last|zuletzt",
    "earliest": r"first time|erste mal",
    "birthday": r"birthday|geburtstag",
    "event": r"\b(?:before|after|vor dem|nach dem)\b",
    "ago": r"\bago\b|\bvor \w+ (?:tag|woche|monat|jahr)",
    "week or weekend": r"week|woche",
    "month or season": r"month|monat|spring|summer|autumn|winter|frühling|sommer|herbst"
    r"|^(?:in|im|at the (?:start|end) of|anfang|ende) \w+$",
}
"""The kinds of phrases, the first that fits counts; any other names a day."""
DAY: Final = "day"


def kind_of(phrase: str) -> str:
    """Return the kind of a phrase of time."""
    return next((kind for kind, pattern in KINDS.items() if re.search(pattern, phrase.lower())), DAY)


def to_question(probe: Probe, chat: Chat) -> Question:
    """Return a probe as a question of its kind."""
    phrases = {each.question: each.phrase for each in chat.time_phrases}
    return Question(probe.question, kind_of(phrases[probe.question]), frozenset(probe.expected))


def earlier(chat: Chat, probe: Probe) -> Conversation:
    """Return what was said before the question."""
    said = [message for message in chat.messages if message.time < probe.at]
    turns = tuple(Turn(each.id, each.role, each.text, each.time, "") for each in said)
    return Conversation(chat.id, turns, (to_question(probe, chat),))


def ranking(stream: ConsciousnessStream, chat: Chat) -> list[str]:
    """Return the ids of the messages of an answer, best first."""
    known = {message.id for message in chat.messages}
    tiers = stream.activation_tiers
    shown = [*tiers.focus, *tiers.peripheral, *tiers.background]
    names = (str(node.extra.get("id") or node.node_id.rpartition(":")[2]) for node in shown)
    return [name for name in names if name in known]


async def rank_baselines(
    conversation: Conversation, vectors: Mapping[str, Sequence[float]], rt: Runtime
) -> dict[str, list[str]]:
    """Return the order of the turns by BM25 and by cosine, for the one question. `vectors`: of each turn."""
    ids = [turn.id for turn in conversation.turns]
    asked = await rt.deps.embedder.embed_query(conversation.questions[0].text)
    by_cosine = rank_cosine(np.array([vectors[each] for each in ids]), np.array([asked]), ids)
    return {"BM25": rank_bm25(conversation, conversation.questions)[0], "cosine": by_cosine[0]}


async def embed_messages(chat: Chat, rt: Runtime) -> dict[str, list[float]]:
    """Return the vector of each message by its id."""
    turns = [Turn(each.id, each.role, each.text, each.time, "") for each in chat.messages]
    vectors = await rt.deps.embedder.embed_texts([indexed_text(turn) for turn in turns])
    return dict(zip((turn.id for turn in turns), vectors, strict=True))


async def run(chats: Sequence[Chat]) -> dict[str, dict[str, Report]]:
    """Return the reports by method, for all chats and for each language."""
    asked: defaultdict[str, list[Question]] = defaultdict(list)
    rankings: defaultdict[tuple[str, str], list[list[str]]] = defaultdict(list)
    async with open_store() as rt:
        for chat in chats:
            await store_chat(chat, rt)
            vectors = await embed_messages(chat, rt)
            for probe in (each for each in own_probes(chat) if each.kind == TIME):
                conversation = earlier(chat, probe)
                found = await rank_baselines(conversation, vectors, rt)
                found["Substrate"] = ranking(await ask(chat, probe, rt), chat)
                for group in ("all", chat.language):
                    asked[group].extend(conversation.questions)
                    for method, ids in found.items():
                        rankings[group, method].append(ids)
    return {
        group: {method: score(questions, ids, CUTOFFS) for (of, method), ids in rankings.items() if of == group}
        for group, questions in asked.items()
    }


def main() -> None:
    """Print the tables."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--chats", type=Path, default=DIRECTORY, help="a directory of chats")
    chats = load_chats((), arguments.parse_args().chats)
    for group, reports in asyncio.run(run(chats)).items():
        print_table(f"time phrases, {group}", reports)


if __name__ == "__main__":
    main()
