"""Counting the tokens of a text as a language model does."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module

CHARACTERS_PER_TOKEN = 4
"""The usual estimate for English text, used without a vocabulary."""

type Count = Callable[[str], int]


def by_characters(text: str) -> int:
    """One token for every four characters, rounded up."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


@lru_cache(maxsize=1)
def counter() -> Count:
    """Return a function that counts tokens by tiktoken's vocabulary, which LlamaIndex ships.

    Without the vocabulary it is `by_characters`. The first use loads the vocabulary: that takes 0.1 s.
    """
    try:
        encode = import_module("llama_index.core.utils").get_tokenizer()
        encode("ready")
    except (ImportError, OSError, ValueError):
        return by_characters
    return lambda text: len(encode(text))
