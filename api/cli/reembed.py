"""`substrate reembed`: the vectors of the configured embedding model for the whole store, while it is used."""

from __future__ import annotations

import typer
from rich.text import Text

from api.cli import support
from orchestration.upkeep.reembedding import reembed_store
from schemas.settings import Settings
from schemas.upkeep import ReembedReport

EXIT_INTERRUPTED = 130

app = typer.Typer(add_completion=False)


@app.command()
def reembed(ctx: typer.Context) -> None:
    """Give every graph the vectors of the model that SUBSTRATE_EMBEDDING names; none takes the vectors away.

    Services that are configured for the former model go on answering until all is there. Interrupted, run it
    again: it goes on where it was.
    """
    try:
        report = support.run(_reembed(support.read_settings(ctx)))
    except KeyboardInterrupt:
        note = "Interrupted. The former vectors are still in use; run it again and it goes on where it was."
        support.messages().print(Text(note, "yellow"), soft_wrap=True)
        raise typer.Exit(EXIT_INTERRUPTED) from None
    console = support.output()
    vectors = f"{report.model}, {report.dimension} dimensions"
    if not report.graphs:
        console.print(Text(f"All graphs have these vectors already: {vectors}"), soft_wrap=True)
        return
    done = f"{len(report.graphs):,} graphs, {report.records:,} records in {report.seconds:.1f} s"
    console.print(Text(f"{done}; the embedding is now {vectors}"), soft_wrap=True)
    console.print(
        Text("Start services again with this SUBSTRATE_EMBEDDING: those of the former model stop answering.")
    )


async def _reembed(settings: Settings) -> ReembedReport:
    async with support.open_store(settings) as runtime:
        with support.progress_bar(support.messages(), 0, "records") as advance:
            return await reembed_store(runtime.deps.connection, runtime.deps.embedder, advance)
