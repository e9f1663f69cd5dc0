"""Thirty days of an agent without a language model: each day it wakes, hears and recalls; then it tells."""

from datetime import UTC, datetime, timedelta
from tempfile import TemporaryDirectory

from api.client import Substrate

SAID = {
    1: "My name is Mira and I work as a biology teacher in Bergen.",
    2: "My brother Tom moves in next month. Tom drinks his tea with milk.",
    4: "I want to build a greenhouse for the school garden before summer.",
    6: "I am stuck: the city has not answered my permit application for the greenhouse. It is frustrating!",
    9: "I called the city office about the greenhouse permit, they asked for a drawing of the foundation.",
    12: "I drew the foundation of the greenhouse and sent it to the city.",
    15: "My bike is broken and I am still waiting for the new chain.",
    18: "The city approved the greenhouse permit today, the problem is solved. I am so happy!",
    21: "Tom helped me to carry the glass for the greenhouse.",
    24: "From now on, always remind me to water the seedlings in the evening.",
    27: "I am blocked on the exam for class 9, the lab is closed.",
    30: "Good evening. Please help me plan the next week.",
}
SMALL_TALK = ("It rained the whole day.", "I had soup for lunch.", "The bees were loud in the garden.")
BEGIN = datetime.now(UTC) - timedelta(days=31)


def show(title: str, lines: list[str]) -> None:
    print(f"\n{title}", *(f"  {line}" for line in lines or ["nothing yet"]), sep="\n")


with TemporaryDirectory() as directory, Substrate.embedded(directory) as memory:
    for day in range(1, 31):
        awake = memory.wake(citizen_id="mira", max_results_per_level=5)
        text = SAID.get(day, SMALL_TALK[day % 3])
        at = BEGIN + timedelta(days=day)
        memory.hear("thirty-days", "user", text, citizen_id="mira", timestamp=at)
        found = memory.retrieve(citizen_id="mira", query_text=text, max_results_per_level=5)
        related = [node for node in found.activation_tiers.focus if node.description != text]
        answer = f"On {related[0].valid_at:%d %B} you said: {related[0].description}" if related else "I see."
        memory.hear("thirty-days", "assistant", answer, citizen_id="mira", timestamp=at + timedelta(minutes=1))
        if day in SAID:
            print(f"day {day}: woke with {len(awake.activation_tiers.focus)} in focus, heard: {text}")

    tea = memory.retrieve(citizen_id="mira", query_text="How does my brother take his tea?")
    show("Asked about her brother:", [tea.activation_tiers.focus[0].description])
    who = memory.identity(citizen_id="mira")
    show("Who I am with:", [entity.name for entity in who.entities[:5]])
    still = memory.wake(citizen_id="mira", query_mode="find_related_unresolved")
    show("What is open:", [node.name for node in still.activation_tiers.focus])
    past = memory.wake(citizen_id="mira", query_mode="find_resolution_patterns", emotions={"frustration": 0.6})
    show("What was solved:", [f"{one.blockage} -> {one.resolution}" for one in past.resolution_patterns])
