"""What is reported of free space and of a load."""

from __future__ import annotations

import pytest

from substrate.engine.data_directory import RESERVED_BYTES, WARN_BYTES, describe_low_space
from substrate.engine.unix_socket import Loading


@pytest.mark.parametrize(
    ("free", "text"),
    [
        (WARN_BYTES - 1, "the disk of the store has 511 MiB left: below 16 MiB writes are refused"),
        (RESERVED_BYTES, "the disk of the store has 16 MiB left: below 16 MiB writes are refused"),
        (RESERVED_BYTES - 1, "the disk of the store has 15 MiB left: writes are refused"),
    ],
)
def test_low_space_is_reported_with_its_limit_until_it_is_reached(free: int, text: str) -> None:
    assert describe_low_space(free) == text


@pytest.mark.parametrize(
    ("loading", "known"),
    [
        (Loading(3.2, None), "for 3 s so far"),
        (Loading(3.2, 40), "for 3 s so far, about 40 s left"),
        (Loading(120.0, 600, 12.4), "for 2 min so far, 12 %, about 10 min left"),
    ],
)
def test_a_load_is_reported_as_far_as_it_is_known(loading: Loading, known: str) -> None:
    assert loading.describe() == f"the engine is loading its data and rebuilds its indexes ({known})"
