"""A progress bar with rate and time left; on anything but a terminal it stays silent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        """How many commands a second."""
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f}/s", "bright_black")


@contextmanager
def bar(console: Console, total: int, things: str = "commands") -> Iterator[Callable[[int, int], None]]:
    """A bar for `total` things; call what it gives with how many are done, of how many."""
    columns = (
        TextColumn(f"{{task.completed:,.0f}} of {{task.total:,.0f}} {things}"),
        BarColumn(bar_width=None),
        _Rate(),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
    )
    with Progress(
        *columns, console=console, disable=not console.is_terminal, expand=True, transient=True
    ) as shown:
        task = shown.add_task("", total=total)
        yield lambda done, of: shown.update(task, completed=done, total=of)
