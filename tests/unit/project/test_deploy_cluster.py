"""The compose file of a cluster, the chart and the unit of `deploy/` agree with the code and with each other.

The chart is rendered, and its objects are looked at, where there is a `helm`; they are checked by the schemas of
Kubernetes where `kubernetes-validate` is installed.
"""

from __future__ import annotations

import importlib
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from substrate.connection.addresses import parse_address
from substrate.engine.process import MODULE_ARGUMENTS
from tests.unit.project.test_deploy import COMPOSE, DECIDED_THERE, DEPLOY, names_of_fields, read_by_settings

CHART = DEPLOY / "chart"
VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text())
SECRETS = ("secret.adminKey=k0123456789012345678901", "secret.enginePassword=word")
OPTIONAL = ("serviceMonitor.enabled=true", "alerts.enabled=true", "dashboard.enabled=true")
OUTSIDE = ("engine.enabled=false", "engine.url=redis+cluster://a:6379\\,b:6379")
IN_SECRET = {"SUBSTRATE_ADMIN_KEY", "FALKORDB_PASSWORD", "OPENAI_API_KEY", "SUBSTRATE_RATE_LIMIT_URL"}
KUBERNETES = "1.31"
# `!override` says that a value stands in place of another; it is read as the value.
CLUSTER: dict[str, Any] = yaml.safe_load(
    (DEPLOY / "compose.cluster.yaml").read_text().replace(": !override\n", ":\n")
)
NODES = {name: each for name, each in CLUSTER["services"].items() if name.startswith("node-")}


def addresses() -> list[str]:
    """Where the nodes of the compose file are."""
    return [f"{each['networks']['engines']['ipv4_address']}:6379" for each in NODES.values()]


def test_the_nodes_of_the_cluster_are_the_engine_of_one_machine_with_replicas() -> None:
    one = COMPOSE["services"]["falkordb"]
    for name, node in NODES.items():
        assert (node["image"], node["healthcheck"]) == (one["image"], one["healthcheck"])
        assert node["environment"]["FALKORDB_ARGS"].split() == MODULE_ARGUMENTS.split()
        arguments = node["environment"]["REDIS_ARGS"]
        for needed in ("--appendfsync always", "--repl-diskless-sync-delay 0", "--cluster-enabled yes"):
            assert needed in arguments
        timeout = re.search(r"--cluster-node-timeout (\d+)", arguments)
        assert timeout is not None
        assert int(timeout[1]) >= 2500
        assert node["volumes"] == [f"{name}:/var/lib/falkordb/data"]
    assert set(CLUSTER["volumes"]) == {*NODES, *COMPOSE["volumes"]} - {"falkordb"}


def test_three_of_the_nodes_get_the_slots_and_each_two_replicas() -> None:
    [script] = CLUSTER["services"]["cluster"]["command"]
    assert re.findall(r"[\d.]+:6379", script) == addresses()
    assert len(set(addresses())) == 9
    assert "--cluster-replicas 2" in script
    assert set(CLUSTER["services"]["cluster"]["depends_on"]) == set(NODES)


def test_the_service_over_the_cluster_is_that_of_one_machine_with_another_address() -> None:
    service = CLUSTER["services"]["substrate"]
    assert service["extends"] == {"file": "compose.yaml", "service": "substrate"}
    environment = service["environment"]
    assert set(environment) <= read_by_settings()
    assert environment["FALKORDB_HOST"] == ""
    address = parse_address(environment["SUBSTRATE_URL"])
    assert [f"{host}:{port}" for host, port in address.servers] == addresses()[:3]


def test_the_chart_passes_every_setting_that_it_does_not_decide_itself() -> None:
    passed = set(VALUES["settings"]) | IN_SECRET
    assert passed <= read_by_settings()
    missing = {field for field, names in names_of_fields().items() if not names & passed}
    beside = {"StoreSettings.falkordb_host", "StoreSettings.falkordb_port", "StoreSettings.mirror"}
    assert missing == (DECIDED_THERE.keys() | beside) - {"StoreSettings.username"}


def test_every_value_of_the_chart_is_used_and_every_used_one_has_a_default() -> None:
    text = "\n".join(path.read_text() for path in (CHART / "templates").iterdir())
    used = set(re.findall(r"\.Values\.([\w.]+)", text))
    there = set(_paths(VALUES))
    assert {name for name in used if name not in there} == set()
    assert {name for name in there if not any(name == one or name.startswith(f"{one}.") for one in used)} == set(
        _groups(VALUES)
    )


def _paths(values: dict[str, Any], before: str = "") -> Iterator[str]:
    for name, value in values.items():
        yield before + name
        if isinstance(value, dict):
            yield from _paths(value, f"{before}{name}.")


