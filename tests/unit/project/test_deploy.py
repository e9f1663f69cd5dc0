"""The files of `deploy/` agree with the code. No container is built here."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml
from pydantic import AliasChoices, SecretStr
from pydantic_settings import BaseSettings

from api.telemetry.metrics import REGISTRY, EngineMetrics
from schemas import settings
from substrate.engine.process import MODULE_ARGUMENTS
from tests.docs_pages import ROOT

DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
RULES = [
    rule for group in yaml.safe_load((DEPLOY / "alerts.yaml").read_text())["groups"] for rule in group["rules"]
]
PANELS = json.loads((DEPLOY / "dashboard.json").read_text())["panels"]
EXPRESSIONS = [rule["expr"] for rule in RULES] + [
    target["expr"] for panel in PANELS for target in panel["targets"]
]


def exported() -> set[str]:
    """The name of every series that a scrape can contain."""
    names = set()
    for family in (*REGISTRY.collect(), *EngineMetrics().collect()):
        endings = {"histogram": ("_bucket", "_count", "_sum"), "counter": ("_total",)}.get(family.type, ("",))
        names |= {f"{family.name}{ending}" for ending in endings}
    return names


def names_of_fields() -> dict[str, frozenset[str]]:
    """The environment variables that set each field, by `Group.field`."""
    groups = [
        kind
        for kind in vars(settings).values()
        if isinstance(kind, type) and issubclass(kind, BaseSettings) and kind is not BaseSettings
    ]
    variables = {}
    for kind in groups:
        for name, field in kind.model_fields.items():
            alias = field.validation_alias
            named = alias.choices if isinstance(alias, AliasChoices) else [f"SUBSTRATE_{name.upper()}"]
            variables[f"{kind.__name__}.{name}"] = frozenset(map(str, named))
    return variables


def read_by_settings() -> set[str]:
    """Every environment variable that the settings read."""
    return set().union(*names_of_fields().values())


DECIDED_THERE = {
    "StoreSettings.data": "the engine is the server beside it",
    "StoreSettings.url": "its host and port are given instead",
    "StoreSettings.username": "the server has its default user alone",
    "EmbeddingSettings.cache": "the image keeps it in the home of its user",
    "ServerSettings.host": "the image listens on every address of its container",
    "ServerSettings.port": "the image has the port that is published",
    "AuthSettings.open": "only loopback may be open, and a container is reached from outside",
    "ClientSettings.base_url": "of clients, not of the service",
    "ClientSettings.api_key": "of clients, not of the service",
}
"""Settings that the compose file does not pass on, each with its reason."""


def test_every_metric_that_a_rule_or_a_panel_names_is_exported() -> None:
    there = exported()
    for expression in EXPRESSIONS:
        assert set(re.findall(r"substrate_\w+", expression)) - there == set(), expression
        assert "substrate_" in expression


def test_every_bound_that_a_rule_compares_with_is_one_of_the_histogram() -> None:
    for name, bound in re.findall(r'(substrate_\w+)_bucket\{le="([\d.]+)"\}', "\n".join(EXPRESSIONS)):
        [family] = [metric for metric in REGISTRY.collect() if metric.name == name]
        assert bound in {sample.labels.get("le") for sample in family.samples}


def test_each_alert_of_the_performance_table_is_there_once() -> None:
    names = [rule["alert"] for rule in RULES]
    assert len(set(names)) == len(names)
    thresholds = {rule["alert"]: float(rule["expr"].rpartition(" ")[2]) for rule in RULES}
    assert {
        "SubstrateStreamSlow": 1.0,
        "SubstrateVectorSearchSlow": 0.2,
        "SubstrateTraversalSlow": 0.5,
        "SubstrateAssemblySlow": 0.15,
    }.items() <= thresholds.items()
    assert {"SubstrateStreamLarge", "SubstrateStreamManyResults"} <= thresholds.keys()


def test_compose_passes_the_service_only_what_its_settings_read() -> None:
    assert set(SERVICES["substrate"]["environment"]) <= read_by_settings()
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    assert set(re.findall(r"\bSUBSTRATE_\w+", dockerfile)) <= read_by_settings()


def test_compose_passes_the_service_every_setting_that_it_does_not_decide_itself() -> None:
    passed = set(SERVICES["substrate"]["environment"])
    missing = {field for field, names in names_of_fields().items() if not names & passed}
    assert missing == DECIDED_THERE.keys()


def test_a_variable_that_is_empty_in_compose_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    given = SERVICES["substrate"]["environment"]
    for name, value in given.items():
        monkeypatch.setenv(name, re.sub(r"\$\{\w+:-(.*)\}", r"\1", value))
    made = settings.Settings(auth=settings.AuthSettings(admin_key=SecretStr("k" * 20)))
    for name in read_by_settings():
        monkeypatch.delenv(name, raising=False)
    unset = settings.Settings(auth=settings.AuthSettings(admin_key=SecretStr("k" * 20)))
    assert (made.language_model, made.server, made.auth) == (unset.language_model, unset.server, unset.auth)
    assert made.embedding == unset.embedding.model_copy(update={"embedding": "local"})


def test_compose_refuses_to_start_without_its_secrets_and_the_example_names_them_empty() -> None:
    text = (DEPLOY / "compose.yaml").read_text()
    required = set(re.findall(r"\$\{(\w+):\?", text))
    assert required == {"FALKORDB_PASSWORD", "SUBSTRATE_ADMIN_KEY"}
    example = dict(
        line.split("=", 1)
        for line in (DEPLOY / ".env.example").read_text().splitlines()
        if line and not line.startswith("#")
    )
    assert {name for name, value in example.items() if name in required and not value} == required
    assert set(re.findall(r"\$\{(\w+):", text)) == set(example)


def test_the_mirror_that_the_example_names_is_a_volume_that_the_user_of_the_image_may_write() -> None:
    [named] = re.findall(r"^# (/\S+), which is the volume `mirror`", (DEPLOY / ".env.example").read_text(), re.M)
    assert f"mirror:{named}" in SERVICES["substrate"]["volumes"]
    assert "mirror" in COMPOSE["volumes"]
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    assert f"install --directory --owner substrate {named}\n" in dockerfile


def test_compose_waits_for_a_healthy_engine_of_a_named_version_with_our_limits() -> None:
    engine, service = SERVICES["falkordb"], SERVICES["substrate"]
    assert re.fullmatch(r"\$\{FALKORDB_IMAGE:-falkordb/falkordb:v\d+\.\d+\.\d+\}", engine["image"])
    assert "redis-cli ping" in engine["healthcheck"]["test"][1]
    assert service["depends_on"]["falkordb"]["condition"] == "service_healthy"
    assert engine["environment"]["FALKORDB_ARGS"].split() == MODULE_ARGUMENTS.split()
    assert "--appendfsync always" in engine["environment"]["REDIS_ARGS"]
    mounted = [volume.split(":")[0] for each in (engine, service) for volume in each["volumes"]]
    assert mounted == list(COMPOSE["volumes"])


def test_the_image_is_pinned_runs_without_rights_and_checks_its_health() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    [default] = re.findall(r"^ARG PYTHON_IMAGE=(python:3\.12\.\d+-slim-\w+)$", text, re.M)
    assert SERVICES["substrate"]["build"]["args"] == {"PYTHON_IMAGE": f"${{PYTHON_IMAGE:-{default}}}"}
    assert re.findall(r"^FROM (\S+)", text, re.M) == ["${PYTHON_IMAGE}"] * 2
    assert re.findall(r"^USER (\w+)", text, re.M) == ["substrate"]
    assert "/health/ready" in text.partition("HEALTHCHECK")[2]
