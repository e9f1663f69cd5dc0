"""Counting tokens as a language model would."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module

CHARACTERS_PER_TOKEN = 4
"""The usual estimate for English text where no vocabulary is at hand."""

type Count = Callable[[str], int]


def by_characters(text: str) -> int:
    """A token for every four characters, rounded up."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


@lru_cache(maxsize=1)
def counter() -> Count:
    """Tokens by tiktoken's vocabulary, which LlamaIndex carries with it; by characters where it is not at hand.

    Made at the first use: the vocabulary takes a tenth of a second and some memory.
    """
    try:
        encode = import_module("llama_index.core.utils").get_tokenizer()
        encode("ready")
    except (ImportError, OSError, ValueError):
        return by_characters
    return lambda text: len(encode(text))
