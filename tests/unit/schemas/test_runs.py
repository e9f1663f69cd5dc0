"""Requests to run jobs of upkeep."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from orchestration.features.revaluation.values import JudgementRequest
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


def test_a_list_whose_elements_are_refused_is_not_called_too_short_as_well() -> None:
    with pytest.raises(ValidationError) as refused:
        RunRequest.model_validate({"jobs": ["dreaming"], "levels": []})
    assert [(fault["loc"], fault["type"]) for fault in refused.value.errors()] == [
        (("jobs", 0), "literal_error"),
        (("levels",), "too_short"),
    ]


def test_an_element_that_is_refused_within_itself_does_not_make_its_list_too_short() -> None:
    with pytest.raises(ValidationError) as refused:
        JudgementRequest.model_validate({"judgements": [{}]})
    assert {fault["loc"][0] for fault in refused.value.errors()} == {"judgements"}
    assert ("judgements",) not in {fault["loc"] for fault in refused.value.errors()}
