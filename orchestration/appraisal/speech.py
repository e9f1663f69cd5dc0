"""The words of a text that its speaker says: sentences as tokens, without what is quoted or pasted. Pure.

The time is linear in what is read: at most `MOST_CHARACTERS` characters and `MOST_SENTENCES` sentences.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from orchestration.appraisal.phrases import IDLE, Book, Entry, all_phrases
from substrate.language.languages import Language

MOST_CHARACTERS: Final = 12_000
MOST_SENTENCES: Final = 60
MOST_TOKENS: Final = 160
"""At most this many tokens of a sentence are read."""
QUOTE_WORDS: Final = 4
"""A quotation of this many words or more is somebody else's voice."""

_QUOTES: Final = re.compile('"[^"\n]*"|“[^“”\n]*”|„[^„“”\n]*[“”]|«[^«»\n]*»|»[^«»\n]*«')
_END: Final = re.compile(r"(?<![.!?…])[.!?…]++(?=[\s\"')\]]|$)|\n+")
_TOKEN: Final = re.compile(r"\d+(?:[.,:]\d+)+|[^\W_]+(?:['-][^\W_]+)*|[^\w\s]")
_REPEATED: Final = re.compile(r"([^\W\d_])\1{2,}")
_CODE_SIGNS: Final = frozenset("{}[]();=<>_/\\|`$#")
_CODE_SHARE: Final = 0.12
_BREAKS: Final = frozenset(',;:()–—-.…!?"')
_PLAIN_APOSTROPHE: Final = str.maketrans("’‘ʼ", "'''")


class Token(NamedTuple):
    """A word in lower case or a sign. `start`, `end`: its place in the text; words of one contraction share it.

    `shape` is `A` for a word in capitals, `a` for one with a capital first, else empty.
    """

    text: str
    start: int
    end: int
    shape: str


class Hit(NamedTuple):
    """A phrase in a sentence: tokens `[start, end)`."""

    entry: Entry
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """The tokens of a sentence, the phrases in it, and the sign at its end: `?`, `!` or others."""

    text: str
    tokens: Sequence[Token]
    hits: Sequence[Hit]
    ending: str
    elongated: bool = False

    def begins_clause(self, place: int) -> bool:
        return place == 0 or self.tokens[place - 1].text in _BREAKS

    def clause_start(self, place: int) -> int:
        """The place of the first token of the clause that the token at `place` is in."""
        while not self.begins_clause(place):
            place -= 1
        return place


def own_text(text: str, language: Language) -> str:
    """The text with spaces or line ends in place of what is quoted or pasted; places of the rest stay the same.

    Pasted are code, lines with `>`, long quotations, and all that follows a line such as "here is the mail:":
    where a pasted block ends cannot be known, and a rule in it must not count.
    """
    read = text[:MOST_CHARACTERS].translate(_PLAIN_APOSTROPHE)
    parts = read.split("```")
    for place in range(1, len(parts), 2):
        parts[place] = "\n" * len(parts[place])
    read = "\n\n\n".join(parts)
    kept: list[str] = []
    pasted = False
    for line in read.split("\n"):
        first = line.split(maxsplit=1)[:1]  # of a mail, or of the trace of an error
        pasted = pasted or (first != [] and first[0].lower() in language.telling.pasted["headers"])
        kept.append(" " * len(line) if pasted or _is_foreign(line) else line)
        pasted = pasted or _introduces(line, language)
    return _QUOTES.sub(_without_quotation, "\n".join(kept))


def _without_quotation(match: re.Match[str]) -> str:
    quotation = match[0]
    return " " * len(quotation) if quotation.count(" ") >= QUOTE_WORDS - 1 else quotation


def _is_foreign(line: str) -> bool:
    """True for a quoted line of a mail, and for a line of code."""
    bare = line.lstrip()
    if bare.startswith(">"):
        return True
    signs = sum(char in _CODE_SIGNS for char in bare)
    return signs > 3 and signs > _CODE_SHARE * len(bare)


def _introduces(line: str, language: Language) -> bool:
    """True for a line such as "here is the mail:"."""
    if not line.rstrip().endswith(":"):
        return False
    words = {token.lower() for token in _TOKEN.findall(line[-200:])}
    return all(not words.isdisjoint(language.telling.pasted[name]) for name in ("introduced", "introducers"))


def sentences(text: str, language: Language, book: Book | None = None) -> Iterator[Sentence]:
    """The sentences of what the speaker says in a text, at most `MOST_SENTENCES`.

    `book`: the phrases that are looked for in them; all of the language where none are given.
    """
    book = all_phrases(language.code) if book is None else book
    read = own_text(text, language)
    start, count = 0, 0
    for end in [*_END.finditer(read), None]:
        stop = len(read) if end is None else end.start()
        if read[start:stop].strip():
            elongated = _REPEATED.search(read, start, stop) is not None
            tokens = _tokens(read, (start, stop), language, squeeze=elongated)
            ending = "" if end is None else end[0].strip()
            yield Sentence(read[start:stop], tokens, _find_phrases(tokens, book), ending, elongated)
            count += 1
        if end is None or count >= MOST_SENTENCES:
            return
        start = end.end()


def _tokens(text: str, span: tuple[int, int], language: Language, *, squeeze: bool) -> list[Token]:
    tokens: list[Token] = []
    contractions = language.telling.contractions
    for match in _TOKEN.finditer(text, *span):
        written = match[0]
        word = written.lower()
        if squeeze:
            word = _REPEATED.sub(r"\1", word)
        shape = ""
        full = contractions.get(word)
        if word != written and full is None:
            shape = "A" if len(written) > 1 and written.isupper() else "a"
        for part in (word,) if full is None else full.split():
            tokens.append(Token(part, match.start(), match.end(), shape))
        if len(tokens) >= MOST_TOKENS:
            break
    return tokens


def _find_phrases(tokens: Sequence[Token], book: Book) -> list[Hit]:
    """Every phrase in the sentence; of those that overlap and tell the same, the first and longest."""
    firsts = [place for place, token in enumerate(tokens) if token.text in book]
    if not firsts:
        return []
    starts, length = [], 0
    for token in tokens:
        starts.append(length)
        length += len(token.text) + 1
    texts = [token.text for token in tokens]
    joined, spoken = " ".join(texts) + " ", set(texts)
    hits: list[Hit] = []
    read_to: dict[tuple[str, str], int] = {}
    for place in firsts:
        for entry in book[tokens[place].text]:
            if entry.needed.isdisjoint(spoken) or read_to.get(entry[:2], 0) > place:
                continue
            end = place + 1
            pattern = entry.pattern
            if pattern is not None:
                match = pattern.match(joined, starts[place])
                if match is None:
                    continue
                end = bisect_left(starts, match.end())
            hits.append(Hit(entry, place, end))
            read_to[entry[:2]] = end
    return _without_idle(hits)


def _without_idle(hits: list[Hit]) -> list[Hit]:
    """The hits that overlap no set phrase which only looks like one, such as "happy to help"."""
    left = hits
    for idle in [hit for hit in hits if hit.entry.kind == IDLE]:
        left = [hit for hit in left if hit.start >= idle.end or idle.start > hit.end]
    return left
