"""002's cycle over a simulated week of messages: `python examples/mind/cycle.py [--llm module.Class]`.

The memory remembers, a language model of LlamaIndex thinks, a friend is the world (`week.json`). Without `--llm` a
script stands in for the model, so that the week needs no network and comes out the same each time. The script is
hasty: without its memories it would send long plans all week.
"""

import argparse
import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from importlib import import_module
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple

from llama_index.core.llms import CompletionResponse, CompletionResponseGen, CustomLLM, LLMMetadata
from pydantic import BaseModel, Field, ValidationError

from api.app import create_app
from api.client import AsyncSubstrate
from api.dependencies import read_clock
from orchestration.features.imagination.values import Imagination
from orchestration.features.rules.values import RulesVerdict
from orchestration.features.situation.values import Situation, Stimulus
from schemas.settings import AuthSettings, Settings, StoreSettings
from schemas.temporal import to_instant

CITIZEN, FRIEND = "kai", "Mira"
MONDAY = datetime(2026, 3, 2, 8, tzinfo=UTC)
INNER_LOOPS = 3
"""002: at most so many turns of thought before it sleeps over it."""
STRONG_ENOUGH = 0.3
"""A pain or a drive that presses less is no stimulus."""
MOSTLY = 0.5
"""It thinks again where more than so much went badly before."""


class Said(BaseModel):
    """What one of the three agents answers."""

    said: str
    emotion: str | None = None
    action: str | None = None


class Decision(BaseModel):
    """What the resolver answers. With a `rule` it makes a lesson, or an instruction of another, its own."""

    decision: str
    action: str = Field(max_length=200)
    reply: str
    nodes: list[str] = Field(default=[], max_length=16)
    edges: list[str] = Field(default=[], max_length=16)
    rule: str | None = None
    severity: Literal["block", "warn", "note"] | None = None


class Review(BaseModel):
    """How it went, by the answer of the friend."""

    result: Literal["positive", "negative", "complex"]
    emotion: str
    intensity: float = Field(ge=0.0, le=1.0)


AGENTS = {
    "appraiser": 'How does this feel? {"emotion": a word, "said": a sentence}',
    "impulse": 'What would you do at once? {"action": a few words, "said": a sentence}',
    "critic": 'What speaks against it? {"said": a sentence}',
}
RESOLVER = (
    'Decide. {"decision": a sentence, "action": what to do, in a few words, "reply": the words to send, '
    '"nodes": names of people and things, "edges": ["source|TYPE|target"], '
    '"rule": a lesson that you follow or make your own, or null, "severity": "block" if it must never be broken}'
)
REVIEW = 'How did it go? {"result": "positive", "negative" or "complex", "emotion": a word, "intensity": 0 to 1}'
ONLY_JSON = "\n\nThat was not the JSON asked for. Answer with one JSON object and nothing else."


