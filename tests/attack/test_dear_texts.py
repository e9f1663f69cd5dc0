"""Ordinary words again and again: reading them takes time that grows with the text, up to a bound."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from orchestration.appraisal.appraise import NOTHING
from orchestration.appraisal.names import MIDDLE, MOST_READ, ends_of
from orchestration.writing.appraised_rows import fill_row, revise_content
from orchestration.writing.command_rows import new_row
from orchestration.writing.mentions import writing_of
from schemas.base import MAX_LONG_TEXT
from schemas.commands import Correct, Remember
from tests.acceptance.conftest import Service

ROOT = Path(__file__).parents[2]
CPU_SECONDS = 20
"""Of one child, for all phrases; before texts were read in linear time one of them took more."""
LONG = 200_000
PHRASES = (
    "um 5 Uhr ", "Anna Maria ", "# A Heading With Words\n", "My name is Anna. ", "...", "!", "a\n\n", "A ", "ﷺ",
    "\n", "_", "„a", "<<",
    "My friend Anna gave Tom a book, because ", "on 3 March 2026 ", "https://example.org/a?b=c ", "#tag ",
)  # fmt: skip
READ = """
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[1]), int(sys.argv[1])))
from orchestration.appraisal.appraise import Voice, appraise
from orchestration.appraisal.self_statements import states_something
from orchestration.writing import mentions, passages
from orchestration.writing.name_book import NameBook
from orchestration.writing.records import search_properties
from schemas.commands import Remember
for phrase in sys.argv[3:]:
    # The end differs: what only repeats itself to its end is cut before it is read.
    text = phrase * (int(sys.argv[2]) // len(phrase)) + " @ " + "".join(f"end {n}. " for n in range(60))
    writing = mentions.writing_of(Remember(citizen_id="c", name="n", description=text), "m", None)
    mentions._spoken_words([writing])
    NameBook([writing.named_text()], [])
    appraise(text, Voice.OWN)
    appraise(text[-12_000:], Voice.OWN)
    states_something(writing.text, "en")
    passages.cut(text)
    search_properties({"name": "n", "node_type": "Memory", "description": text}, None)
print("read")
"""


def test_long_texts_of_ordinary_words_are_read_in_bounded_processor_time() -> None:
    """The child is ended by the operating system when it takes more."""
    words = [sys.executable, "-c", READ, str(CPU_SECONDS), str(LONG), *PHRASES]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, check=False, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, "read"), done.stderr[-500:]


def test_names_of_many_people_are_joined_in_bounded_processor_time() -> None:
    lines = (
        "import resource", "resource.setrlimit(resource.RLIMIT_CPU, (20, 20))",
        "from orchestration.writing.name_book import NameBook, NamedText",
        "texts = [NamedText(f'm{n}', f'My friend Anna Q{n:x}z and my friend N{n:x}x met.') for n in range(6000)]",
        "print(len(NameBook(texts, []).entries))",
    )  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-500:]
    assert int(done.stdout) > 6000


def remember(text: str) -> Remember:
    return Remember(citizen_id="c", name="n", description=text)


def test_a_text_without_end_is_read_in_its_first_and_last_part_and_says_so() -> None:
    text = "My friend Berta came. " + "so it went on. " * 20_000 + "My friend Tom left. " + "so it went. " * 50
    writing = writing_of(remember(text), "m", None)
    assert writing is not None
    assert len(writing.text) <= MOST_READ + 1
    assert "Berta" in writing.text
    assert "Tom" in writing.text
    long, short = (new_row(remember(each), "one", 1) for each in (text, text[:MOST_READ]))
    assert MIDDLE in str(long["unset"]).split(",")
    assert MIDDLE not in str(short["unset"]).split(",")
    assert ends_of(text[:MOST_READ]) == text[:MOST_READ]


def test_a_correction_of_a_text_without_end_says_so_anew() -> None:
    rows: list[Any] = [
        fill_row(new_row(remember("x " * n), "one", 1), remember("x " * n), NOTHING) for n in (5, 90_000)
    ]
    for before, after in (rows, rows[::-1]):
        content = {**before, "description": after["description"]}
        revised = revise_content(before, content, Correct(citizen_id="c", id="m", description="x"), NOTHING)
        names = str(revised["unset"]).split(",")
        assert names.count(MIDDLE) == (len(after["description"]) > MOST_READ)


def test_signs_that_stand_for_many_characters_count_as_many() -> None:
    most = MAX_LONG_TEXT // 18
    remember("ﷺ" * most)
    remember("é가が" * (MAX_LONG_TEXT // 3))
    with pytest.raises(ValidationError, match="when signs such as ﷺ are written out"):
        remember("ﷺ" * (most + 1))


def test_what_is_written_of_a_long_text_shows_in_its_memory(service: Service, citizen: str) -> None:
    text = "My friend Berta came. " + " ".join(f"and {n} more" for n in range(12_000))
    service.remember(citizen, id="m", name="n", description=text)
    said = service.http.get("/v1/memories/N1/m", params={"citizen_id": citizen}).json()
    assert MIDDLE in said["unset"]
