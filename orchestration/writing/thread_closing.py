"""Closes open threads that a new memory tells as solved, by inference.

The open memory is resolved from the start of the new one on and gets a link RESOLVED_BY to it; both are marked
as inferred. Only a state that was itself inferred from words is changed. The source is that of the new memory, so
the rule of trust holds; a thread that it may not change stays open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from orchestration.appraisal.appraise import Appraisal
from orchestration.dependencies import Deps
from orchestration.ranking.relevance import word_weights
from orchestration.writing import atomic, receipts
from orchestration.writing.appraised_rows import appraise_command, text_of
from orchestration.writing.command_rows import new_row
from orchestration.writing.records import embedded_text
from schemas.commands import Command, Relate, Remember, Resolve, Retract, Undo, WriteReceipt
from schemas.memory import Level, ResolutionState, graph_fields
from schemas.temporal import END_OF_TIME, Instant, to_datetime
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name, origin_of
from substrate.language.text import query_words, stems
from substrate.store import lexicon
from substrate.store.threads import SOLVED_BY, LaterText, OpenMemory, read_ends, read_open_threads, read_steps

RESOLVED_BY: Final = "RESOLVED_BY"
LED_TO: Final = "LED_TO"
"""From a step (a decision, an action, something learned) to the solution."""
MADE: Final = ("goal", "mindstate", "energy", "confidence", "emotion_vector")
"""Fields of a link that nobody gave. Questions follow no link whose goal was made."""
ALIKE: Final = 0.35
"""Least cosine of a step to the open memory or to the solution."""
MAX_STEPS: Final = 4
HOW: Final = "remember how it was solved"
MOST_WORDS: Final = 64
"""At most this many words of a long text are looked up."""
SOLVED: Final = 0.54
"""Least strength of a match."""
BESIDE_THE_BEST: Final = 0.85
"""A text closes every thread that matches at least this share as well as the best: one problem told twice."""
WORD_WEIGHT: Final = 0.04
"""How much a shared stem of inverse document frequency 1 adds to the cosine of meaning."""
MOST_SHARED: Final = 8.0
"""The most inverse document frequency of shared stems that counts: a long text shares words with everything."""


class StoredTelling(NamedTuple):
    """A memory that was just stored: its command, its row, and what its words say."""

    command: Remember
    row: Mapping[str, Any]
    appraisal: Appraisal

    @property
    def tells_end(self) -> bool:
        return tells_end(text_of(self.row), self.appraisal)


async def close_threads(told: Sequence[StoredTelling], graph: Graph, deps: Deps, now: Instant) -> int:
    """Close what these memories tell as solved, in the order of their valid time. Returns how many were closed.

    Only in a citizen's own graph: in a shared one the open memory may be another's. Raises as `atomic.apply` does.
    Calling it again changes nothing: what is resolved is no longer open.
    """
    closed = 0
    for solution in sorted(told, key=lambda memory: int(memory.row["valid_at"])):
        text = text_of(solution.row)
        if solution.command.level is not Level.N1 or not solution.tells_end:
            continue
        found = await read_open_threads(graph, _later_text(solution))
        memories = {memory.id: memory for memory in found if memory.id != solution.row["id"]}
        if not memories:
            continue
        looked_up = query_words(text)[:MOST_WORDS]
        counts = await lexicon.look_up(graph, words=looked_up, phrases=(), name_queries=(), past=False)
        weights = word_weights(counts.records, counts.memories)
        threads: list[OpenThread] = []
        for memory in memories.values():
            likeness = 0.0 if memory.distance is None else 1.0 - memory.distance
            threads.append(OpenThread(memory.id, memory.description or memory.name, likeness))
        for thread in find_solved(text, threads, weights):
            closed += await _close(solution, memories[thread.id], graph, deps, now=now)
    return closed


async def _close(solution: StoredTelling, opened: OpenMemory, graph: Graph, deps: Deps, *, now: Instant) -> bool:
    """Close one thread; False when that is refused."""
    resolve = Resolve(
        id=opened.id,
        command_id=_closing_id(opened.id, str(solution.row["id"])),
        effective_at=to_datetime(solution.row["valid_at"]),
        resolution_state=ResolutionState.RESOLVED,
        **_writer_fields(solution),
    )
    # The state comes first, so that the link inherits what is resolved.
    closing = [_make_command(resolve, solution), _link(solution, opened.id, RESOLVED_BY, goal=HOW)]
    receipts = await atomic.apply(closing, deps, now)
    if any(receipt.status != "stored" for receipt in receipts):
        return False
    steps = await read_steps(graph, opened, _later_text(solution), far=1.0 - ALIKE, limit=MAX_STEPS)
    links = [_link(solution, step, LED_TO, goal=HOW) for step in steps]
    await atomic.apply(links, deps, now)
    return True


def _closing_id(opened: str, solution: str) -> str:
    """The id of the command that closes a thread: it is applied once, also when it is sent once more."""
    return f"closed-{blake2b(f'{opened}|{solution}'.encode(), digest_size=16).hexdigest()}"


async def close_left(graph: Graph, deps: Deps, since: Instant, now: Instant) -> int:
    """Close what memories stored after `since` tell as solved: a process may have ended before it did.

    A closing that was taken back stays so. Raises as `close_threads`.
    """
    told, (_, citizen_id) = [], origin_of(graph.name)
    for fields in await read_ends(graph, since):
        command = Remember.model_validate(
            {**fields, "citizen_id": citizen_id, "valid_at": to_datetime(fields["valid_at"])}
        )
        row = new_row(command, "", now)
        [vector] = await deps.embedder.embed_texts([embedded_text(row)])
        told.append(StoredTelling(command, {**row, "embedding": vector or None}, appraise_command(command)))
    return await close_threads(told, graph, deps, now)


async def reopen(
    solutions: Sequence[str], graph: Graph, deps: Deps, now: Instant, *, turns_alone: bool = False
) -> list[str]:
    """Take back the closings by these memories, which go. Returns a sentence for each thread that is open again.

    `turns_alone`: only by those of them that are turns.
    """
    key, citizen_id = origin_of(graph.name)
    said = []
    for opened, solution, source in await graph.read(
        SOLVED_BY, ids=list(solutions), turns_alone=turns_alone, open=END_OF_TIME
    ):
        closing = _closing_id(opened, solution)
        fields = {**graph_fields(key), "citizen_id": citizen_id, "source": source}
        [receipt] = await atomic.apply([Undo(id=opened, undoes=closing, **fields).as_inferred()], deps, now)
        if receipt.status == "stored":
            said.append(f"{opened}{receipts.OPEN_AGAIN}")
    return said


async def reopen_retracted(
    commands: Sequence[Command], receipts: Sequence[WriteReceipt], deps: Deps, now: Instant
) -> list[WriteReceipt]:
    """The receipts; that of a retraction names the threads that are open again by it.

    A turn that is taken back never told anything; of another memory that ceases to hold it is not known.
    """
    answers = []
    for command, receipt in zip(commands, receipts, strict=True):
        if isinstance(command, Retract) and command.level is Level.N1 and receipt.status == "stored":
            graph = deps.graph(graph_name(Level.N1, command.citizen_id))
            in_part = command.effective_at is not None or command.valid_to is not None
            said = await reopen([command.id], graph, deps, now, turns_alone=in_part)
            receipt = receipt.model_copy(update={"warnings": (*receipt.warnings, *said)})
        answers.append(receipt)
    return answers


def _later_text(solution: StoredTelling) -> LaterText:
    row = solution.row
    return LaterText(row["speaker"], row["valid_at"], row.get("embedding"))


def _link(solution: StoredTelling, source_id: str, relation_type: str, *, goal: str) -> Command:
    """An inferred link from an earlier memory to the solution."""
    relate = Relate(
        source_id=source_id,
        relation_type=relation_type,
        target_id=str(solution.row["id"]),
        goal=goal,
        mindstate="inferred",
        energy=0.5,
        confidence=0.5,
        emotion_vector={},
        resolution_state=ResolutionState.RESOLVED,
        formation_trigger="told as solved",
        valid_at=to_datetime(solution.row["valid_at"]),
        episode_id=solution.command.episode_id,
        **_writer_fields(solution),
    )
    return _make_command(relate.assuming(*MADE), solution)


def _writer_fields(solution: StoredTelling) -> dict[str, Any]:
    command = solution.command
    return {**graph_fields(command.graph_key), "citizen_id": command.citizen_id, "source": command.source}


def _make_command(command: Command, solution: StoredTelling) -> Command:
    return command.as_inferred().with_writer(solution.command.writer)


class OpenThread(NamedTuple):
    """A memory whose words tell that something is open. `likeness`: cosine of its meaning to the later text."""

    id: str
    text: str
    likeness: float


def tells_end(text: str, appraisal: Appraisal) -> bool:
    """Whether a text tells that something is over, and nothing else that would make this doubtful.

    Good news alone tell it of nothing in particular, and who asks or wants more is still at it.
    """
    is_over = appraisal.tells_solution and appraisal.resolution_state is ResolutionState.RESOLVED
    return is_over and appraisal.goal is None and "?" not in text


def find_solved(text: str, threads: Sequence[OpenThread], weights: Mapping[str, float]) -> list[OpenThread]:
    """The threads that the text solves, best first; none below the strength `SOLVED`.

    The strength is the cosine of meaning + 0.04 × the summed weights of the shared stems, at most 0.32. `weights`:
    the inverse document frequency of each stem of the text in the graph.
    """
    told = stems(text)
    strengths = {}
    for thread in threads:
        shared = sum(weights.get(stem, 0.0) for stem in sorted(told & stems(thread.text)))
        strengths[thread.id] = thread.likeness + WORD_WEIGHT * min(MOST_SHARED, shared)
    enough = max(SOLVED, BESIDE_THE_BEST * max(strengths.values(), default=0.0))
    solved = [thread for thread in threads if strengths[thread.id] >= enough]
    return sorted(solved, key=lambda thread: (-strengths[thread.id], thread.id))
