"""The page of the API at `/docs`: Swagger UI, from files that are carried here."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from fastapi import APIRouter, FastAPI
from fastapi.responses import FileResponse
from starlette.staticfiles import StaticFiles

from api.needs import PUBLIC, needs

HOME: Final = Path(__file__).parent / "static"

router = APIRouter(include_in_schema=False)


@router.get("/docs")
@needs(PUBLIC)
async def page() -> FileResponse:
    """The page, which reads `/openapi.json`."""
    return FileResponse(HOME / "index.html")


def install(app: FastAPI) -> None:
    """Serve the page and its files, all of them ours: the page shares its origin with the explorer's key."""
    app.include_router(router)
    app.mount("/docs", StaticFiles(directory=HOME), name="docs")
