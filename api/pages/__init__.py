"""The pages of the service: the explorer of a mind at `/` and the API reference at `/docs`.

They load no foreign files, because the browser stores the key for their origin.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from fastapi import APIRouter, FastAPI
from fastapi.responses import FileResponse
from starlette.staticfiles import StaticFiles

from api.security.permissions import declare
from schemas.operation import PUBLIC


class Page(NamedTuple):
    """A page: its address, the address below which its files lie, and their folder."""

    path: str
    files: str
    folder: Path

    def install(self, app: FastAPI) -> None:
        """Serve the page and its files. They contain no memories: scripts request those with the reader's key."""
        router = APIRouter(include_in_schema=False)

        async def index() -> FileResponse:
            return FileResponse(self.folder / "index.html")

        router.add_api_route(self.path, declare(index, PUBLIC))
        app.include_router(router)
        app.mount(self.files, StaticFiles(directory=self.folder), name=self.folder.name)


_HERE: Final = Path(__file__).parent
EXPLORER: Final = Page("/", "/static", _HERE / "explorer")
REFERENCE: Final = Page("/docs", "/docs", _HERE / "reference")
