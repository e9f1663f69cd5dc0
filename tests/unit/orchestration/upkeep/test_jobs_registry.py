"""The table of jobs, and what the page on upkeep says of it."""

from __future__ import annotations

from typing import get_args

from orchestration.features.registry import JOBS
from schemas.upkeep.runs import JobName
from tests.docs_pages import ROOT


def rows() -> dict[str, list[str]]:
    """The cells of the table of jobs in `docs/upkeep.md`, by the name of the job."""
    lines = (ROOT / "docs" / "upkeep.md").read_text("utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| `")]
    return {row[0].strip("`"): row for row in cells if row[0].strip("`") in get_args(JobName)}


def test_the_page_names_each_job_and_says_whether_it_runs_by_default() -> None:
    said = rows()
    assert {job.name: job.default for job in JOBS} == {name: row[2] == "yes" for name, row in said.items()}
    assert {job.name: job.undoable for job in JOBS} == {
        name: row[4].startswith("yes") for name, row in said.items()
    }


def test_each_job_has_a_name_of_its_own_and_what_cannot_be_taken_back_runs_only_when_named() -> None:
    names = [job.name for job in JOBS]
    assert len(names) == len(set(names))
    assert [job.name for job in JOBS if job.default and not job.undoable] == []
