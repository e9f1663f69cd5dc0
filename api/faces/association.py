"""`substrate associate`: find memories by words, and others that share their tags."""

from __future__ import annotations

from typing import Final

from rich.text import Text

from api.cli import formatting, options, support
from api.cli.program import argument, option
from orchestration.features.association.flow import associate
from orchestration.features.association.values import Associated, Associations, TagWalk

SHOWN_CHARACTERS: Final = 300
TAGS_SHOWN: Final = 12


class AssociateCommand(options.StoreCommand, name="associate"):
    """Find memories by words, then follow their tags and links; no vectors."""

    query_text: str = argument("question", "What to look for, in words.")
    citizen_id: str = options.CITIZEN
    max_chars: int = option("--max-chars", "Characters of the answer; 70 % for direct hits.", 8000)
    as_of_time: str | None = options.AS_OF
    known_at: str | None = options.KNOWN_AT
    query_levels: list[str] | None = options.LEVELS
    collectives: list[str] | None = options.COLLECTIVES
    filters: list[str] | None = options.FILTER
    plurality: bool = options.PLURAL
    as_json: bool = options.ANSWER_AS_JSON

    def run(self) -> None:
        self.show(self.ask(associate, self.request(TagWalk)), _show)


def _show(answer: Associations, page: support.Sheet) -> None:
    """Print the direct hits, their tags, and the memories that share the tags."""
    for title, part in (("direct hits", answer.anchors), ("over tags and links", answer.neighbours)):
        if part:
            page.heading(title)
        for match in part:
            _show_match(match, page)
        if part is answer.anchors and answer.tags:
            names = [f"{tag.name} ({tag.memories})" for tag in answer.tags[:TAGS_SHOWN]]
            page.fold(formatting.to_line(f"tags: {' · '.join(names)}"), "cyan")
    if not (answer.anchors or answer.neighbours):
        page.print("nothing found")
    if answer.omitted:
        page.fold(f"left out to fit --max-chars: {answer.omitted}", "yellow")
    page.notes((*answer.notes, *formatting.describe_missing(answer.degraded)))


def _show_match(match: Associated, page: support.Sheet) -> None:
    memory = match.memory
    # A given tag that upkeep made for this memory is marked as `~` marks those that nobody gave.
    made = [name for name in match.made if not name.startswith("~")]
    bridges = [f"{name} (made)" if name in made else name for name in match.bridges[:4]]
    reasons = [f"words {match.words:.2f}{' (doubled)' if match.boosted else ''}"] if match.words else []
    reasons += [f"tags {', '.join(bridges)}"] if bridges else []
    reasons += [f"beside {', '.join(match.around[:2])}"] if match.around else []
    reasons += [f"plurality {match.plurality:.2f}"] if match.plurality else []
    title = (formatting.choose_title(memory), "bold green")
    page.fold(Text.assemble(title, (f"  {match.score:.3f}", "green")))
    if memory.description:
        page.fold(formatting.shorten(memory.description, SHOWN_CHARACTERS))
    page.fold(formatting.to_line(" · ".join([memory.node_id, *reasons])), "bright_black")
