"""The example life of the demo: read from files, shifted so that it ends yesterday, ingested as it happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import orjson

from orchestration.dependencies import Deps
from orchestration.ingestion.formats import parse
from orchestration.ingestion.formats.reader import File, FileSet, ParsedFiles
from orchestration.ingestion.pipeline import ingest_as_happened
from orchestration.ingestion.storing import Progress, length
from schemas.errors import NotFound
from schemas.temporal import Instant, to_datetime

CITIZEN: Final = "ada"
TEAM, WORLD = "ada-team", "ada-world"
ROOMS: Final = {"N2": TEAM, "N3": WORLD}
"""What her team and her world know stands in collectives of their own: all citizens read N2 and N3."""
_CARRIED: Final = Path(__file__).resolve().parent / "ada"
HOME: Final = _CARRIED if _CARRIED.exists() else Path(__file__).resolve().parents[2] / "examples" / "ada"
"""A wheel has the files beside this module, a source tree has them in `examples`."""
FILES: Final = (
    ("n1_personal.jsonl", "commands"),
    ("n2_collective.jsonl", "commands"),
    ("n3_ecosystem.jsonl", "commands"),
    ("talk_with_luca.jsonl", "messages"),
)
_TIMES: Final = ("valid_at", "invalid_at", "effective_at", "timestamp")


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """A question of the story, why it is asked, and the ids that it should find."""

    ask: str
    why: str
    expect: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Story:
    """The example life, moved in time by `shift`."""

    intakes: tuple[ParsedFiles, ...]
    questions: tuple[DemoQuestion, ...]
    shift: timedelta

    @property
    def size(self) -> int:
        """The number of commands in the story."""
        return sum(length(item) for intake in self.intakes for item in intake.items)

    def count_kinds(self) -> Counter[str]:
        """The number of commands of each kind."""
        kinds: Counter[str] = Counter()
        for intake in self.intakes:
            for item in intake.items:
                kinds.update(type(command).__name__ for command in item.commands())
        return kinds

    def moved(self, moment: datetime) -> datetime:
        """The moment, shifted like the story."""
        return moment + self.shift


def read_story(now: Instant, home: Path = HOME) -> Story:
    """The example life, moved by whole days so that it ended yesterday.

    Raises NotFound when the examples are not there.
    """
    try:
        expected = orjson.loads((home / "expect.json").read_bytes())
        texts = [(home / name).read_text("utf-8") for name, _ in FILES]
    except FileNotFoundError as error:
        raise NotFound(
            f"the example life is not here ({home})",
            remedy="It is part of every wheel and every clone: install Substrate again.",
        ) from error
    end = datetime.fromisoformat(expected["now"])
    shift = timedelta(days=(to_datetime(now).date() - end.date()).days)
    intakes = [
        parse(form, FileSet(Path(name).stem, (File(name, _move_lines(text, shift)),), CITIZEN))
        for (name, form), text in zip(FILES, texts, strict=True)
    ]
    questions = tuple(
        DemoQuestion(question["ask"], question["why"], tuple(question["expect"]))
        for question in expected["questions"]
        if question.get("demo")
    )
    return Story(tuple(intakes), questions, shift)


async def take_in_story(story: Story, deps: Deps, now: Instant, progress: Progress) -> Sequence[str]:
    """Ingest the story as it happened, so that its past can be asked. Returns the faults of refused commands."""
    first, *_ = story.intakes
    items = tuple(item for intake in story.intakes for item in intake.items)
    report = await ingest_as_happened(replace(first, items=items), deps, now, progress=progress)
    return report.faults


def _move_lines(text: str, shift: timedelta) -> str:
    """Lines of JSON, each in its room, with every time field moved; dates in texts stay."""
    return "\n".join(orjson.dumps(_move_line(orjson.loads(line), shift)).decode() for line in text.splitlines())


def _move_line(entry: dict[str, Any], shift: timedelta) -> dict[str, Any]:
    moved = {name: datetime.fromisoformat(entry[name]) + shift for name in _TIMES if entry.get(name)}
    room = ROOMS.get(entry.get("level", ""))
    return {**entry, **moved, **({"level": "N2", "collective": room} if room else {})}
