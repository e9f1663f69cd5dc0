"""`substrate watch`: what changes in a memory, as it changes."""

from __future__ import annotations

from typing import Final

from rich.text import Text

from api.cli import formatting, options, support
from api.cli.program import option
from orchestration.dependencies import Deps
from orchestration.transfer.following import list_changes
from schemas.upkeep.applied_changes import LONGEST_WAIT_S, ChangesRequest


class WatchCommand(options.OfGraph, name="watch"):
    """Print what changes in a memory as it changes, until you stop it."""

    after: str = option("--after CURSOR", "What came after this cursor; `start`: everything.", "now")
    once: bool = option("--once", "Print what there is, and end.", False)
    commands: list[str] | None = option("--command NAME", "Only this kind, such as correct; repeat for several.")
    types: list[str] | None = option("--type", "Only memories or links of this type; repeat for several.")
    sources: list[str] | None = option("--source", "Only by this source's word; repeat for several.")
    author: str | None = option("--author ID", "Only of this author, in N2 and N3.")
    as_json: bool = option("--json", "Print each change as a line of JSON.", False)

    def run(self) -> None:
        wait = 0.0 if self.once else LONGEST_WAIT_S
        query = self.request(ChangesRequest, after=None if self.after == START else self.after, wait=wait)
        self.answer(self._follow, query, of=query)

    async def _follow(self, query: ChangesRequest, deps: Deps) -> None:
        page, more = support.output(), True
        while more:
            changes = await list_changes(query, deps)
            for change in changes.changes:
                if self.as_json:
                    support.write_json(change.model_dump_json(exclude_none=True))
                    continue
                when, what = formatting.format_time(change.known_at), change.name or change.id or "-"
                version = None if change.version in (None, 1) else f"version {change.version}"
                line = Text(f"{when}  ", "bright_black").append(f"{change.command:<10} ", "cyan")
                line.append(formatting.to_line(what), "bold")
                page.say(line.append(f"  {', '.join(filter(None, (change.type, change.source, version)))}", "dim"))
            if changes.erased:
                support.remark("something was erased")
            query = query.model_copy(update={"after": changes.next})
            more = changes.more or not self.once


START: Final = "start"
