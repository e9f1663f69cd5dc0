"""One vocabulary on every door: other names of fields, unknown fields that are kept, misspelt ones refused."""

from __future__ import annotations

from typing import Any

import pytest

from api.client import Substrate
from schemas.errors import InvalidRequest
from tests.acceptance.conftest import Service, problem_in
from tests.acceptance.test_mcp import over_http, text_of

JOY = {"joy": 0.5}


def post(service: Service, path: str, body: Any) -> Any:
    return service.http.post(f"/v1/{path}", json=body)


def stored(service: Service, citizen: str, memory: str) -> dict[str, Any]:
    return dict(service.http.get(f"/v1/memories/N1/{memory}", params={"citizen_id": citizen}).json())


@pytest.mark.parametrize("path", ["memories", "commands"])
def test_a_command_sent_again_under_other_names_is_the_same(service: Service, citizen: str, path: str) -> None:
    sent = {"command": "remember", "citizen_id": citizen, "name": "Tea", "command_id": f"c-{citizen}"}
    first = post(service, path, {**sent, "text": "Tom takes it black.", "emotions": JOY}).json()
    again = {**sent, "description": "Tom takes it black.", "emotion_vector": JOY}
    assert post(service, path, again).json()["duplicate"]
    memory = stored(service, citizen, first["id"])
    assert (memory["description"], memory["emotion_vector"], memory["extra"]) == ("Tom takes it black.", JOY, {})


@pytest.mark.parametrize("path", ["memories", "commands"])
def test_an_unknown_field_is_kept_and_named_and_a_misspelt_one_is_refused(
    service: Service, citizen: str, path: str
) -> None:
    sent = {"command": "remember", "citizen_id": citizen, "id": "tea", "name": "Tea"}
    own = {"mood": "mild", "author_name": "Tom", "color": {"descripton": "green"}}
    [warning] = post(service, path, {**sent, **own}).json()["warnings"]
    assert warning == "unknown fields were kept in extra: author_name, color, mood"
    assert stored(service, citizen, "tea")["extra"] == own
    problem = problem_in(post(service, path, {**sent, "descripton": "x", "emotion_vectors": {}, "energy": 7}), 422)
    assert [fault.partition(":")[0] for fault in problem["faults"]] == ["energy", "descripton", "emotion_vectors"]
    assert "did you mean `description`?" in problem["faults"][1]


def test_a_misspelt_field_refuses_only_its_own_command_of_a_list(service: Service, citizen: str) -> None:
    good, bad = ({"citizen_id": citizen, "name": "Tea", name: "x"} for name in ("mood", "valid_form"))
    answer = post(service, "memories", [good, bad]).json()
    assert [receipt["status"] for receipt in answer["receipts"]] == ["stored", "refused"]
    assert "did you mean `valid_at`?" in answer["receipts"][1]["faults"][0]


def test_a_field_given_twice_or_ten_thousand_of_them_are_refused(service: Service, citizen: str) -> None:
    sent = {"citizen_id": citizen, "name": "Tea"}
    twice = problem_in(post(service, "memories", {**sent, "text": "x", "description": "x"}), 422)
    assert twice["detail"] == "text: is another name of description, which is given too; leave one of them out"
    many = {f"field{number}": number for number in range(10_000)}
    assert "at most 200 are read" in problem_in(post(service, "memories", {**sent, **many}), 422)["detail"]
    listed = post(service, "memories", [{**sent, **many}, sent]).json()
    assert [receipt["status"] for receipt in listed["receipts"]] == ["refused", "stored"]


def test_a_question_takes_short_names_and_a_time_alone(service: Service, citizen: str) -> None:
    service.remember(citizen, id="tea", name="Tea", valid_at="2025-01-01T00:00:00Z")
    asked = {"citizen_id": citizen, "query": "tea", "emotions": JOY, "energy": 0.5}
    assert post(service, "retrieve", asked).json()["activation_tiers"]["focus"]
    then = post(service, "retrieve", {**asked, "as_of_time": "2025-06-01T00:00:00Z"}).json()
    assert not any(then["activation_tiers"].values())
    problem = problem_in(post(service, "retrieve", {**asked, "filters": {"node_type": ["Person"]}}), 422)
    assert "filters.node_type" in problem["detail"]
    assert "did you mean `node_types`?" in problem["detail"]


async def test_python_and_the_tools_take_either_name(service: Service, client: Substrate, citizen: str) -> None:
    tea = client.remember(citizen_id=citizen, name="Tea", text="Tom takes it black.", emotions=JOY)
    client.correct(citizen_id=citizen, id=str(tea.id), text="Tom takes it with milk.")
    assert client.get(str(tea.id), citizen_id=citizen).description == "Tom takes it with milk."
    client.set_state(citizen, emotions=JOY)
    assert client.state(citizen).emotion_vector == JOY
    with pytest.raises(InvalidRequest, match="did you mean `description`"):
        client.remember(citizen_id=citizen, name="Tea", descripton="x")  # type: ignore[call-arg]
    async with over_http(service) as tools:
        said = {"citizen_id": citizen, "name": "Coffee", "description": "Black.", "emotion_vector": JOY}
        told = await tools.call_tool("remember", said)
        assert not told.is_error, text_of(told)
        assert stored(service, citizen, told.structured_content["id"])["emotion_vector"] == JOY
        assert not (await tools.call_tool("recall", {"citizen_id": citizen, "query_text": "coffee"})).is_error
        refused = await tools.call_tool("remember", {**said, "txt": "x"})
        assert "did you mean `text`?" in text_of(refused)
        twice = await tools.call_tool("remember", {**said, "text": "x"})
        assert text_of(twice).startswith("description: is another name of text, which is given too")
