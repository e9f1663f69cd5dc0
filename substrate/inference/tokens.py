"""Counting the tokens of a text as a language model does."""

from __future__ import annotations

import hashlib
import re
import sys
from binascii import a2b_base64
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from schemas.bounded_cache import cached_within

CHARACTERS_PER_TOKEN = 4
"""The usual estimate for English text, used without a vocabulary."""

ENCODING: Final = "cl100k_base"
VOCABULARY: Final = "_static/tiktoken_cache/9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
"""Where LlamaIndex ships tiktoken's `cl100k_base`. Its own `get_tokenizer` would import all of LlamaIndex."""
CARRIED: Final = Path(__file__).with_name("carried") / f"{ENCODING}.tiktoken"
"""The same file, which a wheel carries."""
SHA256: Final = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
# The pattern that cuts a text, and the tokens that are no text, as tiktoken defines them for this vocabulary.
PATTERN: Final = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
_MEMBERS, _LINES = re.compile('","(?=[0-9A-Za-z])'), re.compile("\n(?=[#-])")
"""What stands between two strings of JSON, and before an item of a list. `PATTERN` always cuts behind it."""
_ZEROS: Final = str.maketrans("123456789", "000000000")
"""Three digits are one token, whichever they are, and so are one and two."""
SPECIAL: Final = {
    "<|endoftext|>": 100257,
    "<|fim_prefix|>": 100258,
    "<|fim_middle|>": 100259,
    "<|fim_suffix|>": 100260,
    "<|endofprompt|>": 100276,
}


def by_characters(text: str) -> int:
    """One token for every four characters, rounded up."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def counter_name() -> str:
    """The name of the vocabulary that `counter` counts by; `estimate` where it has none."""
    return "estimate" if counter() is by_characters else ENCODING


def counter() -> Callable[[str], int]:
    """Return a function that counts tokens by tiktoken's vocabulary, which a wheel carries and LlamaIndex ships.
    Without the vocabulary it is `by_characters`. The first use loads the vocabulary: that takes 0.1 s."""
    return by_characters if _encoding() is None else by_vocabulary


def by_vocabulary(text: str) -> int:
    """Counted in parts, as most of what is sent was counted when it was chosen, or for another answer."""
    end, between = ("\n", _LINES) if "\n" in text else ('","', _MEMBERS)
    *parts, last = between.split(text)
    return sum([_count(f"{part}{end}") for part in parts]) + _count(last)


@cached_within(2 << 20, sys.getsizeof)
def _count(text: str) -> int:
    alike = text.translate(_ZEROS) if text.isascii() else text
    if alike != text:
        return _count(alike)
    return len(_encoding().encode(text, allowed_special="all"))


def vocabulary_file() -> Path:
    """The carried file, else that of LlamaIndex. Raises ImportError where neither is installed."""
    if CARRIED.is_file():
        return CARRIED
    shipped = find_spec("llama_index.core")
    return Path((shipped and shipped.origin) or "").parent / VOCABULARY


@lru_cache(maxsize=1)
def _encoding() -> Any:
    """None without the library, without the file, and where the tokens are numbered by another one."""
    try:
        tiktoken, content = import_module("tiktoken"), vocabulary_file().read_bytes()
    except (ImportError, OSError):
        return None
    if hashlib.sha256(content).hexdigest() != SHA256:
        return None
    words = content.split()
    ranks = dict(zip(map(a2b_base64, words[::2]), map(int, words[1::2]), strict=True))
    return tiktoken.Encoding("cl100k_base", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens=SPECIAL)
