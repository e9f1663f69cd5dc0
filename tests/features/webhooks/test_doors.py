"""Webhooks over REST, with the client and on the command line; a service sends by itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from api.client import Substrate
from tests.acceptance.conftest import ADMIN_KEY, Service
from tests.acceptance.test_cli import Command, wordless_commands

__all__ = ["wordless_commands"]
PUBLIC = "https://93.184.215.14/hook"


def test_private_addresses_are_refused_with_what_to_do(service: Service, citizen: str) -> None:
    service.remember(citizen, id="a", name="a", description="a is there")
    for url in ("http://example.org/", "https://127.0.0.1/", "https://localhost:1/", "https://[::ffff:10.0.0.1]/"):
        answer = service.http.post("/v1/webhooks", json={"citizen_id": citizen, "url": url})
        assert answer.status_code == 422, answer.text
        assert "SUBSTRATE_WEBHOOKS_PRIVATE" in answer.json()["remedy"]
    for url in ("x", "https://user:word@example.org/", "https://" + 3000 * "a"):
        answer = service.http.post("/v1/webhooks", json={"citizen_id": citizen, "url": url})
        assert answer.status_code in (400, 422), answer.text
    assert service.http.get("/v1/webhooks", params={"citizen_id": citizen}).json() == {"webhooks": []}


def test_the_client_makes_lists_and_removes_them(service: Service, citizen: str) -> None:
    with Substrate(service.url, ADMIN_KEY) as client:
        client.remember(citizen_id=citizen, id="a", name="a", description="a is there")
        made = client.create_webhook(citizen_id=citizen, url=PUBLIC, commands=("correct",))
        assert made.secret.startswith("whsec_")
        assert [one.id for one in client.list_webhooks(citizen_id=citizen).webhooks] == [made.id]
        assert client.list_deliveries(made.id, citizen_id=citizen).deliveries == ()
        assert client.send_again(made.id, citizen_id=citizen).deliveries == ()
        client.remove_webhook(made.id, citizen_id=citizen)
        assert client.list_webhooks(citizen_id=citizen).webhooks == ()


def test_keys_reach_the_webhooks_of_their_own_graphs(service: Service, citizen: str) -> None:
    service.remember(citizen, id="a", name="a", description="a is there")
    body = {"citizen_id": citizen, "url": PUBLIC}
    made = service.http.post("/v1/webhooks", json=body).json()["id"]
    with service.client(service.key("citizen:other:*")) as http:
        assert http.post("/v1/webhooks", json=body).status_code == 404
        for path in ("/v1/webhooks", f"/v1/webhooks/{made}/deliveries"):
            assert http.get(path, params={"citizen_id": citizen}).status_code == 404
        assert http.get(f"/v1/webhooks/{made}/deliveries", params={"citizen_id": "other"}).status_code == 404
        assert http.delete(f"/v1/webhooks/{made}", params={"citizen_id": citizen}).status_code == 404


@pytest.mark.usefixtures("wordless_commands")
def test_the_command_makes_lists_and_removes_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = Command(tmp_path / "data", capsys)
    assert command("remember", "The boat is blue.", "--id", "boat", "-c", "ada").code == 0
    assert command("webhooks", "https://127.0.0.1/x", "-c", "ada").code == 2
    made = json.loads(command("webhooks", PUBLIC, "-c", "ada", "--json").out)
    assert made["secret"].startswith("whsec_")
    assert PUBLIC in command("webhooks", "-c", "ada").out
    assert json.loads(command("webhooks", "-c", "ada", "--log", made["id"], "--json").out) == {"deliveries": []}
    assert command("webhooks", "-c", "ada", "--again", made["id"]).code == 0
    assert command("webhooks", "-c", "ada", "--remove", made["id"]).code == 0
    assert command("webhooks", "-c", "ada").out == ""
