"""Appraises the commands that will be written, in the way that the settings choose.

With `model`, ingested texts are read by the language model, in batches; where it gives no usable answer in time,
and for all other texts, the words are read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from orchestration.appraisal import prompt
from orchestration.appraisal.appraise import NOTHING, Appraisal
from orchestration.dependencies import Deps
from orchestration.mind.stream_notes import read_given
from orchestration.writing import appraised_rows
from schemas.commands import Command, Remember
from schemas.memory import SILENCES, Source
from substrate.inference.language import LanguageModel, ModelRequest

SECONDS: Final = 30.0
"""Deadline of the request for one batch."""
AT_ONCE: Final = 4
"""Batches that are sent to the model at the same time."""
LONG: Final = 20_000
"""Texts of more characters are read beside the event loop: the questions of others go on meanwhile."""
BY_WORDS: Final = "appraised by its words"
"""How the warning begins that a receipt has when the language model gave no usable answer."""
LEFT_OUT: Final = "left out"
"""How the warning begins that tells what was not read, or not made, because something did not answer in time."""
NO_ITEM: Final = f"{BY_WORDS}: the language model gave no usable answer for it"
NO_MODEL: Final = f"{BY_WORDS}: no language model is configured"


class AppraisalResult(NamedTuple):
    """The appraisals of commands, in their order, and by place why a text was read by its words alone."""

    appraisals: list[Appraisal]
    notes: Mapping[int, str]


async def beside_loop[Made](commands: Sequence[Command], work: Callable[[], Made]) -> Made:
    """The result of `work`; it is done in a thread where the texts are `LONG`."""
    letters = sum(len(getattr(command, "description", None) or "") for command in commands)
    return await asyncio.to_thread(work) if letters > LONG else work()


async def appraise_commands(commands: Sequence[Command], deps: Deps) -> AppraisalResult:
    """What the text of each command says; nothing with `off`, and for a command without a text of its own."""
    if deps.appraisal == "off":
        return AppraisalResult([NOTHING] * len(commands), {})
    answers = [each for each in commands if isinstance(each, Remember) and appraised_rows.is_answer(vars(each))]
    citizen_id = answers[0].citizen_id if answers else None
    given = () if citizen_id is None else await read_given(citizen_id, deps)

    by_words = await beside_loop(
        commands, lambda: [appraised_rows.appraise_command(command, given) for command in commands]
    )
    texts: dict[int, str] = {}  # the speakers' own words of ingested texts, by the place of the command
    for place, command in enumerate(commands if deps.appraisal == "model" else ()):
        if isinstance(command, Remember) and command.source is Source.INGESTION:
            texts[place] = prompt.own_words(appraised_rows.text_to_appraise(command) or "")
    texts = {place: own for place, own in texts.items() if own}
    if not texts:
        return AppraisalResult(by_words, {})
    if deps.language_model is None:
        return AppraisalResult(by_words, dict.fromkeys(texts, NO_MODEL))
    read, notes = await _ask_model(texts, deps.language_model)
    for place, words in enumerate(by_words):
        if words.step in SILENCES and place in read:
            read[place] = replace(read[place], step=words.step)
    return AppraisalResult([read.get(place, words) for place, words in enumerate(by_words)], notes)


async def _ask_model(
    texts: Mapping[int, str], model: LanguageModel
) -> tuple[dict[int, Appraisal], dict[int, str]]:
    places, own = list(texts), list(texts.values())
    turns = asyncio.Semaphore(AT_ONCE)

    async def ask(batch: range) -> tuple[dict[int, Appraisal], str]:
        asked = [own[place] for place in batch]
        async with turns:
            request = ModelRequest("appraisal", prompt.build_prompt(asked), SECONDS)
            value, call = await model.ask(request, prompt.Items)
        if value is None:
            return {}, f"{BY_WORDS}: {call.failure}"
        return {batch[place]: told for place, told in prompt.read_items(value, asked).items()}, NO_ITEM

    read: dict[int, Appraisal] = {}
    notes: dict[int, str] = {}
    batches = list(prompt.split_batches(own))
    for batch, (told, note) in zip(batches, await asyncio.gather(*map(ask, batches)), strict=True):
        read |= {places[place]: appraisal for place, appraisal in told.items()}
        notes |= {places[place]: note for place in batch if place not in told}
    return read, notes
