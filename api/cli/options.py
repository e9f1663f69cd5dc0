"""Options and arguments that several commands share."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer

from api.cli import support
from schemas.errors import InvalidRequest

GRAPH: Final = {"citizen_id": "--citizen", "level": "--level", "collective": "--collective"}
"""The option that sets each field that names a graph, for error texts."""

_CITIZEN: Final = typer.Option("--citizen", "-c", metavar="ID", help="Whose memory.")

Citizen = Annotated[str, _CITIZEN]
AnyCitizen = Annotated[str | None, _CITIZEN]
"""For commands that work on N2 and N3 too, which need no citizen."""

Level = Annotated[str, typer.Option("--level", help="N1, N2 or N3.")]
Collective = Annotated[str | None, typer.Option(metavar="ID", help="A collective of N2 beside the default one.")]
Collectives = Annotated[
    list[str] | None,
    typer.Option("--collective", metavar="ID", help="A collective beside the default one; repeat for up to 4."),
]
Levels = Annotated[list[str] | None, typer.Option("--level", help="N1, N2 or N3; repeat for several.")]
AnyLevels = Annotated[
    list[str] | None, typer.Option("--level", help="N1, N2 or N3; repeat for several, leave out for all.")
]

AsOf = Annotated[str | None, typer.Option("--as-of", metavar="TIME", help="What was true then; a day or a time.")]
KnownAt = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="As it was known then; `now`: as known now. Default: the time of --as-of."),
]

MemoryOrLink = Annotated[
    str, typer.Argument(metavar="ID", help="The id of a memory, or `source|TYPE|target` of a link.")
]
OfLink = Annotated[bool, typer.Option("--link", help="ID is a link's own id.")]

NodeType = Annotated[str | None, typer.Option("--type", help="Memory, Decision, Person, …")]
Energy = Annotated[float | None, typer.Option(help="0 to 1.")]
Confidence = Annotated[float | None, typer.Option(help="0 to 1.")]
Emotion = Annotated[
    list[str] | None, typer.Option("--emotion", metavar="NAME=X", help="joy=0.7; repeat for several.")
]
Goal = Annotated[str | None, typer.Option(help="The goal that it serves.")]
State = Annotated[str | None, typer.Option("--state", help="resolved, in_progress or blocked.")]
Importance = Annotated[float | None, typer.Option(help="How much it matters in the long run, 0 to 1.")]
Rule = Annotated[str | None, typer.Option(help="What to do from now on.")]
Severity = Annotated[
    str | None, typer.Option(metavar="block|warn|note", help="What breaking the rule leads to. Default: warn.")
]
Tag = Annotated[list[str] | None, typer.Option("--tag", help="Repeat for several.")]
Mindstate = Annotated[str | None, typer.Option(help="Of a link: the state of mind in which it is made.")]
ValidAt = Annotated[str | None, typer.Option(metavar="TIME", help="When it began to be true. Default: now.")]

Filter = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="NAME=VALUE",
        help="Only memories with this: node_types, tags, buckets, speakers, episodes, sources, valid_from or "
        "valid_to; repeat.",
    ),
]
ResultsOfAQuery = Annotated[int, typer.Option("--limit", help="Results of each query, 1 to 100.")]
MaxTokens = Annotated[int | None, typer.Option(help="Leave out memories that do not fit.")]
Parts = Annotated[
    list[str] | None,
    typer.Option(
        "--part",
        metavar="NAME",
        help="With --json: only this section, such as activation_tiers or energy; repeat for several.",
    ),
]
References = Annotated[
    bool,
    typer.Option("--references", help="With --json: each memory and each link once; all else refers to them."),
]
Plural = Annotated[
    bool, typer.Option("--plural", help="Add recent, older and random memories, and spread the answer over weeks.")
]
Explain = Annotated[bool, typer.Option("--explain", help="Show each term of each score.")]

AnswerAsJson = Annotated[bool, typer.Option("--json", help="Print the whole answer as JSON.")]
StreamAsJson = Annotated[bool, typer.Option("--json", help="Print the whole stream as JSON.")]
ReceiptAsJson = Annotated[bool, typer.Option("--json", help="Print the receipt as JSON.")]


def graph(level: str, collective: str | None) -> dict[str, Any]:
    """The fields that name a graph; a collective is on N2 where no other level than the default is named."""
    if collective is None:
        return {"level": level.upper()}
    return {"level": "N2" if level.upper() == "N1" else level.upper(), "collective": collective}


def record(identity: str, citizen: str | None, level: str, collective: str | None) -> dict[str, Any]:
    """The fields that name a memory or a link of a graph."""
    return {"id": identity, "citizen_id": citizen, **graph(level, collective)}


def upper(levels: list[str] | None) -> list[str] | None:
    """The level names in upper case, as they are stored; None for none."""
    return [name.upper() for name in levels] if levels else None


def parse_filters(given: list[str] | None) -> dict[str, Any] | None:
    """The filters of `--filter NAME=VALUE`; None for none. Raises InvalidRequest for another form, or no time."""
    if not given:
        return None
    filters: dict[str, Any] = {}
    for text in given:
        name, sign, value = text.partition("=")
        name = name.strip()
        if not (sign and name and value.strip()):
            raise InvalidRequest(
                f"--filter: {text!r} is not NAME=VALUE", remedy="Write it like `--filter speakers=Anna`."
            )
        if name in ("valid_from", "valid_to"):
            filters[name] = support.parse_time_option(f"--filter {name}", value)
        else:
            filters.setdefault(name, []).append(value)
    return filters


def names_link(identity: str, *, link: bool) -> bool:
    """True when the id is that of a link: `link` is set, or it is `source|TYPE|target`."""
    return link or identity.count("|") == 2