class Mind:
    """A citizen that lives by 002's cycle, over the Python client."""

    def __init__(self, memory: AsyncSubstrate, llm: Any, clock: "Clock") -> None:
        self.memory, self.llm, self.clock = memory, llm, clock
        self.answered: set[str] = set()
        self.today: list[str] = []
        self.results: list[str] = []

    async def day(self, messages: Sequence["Message"]) -> None:
        """Answer each message; on a day without one wake where something presses. Then sleep."""
        for message in messages:
            await self._hear(FRIEND, message.text)
            await self._cycle()
        for hours in () if messages else (1, 10):
            self.clock.pass_time(hours=hours)
            await self._wake()
        await self._sleep()

    async def _cycle(self) -> None:
        """At most three inner loops: think until something is done, then look whether there is more to do."""
        warning = ""
        for _ in range(INNER_LOOPS):
            situation = await self.memory.situation(CITIZEN)  # prepare, and after an action: re-evaluate
            stimulus = self._observe(situation)
            if stimulus is None:
                return
            prompt = _prompt(situation, stimulus, warning)
            notes = await self._ask_agents(prompt)
            decision = await self._ask(Decision, f"{RESOLVER}\n\n{prompt}")
            if decision is None:
                _tell("skips", "the resolver gave no decision")
                self.answered.add(self._key(stimulus))
                warning = ""
                continue
            told = await self._imagine(decision)
            if "Imagined:" not in warning and (bad := told.results.get("negative", 0.0)) > MOSTLY:
                warning += f"Imagined: to {decision.action} went badly before ({bad:.0%}). "
                _tell("thinks", f"again: {warning.strip()}")
                continue
            verdict = await self.memory.check_rules(citizen_id=CITIZEN, action=decision.action)
            if verdict.verdict == "block":
                warning += f"Blocked: {verdict.why}. "
                _tell("block", f"{decision.action}: {verdict.why}")
                continue
            await self._act(stimulus, Thought(notes, decision, told, verdict))
            warning = ""
        if warning:
            _tell("sleeps", "over it: three turns were not enough")

    def _observe(self, situation: Situation) -> Stimulus | None:
        """What there is to answer to: a message, else a pain or a drive that is strong enough; or nothing more."""
        new = [each for each in situation.stimuli if self._key(each) not in self.answered]
        for kind in ("message", "pain", "drive"):
            for each in new:
                if each.kind == kind and each.strength >= STRONG_ENOUGH:
                    if kind != "message":
                        print(f"  {kind}: {each.reason}")
                    return each
        return None

    def _key(self, stimulus: Stimulus) -> str:
        """What was said is answered once, what is felt once a day."""
        return stimulus.text if stimulus.speaker else f"{self.clock.now:%A}: {stimulus.text}"

    async def _ask[Answer: BaseModel](self, answer: type[Answer], prompt: str) -> Answer | None:
        """One call of the model. What is not the JSON asked for is asked for once more, and then left out."""
        for again in ("", ONLY_JSON):
            text = (await self.llm.acomplete(prompt + again)).text
            try:
                return answer.model_validate_json(text[text.find("{") : text.rfind("}") + 1])
            except ValidationError:
                _tell("no JSON", f"{text[:60]!r}" + ("; left out" if again else "; asks once more"))
        return None

    async def _ask_agents(self, prompt: str) -> dict[str, Said]:
        """Appraiser, impulse and critic at once; who gives no answer is left out."""
        said = await asyncio.gather(*(self._ask(Said, f"{task}\n\n{prompt}") for task in AGENTS.values()))
        return {name: answer for name, answer in zip(AGENTS, said, strict=True) if answer is not None}

    async def _imagine(self, decision: Decision) -> Imagination:
        """What came of such an action before; the prediction is kept, and the context says what came of it.

        It is asked by the action alone: by names and feelings, another action for the same person is as near.
        """
        told = await self.memory.imagine(citizen_id=CITIZEN, action=decision.action, keep=True)
        shares = ", ".join(f"{result} {share:.0%}" for result, share in told.results.items())
        _tell("imagines", f"{decision.action}: {shares or 'too few to say'} ({told.evidence:.1f} cases)")
        return told

    async def _act(self, stimulus: Stimulus, thought: "Thought") -> None:
        """Send the reply, hear what comes of it, and write all of it down as one context."""
        decision = thought.decision
        self.answered.add(self._key(stimulus))
        why = "" if thought.verdict.verdict == "allow" else f": {thought.verdict.why}"
        _tell(thought.verdict.verdict, f"{decision.action}{why}")
        await self._hear("Kai", decision.reply)
        answer = friend_answers(stimulus.text, decision)
        await self._hear(FRIEND, answer)
        if not answer.endswith("?"):
            self.answered.add(answer)
        review = await self._ask(Review, f"{REVIEW}\n\n{FRIEND} answered: {answer}")
        receipt = await self.memory.write_context(
            citizen_id=CITIZEN,
            description=f"{_told(stimulus)} I answered: {decision.reply} Then: {answer}",
            action=decision.action,
            nodes=decision.nodes,
            edges=[edge for edge in decision.edges if edge.count("|") == 2],
            **(review.model_dump() if review else {}),
            rule=decision.rule,
            severity=decision.severity,
            certainty=0.8,
            outcome_of=thought.told.prediction_id,
            agent_log=thought.log(),
        )
        self.today.append(receipt.context_id)
        self.results.append(receipt.result or "unknown")
        rule = f"; rule: {decision.rule}" if decision.rule else ""
        _tell("feels", f"{receipt.emotion}, {self.results[-1]}{rule}")

    async def _wake(self) -> None:
        """On a day without a message: ask what presses, and think of it; where nothing does, sleep on."""
        intended = await self.memory.intend(CITIZEN)
        _tell(intended.decision.kind, intended.decision.why)
        if intended.stream is None:
            _tell("sleeps", "on")
            return
        for node in intended.stream.activation_tiers.focus[:3]:
            _tell("thinks", f"of {node.name}")
            self.today.append(node.node_id)

    async def _sleep(self) -> None:
        """Consolidate, and save the window: what was lived today is what the next cycle begins with."""
        self.clock.pass_time(hours=1)
        answer = await self.memory.run_upkeep(citizen_id=CITIZEN, jobs=["consolidation"])
        for text in (text for run in answer.runs for text in run.shown):
            _tell("general", text)
        appetite = await self.memory.appetite(CITIZEN)
        window = [{"id": memory_id} for memory_id in self.today]
        state = await self.memory.set_state(CITIZEN, window=window, focus=appetite.tension_source)
        tension = appetite.reading("unresolved_tension")
        print(f"  energy {state.energy:.2f}, tension {tension.amount:.2f}: {tension.reason}")
        self.today = []

    async def _hear(self, speaker: str, text: str) -> None:
        self.clock.pass_time(minutes=5)
        await self.memory.hear("chat", speaker, text, citizen_id=CITIZEN, timestamp=self.clock.now)
        print(f"  {speaker}: {text}")


