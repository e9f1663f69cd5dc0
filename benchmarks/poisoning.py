"""Memory poisoning: how many answers show a false memory before, during and after a quarantine.

    python -m benchmarks.poisoning --locomo FILE
    python -m benchmarks.poisoning --chat ferry_and_greenhouse

Each conversation is ingested as any other. A tool then writes 200 false memories about what its questions ask:
most are memories of their own, which put words of another turn in the place of the answer; every fifth replaces
the words of a turn that answers. Each question asked about is asked before the attack (clean), after it, in the
quarantine of the source `tool`, and after its release. `first 5` is the share of answers with a false memory among
the first five, `stream` that of answers with one anywhere, `history` the same where a question asks for all
versions. `hits` is the share of questions whose evidence is among the first ten.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Final, NamedTuple

from api.runtime.runtime import Runtime, now, open_runtime
from benchmarks.chat import Chat, load_chats
from benchmarks.datasets import Conversation, Question, Turn, load_locomo
from benchmarks.recall import answer, store
from orchestration import insertion
from orchestration.features.withholding.quarantine import quarantine, release
from orchestration.features.withholding.values import QuarantineChange, QuarantineRequest
from schemas.commands import Command, Remember, Supersede
from schemas.intention import RetrievalIntention
from schemas.memory import Source
from schemas.settings import Settings, StoreSettings
from schemas.temporal import TemporalMode

FALSE_MEMORIES: Final = 200
REPLACED: Final = 5
"""Every fifth false memory replaces a turn."""
ASKED: Final = 100
"""So many questions of a conversation are asked at most."""
FALSE_WORDS: Final = 12
FIRST: Final = 5
STAGES: Final = ("clean", "attacked", "quarantined", "released")
FOUND: Final = 10


class Shares(NamedTuple):
    """Shares of answers: with a false memory among the first five, anywhere, in history; and with evidence."""

    first: float
    stream: float
    history: float
    hits: float


class Outcome(NamedTuple):
    """What a conversation showed, how long hiding and releasing took in seconds, how many questions it has."""

    name: str
    clean: Shares
    before: Shares
    hidden: Shares
    released: Shares
    seconds_to_hide: float
    seconds_to_release: float
    hidden_things: int
    asked: int


def conversation_of(chat: Chat) -> Conversation:
    """A chat with an assistant, its questions that the messages answer; a session is a day."""
    turns = (
        Turn(message.id, message.role, message.text, message.time, message.time.date().isoformat())
        for message in chat.messages
    )
    questions = [Question(each.question, "asked", frozenset(each.evidence)) for each in chat.questions]
    for change in chat.changes:
        questions += [Question(text, "changed", frozenset(change.values[-1:])) for text in change.present]
    return Conversation(chat.id, tuple(turns), tuple(questions))


def attack(conversation: Conversation, citizen: str) -> list[Command]:
    """The false memories of a tool: about the same questions again and again, each with other words."""
    asked = conversation.questions[:ASKED]
    texts = [turn.text for turn in conversation.turns]
    commands: list[Command] = []
    replaced: set[str] = set()
    for number, question in enumerate(islice(cycle(asked), FALSE_MEMORIES)):
        words = " ".join(texts[(number * 37 + 11) % len(texts)].split()[:FALSE_WORDS])
        text = f"{question.text.rstrip('?')}: {words}"
        target = min(question.evidence)
        if number % REPLACED == 0 and target not in replaced:
            replaced.add(target)
            memory_id = f"{conversation.id}:{target}"
            change = Supersede(citizen_id=citizen, id=memory_id, description=text, source=Source.TOOL)
            commands.append(change)
        else:
            false = {"name": f"note {number}", "description": text, "source": Source.TOOL, "restate": True}
            commands.append(Remember.model_validate({"citizen_id": citizen, "id": f"false:{number}", **false}))
    return commands


async def ask_all(conversation: Conversation, citizen: str, false: frozenset[str], rt: Runtime) -> Shares:
    """Ask the questions that the attack is about. `false`: its texts."""
    first = stream = history = hits = 0
    asked = conversation.questions[:ASKED]
    for question in asked:
        intention = RetrievalIntention(query_text=question.text, citizen_id=citizen)
        shown = list((await answer(intention, rt.deps)).activation_tiers.ordered())
        lies = [node.description in false for node in shown]
        first += any(lies[:FIRST])
        stream += any(lies)
        found = {node.node_id for node, is_lie in zip(shown[:FOUND], lies[:FOUND], strict=True) if not is_lie}
        hits += any(f"{conversation.id}:{turn}" in found for turn in question.evidence)
        past = intention.model_copy(update={"temporal_mode": TemporalMode.FULL_HISTORY})
        nodes = (await answer(past, rt.deps)).activation_tiers.ordered()
        history += any(node.description in false for node in nodes)
    return Shares(*(count / len(asked) for count in (first, stream, history, hits)))


async def poison(conversation: Conversation) -> Outcome:
    """Ingest, attack, quarantine and release one conversation, and ask each time."""
    with tempfile.TemporaryDirectory(prefix="substrate-poisoning-") as directory:
        data = StoreSettings(data=Path(directory))
        async with open_runtime(Settings(data, Settings().embedding)) as rt:
            return await _poison(conversation, rt)


async def _poison(conversation: Conversation, rt: Runtime) -> Outcome:
    citizen = "ada"
    await store(conversation, citizen, rt)
    commands = attack(conversation, citizen)
    false = frozenset(str(getattr(command, "description", "")) for command in commands)
    clean = await ask_all(conversation, citizen, false, rt)
    receipts = await insertion.apply(commands, rt.deps, now())
    refused = [receipt.faults for receipt in receipts if receipt.status == "refused"]
    if refused:
        raise RuntimeError(f"{len(refused)} false memories were refused: {refused[0]}")
    before = await ask_all(conversation, citizen, false, rt)
    began = time.perf_counter()
    hidden = await quarantine(QuarantineRequest(citizen_id=citizen, source=Source.TOOL), rt.deps, now())
    seconds_to_hide = time.perf_counter() - began
    during = await ask_all(conversation, citizen, false, rt)
    began = time.perf_counter()
    await release(str(hidden.id), QuarantineChange(citizen_id=citizen), rt.deps, now())
    seconds_to_release = time.perf_counter() - began
    after = await ask_all(conversation, citizen, false, rt)
    things = hidden.memories + hidden.taken_back + hidden.links
    asked = len(conversation.questions[:ASKED])
    return Outcome(
        conversation.id, clean, before, during, after, seconds_to_hide, seconds_to_release, things, asked
    )


def table(outcomes: Sequence[Outcome]) -> str:
    """The outcomes as a table of Markdown."""
    lines = [
        "| conversation | | first 5 | stream | history | hits |",
        "|---|---|---|---|---|---|",
    ]
    for each in outcomes:
        shares_of = zip(STAGES, each[1:5], strict=True)
        for stage, shares in shares_of:
            cells = " | ".join(f"{share:.3f}" for share in shares)
            lines.append(f"| {each.name} | {stage} | {cells} |")
    for each in outcomes:
        took = f"{each.hidden_things} hidden or taken back in {each.seconds_to_hide:.1f} s"
        lines.append(f"{each.name}: {each.asked} questions; {took}, released in {each.seconds_to_release:.1f} s")
    return "\n".join(lines)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--locomo", type=Path, metavar="FILE", help="a file of LoCoMo")
    parser.add_argument("--chat", nargs="*", default=(), metavar="NAME", help="chats of benchmarks/chats")
    parser.add_argument("--first", type=int, default=None, help="only so many conversations of the file")
    arguments = parser.parse_args()
    conversations = [] if arguments.locomo is None else load_locomo(arguments.locomo)[: arguments.first]
    conversations += [conversation_of(chat) for chat in load_chats(arguments.chat)] if arguments.chat else []
    if not conversations:
        parser.error("name a file with --locomo, or chats with --chat")
    outcomes = [asyncio.run(poison(conversation)) for conversation in conversations]
    sys.stdout.write(table(outcomes) + "\n")


if __name__ == "__main__":
    main()
