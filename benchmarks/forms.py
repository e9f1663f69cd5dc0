"""What the forms of a stream cost, in tokens, for one question to the example life; `docs/forms.md` shows it.

    python -m benchmarks.forms

The life of `examples/ada` is stored in a directory of its own, and asked over HTTP in this process. `before` is
the JSON of the stream with each null and each default.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import orjson

from api.client import AsyncSubstrate
from schemas.base import json_bytes
from substrate.inference import tokens

HOME: Final = Path(__file__).resolve().parents[1] / "examples" / "ada"
FILES: Final = ("n1_personal", "n2_collective", "n3_ecosystem")
QUESTION: Final = "How did Felix and I make up?"
FORMS: Final = ("full", "references", "compact")
LIMITS: Final = (200, 500, 1000, 2000, 5000, 20_000)
COMMANDS_AT_ONCE: Final = 200


async def measure() -> dict[str, Any]:
    """The tokens of each form, without a limit and within each limit."""
    count = tokens.counter()
    with tempfile.TemporaryDirectory() as directory:
        async with AsyncSubstrate.embedded(directory) as memory:
            await _load(memory)
            before = await memory.retrieve(citizen_id="ada", query_text=QUESTION)
            figures: dict[str, Any] = {"before": count(json_bytes(before).decode())}
            for form in FORMS:
                figures[form] = count(await _sent(memory, form=form))
                for limit in LIMITS:
                    body = await _sent(memory, form=form, max_tokens=limit)
                    text = orjson.loads(body).get("text", body)
                    figures[f"{form} {limit}"] = count(text)
    return figures


async def _load(memory: AsyncSubstrate) -> None:
    for name in FILES:
        lines = (HOME / f"{name}.jsonl").read_bytes().splitlines()
        commands = [{"citizen_id": "ada", **orjson.loads(line)} for line in lines if line.strip()]
        for first in range(0, len(commands), COMMANDS_AT_ONCE):
            await memory.apply(commands[first : first + COMMANDS_AT_ONCE])


async def _sent(memory: AsyncSubstrate, **how: Any) -> str:
    """The body of the answer, as it is sent."""
    question = {"citizen_id": "ada", "query_text": QUESTION, **how}
    answer = await memory._http.post("/v1/retrieve", json=question)
    answer.raise_for_status()
    return str(answer.text)


def main() -> None:
    """Run and print."""
    figures = asyncio.run(measure())
    sys.stdout.write(orjson.dumps(figures, option=orjson.OPT_INDENT_2).decode() + "\n")


if __name__ == "__main__":
    main()
