"""What made tags do for the Tag-Walker: each conversation is walked without them, and after the job `tags` ran.

    python -m benchmarks.tags --locomo FILE --beam DIRECTORY --lives

`rec@k` is the share of the evidence among the first k turns of the walk. The intervals are of the mean difference
over questions when whole conversations are drawn anew. `--lives` adds the lives and chats of benchmarks/, each
of which is a conversation. The job needs no language model; without an embedder a memory has no neighbours.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from api.runtime.runtime import Runtime, now
from benchmarks.chat import Chat, load_chats, load_plain
from benchmarks.chat_answers import open_store
from benchmarks.datasets import Conversation, Question, Turn, add_sets, load_sets
from benchmarks.life import Life, load_lives
from benchmarks.recall import store, tag_walker
from benchmarks.scoring import Report, interval_table, intervals, score, table
from orchestration.features.tagging.job import TagsJob
from orchestration.upkeep.job import JobContext
from schemas.memory import Level

WITHOUT: Final = "without made tags"
WITH: Final = "with made tags"


class Tagged(NamedTuple):
    """What a run of the job did: memories looked at, changes, and seconds."""

    seen: int
    changed: int
    seconds: float


@dataclass
class Compared:
    """Rankings of all questions without and with made tags, and what the job did in each conversation."""

    questions: list[Question] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    rankings: Mapping[str, list[list[str]]] = field(default_factory=lambda: {WITHOUT: [], WITH: []})
    runs: list[Tagged] = field(default_factory=list)


def lives() -> list[Conversation]:
    """Return our own lives and chats as conversations, each once with all its questions."""
    read: list[Life | Chat] = [*load_lives(), *load_chats(), *load_plain()]
    by_id: dict[str, Conversation] = {}
    for life in read:
        turns = tuple(Turn(one.id, one.role, one.text, one.time, f"{one.time:%Y-%m-%d}") for one in life.messages)
        asked = tuple(Question(one.question, "life", frozenset(one.evidence)) for one in life.questions)
        before = by_id[life.id].questions if life.id in by_id else ()
        by_id[life.id] = Conversation(life.id, turns, (*before, *asked))
    return list(by_id.values())


async def make_tags(citizen: str, rt: Runtime) -> Tagged:
    """Run the job over the graph of a citizen, page by page, as upkeep does."""
    job, cursor, seen, changed, begun = TagsJob(), None, 0, 0, now()
    while True:
        context = JobContext(rt.deps, Level.N1, citizen, "benchmark", now())
        page = await job.plan(context, cursor)
        changed += await job.keep(context, page)
        seen += page.seen
        if page.next is None:
            return Tagged(seen, changed, (now() - begun) / 1e6)
        cursor = page.next


async def compare(conversations: Sequence[Conversation]) -> Compared:
    """Walk all questions without and with made tags, on a new store."""
    compared = Compared()
    async with open_store() as rt:
        for place, conversation in enumerate(conversations):
            citizen = f"citizen-{place}"
            await store(conversation, citizen, rt)
            asked = len(conversation.questions)
            compared.rankings[WITHOUT].extend((await tag_walker(conversation, citizen, rt))[:asked])
            compared.runs.append(await make_tags(citizen, rt))
            compared.rankings[WITH].extend((await tag_walker(conversation, citizen, rt))[:asked])
            compared.questions += conversation.questions
            compared.groups += [conversation.id] * asked
    return compared


def show(name: str, compared: Compared) -> str:
    """Return the figures of a set as plain text."""
    reports = {way: score(compared.questions, ranked) for way, ranked in compared.rankings.items()}
    seen, changed = (sum(run[place] for run in compared.runs) for place in (0, 1))
    seconds = sum(run.seconds for run in compared.runs)
    parts = [
        table(name, {way: Report(report.overall, {}) for way, report in reports.items()}),
        f"made: {changed:,.0f} tags of {seen:,.0f} memories in {seconds:.1f} s",
    ]
    if len(set(compared.groups)) > 1:
        rows = intervals(compared.questions, compared.groups, compared.rankings, WITH)
        lead = {label: row for label, row in rows.items() if label != WITH}
        parts.append(interval_table(f"{name}, over conversations", lead))
    return "\n".join(parts)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_sets(parser)
    parser.add_argument("--lives", action="store_true", help="our own lives and chats as well")
    arguments = parser.parse_args()
    try:
        sets = load_sets(arguments.locomo, arguments.beam)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    if arguments.lives:
        sets["lives"] = lives()
    if not sets:
        parser.error("give --locomo FILE, --beam DIRECTORY, --lives, or several of them")
    for name, conversations in sets.items():
        sys.stdout.write(show(name, asyncio.run(compare(conversations))) + "\n\n")


if __name__ == "__main__":
    main()
