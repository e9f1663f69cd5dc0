"""Random lives of a citizen, by which replay is measured: what it tells, changes, erases and asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from orchestration.dependencies import Deps
from orchestration.features.feedback.feature import tell as tell_feedback
from orchestration.insertion import apply
from orchestration.mind.state import change_state
from orchestration.retrieval import retrieve_consciousness_context
from orchestration.waking.ask import retrieve_consciousness_context_from_state
from orchestration.writing.erasure import erase
from schemas.commands import ANY_COMMAND, EraseMemory
from schemas.errors import SubstrateError
from schemas.intention import QueryMode, RetrievalIntention, StateBasedRetrieval
from schemas.memory import Level
from schemas.mind.feedback import Feedback
from schemas.mind.state import StateChange
from schemas.stream import ConsciousnessStream
from schemas.temporal import Instant, to_datetime

THINGS: Final = (
    "boat", "garden", "tax office", "violin", "winter coat", "kitchen", "train", "report", "cat", "bridge",
    "letter", "lamp", "bicycle", "doctor", "concert", "server", "contract", "roof", "bread", "island",
)  # fmt: skip
DEEDS: Final = (
    "bought a new", "repaired the", "lost the", "asked Egor about the", "is afraid of the", "sold the",
    "planned to visit the", "forgot the", "painted the", "wrote to Maria about the", "cannot find the",
)  # fmt: skip
WHEN: Final = ("in May", "yesterday", "last week", "before the concert", "on Monday", "again", "with the children")
FEELINGS: Final = ("joy", "fear", "anger", "calm", "sadness", "pride")
STATES: Final = (None, None, None, "blocked", "in_progress", "resolved")
QUESTIONS: Final = (
    "What about the {thing}?", "What happened to the {thing} last week?", "Where is the {thing} and the {other}?",
    "Tell me everything about the {thing}", "What did Maria say before the concert?",
    "What was the {thing} before?",
    "Who {deed} {thing}?", "What is new?", "In which order did we speak of the {thing}?",
)  # fmt: skip
DAY: Final = 86_400_000_000
SECOND: Final = 1_000_000


def sentence(chance: Random) -> str:
    """What somebody did, with a thing, at some time."""
    who = chance.choice(("Ada", "Egor", "Maria", "I", "The team"))
    return f"{who} {chance.choice(DEEDS)} {chance.choice(THINGS)} {chance.choice(WHEN)}."


@dataclass
class Life:
    """A citizen whose life goes on at `now`. `ids`: of its memories; `told`: the streams that it asked for."""

    citizen: str
    deps: Deps
    chance: Random
    now: Instant
    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    erased: set[str] = field(default_factory=set)
    asked: list[ConsciousnessStream] = field(default_factory=list)
    feedback: bool = True
    erases: bool = True

    async def tell(self, count: int) -> None:
        """Tell so many memories, some as turns of a conversation, each linked with others."""
        commands: list[dict[str, Any]] = []
        for _ in range(count):
            commands.append(self._memory())
            if len(self.ids) > 1 and self.chance.random() < 0.7:
                commands.append(self._link())
        await self._apply(*commands)

    def _memory(self) -> dict[str, Any]:
        chance, memory_id = self.chance, f"m{len(self.ids)}"
        self.ids.append(memory_id)
        fields: dict[str, Any] = {
            "command": "remember",
            "id": memory_id,
            "name": f"{chance.choice(THINGS)} {len(self.ids)}",
            "description": sentence(chance),
            "energy": round(chance.random(), 2),
            "valid_at": to_datetime(self.now - chance.randrange(200) * DAY),
        }
        if chance.random() < 0.5:
            turn = {"node_type": "Turn", "speaker": chance.choice(("user", "assistant", "Egor"))}
            fields |= {**turn, "episode_id": f"e{chance.randrange(5)}"}
        if chance.random() < 0.6:
            fields["emotion_vector"] = {chance.choice(FEELINGS): round(chance.random(), 1) for _ in range(2)}
        state = chance.choice(STATES)
        if state is not None:
            fields |= {"resolution_state": state, "goal": f"mend the {chance.choice(THINGS)}"}
        if chance.random() < 0.05:
            fields["rule"] = f"Never forget the {chance.choice(THINGS)}."
        return fields

    def _link(self) -> dict[str, Any]:
        source, target = self.chance.sample(self.ids, 2)
        link_id = f"l{len(self.links)}"
        self.links.append(link_id)
        kind = self.chance.choice(("NEXT", "RELATES_TO", "RESOLVED_BY", "PART_OF"))
        return {
            "command": "relate",
            "id": link_id,
            "source_id": source,
            "target_id": target,
            "relation_type": kind,
            "energy": round(self.chance.random(), 2),
            "confidence": 0.9,
            "emotion_vector": {"joy": 0.5},
            "goal": "understand",
            "mindstate": "curious",
            "resolution_state": "resolved" if kind == "RESOLVED_BY" else "in_progress",
        }

    async def change(self) -> None:
        """One change by chance: of a memory, a link, the state, what feedback teaches; sometimes an erasure."""
        kinds: list[Callable[[], Any]] = [
            self._tell_more, self._supersede, self._correct, self._retract, self._resolve, self._undo,
            self._unlink, self._feel, self._supersede, self._correct,
        ]  # fmt: skip
        if self.erases:
            kinds.append(self._erase)
        if self.feedback:
            kinds.append(self._teach)
        await self.chance.choice(kinds)()

    async def _tell_more(self) -> None:
        await self.tell(self.chance.randrange(1, 6))

    def _some(self) -> str:
        return self.chance.choice(self.ids)

    async def _supersede(self) -> None:
        effective = self.now - self.chance.choice((0, 0, 3, 40)) * DAY
        fields = {"id": self._some(), "description": sentence(self.chance), "effective_at": to_datetime(effective)}
        await self._apply({"command": "supersede", **fields})

    async def _correct(self) -> None:
        field_name, value = self.chance.choice(
            (
                ("description", sentence(self.chance)),
                ("energy", 0.9),
                ("name", f"the {self.chance.choice(THINGS)}"),
            )
        )
        await self._apply({"command": "correct", "id": self._some(), field_name: value})

    async def _retract(self) -> None:
        await self._apply({"command": "retract", "id": self._some()})

    async def _resolve(self) -> None:
        await self._apply({"command": "resolve", "id": self._some()})

    async def _undo(self) -> None:
        await self._apply({"command": "undo", "id": self._some()})

    async def _unlink(self) -> None:
        if self.links:
            await self._apply({"command": "unrelate", "id": self.chance.choice(self.links)})

    async def _feel(self) -> None:
        change = StateChange(energy=round(self.chance.random(), 2), emotion_vector={"joy": 0.3})
        await change_state(self.citizen, change, self.deps, self.step())

    async def _erase(self) -> None:
        memory_id = self._some()
        command = EraseMemory(level=Level.N1, citizen_id=self.citizen, id=memory_id)
        try:
            await erase(command, self.deps, self.step(), self.deps.directory)
        except SubstrateError:
            return
        self.erased.add(memory_id)

    async def _teach(self) -> None:
        if self.asked:
            stream = self.chance.choice(self.asked)
            used = [memory.node_id for memory in stream.activation_tiers.focus[:1]]
            if used:
                given = Feedback(query_text="the boat", used=tuple(used))
                try:
                    await tell_feedback(self.citizen, given, self.deps, self.step())
                except SubstrateError:
                    return

    def step(self) -> Instant:
        """The next moment of this life."""
        self.now += self.chance.randrange(1, 3 * 86_400) * SECOND
        return self.now

    async def _apply(self, *commands: dict[str, Any]) -> None:
        now = self.step()
        whole = [ANY_COMMAND.validate_python({"citizen_id": self.citizen, **fields}) for fields in commands]
        for first in range(0, len(whole), 50):
            await apply(whole[first : first + 50], self.deps, now + first)

    async def ask(self) -> ConsciousnessStream:
        """Ask or wake, in any mode."""
        chance = self.chance
        if chance.random() < 0.3:
            stream = await self._wake()
        else:
            text = chance.choice(QUESTIONS).format(
                thing=chance.choice(THINGS), other=chance.choice(THINGS), deed=chance.choice(DEEDS)
            )
            intention = RetrievalIntention(
                citizen_id=self.citizen, query_text=text, **self._times(), **self._options()
            )
            stream = await retrieve_consciousness_context(intention, self.deps, self.step())
        self.asked.append(stream)
        return stream

    def _times(self) -> dict[str, Any]:
        past = to_datetime(self.now - self.chance.randrange(1, 30) * DAY)
        return self.chance.choice((
            {}, {}, {}, {}, {"as_of_time": past}, {"known_at": past}, {"as_of_time": past, "known_at": "now"},
            {"temporal_mode": "evolution"}, {"temporal_mode": "full_history", "time_range_start": past},
        ))  # fmt: skip

    def _options(self) -> dict[str, Any]:
        return self.chance.choice((
            {}, {}, {}, {"plurality": {}}, {"rerank": "mmr"}, {"max_tokens": 400}, {"min_energy": 0.3},
            {"filters": {"speakers": ["user"]}}, {"apply_feedback": True}, {"max_results_per_level": 5},
            {"current_emotions": {"joy": 0.8}},
        ))  # fmt: skip

    async def _wake(self) -> ConsciousnessStream:
        chance = self.chance
        fields: dict[str, Any] = {"query_mode": chance.choice(list(QueryMode))}
        if chance.random() < 0.5:
            fields["current_goal"] = f"mend the {chance.choice(THINGS)}"
        if chance.random() < 0.5:
            fields["current_emotions"] = {chance.choice(FEELINGS): 0.8}
        fields |= chance.choice(
            ({}, {}, {"plurality": {}}, {"apply_feedback": True}, {"temporal_scope": "all_time"})
        )
        if chance.random() < 0.2:
            fields["as_of_time"] = to_datetime(self.now - chance.randrange(1, 30) * DAY)
        state = StateBasedRetrieval(citizen_id=self.citizen, **fields)
        return await retrieve_consciousness_context_from_state(state, self.deps, self.step())
