"""How well the words of a text tell what it is: precision and recall of appraisal on labelled sentences.

    python -m benchmarks.appraisal [--wrong]
    python -m benchmarks.appraisal --sealed

`benchmarks/sentences/README.md` says what is labelled. A row is a field in a group of sentences (all, a language,
plain or hard ones): `labelled`, `filled` and `right` are counts, `precision` is right of filled, `recall` right of
labelled. Emotions count by name, each by itself; `band` is the share of the right names whose intensity is in the
labelled band. A goal is right when it shares at least half of its content words with the label, of the longer of
both. Rules and importance are right when there is one where one is labelled; other fields by value. `silent`: the
sentences that say nothing, and those of them that stayed empty. The exit code is 1 when precision of all that was
filled is below .85.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import orjson

from substrate.emotions import normal_emotions
from substrate.language.text import stems

SENTENCES: Final = Path(__file__).parent / "sentences"
FIELDS: Final = (
    "emotions", "result", "resolution_state", "goal", "rule", "importance", "step", "tells_solution",
)  # fmt: skip
BY_PRESENCE: Final = frozenset(("rule", "importance", "tells_solution"))
LOW_BELOW: Final = 0.4
HIGH_ABOVE: Final = 0.7
LIKE_GOAL: Final = 0.5
ENOUGH: Final = 0.85
SEALED_NOTICE: Final = "The sealed half is asked once only: do not change a rule by what you see here."


class Appraised(Protocol):
    """What an appraisal tells; None, empty or False where the words say nothing."""

    @property
    def emotions(self) -> Mapping[str, float]:
        """Intensities in [0, 1] by name."""


type Reader = Callable[[str, str], Appraised]
"""From a text and its voice, `own` or `other`, to what it tells."""


@dataclass(frozen=True)
class Sentence:
    """A text with its labels by field: names and values, of goals and rules their words; no labels, no key."""

    id: str
    language: str
    kind: str
    voice: str
    text: str
    labels: Mapping[str, frozenset[str]]
    bands: Mapping[str, str]
    open: frozenset[str]


class Pair(NamedTuple):
    """A sentence, what was filled in by field, and the intensities of the emotions."""

    sentence: Sentence
    filled: Mapping[str, frozenset[str]]
    emotions: Mapping[str, float]


class Count(NamedTuple):
    """Labels of a field, values that were filled in, and how many of them are right."""

    labelled: int = 0
    filled: int = 0
    right: int = 0

    def plus(self, other: Count) -> Count:
        """Add another count."""
        return Count(self.labelled + other.labelled, self.filled + other.filled, self.right + other.right)

    @property
    def precision(self) -> float | None:
        """Right of filled, in [0, 1]; None when nothing was filled in."""
        return self.right / self.filled if self.filled else None

    @property
    def recall(self) -> float | None:
        """Right of labelled, in [0, 1]; None when nothing is labelled."""
        return self.right / self.labelled if self.labelled else None


def read_sentences(path: Path) -> list[Sentence]:
    """Read one half of the set, in its order."""
    return [_sentence(row) for row in orjson.loads(path.read_bytes())]


def _sentence(row: Mapping[str, Any]) -> Sentence:
    names = ("id", "language", "kind", "voice", "text")
    return Sentence(
        **{name: row[name] for name in names},
        labels=_by_field(row),
        bands=row["emotions"],
        open=frozenset(row["open"]),
    )


def _by_field(values: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """Return what is said in each field that says something."""
    said: dict[str, frozenset[str]] = {}
    for field in FIELDS:
        value = values[field]
        if not value:
            continue
        if field == "emotions":
            said[field] = frozenset(value)
        else:
            said[field] = frozenset(("told",)) if field in BY_PRESENCE else frozenset((str(value),))
    return said


def ask(sentences: Iterable[Sentence], reader: Reader) -> list[Pair]:
    """Have each sentence appraised."""
    pairs = []
    for sentence in sentences:
        told = reader(sentence.text, sentence.voice)
        felt = {name: intensity for name, intensity in normal_emotions(told.emotions).items() if intensity > 0.0}
        values = {field: getattr(told, field) for field in FIELDS} | {"emotions": felt}
        pairs.append(Pair(sentence, _by_field(values), felt))
    return pairs


def same_goal(left: str, right: str) -> bool:
    """Whether two phrases share at least half of the content words of the longer one."""
    ours, theirs = stems(left), stems(right)
    longer = max(len(ours), len(theirs))
    return longer > 0 and len(ours & theirs) / longer >= LIKE_GOAL


def count_field(field: str, pair: Pair) -> Count:
    """Count a field of one sentence; nothing when thoughtful readers would differ in it."""
    if field in pair.sentence.open:
        return Count()
    labelled = pair.sentence.labels.get(field, frozenset())
    filled = pair.filled.get(field, frozenset())
    if field == "goal":
        right = sum(any(same_goal(one, label) for label in labelled) for one in filled)
    else:
        right = len(labelled & filled)
    return Count(len(labelled), len(filled), right)


def count(pairs: Iterable[Pair]) -> dict[str, Count]:
    """Count each field, and all fields together under `all`."""
    counts = dict.fromkeys((*FIELDS, "all"), Count())
    for pair in pairs:
        for field in FIELDS:
            one = count_field(field, pair)
            counts[field] = counts[field].plus(one)
            counts["all"] = counts["all"].plus(one)
    return counts


def band(intensity: float) -> str:
    """Name the band of an intensity in [0, 1]."""
    if intensity < LOW_BELOW:
        return "low"
    return "high" if intensity > HIGH_ABOVE else "middle"


def count_bands(pairs: Iterable[Pair]) -> Count:
    """Of the emotions that are right by name: how many there are, and how many have the labelled band."""
    total = Count()
    for sentence, _, emotions in pairs:
        if sentence.open.isdisjoint(("emotions", "intensity")):
            shared = sentence.bands.keys() & emotions.keys()
            right = sum(band(emotions[name]) == sentence.bands[name] for name in shared)
            total = total.plus(Count(len(shared), len(shared), right))
    return total


def count_silent(pairs: Iterable[Pair]) -> Count:
    """Of the sentences that say nothing: how many there are, and how many stayed empty."""
    silent = [pair for pair in pairs if not pair.sentence.labels and not pair.sentence.open]
    return Count(len(silent), len(silent), sum(not pair.filled for pair in silent))


def groups(pairs: Sequence[Pair]) -> dict[str, list[Pair]]:
    """Return all pairs, those of each language, the plain and the hard ones, by name."""
    found = {"all": list(pairs)}
    for pair in pairs:
        found.setdefault(pair.sentence.language, []).append(pair)
    found["plain"] = [pair for pair in pairs if pair.sentence.kind == "plain"]
    found["hard"] = [pair for pair in pairs if pair.sentence.kind != "plain"]
    return found


def table(pairs: Sequence[Pair]) -> str:
    """Format the figures of every group as plain text."""
    lines = [f"{'group':8}{'field':18}{'labelled':>9}{'filled':>8}{'right':>7}{'precision':>11}{'recall':>8}"]
    for group, members in groups(pairs).items():
        rows = {**count(members), "band": count_bands(members), "silent": count_silent(members)}
        lines += [_line(group, field, one) for field, one in rows.items()]
    return "\n".join(lines)


def _line(group: str, field: str, one: Count) -> str:
    rates = f"{_rate(one.precision):>11}{_rate(one.recall):>8}"
    return f"{group:8}{field:18}{one.labelled:9}{one.filled:8}{one.right:7}{rates}"


def _rate(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.3f}"


def wrong(pairs: Iterable[Pair]) -> list[str]:
    """Describe each field that is wrong: the sentence, what is labelled and what was filled in."""
    lines = []
    for pair in pairs:
        sentence = pair.sentence
        for field in FIELDS:
            one = count_field(field, pair)
            if one.labelled != one.right or one.filled != one.right:
                labels = sorted(sentence.labels.get(field, ()))
                filled = sorted(pair.filled.get(field, ()))
                lines.append(f"{sentence.id} {field}: {labels}, filled {filled}: {sentence.text}")
    return lines


def open_reader() -> Reader:
    """Return the product's own appraisal as a reader. Raises ImportError when the product has none."""
    module = import_module("orchestration.appraisal.appraise")

    def read(text: str, voice: str) -> Appraised:
        told: Appraised = module.appraise(text, module.Voice[voice.upper()])
        return told

    return read


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line. Ends the program when the sealed half should show its sentences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sealed", action="store_true", help="ask the sealed half, once, at the end")
    parser.add_argument("--wrong", action="store_true", help="show what is wrong, in the tune half alone")
    options = parser.parse_args(arguments)
    if options.sealed and options.wrong:
        parser.error("--wrong shows sentences, and those of the sealed half are not shown")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run and print; returns 1 when precision is too low."""
    options = parse_arguments(arguments)
    half = "sealed" if options.sealed else "tune"
    pairs = ask(read_sentences(SENTENCES / f"{half}.json"), open_reader())
    if options.sealed:
        print(SEALED_NOTICE)
    print(table(pairs))
    if options.wrong:
        print("\n".join(wrong(pairs)))
    precision = count(pairs)["all"].precision
    return int(precision is None or precision < ENOUGH)


if __name__ == "__main__":
    sys.exit(main())