def _groups(values: dict[str, Any]) -> Iterator[str]:
    """Values that hold others and are not used as a whole."""
    whole = {"settings", "resources", "nodeSelector", "engine.resources"}
    for path in _paths(values):
        found: Any = values
        for part in path.split("."):
            found = found[part]
        if isinstance(found, dict) and path not in whole and not path.endswith(".labels"):
            parents = {path.rsplit(".", count)[0] for count in range(1, path.count(".") + 1)}
            if not parents & whole:
                yield path


def test_the_engine_of_the_chart_is_that_of_compose() -> None:
    text = " ".join((CHART / "templates" / "engine.yaml").read_text().split())
    assert MODULE_ARGUMENTS in text
    assert "--appendonly yes --appendfsync always" in text
    default = COMPOSE["services"]["falkordb"]["image"]
    assert default == f"${{FALKORDB_IMAGE:-{VALUES['engine']['image']}}}"


@pytest.mark.parametrize("name", ["alerts.yaml", "dashboard.json"])
def test_the_chart_has_the_alerts_and_the_dashboard_of_deploy(name: str) -> None:
    assert (CHART / "files" / name).read_text() == (DEPLOY / name).read_text()


def render(*sets: str) -> list[dict[str, Any]]:
    """The objects that the chart makes with these values. Skips where there is no `helm`."""
    helm = shutil.which("helm")
    if helm is None:
        pytest.skip("no helm here")
    words = [helm, "template", "substrate", str(CHART), *(word for one in sets for word in ("--set", one))]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode:
        raise ValueError(done.stderr)
    return [each for each in yaml.safe_load_all(done.stdout) if each]


def test_helm_finds_no_fault_in_the_chart() -> None:
    helm = shutil.which("helm")
    if helm is None:
        pytest.skip("no helm here")
    words = [helm, "lint", "--strict", str(CHART), *(word for one in SECRETS for word in ("--set", one))]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("more", [(), OPTIONAL, OUTSIDE, ("secret.existing=mine",)])
def test_what_the_objects_of_the_chart_name_is_there(more: tuple[str, ...]) -> None:
    objects = render(*SECRETS, *more)
    made = {(each["kind"], each["metadata"]["name"]) for each in objects}
    assert len(made) == len(objects)
    text = json.dumps(objects)
    for secret in set(re.findall(r'"secretRef": {"name": "(\S+?)"}', text)):
        assert ("Secret", secret) in made or secret == "mine"
    for name in set(re.findall(r'"configMapRef": {"name": "(\S+?)"}', text)):
        assert ("ConfigMap", name) in made
    for name in set(re.findall(r'"claimName": "(\S+?)"', text)):
        assert ("PersistentVolumeClaim", name) in made
    assert (("StatefulSet", "substrate-engine") in made) == (more != OUTSIDE)
    workloads = [each for each in objects if each["kind"] in {"Deployment", "StatefulSet"}]
    for each in workloads:
        selected = each["spec"]["selector"]["matchLabels"].items()
        assert selected <= each["spec"]["template"]["metadata"]["labels"].items()
    pods = [each["spec"]["template"]["metadata"]["labels"].items() for each in workloads]
    for each in objects:
        if each["kind"] == "Service":
            assert sum(each["spec"]["selector"].items() <= labels for labels in pods) == 1
    [settings] = [
        each["data"] for each in objects if each["kind"] == "ConfigMap" and each["metadata"]["name"] == "substrate"
    ]
    assert set(settings) <= read_by_settings()


@pytest.mark.parametrize(
    ("sets", "said"),
    [
        ((), "secret.adminKey"),
        ((*SECRETS, "engine.enabled=false"), "engine.url"),
        ((*SECRETS, "engine.url=redis://a:6379"), "engine.enabled"),
    ],
)
def test_the_chart_names_the_value_that_is_missing_or_does_not_fit(sets: tuple[str, ...], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        render(*sets)


@pytest.mark.parametrize("more", [(), OPTIONAL, OUTSIDE])
def test_the_objects_of_the_chart_keep_to_the_schemas_of_kubernetes(more: tuple[str, ...]) -> None:
    objects = render(*SECRETS, *more)
    try:
        schemas: Any = importlib.import_module("kubernetes_validate")
    except ImportError:
        pytest.skip("kubernetes-validate is not installed")
    for each in objects:
        if "monitoring.coreos.com" not in each["apiVersion"]:
            schemas.validate(each, KUBERNETES, strict=True)


def test_systemd_finds_no_fault_in_the_unit(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("no systemd here")
    text = (DEPLOY / "substrate.service").read_text()
    assert set(re.findall(r"\bSUBSTRATE_\w+", text)) <= read_by_settings()
    unit = tmp_path / "substrate.service"
    # The program and the user need not be on this machine.
    unit.write_text(
        re.sub(r"^(User|Group)=.*\n", "", text, flags=re.M).replace("/opt/substrate/.venv/bin/", "/bin/echo ")
    )
    words = [analyze, "verify", "--man=no", "--generators=no", str(unit)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, [line for line in done.stderr.splitlines() if unit.name in line]) == (0, [])
