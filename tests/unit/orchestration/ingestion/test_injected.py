"""What a host put into a message is taken out of what was said, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.ingestion.injected import Spoken, without_blocks

QUESTION = "Who is my dentist?"


@pytest.mark.parametrize(
    "block",
    [
        "<relevant-memories>\n- My dentist is Dr. Old\n</relevant-memories>",
        '<user_memory source="x">My dentist is Dr. Old</user_memory>',
        "<system-reminder>be brief</system-reminder>",
        "# In focus\n- [1 May 2025] My dentist is Dr. Old\n\n# Rules\n- be brief",
        "# Nothing fits the question. The nearest\n- [1 May 2025] Dr. Old",
    ],
)
@pytest.mark.parametrize("before", [True, False])
def test_a_block_of_memories_is_nobodys_words(block: str, before: bool) -> None:
    text = f"{block}\n\n{QUESTION}" if before or block.startswith("#") else f"{QUESTION}\n{block}"
    assert without_blocks(text) == Spoken(QUESTION, (block,))


@pytest.mark.parametrize(
    "text",
    [
        "I wrote <memory> into the code",
        "```\n<memory>\nx\n</memory>\n```\nwhat is this?",
        "# Shopping\n- milk",
        "<memory>\nnever closed",
        "1 < 2 and # is a sign",
    ],
)
def test_what_a_person_wrote_stays(text: str) -> None:
    assert without_blocks(text) == Spoken(text)


@given(
    st.lists(
        st.sampled_from(["<memory>", "</memory>", "<recalled-memories>", "\n", "```", "# In focus\n- [", "word "])
    )
)
def test_no_word_of_a_person_is_lost(parts: list[str]) -> None:
    text = "".join(parts)
    spoken = without_blocks(text)
    held = spoken.text + "".join(spoken.blocks)
    assert held.count("word") == text.count("word")
