"""The list of features says what each of them adds, so that a command need not load all to know it."""

from __future__ import annotations

from orchestration.feature import Feature
from orchestration.features.registry import FEATURES
from schemas.upkeep.runs import ONLY_NAMED


def added_by(feature: Feature) -> set[str]:
    made = {name for name in ("kept", "tells", "work", "keeper") if getattr(feature, name)}
    return made | {job.name for job in feature.jobs} | feature.sections.keys()


def test_the_list_names_what_each_feature_adds() -> None:
    assert {feature.name: added_by(feature) for feature in FEATURES.all} == {
        name: set(adds) for name, adds in FEATURES.adds.items()
    }


def test_jobs_keep_their_order_and_what_erases_runs_only_where_it_is_named() -> None:
    assert FEATURES.job_names == tuple(job.name for job in FEATURES.jobs)
    assert tuple(job.name for job in FEATURES.jobs if not job.default) == ONLY_NAMED
