"""Options and arguments that several commands share."""

from __future__ import annotations

from typing import Annotated, Final

import typer

_CITIZEN: Final = typer.Option("--citizen", "-c", metavar="ID", help="Whose memory.")

Citizen = Annotated[str, _CITIZEN]
AnyCitizen = Annotated[str | None, _CITIZEN]
"""For commands that work on N2 and N3 too, which need no citizen."""

Level = Annotated[str, typer.Option(help="N1, N2 or N3.")]
Levels = Annotated[list[str] | None, typer.Option(help="N1, N2 or N3; repeat for several.")]
AnyLevels = Annotated[list[str] | None, typer.Option(help="N1, N2 or N3; repeat for several, leave out for all.")]

AsOf = Annotated[str | None, typer.Option(metavar="TIME", help="What held then; a day or a time.")]
KnownAt = Annotated[
    str | None, typer.Option(metavar="TIME", help="As it was known then; without it, as at --as-of.")
]

MemoryOrLink = Annotated[str, typer.Argument(metavar="ID", help="Of a memory, or `source|TYPE|target` of a link.")]
OfLink = Annotated[bool, typer.Option("--link", help="ID is the own id of a link.")]

ResultsOfAQuery = Annotated[int, typer.Option(help="Results of each query, 1 to 100.")]
MaxTokens = Annotated[int | None, typer.Option(help="Leave out what does not fit.")]
Plural = Annotated[
    bool, typer.Option("--plural", help="Add recent, older and chance candidates, and spread them over weeks.")
]
Explain = Annotated[bool, typer.Option("--explain", help="Show each term of each score.")]

AnswerAsJson = Annotated[bool, typer.Option("--json", help="Print the whole answer as JSON.")]
StreamAsJson = Annotated[bool, typer.Option("--json", help="Print the whole stream as JSON.")]
ReceiptAsJson = Annotated[bool, typer.Option("--json", help="Print the receipt as JSON.")]


def upper(levels: list[str] | None) -> list[str] | None:
    """The names of levels as they are stored; None for none."""
    return [name.upper() for name in levels] if levels else None


def default_plurality(wanted: bool) -> dict[str, int] | None:
    """The pools as usual where they are wanted for; None for none."""
    return {} if wanted else None


def names_link(identity: str, *, link: bool) -> bool:
    """Whether the id is that of a link: `link` is set, or it is `source|TYPE|target`."""
    return link or identity.count("|") == 2
