"""The life of a problem: noticed, blocked, unblocked, resolved, fading: `python examples/lifecycle.py`."""

from tempfile import TemporaryDirectory

from api.client import Substrate

FELT = {"energy": 0.9, "confidence": 0.9, "emotion_vector": {"worry": 0.8}, "goal": "tea", "mindstate": "busy"}
WORK = {"tea": "Tea for Tom", "milk": "Milk for the house", "lift": "The lift to the shop is broken"}


def show(memory: Substrate, stage: str) -> None:
    """The state of each piece of work, and how much energy the links around the problem can give back."""
    states = [(memory.get(name, citizen_id="ada").resolution_state or "?") for name in WORK]
    woken = memory.wake(citizen_id="ada", current_goal="tea", current_emotions={"worry": 0.8}, current_energy=0.5)
    print(f"{stage:<10} {' '.join(f'{state:<12}' for state in states)} {woken.energy_feedback_potential:.4f}")


with TemporaryDirectory() as directory, Substrate.embedded(directory) as memory:
    for name, text in WORK.items():
        memory.remember(
            citizen_id="ada", id=name, name=text, goal="tea", resolution_state="in_progress", energy=0.8
        )
    print(f"{'':<10} {' '.join(f'{name:<12}' for name in WORK)} energy of the links")
    show(memory, "noticed")

    for waiting, awaited in (("tea", "milk"), ("milk", "lift")):
        memory.relate(citizen_id="ada", source_id=waiting, relation_type="BLOCKED_BY", target_id=awaited,
                      resolution_state="blocked", **FELT)  # fmt: skip
        memory.resolve(citizen_id="ada", id=waiting, resolution_state="blocked")
    show(memory, "blocked")

    # The receipt names what could go on now. Nobody takes it up, so it is offered, in the next waking too.
    receipt = memory.resolve(citizen_id="ada", id="lift")
    print(*(f"  could be {each.resolution_state}: {each.id}" for each in receipt.follows), sep="\n")
    [offer] = memory.wake(citizen_id="ada").offers
    print(f"  offered: {offer.kind} {offer.name}: {offer.reason}")
    memory.answer_offer(offer.id, citizen_id="ada", answer="take")
    show(memory, "unblocked")

    # A cascade does at once what follows, and an undo of any part of it takes all of it back.
    memory.resolve(citizen_id="ada", id="milk", cascade=True)
    show(memory, "cascade")
    memory.undo(citizen_id="ada", id="tea")
    show(memory, "undone")
    memory.resolve(citizen_id="ada", id="milk", cascade=True)
    memory.resolve(citizen_id="ada", id="tea", cascade=True)
    show(memory, "resolved")
    print("Tom has his tea with milk.")
