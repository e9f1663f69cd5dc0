"""`substrate associate`: find memories by words, and others that share their tags."""

from __future__ import annotations

from typing import Annotated, Final

import typer
from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from api.cli import bind, formatting, options, support
from orchestration.features.association.flow import associate as walk
from orchestration.features.association.values import Associated, Associations, TagWalk

SHOWN_CHARACTERS: Final = 300
TAGS_SHOWN: Final = 12

app = typer.Typer(add_completion=False)


class _Associate(bind.Options):
    query_text: Annotated[str, typer.Argument(metavar="QUESTION", help="What to look for, in words.")]
    citizen_id: options.Citizen
    max_chars: Annotated[int, typer.Option(help="Characters of the answer; 70 % for direct hits.")] = 8000
    as_of_time: options.AsOf = None
    known_at: options.KnownAt = None
    query_levels: options.Levels = None
    collectives: options.Collectives = None
    filters: options.Filter = None
    plurality: options.Plural = False
    as_json: options.AnswerAsJson = False


@bind.command(app, _Associate)
def associate(given: _Associate) -> None:
    """Find memories by words, then follow their tags and links; no vectors."""
    answer = support.answer_question(given.ctx, given.request(TagWalk), walk)
    support.print_answer(answer, show, as_json=given.as_json)


def show(answer: Associations, console: Console) -> None:
    """Print the direct hits, their tags, and the memories that share the tags."""
    for title, part in (("direct hits", answer.anchors), ("over tags and links", answer.neighbours)):
        if part:
            console.print(Rule(Text(title, "bold"), align="left", style="bright_black"))
        for match in part:
            _show_match(match, console)
        if part is answer.anchors and answer.tags:
            names = [f"{tag.name} ({tag.memories})" for tag in answer.tags[:TAGS_SHOWN]]
            console.print(Text(formatting.to_line(f"tags: {' · '.join(names)}"), "cyan"))
    if not (answer.anchors or answer.neighbours):
        console.print("nothing found")
    if answer.omitted:
        console.print(Text(f"left out to fit --max-chars: {answer.omitted}", "yellow"))
    for note in (*answer.notes, *formatting.describe_missing(answer.degraded)):
        console.print(Text(f"note: {formatting.to_line(note)}", style="dim"))


def _name_tag(name: str, match: Associated) -> str:
    """A tag; a given tag that upkeep made for this memory is marked as `~` marks those that nobody gave."""
    return f"{name} (made)" if name in match.made and not name.startswith("~") else name


def _show_match(match: Associated, console: Console) -> None:
    memory = match.memory
    reasons = [f"words {match.words:.2f}{' (doubled)' if match.boosted else ''}"] if match.words else []
    reasons += [f"tags {', '.join(_name_tag(name, match) for name in match.bridges[:4])}"] if match.bridges else []
    reasons += [f"beside {', '.join(match.around[:2])}"] if match.around else []
    reasons += [f"plurality {match.plurality:.2f}"] if match.plurality else []
    console.print(
        Text.assemble((formatting.choose_title(memory), "bold green"), (f"  {match.score:.3f}", "green"))
    )
    if memory.description:
        console.print(Text(formatting.shorten(memory.description, SHOWN_CHARACTERS)))
    console.print(Text(formatting.to_line(" · ".join([memory.node_id, *reasons])), "bright_black"))
