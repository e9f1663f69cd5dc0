"""003's own loop over a week of messages, without a language model: `python examples/mind/s6_cycle.py`.

After the messages of a morning and of an evening the citizen may wake. It asks what it intends: broadly when it is
hungry for context, for past experiences when something is stuck, from its state when something else presses, and
else it sleeps on. What comes back feeds its energy, teaches it where a belief has changed, and its focus says what
it would talk about.
"""

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta
from tempfile import TemporaryDirectory
from typing import NamedTuple

from api.app import create_app
from api.client import AsyncSubstrate
from api.dependencies import read_clock
from orchestration.mind.energy import ORDINARY, Energy, drift, feed_back
from schemas.mind.appetite import Appetite
from schemas.responses import Intended
from schemas.settings import AuthSettings, Settings, StoreSettings
from schemas.stream import ConsciousnessStream
from schemas.temporal import to_instant

CITIZEN = "mira"
MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
FEEDBACK_GUARD = 0.5
"""003: a stream below this leaves the energy as it is."""


class Day(NamedTuple):
    """A day of a chat, in the morning and `later`. `was_wrong`: by id, what a memory should have said."""

    said: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    was_wrong: tuple[tuple[str, str], ...] = ()


WEEK = (
    Day(
        ("Morning! The heating in the greenhouse broke down and I am stuck, nobody at the city office answers.",
         "I think it is the pump again."),
        ("Tom came by, we had tea with milk and talked about his move.",),
    ),
    Day(
        ("It is still broken and four degrees in there. I am so frustrated, the seedlings will not live.",),
        ("I want to find a place for the seedlings before the frost on Thursday.",),
    ),
    Day(
        ("The principal wants the exam for class 9 by Friday.",),
        ("I am stuck with the exam, the lab is closed and I have no results to ask about.",),
    ),
    Day(
        ("Good news: the seedlings are in the staff room now, that problem is solved.",),
        ("The plumber was here. It was never the pump, a valve was shut.",),
        (("cause", "The heating broke down because a valve was shut."),),
    ),
    Day(
        ("The heating in the greenhouse is repaired, that is solved at last. I am so relieved!",),
        ("The lab opened for me and the exam for class 9 is done, that problem is solved too.",),
    ),
    Day((), ("It rained the whole day. Tom sings with the choir tomorrow at eleven.",)),
    Day(("I slept until nine, the bees are loud in the garden.",), ()),
)  # fmt: skip


class Clock:
    """The clock of the simulated week: the service asks it in place of the engine's."""

    def __init__(self) -> None:
        self.now = MONDAY

    def read(self) -> int:
        return to_instant(self.now)

    def move_to(self, day: int, hour: int) -> None:
        self.now = MONDAY + timedelta(days=day, hours=hour)


