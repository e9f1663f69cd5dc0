"""The lease of upkeep: one holder at a time, and a fence that rises with each new one."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestration.dependencies import Deps
from schemas.errors import Conflict
from substrate.store import lease
from substrate.store.lease import LEASE, Holder
from tests.waiting import wait_until_async

LONG_S = 600.0
NAMES = ("a", "b", "c")
STEPS = st.lists(
    st.tuples(st.sampled_from(("take", "ask", "renew", "release", "expire")), st.sampled_from(NAMES)), max_size=14
)


class Model:
    """The lease as a value: its holder, who asks for it, and the fences that each name believes in."""

    def __init__(self) -> None:
        self.holder: str | None = None
        self.last: str | None = None
        self.wanted: str | None = None
        self.fence = 0
        self.known = dict.fromkeys(NAMES, 0)

    def take(self, name: str, *, urgent: bool) -> bool:
        if self.holder not in (None, name):
            self.wanted = name if urgent else self.wanted
            return False
        if not urgent and self.wanted not in (None, name):
            return False
        self.fence += self.holder is None
        self.holder = self.last = name
        self.known[name] = self.fence
        self.wanted = None if self.wanted == name else self.wanted
        return True

    def is_valid(self, name: str) -> bool:
        return self.last == name and self.known[name] == self.fence

    def renew(self, name: str) -> int:
        """One that slept through its time holds it again, as long as nobody else has taken it."""
        if not self.is_valid(name):
            return 0
        self.holder = name
        return 1 if self.wanted in (None, name) else 2

    def release(self, name: str) -> bool:
        valid = self.is_valid(name)
        self.holder = None if valid else self.holder
        return valid


def holder(name: str, *, urgent: bool = False) -> Holder:
    return Holder(name, f"process {name}", LONG_S, urgent)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
async def test_the_lease_has_one_holder_and_its_fence_rises_with_each_new_one(
    deps: Deps, steps: list[tuple[str, str]]
) -> None:
    await deps.connection.command("DEL", LEASE)
    model = Model()
    for step, name in steps:
        if step in ("take", "ask"):
            taken = await lease.take(deps.connection, holder(name, urgent=step == "ask"))
            assert taken.ok is model.take(name, urgent=step == "ask")
            assert taken.fence == model.fence
            assert taken.says == f"process {model.last}"
        elif step == "renew":
            answer = await lease.renew(deps.connection, holder(name), model.known[name])
            assert answer == model.renew(name)
        elif step == "release":
            assert await lease.release(deps.connection, holder(name), model.known[name]) is model.release(name)
        else:  # its time has passed
            await deps.connection.command("HSET", LEASE, "until", 0)
            model.holder = None


async def test_who_waits_is_told_who_holds_the_lease(deps: Deps) -> None:
    await deps.connection.command("DEL", LEASE)
    async with lease.hold(deps.connection, holder("a")) as held:
        with pytest.raises(Conflict, match="process a"):
            async with lease.hold(deps.connection, holder("b", urgent=True)):
                pass
        await held.renew()
        assert held.wanted
        assert not held.lost
    async with lease.hold(deps.connection, holder("b", urgent=True)) as held:
        state = await lease.read(deps.connection)
        assert (state.held, state.holder, state.says, state.fence) == (True, "b", "process b", held.fence)
    assert not (await lease.read(deps.connection)).held


async def test_the_lease_of_a_holder_that_died_is_free_after_its_time(deps: Deps) -> None:
    await deps.connection.command("DEL", LEASE)
    dead = await lease.take(deps.connection, Holder("a", "process a", 0.05))
    async with lease.hold(deps.connection, holder("b"), wait_s=60) as held:
        assert held.fence == dead.fence + 1
    assert await lease.renew(deps.connection, holder("a"), dead.fence) == 0


async def test_a_lease_is_renewed_while_it_is_held_and_says_when_it_is_lost(deps: Deps) -> None:
    await deps.connection.command("DEL", LEASE)
    async with lease.hold(deps.connection, Holder("a", "process a", 0.3)) as held:
        ends = {await deps.connection.command("HGET", LEASE, "until")}
        while len(ends) < 4:  # the first and three renewals: longer than it was taken for
            await asyncio.sleep(0.02)
            ends.add(await deps.connection.command("HGET", LEASE, "until"))
        assert not held.lost
        await deps.connection.command("HSET", LEASE, "holder", "b")
        await wait_until_async(lambda: held.lost)
