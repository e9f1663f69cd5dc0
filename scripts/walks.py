"""Walks of one request from its route to the Cypher and back: which functions it enters, in which order.

`python -m scripts.walks` counts the three walks; `python -m scripts.walks question` prints one of them.

How a walk is counted. A service with a small life of its own, whose graphs it holds in columns, answers the same
request 17 times; the last 15 answers are traced, from their route on. A step counts when each of the 15
takes it. What the service does in the background does not count, and its clock stands still, so that nothing
that it keeps for some seconds ends: a slow machine counts the same as a fast one. Of each function of the
packages the first call counts (no lambda, no generator expression). `files` are the files entered. `returns`:
how often the walk comes back to a file that it had left, in the answer with the fewest. `names`: how many
different names the parameters of these functions have, without `self` and `cls`.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import dropwhile, groupby
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple
from unittest.mock import patch

import httpx
from fastapi import FastAPI

from api.service import create_service
from schemas.settings import AuthSettings, EmbeddingSettings, Settings, StoreSettings
from substrate.store.column_reading import QUIET_S

ROOT: Final = Path(__file__).parents[1]
PACKAGES: Final = ("schemas", "substrate", "orchestration", "api")
CITIZEN, ALONE = "walker", "alone"
"""Whose life has links between all that it tells, and whose has none: its waking has no path of thought."""
WARM, TRACED = 2, 15
"""Answers before a walk is traced, and those that are traced."""
_IN_BACKGROUND: Final[ContextVar[bool]] = ContextVar("in_background", default=False)
"""Whether this task is one of those that the service starts when it opens."""
_LINES: Final = (
    ("Ada", "I moved to Porto last spring and I am happy here."),
    ("Ben", "Do you still paint in the evenings?"),
    ("Ada", "Yes, I paint boats at the river, it calms me."),
    ("Ben", "My sister Clara wants to visit you in June."),
    ("Ada", "Tell Clara that she is welcome, I have a spare room."),
    ("Ben", "I am worried about the job in Lisbon."),
)
_QUESTION: Final = {"citizen_id": CITIZEN, "query_text": "What does Ada paint at the river?"}
_STATE: Final = {
    "citizen_id": CITIZEN,
    "current_energy": 0.6,
    "current_emotions": {"joy": 0.5},
    "current_goal": "paint",
}
_WRITE: Final = (
    {"command": "remember", "citizen_id": CITIZEN, "id": "studio-{n}", "name": "Studio {n}"},
    {"command": "correct", "citizen_id": CITIZEN, "id": "home", "energy": "{energy}"},
)
REQUESTS: Final[Mapping[str, tuple[str, Any]]] = {
    "question": ("/v1/retrieve", _QUESTION),
    "waking": ("/v1/wake", {**_STATE, "citizen_id": ALONE}),
    "waking in links": ("/v1/wake", _STATE),
    "write": ("/v1/commands?atomic=true", _WRITE),
}


class Step(NamedTuple):
    """The first call of a function: its file below the root, its qualified name, the names of its parameters."""

    file: str
    function: str
    parameters: tuple[str, ...]


class Counts(NamedTuple):
    """How long a walk is; see the head of this module."""

    files: int
    returns: int
    names: int


def counted(walk: Sequence[Step]) -> Counts:
    """The length of a walk."""
    entered = [file for file, _ in groupby(step.file for step in walk)]
    names = {name for step in walk for name in step.parameters}
    return Counts(len(set(entered)), len(entered) - len(set(entered)), len(names))


@contextmanager
def traced() -> Iterator[list[Step]]:
    """The steps of what runs meanwhile, in every thread of this process, but for work in the background."""
    steps: list[Step] = []
    seen: set[CodeType] = set()

    def on_event(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code not in seen and not _IN_BACKGROUND.get():
            seen.add(frame.f_code)
            if (step := _step(frame.f_code)) is not None:
                steps.append(step)

    threading.setprofile_all_threads(on_event)
    try:
        yield steps
    finally:
        threading.setprofile_all_threads(None)


def _step(code: CodeType) -> Step | None:
    file = Path(code.co_filename)
    if not file.is_relative_to(ROOT) or code.co_name.startswith("<"):
        return None
    name = file.relative_to(ROOT).as_posix()
    if not name.startswith(PACKAGES):
        return None
    count = code.co_argcount + code.co_kwonlyargcount
    parameters = tuple(each for each in code.co_varnames[:count] if each not in ("self", "cls"))
    return Step(name, code.co_qualname.replace(".<locals>", ""), parameters)


@contextmanager
def standing_clock() -> Iterator[None]:
    """`time.monotonic` and the time of the loop stand still for the packages, not for the loop and libraries."""
    goes_on = time.monotonic
    moment = goes_on()

    def stands() -> float:
        caller = sys._getframe(1).f_globals.get("__name__", "")
        return moment if caller.startswith(PACKAGES) else goes_on()

    loop = asyncio.get_running_loop()
    with patch.object(time, "monotonic", stands), patch.object(loop, "time", stands):
        yield


async def walks(names: Sequence[str] = tuple(REQUESTS)) -> dict[str, list[Step]]:
    """The walks of these requests through a service with a small life in a store of its own."""
    with tempfile.TemporaryDirectory(prefix="walks-") as folder:
        app = create_service(_settings(Path(folder)))
        before = _IN_BACKGROUND.set(True)
        async with app.router.lifespan_context(app):
            _IN_BACKGROUND.reset(before)
            return await _walked(app, names)


async def _walked(app: FastAPI, names: Sequence[str]) -> dict[str, list[Step]]:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=120) as client:
        await _live(client)
        connection = app.state.store.get()[0].deps.connection
        connection.answers.most_bytes = 0  # a kept answer takes no steps
        columns = connection.columns.graphs
        while not columns or not all(each.is_filled for each in columns.values()):
            for name in REQUESTS.keys() - {"write"}:
                await _sent(client, *REQUESTS[name])
            await asyncio.sleep(2 * QUIET_S)  # they are filled while nothing is asked
        with standing_clock():
            return {name: await _walk(client, *REQUESTS[name]) for name in names}


async def _walk(client: httpx.AsyncClient, path: str, body: Any) -> list[Step]:
    for n in range(WARM):
        await _sent(client, path, _filled(body, n))
    answers: list[list[Step]] = []
    for n in range(WARM, WARM + TRACED):
        with traced() as steps:
            await _sent(client, path, _filled(body, n))
        answers.append(list(dropwhile(lambda step: not step.file.startswith("api/routes/"), steps)))
    return common(answers)


def common(answers: Sequence[Sequence[Step]]) -> list[Step]:
    """The steps that every answer takes, in the order of the answer that returns least."""
    always = set.intersection(*map(set, answers))
    orders = (list(filter(always.__contains__, steps)) for steps in answers)
    return min(orders, key=lambda steps: counted(steps).returns)


async def _live(client: httpx.AsyncClient) -> None:
    messages = [
        {"role": "user", "name": name, "content": text, "timestamp": f"2026-05-04T10:0{minute}:00Z"}
        for minute, (name, text) in enumerate(_LINES)
    ]
    await _sent(client, "/v1/episodes", {"citizen_id": CITIZEN, "messages": messages})
    home = {
        "command": "remember",
        "citizen_id": CITIZEN,
        "id": "home",
        "name": "Home",
        "description": "A flat in Porto",
    }
    boats = {"id": "boats", "name": "Boats", "description": "I want to paint the boats.", "goal": "paint"}
    await _sent(client, "/v1/commands", [home, {"command": "remember", "citizen_id": ALONE, **boats}])


async def _sent(client: httpx.AsyncClient, path: str, body: Any) -> None:
    answer = await client.post(path, json=body)
    if not answer.is_success:
        raise RuntimeError(f"{path} answered {answer.status_code}: {answer.text[:300]}")


def _filled(value: Any, n: int) -> Any:
    """The body of the nth request: no two writes are the same."""
    fill: Callable[[Any], Any] = lambda part: _filled(part, n)  # noqa: E731
    if isinstance(value, Mapping):
        return {key: fill(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [fill(part) for part in value]
    if value == "{energy}":
        return 0.5 + n / 50
    return value.replace("{n}", str(n)) if isinstance(value, str) else value


def _settings(folder: Path) -> Settings:
    return Settings(
        store=StoreSettings(data=folder, url=None, host=None),
        embedding=EmbeddingSettings(embedding="local"),
        auth=AuthSettings(open=True, rate_limit="off", wrong_key_limit="off"),
    )


def main(names: Sequence[str]) -> None:
    """Print the counts of all walks, or the steps of the named ones."""
    for name, walk in asyncio.run(walks(names or tuple(REQUESTS))).items():
        print(f"{name}: {counted(walk)._asdict()}")  # noqa: T201
        for place, step in enumerate(walk if names else (), start=1):
            print(f"{place}. {step.file} {step.function}({', '.join(step.parameters)})")  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
