"""Requests to run jobs of upkeep."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from schemas.memory import Level
from schemas.upkeep.runs import RunRequest


def test_a_run_in_a_personal_graph_names_its_citizen() -> None:
    with pytest.raises(ValidationError, match="name its citizen_id"):
        RunRequest(levels=(Level.N1,))
    assert RunRequest(levels=(Level.N1,), citizen_id="ada").levels == (Level.N1,)


@pytest.mark.parametrize("jobs", [(), ("dreaming",)])
def test_a_run_of_no_job_or_of_an_unknown_one_is_refused(jobs: tuple[str, ...]) -> None:
    with pytest.raises(ValidationError):
        RunRequest.model_validate({"jobs": jobs})
