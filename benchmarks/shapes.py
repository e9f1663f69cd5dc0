"""The shapes of files that agents and teams leave: stored, asked, right.

`python -m benchmarks.shapes` stores each file in a memory of its own, asks one question, and prints whether the
first five memories hold the answer.
"""

from __future__ import annotations

import asyncio
import io
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from api.client import AsyncSubstrate
from schemas.errors import SubstrateError

EXPORTS: Final = Path(__file__).parents[1] / "tests" / "data" / "exports"
BESIDE: Final = {"conversations.json": "claude_conversations.json", "memories.json": "office/memories.json"}
LATEX: Final = "Vol. 3 says that the lighthouse of Pellworm was lit in 1907."


class Shape(NamedTuple):
    """A file: its name, its bytes, a question, and words that the answer has."""

    name: str
    raw: bytes
    question: str
    answer: str


def _file(name: str, question: str, answer: str) -> Shape:
    return Shape(name, (EXPORTS / name).read_bytes(), question, answer)


def _text(name: str, text: str, question: str, answer: str) -> Shape:
    return Shape(name, text.encode(), question, answer)


def _packed(name: str, files: Mapping[str, str], question: str, answer: str) -> Shape:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for path, source in files.items():
            archive.writestr(path, (EXPORTS / source).read_bytes())
    return Shape(name, target.getvalue(), question, answer)


SHAPES: Final = (
    _file("agents/claude_code.jsonl", "On which day do we release?", "Thursdays"),
    _file("agents/codex_rollout.jsonl", "When is our pressing day?", "second Saturday of October"),
    _file("agents/opencode_session.json", "Which hive has a scale that drifts?", "hive seven"),
    _file("agents/conversations.jsonl", "What am I allergic to?", "walnuts"),
    _file("agents/sharegpt.json", "What is my bicycle called?", "Rosine"),
    _file("agents/langchain_messages.json", "How many dents has the new reed?", "40 dents"),
    _file("agents/langchain_dump.json", "On which day is the kiln fired?", "Mondays"),
    _file("agents/langsmith_runs.jsonl", "To which pitch is my violin tuned?", "415 hertz"),
    _file("agents/openai_agents_traces.json", "Which table was booked at the Seehof?", "able 12"),
    _file("teams/slack.zip", "When is the pump serviced?", "Tuesday"),
    _file("teams/discord_package.zip", "What did I sell?", "red kayak"),
    _file("teams/discord_exporter.json", "When is the water turned on again?", "first of April"),
    _file("office/notion.zip", "Which oil for the mast?", "tung oil"),
    _file("office/cabin.canvas", "What does the sauna need by October?", "new stove"),
    _file("office/calendar.ics", "Where is the hearing test with Dr. Aalto?", "Kastanienweg 9"),
    _file("office/minutes.docx", "What is the fee for a dinghy?", "40 euros"),
    _file("office/memories.json", "What is the dog called?", "Quint"),
    _file("chatgpt_conversations.json", "Where are we moving in May?", "Porto"),
    _file("claude_conversations.json", "Which plot did I rent by the canal?", "plot 14"),
    _packed("claude.zip", BESIDE, "What is the dog called?", "Quint"),
    _file("telegram_chat.json", "What is the boat called?", "Aurora"),
    _file("WhatsApp Chat with Luca.txt", "When is the ferry?", "7:40"),
    _file("thread.mbox", "How much does berth 12 cost a month?", "340"),
    _file("diary.csv", "Was ist mit der Regatta?", "Regatta verschoben"),
    _file("berths.pdf", "Which berth is free from May?", "Berth 12"),
    _file("page.html", "Which boats need a pilot?", "12 m"),
    _file("2024-05-01 Logbook.txt", "What did we see near the buoy?", "porpoises"),
    _text("tasks.md", "---\naliases: [Shed]\n---\n# Garden shed\n- [ ] paint the door green 📅 2026-06-20\n",
          "What is to be painted?", "door green"),
    _text("chat.json", '[{"role": "user", "content": "My locker has number 212."}]', "Which is mine?", "212"),
    _text("book.tex", f"\\section{{Light}} {LATEX}", "When was the lighthouse of Pellworm lit?", "1907"),
)  # fmt: skip


async def main() -> None:
    """Print a row for each shape, and how many were stored and how many answers were right."""
    stored = right = 0
    with tempfile.TemporaryDirectory() as folder:
        async with AsyncSubstrate.embedded(Path(folder) / "data") as memory:
            for number, shape in enumerate(SHAPES):
                citizen, path = f"shape-{number}", Path(folder) / str(number) / shape.name.rpartition("/")[2]
                path.parent.mkdir()
                path.write_bytes(shape.raw)
                try:
                    report = await memory.ingest_file(citizen, path)
                    stream = await memory.retrieve(citizen_id=citizen, query_text=shape.question)
                except SubstrateError as error:
                    print(f"{shape.name:34} no   -    {error.detail[:90]}")
                    continue
                tiers = stream.activation_tiers
                texts = [f"{one.name} {one.description}" for one in (*tiers.focus, *tiers.peripheral)][:5]
                answered = bool(texts) and any(shape.answer in text for text in texts)
                stored, right = stored + bool(report.stored), right + answered
                form = ", ".join(report.formats)
                print(
                    f"{shape.name:34} {'yes' if report.stored else 'no':4} {'yes' if answered else 'no':4} {form}"
                )
    print(f"{len(SHAPES)} shapes: {stored} stored, {right} right")


if __name__ == "__main__":
    asyncio.run(main())
