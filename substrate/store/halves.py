"""Rows written in one statement, or in halves when that runs past the deadline."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from schemas.errors import StoreTimeout


async def in_halves[Row, Answer](
    rows: Sequence[Row], send: Callable[[Sequence[Row]], Awaitable[Answer]]
) -> list[Answer]:
    """Return the results of `send` for the rows, in order: one result, or one for each part.

    A statement that runs past its deadline changes nothing, so its rows are sent again in halves, down to single
    rows. Raises StoreTimeout when a single row takes too long; the parts before it are written then.
    """
    try:
        return [await send(rows)]
    except StoreTimeout as error:
        if len(rows) < 2:
            raise StoreTimeout(
                f"the engine is too busy to write even a single row within its deadline: {error.detail}",
                remedy="Send the same again when it is less busy: what is stored already is not stored twice.",
            ) from error
    middle = len(rows) // 2
    return [*await in_halves(rows[:middle], send), *await in_halves(rows[middle:], send)]