class Thought(NamedTuple):
    """What led to an action."""

    notes: dict[str, Said]
    decision: Decision
    told: Imagination
    verdict: RulesVerdict

    def log(self) -> list[dict[str, Any]]:
        """The notes of all agents, for the audit trail."""
        notes = [{"agent": name, "said": note.said, "decision": note.action} for name, note in self.notes.items()]
        rules = {"agent": "rules", "said": self.verdict.why, "decision": self.verdict.verdict}
        return [
            *notes,
            {"agent": "resolver", "said": self.decision.decision, "decision": self.decision.action},
            rules,
        ]


def _prompt(situation: Situation, stimulus: Stimulus, warning: str) -> str:
    """The same for every agent: the situation as text, what to answer to, and what the turn before found out."""
    return f"Situation:\n{situation.text}\n\nStimulus: {stimulus.text}\n\n{warning}\n\nAnswer in JSON."


def _told(stimulus: Stimulus) -> str:
    """The stimulus as a sentence of its own."""
    return f"{stimulus.speaker} said: {stimulus.text}" if stimulus.speaker else f"{stimulus.reason.capitalize()}."


def _tell(what: str, words: str) -> None:
    print(f"    {what:<10}{words}")


class Clock:
    """The clock of the simulated week: the service asks it in place of the engine's."""

    def __init__(self) -> None:
        self.now = MONDAY

    def read(self) -> int:
        return to_instant(self.now)

    def pass_time(self, **time: float) -> None:
        self.now += timedelta(**time)


class Deed(BaseModel):
    """What the script may do about a message, what the friend answers to it, and how that feels."""

    action: str
    reply: str
    answer: str
    result: str
    emotion: str


class Message(BaseModel):
    """A message of the friend; the script does the first deed, or the last where its memory speaks against that.

    `takes_up`: the instruction in it, as a rule of the citizen's own.
    """

    text: str
    feels: str
    nodes: tuple[str, ...]
    deeds: tuple[Deed, ...]
    edges: tuple[str, ...] = ()
    takes_up: str | None = None


class Week(BaseModel):
    """The messages of each day; `later`: what comes of them, a question in an answer and a pain."""

    days: tuple[tuple[Message, ...], ...]
    later: tuple[Message, ...]


WEEK = Week.model_validate_json(Path(__file__).with_name("week.json").read_text("utf-8"))
MESSAGES = {message.text: message for message in (*chain.from_iterable(WEEK.days), *WEEK.later)}
DEEDS = tuple(deed for message in MESSAGES.values() for deed in message.deeds)
LONG, SHORT = "send Mira a long plan", "send Mira one small step"
LESSON = "Send Mira one small step, never a long plan."


