"""`substrate citizens`, `collectives`: of whom something is stored. `energy`: a citizen's energy over time."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from api.cli import formatting, options, support
from api.cli.program import argument, option
from orchestration.dependencies import Deps
from orchestration.mind.state import energy_series
from schemas.collectives import CollectivePage
from schemas.memory import Level
from schemas.mind.state import CitizenPage, EnergySeries
from schemas.paging import Paged
from substrate.graphs.names import graph_name


class CitizensCommand(options.StoreCommand, name="citizens"):
    """List the citizens of whom something is stored, one id on each line."""

    as_json: bool = options.ANSWER_AS_JSON

    def run(self) -> None:
        async def read(deps: Deps) -> CitizenPage:
            return CitizenPage(citizens=tuple(await deps.graphs.citizens()))

        self.show(self.answer(read), lambda page, _: _show(page.citizens, "nothing was remembered here yet"))


class CollectivesCommand(options.StoreCommand, name="collectives"):
    """List the collectives in which something is stored beside the default one, one id on each line."""

    as_json: bool = options.ANSWER_AS_JSON

    def run(self) -> None:
        async def read(deps: Deps) -> CollectivePage:
            return CollectivePage(collectives=tuple(await deps.graphs.collectives()))

        nothing = "there is no collective beside the default one yet"
        self.show(self.answer(read), lambda page, _: _show(page.collectives, nothing))


def _show(names: Sequence[str], otherwise: str) -> None:
    for name in names:
        support.output().say(name)
    if not names:
        support.remark(otherwise)


class ParkCommand(options.StoreCommand, name="park"):
    """Move the memory of a citizen to a file; the next request brings it back (docs/operations.md)."""

    citizen_id: str = argument("CITIZEN", "Whose memory.")

    def run(self) -> None:
        citizen = self.citizen_id

        async def park(deps: Deps) -> bool:
            parking = deps.graphs.parking
            return parking is not None and await parking.park(graph_name(Level.N1, citizen))

        support.output().say(f"{citizen}: {'parked' if self.answer(park) else 'was parked before'}")


class UnparkCommand(options.StoreCommand, name="unpark"):
    """Bring the memory of a parked citizen back."""

    citizen_id: str = argument("CITIZEN", "Whose memory.")
    give_up: bool = option("--give-up", "Its file is lost: forget the citizen.", False)

    def run(self) -> None:
        citizen, is_lost = self.citizen_id, self.give_up

        async def unpark(deps: Deps) -> bool:
            parking = deps.graphs.parking
            return parking is not None and await parking.unpark(graph_name(Level.N1, citizen), is_lost=is_lost)

        done = "forgotten" if is_lost else "awake"
        support.output().say(f"{citizen}: {done if self.answer(unpark) else 'was not parked'}")


class EnergyCommand(options.StoreCommand, name="energy"):
    """Show the energy now, the ordinary one to which it returns, and each time that it was set."""

    citizen_id: str = option("--citizen -c ID", "Whose energy.", ...)
    limit: int = option("--limit", "Records, 1 to 500.", 50)
    cursor: str | None = options.CURSOR
    as_json: bool = options.ANSWER_AS_JSON

    def run(self) -> None:
        page, citizen = self.request(Paged), self.citizen_id
        self.show(self.answer(energy_series, citizen, page, of=citizen), _show_energy)


def _show_energy(series: EnergySeries, page: support.Sheet) -> None:
    page.print(f"energy {series.now:.2f}, ordinary {series.ordinary:.2f}")
    table = Table("from", "energy", "set by", box=None)
    for point in series.points:
        shown = "-" if point.energy is None else f"{point.energy:.2f}"
        set_by = f"stream {point.stream_id}" if point.feedback_at else "the citizen"
        set_by = "nobody" if not point.feedback_at and point.energy is None else formatting.to_line(set_by)
        table.add_row(formatting.format_time(point.valid_at), shown, Text(set_by))
    if series.points:
        page.print(table)
    page.cursor(series.next)