class Mind:
    """A citizen that lives by 003's loop, over the Python client."""

    def __init__(self, memory: AsyncSubstrate, clock: Clock) -> None:
        self.memory, self.clock = memory, clock
        self.energy, self.fed_at = ORDINARY, clock.read()
        self.decisions: Counter[str] = Counter()
        self.energies = [self.energy]
        self.learned: list[str] = []
        self.resolved: list[str] = []

    async def hear(self, texts: tuple[str, ...]) -> None:
        """Take messages in. What they tell as solved is resolved by the service, and no tension any more."""
        before = await self._open_work()
        for text in texts:
            await self.memory.hear("week", "user", text, citizen_id=CITIZEN, timestamp=self.clock.now)
            self.clock.now += timedelta(minutes=1)
            print(f"  hears    {text}")
        after = await self._open_work()
        for name in (name for memory_id, name in before.items() if memory_id not in after):
            self.resolved.append(name)
            print(f"  resolved {name}")

    async def cycle(self) -> None:
        """One turn of the loop (003, "Couche 3 Consumption with Energy Feedback")."""
        intended = await self.memory.intend(CITIZEN, max_tokens=1500)
        self._show(intended)
        stream = intended.stream
        if stream is None:
            return
        await self._feed(stream)
        for dissonance in stream.temporal_dissonances:
            await self._learn(dissonance.original_belief, dissonance.corrected_belief)
        self._respond(stream)

    async def _feed(self, stream: ConsciousnessStream) -> None:
        """Let the stream raise the energy, by 003's guard; until the next one it returns to the ordinary energy.

        `relative_potential` is the share of what these very links could give: 003's sum seldom reaches .5.
        """
        calmed = drift(self.energy, ORDINARY, self.clock.read() - self.fed_at)
        self.fed_at, self.energy = self.clock.read(), calmed
        if stream.relative_potential > FEEDBACK_GUARD:
            self.energy = feed_back(Energy(calmed, ORDINARY), stream.relative_potential)
        self.energies.append(self.energy)
        await self.memory.set_state(CITIZEN, energy=round(self.energy, 4))
        print(f"  energy   {calmed:.2f} → {self.energy:.2f} (potential {stream.relative_potential:.2f})")

    async def _learn(self, old: str, new: str) -> None:
        lesson = f"I believed: {old} Now I know: {new}"
        if lesson in self.learned:
            return
        self.learned.append(lesson)
        await self.memory.remember(citizen_id=CITIZEN, name="What I learned", text=lesson, node_type="Learning")
        print(f"  learns   {lesson}")

    def _respond(self, stream: ConsciousnessStream) -> None:
        """Without a model the answer is what is in focus."""
        for node in stream.activation_tiers.focus[:3]:
            print(f"  focus    {(node.description or node.name)[:100]}")

    def _show(self, intended: Intended) -> None:
        self.decisions[intended.decision.kind] += 1
        readings = [f"{each.name} {each.amount:.2f}" for each in intended.appetite.readings if each.amount > 0.0]
        print(f"  appetite {', '.join(readings) or 'none'}; pressure {intended.appetite.reality_pressure:.2f}")
        print(f"  decides  {intended.decision.kind}: {intended.decision.why}")

    async def _open_work(self) -> dict[str, str]:
        """What is open, by id: where the tension comes from."""
        appetite: Appetite = await self.memory.appetite(CITIZEN)
        return {each.id: each.name for each in appetite.reading("unresolved_tension").sources}


async def live(mind: Mind) -> None:
    memory = mind.memory
    for number, day in enumerate(WEEK):
        print(f"\n{MONDAY + timedelta(days=number):%A}")
        mind.clock.move_to(number, 7)
        await mind.hear(day.said)
        if number == 0:
            text = "The heating broke down because of the pump."
            await memory.remember(citizen_id=CITIZEN, id="cause", name="Why it is cold", text=text, energy=0.8)
        if day.said:
            mind.clock.move_to(number, 8)
            await mind.cycle()
        mind.clock.move_to(number, 19)
        await mind.hear(day.later)
        for memory_id, text in day.was_wrong:
            await memory.correct(citizen_id=CITIZEN, id=memory_id, text=text)
        if day.later:
            mind.clock.move_to(number, 20)
            await mind.cycle()


async def main() -> None:
    clock = Clock()
    with TemporaryDirectory() as directory:
        app = create_app(Settings(store=StoreSettings(data=directory), auth=AuthSettings(open=True)))
        app.dependency_overrides[read_clock] = clock.read
        async with app.router.lifespan_context(app), AsyncSubstrate.inside(app) as memory:
            mind = Mind(memory, clock)
            await live(mind)
    print("\nThe week")
    print(f"  decisions {', '.join(f'{kind} {count}' for kind, count in mind.decisions.most_common())}")
    print(f"  energy    {min(mind.energies):.2f} to {max(mind.energies):.2f}, {mind.energy:.2f} at the end")
    print(f"  learned   {len(mind.learned)}, resolved {len(mind.resolved)}")


asyncio.run(main())