def friend_answers(text: str, decision: Decision) -> str:
    """The answer to what is most like the action that was decided on."""
    if text not in MESSAGES:
        return "All right."
    words = set(decision.action.lower().split())
    return max(MESSAGES[text].deeds, key=lambda deed: len(words & set(deed.action.lower().split()))).answer


class Script(CustomLLM):
    """Stands in for a model: it answers by what stands in the prompt."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="script")

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        if prompt.startswith(AGENTS["critic"]) and "seedlings will freeze" in _stimulus_in(prompt):
            return CompletionResponse(text="Is it wise to write so much?")
        return CompletionResponse(text=json.dumps(script_answers(prompt)))

    def stream_complete(self, prompt: str, formatted: bool = False, **given: Any) -> CompletionResponseGen:
        yield self.complete(prompt, formatted, **given)


def script_answers(prompt: str) -> dict[str, Any]:
    """The first deed for the stimulus, or the last where a rule, imagination or a verdict speaks against it."""
    if prompt.startswith(REVIEW):
        deed = next(deed for deed in DEEDS if deed.answer in prompt)
        return {"result": deed.result, "emotion": deed.emotion, "intensity": 0.6}
    stimulus = _stimulus_in(prompt)
    message = next(message for text, message in MESSAGES.items() if stimulus.startswith(text))
    imagined = "Imagined:" in stimulus and message.deeds[0].action == LONG
    learned = imagined or LESSON in prompt
    deed = message.deeds[-1 if learned or "Blocked:" in stimulus else 0]
    if not prompt.startswith(RESOLVER):
        return {"emotion": message.feels, "action": deed.action, "said": f"I would {deed.action}."}
    rule = LESSON if learned and deed.action == SHORT else message.takes_up
    kind = {"rule": rule, "severity": "block" if message.takes_up else None}
    said = {"decision": f"I {deed.action}.", "action": deed.action, "reply": deed.reply}
    return {**said, "nodes": message.nodes, "edges": message.edges, **kind}


def _stimulus_in(prompt: str) -> str:
    """The stimulus in a prompt, and all that stands behind it."""
    return prompt.partition("\n\nStimulus: ")[2]


async def tell_week(memory: AsyncSubstrate, mind: Mind) -> None:
    """What the week left behind."""
    identity = await memory.identity(citizen_id=CITIZEN)
    log = await memory.agent_log(CITIZEN, limit=100)
    score = await memory.calibration(CITIZEN)
    good = mind.results.count("positive")
    print(
        f"\nThe week\n  contexts  {len(mind.results)}, {good} of them went well; {len(log.notes)} notes of agents"
    )
    for each in (await memory.rules(CITIZEN)).rules:
        kept = each.record
        told = f"held {kept.held}, failed {kept.failed}, blocked {kept.blocked}, overridden {kept.overridden}"
        print(f"  rule      {each.rule} ({each.severity}; {told})")
    brier = "none" if score.brier is None else f"{score.brier:.2f}"
    print(
        f"  imagined  {score.answered} times with an outcome, Brier {brier}; {score.unsaid} times too few to say"
    )
    print(f"  is about  {', '.join(entity.name for entity in identity.entities[:5])}")


async def main(llm: Any) -> None:
    clock = Clock()
    with TemporaryDirectory() as directory:
        app = create_app(Settings(store=StoreSettings(data=directory), auth=AuthSettings(open=True)))
        app.dependency_overrides[read_clock] = clock.read
        async with app.router.lifespan_context(app), AsyncSubstrate.inside(app) as memory:
            mind = Mind(memory, llm, clock)
            for number, messages in enumerate(WEEK.days):
                clock.now = MONDAY + timedelta(days=number)
                print(f"\n{clock.now:%A}")
                await mind.day(messages)
            await tell_week(memory, mind)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--llm", help="class of a language model of LlamaIndex, made without arguments")
    chosen = parser.parse_args().llm
    module, _, name = (chosen or "").rpartition(".")
    asyncio.run(main(getattr(import_module(module), name)() if chosen else Script()))
