"""`substrate reembed`: recompute all vectors with the configured embedding model, while the store is in use."""

from __future__ import annotations

import typer
from rich.text import Text

from api.cli import support
from orchestration.upkeep.reembedding import reembed_store
from schemas.settings import Settings
from schemas.upkeep.findings import ReembedReport
from substrate.language.text import count_of

EXIT_INTERRUPTED = 130

app = typer.Typer(add_completion=False)


@app.command()
def reembed(ctx: typer.Context) -> None:
    """Recompute the vectors of every graph with the model of SUBSTRATE_EMBEDDING; `none` removes all vectors.

    Services with the former model keep answering until all vectors are ready. After an interruption run it again:
    it resumes.
    """
    try:
        report = support.run(_reembed(support.read_settings(ctx)))
    except KeyboardInterrupt:
        note = "Interrupted. The former vectors are still in use; run it again to resume."
        support.messages().print(Text(note, "yellow"), soft_wrap=True)
        raise typer.Exit(EXIT_INTERRUPTED) from None
    console = support.output()
    vectors = f"{report.model}, {report.dimension} dimensions"
    if not report.graphs:
        console.print(Text(f"All graphs have these vectors already: {vectors}"), soft_wrap=True)
        return
    done = (
        f"{count_of(len(report.graphs), 'graph')}, {count_of(report.records, 'record')} in {report.seconds:.1f} s"
    )
    console.print(Text(f"{done}; the embedding is now {vectors}"), soft_wrap=True)
    console.print(
        Text("Restart services with this SUBSTRATE_EMBEDDING: those with the former model stop answering.")
    )


async def _reembed(settings: Settings) -> ReembedReport:
    async with support.open_store(settings) as runtime:
        with support.progress_bar(support.messages(), 0, "records") as advance:
            return await reembed_store(runtime.deps.connection, runtime.deps.embedder, advance)
