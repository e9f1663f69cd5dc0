"""How well plain words become typed links: precision and recall of deeds on labelled sentences.

    python -m benchmarks.deeds [--wrong]
    python -m benchmarks.deeds --sealed

`benchmarks/deeds/README.md` says what is labelled. `labelled`, `read` and `right` are counts of links; `precision`
is right of read, `recall` right of labelled; `silent` counts the texts that tell no deed, and those silent.
The exit code is 1 when precision is below .85.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import orjson

from orchestration.appraisal.deeds import End, read_deeds
from orchestration.appraisal.names import name_language
from substrate.language.languages import Language
from substrate.language.text import name_key

SENTENCES: Final = Path(__file__).parent / "deeds"
ENOUGH: Final = 0.85
KINDS: Final = {
    "Person": ("Ingrid", "Tom", "Lena", "Marek", "Priya", "Jonas", "Birgit", "Omar", "Sven", "Katrin", "Yusuf",
               "Anna Berg"),
    "Project": ("Atlas", "Beacon"),
    "Entity": ("Rust", "Python"),
    "Organisation": ("Norwick",),
    "Place": ("Lisbon", "Lissabon"),
}  # fmt: skip
"""What the graph knows, by kind."""
TYPES: Final = ("MENTORS", "WORKS_WITH", "ADMIRES", "TRUSTS", "BEWUNDERT")
"""Types that the graph has beside those of the languages."""
WRITER: Final = End("I", "Self")


def read_rows(half: str) -> list[Mapping[str, Any]]:
    """The labelled texts of one half."""
    rows: list[Mapping[str, Any]] = orjson.loads((SENTENCES / f"{half}.json").read_bytes())
    return rows


def read_links(text: str, code: str) -> set[tuple[str, str, str]]:
    """The links that a text tells, with names for ids."""
    names = {name_key(name): End(name, kind) for kind, listed in KINDS.items() for name in listed}
    return {
        deed[:3] for deed in read_deeds(text, names, WRITER, Language.of(name_language(text, code)), types=TYPES)
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run and print; returns 1 when precision is too low."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sealed", action="store_true", help="ask the sealed half, once, at the end")
    parser.add_argument("--wrong", action="store_true", help="show what is wrong, in the tune half alone")
    options = parser.parse_args(arguments)
    if options.sealed and options.wrong:
        parser.error("--wrong shows sentences, and those of the sealed half are not shown")
    rows = read_rows("sealed" if options.sealed else "tune")
    print(f"{'group':8}{'labelled':>9}{'read':>6}{'right':>7}{'precision':>11}{'recall':>8}{'silent':>10}")
    precision = 0.0
    for group in ("en", "de", "all"):
        members = [row for row in rows if group in ("all", row["language"])]
        labelled = [{tuple(link) for link in row["links"]} for row in members]
        read = [read_links(row["text"], row["language"]) for row in members]
        told, filled = sum(map(len, labelled)), sum(map(len, read))
        right = sum(len(one & other) for one, other in zip(labelled, read, strict=True))
        quiet = [not other for one, other in zip(labelled, read, strict=True) if not one]
        precision = right / max(1, filled)
        print(
            f"{group:8}{told:9}{filled:6}{right:7}{precision:11.3f}{right / max(1, told):8.3f}"
            f"{f'{sum(quiet)}/{len(quiet)}':>10}"
        )
    for row in rows if options.wrong else ():
        expected, found = {tuple(link) for link in row["links"]}, read_links(row["text"], row["language"])
        if expected != found:
            print(f"{row['id']} {sorted(expected)}, read {sorted(found)}: {row['text']}")
    return int(precision < ENOUGH)


if __name__ == "__main__":
    sys.exit(main())
