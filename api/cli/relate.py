"""`substrate relate`: store one link between two memories."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from api.cli import options, support
from api.cli.remember import show_stored, store_command
from schemas.commands import Relate
from schemas.wave_signal import normalize_relation_type

OPTIONS: Final = {
    "source_id": "SOURCE", "relation_type": "TYPE", "target_id": "TARGET", "citizen_id": "--citizen",
    "level": "--level",
    "collective": "--collective", "id": "--id", "energy": "--energy", "confidence": "--confidence",
    "emotion_vector": "--emotion", "goal": "--goal", "mindstate": "--mindstate", "resolution_state": "--state",
    "felt_quality": "--felt", "formation_trigger": "--trigger", "valid_at": "--valid-at",
}  # fmt: skip
"""The argument or option that sets each field of a link, for error texts."""

app = typer.Typer(add_completion=False)


@app.command()
def relate(  # noqa: PLR0913  (a command's arguments are its options)
    ctx: typer.Context,
    source: Annotated[str, typer.Argument(help="The id of the memory where the link begins.")],
    relation_type: Annotated[str, typer.Argument(metavar="TYPE", help="Such as CAUSED_BY or 'caused by'.")],
    target: Annotated[str, typer.Argument(help="The id of the memory where the link ends.")],
    *,
    goal: Annotated[str, typer.Option(help="Why the link matters to the citizen.")],
    mindstate: Annotated[str, typer.Option(help="The state of mind in which it is made.")],
    emotion: Annotated[list[str], typer.Option(metavar="NAME=X", help="joy=0.7; repeat for several.")],
    citizen: options.AnyCitizen = None,
    level: options.Level = "N1",
    collective: options.Collective = None,
    energy: Annotated[float, typer.Option(help="How urgent the link is, 0 to 1.")] = 0.5,
    confidence: Annotated[float, typer.Option(help="How sure it is, 0 to 1.")] = 0.5,
    state: options.State = None,
    felt: Annotated[str | None, typer.Option(help="How it feels, in words.")] = None,
    trigger: Annotated[str | None, typer.Option(help="What made the link.")] = None,
    link_id: Annotated[str | None, typer.Option("--id", help="An id of its own.")] = None,
    valid_at: options.ValidAt = None,
    as_json: options.ReceiptAsJson = False,
) -> None:
    """Store one link from SOURCE to TARGET, with what the citizen felt and wanted."""
    fields = {
        "source_id": source,
        "relation_type": normalize_relation_type(relation_type),
        "target_id": target,
        "citizen_id": citizen,
        **options.graph(level, collective),
        "id": link_id,
        "goal": goal,
        "mindstate": mindstate,
        "emotion_vector": support.parse_numbers("--emotion", emotion, "joy=0.7"),
        "energy": energy,
        "confidence": confidence,
        "resolution_state": state,
        "felt_quality": felt,
        "formation_trigger": trigger,
        "valid_at": support.parse_time_option("--valid-at", valid_at),
    }
    command = support.validate(Relate, support.drop_unset(fields), OPTIONS)
    receipt = support.run(store_command(support.read_settings(ctx), command))
    support.print_answer(receipt, show_stored, as_json=as_json)
