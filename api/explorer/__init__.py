"""The explorer: the page at `/` that looks into a mind, and its files below `/static/`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from fastapi import APIRouter, FastAPI
from fastapi.responses import FileResponse
from starlette.staticfiles import StaticFiles

from api.needs import PUBLIC, needs

HOME: Final = Path(__file__).parent / "static"

router = APIRouter(include_in_schema=False)


@router.get("/")
@needs(PUBLIC)
async def page() -> FileResponse:
    """The page. It holds nothing of any memory: it asks for that with the key of whoever looks."""
    return FileResponse(HOME / "index.html")


def install(app: FastAPI) -> None:
    """Serve the page and its files."""
    app.include_router(router)
    app.mount("/static", StaticFiles(directory=HOME), name="static")
