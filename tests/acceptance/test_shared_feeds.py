"""The shared graphs are fed like a personal one: a channel, a folder and a feed, by three citizens at once."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple
from uuid import uuid4

import httpx
import pytest

from api.client import Substrate
from tests.acceptance.conftest import Service, problem_in
from tests.acceptance.test_cli import Command

TEAM: Final = ("Ada", "Kai", "Noor")
SENT: Final = 4


class Shared(NamedTuple):
    """A shared graph as requests name it, its scope, and the citizens who feed it, each with its own client.

    `word` stands in no other test, since N2 and N3 are those of the whole service.
    """

    where: Mapping[str, str]
    scope: str
    citizens: Mapping[str, str]
    clients: Mapping[str, httpx.Client]
    word: str

    def send(self, who: str, path: str, **body: Any) -> dict[str, Any]:
        answer = self.clients[who].post(path, json={"citizen_id": self.citizens[who], **self.where, **body})
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def at_once(self, work: Callable[[str], Any]) -> list[Any]:
        """What the work of the three returns, done at the same time."""
        with ThreadPoolExecutor(len(TEAM)) as pool:
            return list(pool.map(work, TEAM))

    def named(self, name: str) -> dict[str, str]:
        """The parameters that name the graph, for one of the three."""
        level = {"level": "N2"} if "collective" in self.where else {}
        return {"citizen_id": self.citizens[name], **self.where, **level}

    def listed(self, noun: str, **query: Any) -> list[dict[str, Any]]:
        found = self.clients["Ada"].get(f"/v1/{noun}", params={**self.named("Ada"), "limit": 200, **query})
        return list(found.json()[noun])

    def asked(self, name: str, path: str, **question: Any) -> str:
        """The text of an answer to one of the three."""
        further = {"collectives": [self.where["collective"]]} if "collective" in self.where else {}
        answer = self.clients[name].post(path, json={"citizen_id": self.citizens[name], **further, **question})
        assert answer.status_code == 200, answer.text
        return answer.text

    def files(self) -> dict[str, str]:
        """The mirror of the graph: the text of each file by its path."""
        answer = self.clients["Kai"].get("/v1/files/mirror", params=self.named("Kai"))
        assert answer.status_code == 200, answer.text
        with tarfile.open(fileobj=io.BytesIO(answer.content)) as archive:
            return {name: archive.extractfile(name).read().decode() for name in archive.getnames()}  # type: ignore[union-attr]

    def said(self, name: str) -> list[dict[str, Any]]:
        """What one of the three says in the channel."""
        return [
            {
                "id": f"{name}-{number}",
                "speaker": name,
                "text": f"We have to repair the {self.word} pump, it is blocked. Tom Berger knows step {number}.",
                "timestamp": f"2026-03-0{number + 1}T10:00:00Z",
            }
            for number in range(SENT)
        ]


@pytest.fixture(params=["N2", "collective", "N3"])
def shared(request: pytest.FixtureRequest, service: Service) -> Iterator[Shared]:
    word, kind = f"w{uuid4().hex[:8]}", request.param
    where, scope = (
        ({"collective": word}, f"collective:{word}") if kind == "collective" else ({"level": kind}, kind)
    )
    citizens = {name: f"{name.lower()}-{word}" for name in TEAM}
    keys = {
        name: service.key(f"citizen:{citizen}:*", f"{scope}:read", f"{scope}:write")
        for name, citizen in citizens.items()
    }
    clients = {name: service.client(key) for name, key in keys.items()}
    yield Shared(where, scope, citizens, clients, word)
    for http in clients.values():
        http.close()


def folder(notes: Mapping[str, str]) -> dict[str, str]:
    """A folder of notes as an archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path, text in notes.items():
            archive.writestr(zipfile.ZipInfo(path, (2026, 3, 1, 9, 0, 0)), text)
    return {"name": "handbook.zip", "content": b64encode(packed.getvalue()).decode(), "format": "markdown"}


def test_a_channel_that_three_write_at_once_is_one_and_keeps_authors_speakers_and_names(
    shared: Shared, service: Service
) -> None:
    channel = f"channel-{shared.word}"
    path = f"/v1/episodes/{channel}/turns"

    def talk(name: str) -> Counter[str]:
        told: Counter[str] = Counter()
        for message in shared.said(name):
            report = shared.send(name, path, messages=[message])
            told.update({status: report[status] for status in ("stored", "duplicates", "refused")})
        return told

    assert shared.at_once(talk) == [Counter(stored=SENT, duplicates=0, refused=0)] * 3
    assert shared.at_once(talk) == [Counter(stored=0, duplicates=SENT, refused=0)] * 3
    turns = [each for each in shared.listed("memories", episodes=channel) if each["node_type"] == "Turn"]
    assert Counter((each["speaker"], each["author"]) for each in turns) == Counter(
        {(name, shared.citizens[name]): SENT for name in TEAM}
    )
    steps = [each for each in shared.listed("links", relation_type="NEXT") if each["episode_id"] == channel]
    ids = {each["node_id"] for each in turns}
    assert len([each for each in steps if {each["source_id"], each["target_id"]} <= ids]) == 3 * SENT - 1
    mentioned = [each for each in shared.listed("links", relation_type="MENTIONS") if each["source_id"] in ids]
    assert {"person:tom_berger"} <= {each["target_id"] for each in mentioned}

    found = f"repair the {shared.word} pump, it is blocked"
    assert found in shared.asked("Noor", "/v1/retrieve", query_text=f"What is wrong with the {shared.word} pump?")
    assert found in shared.asked("Noor", "/v1/wake", current_goal=f"repair the {shared.word} pump")

    shown = next(text for name, text in shared.files().items() if f"/{channel}" in name)
    assert all(f"author: {citizen}" in shown for citizen in shared.citizens.values())
    assert "speaker: Kai" in shown

    refused = shared.clients["Ada"].delete(f"/v1/episodes/{channel}", params=shared.named("Ada"))
    assert "only its author or a steward" in problem_in(refused, 403)["detail"]
    erased = service.http.delete(f"/v1/episodes/{channel}", params=shared.where)
    assert erased.json()["removed"]["memories"] >= 3 * SENT
    assert shared.listed("memories", episodes=channel) == []
    assert not any(f"/{channel}" in name for name in shared.files())


def test_a_folder_that_three_send_at_once_is_stored_once_and_edited_by_its_author_alone(shared: Shared) -> None:
    notes = {
        "pump.md": f"# Pump\n\nThe {shared.word} pump needs two people, says Tom Berger.\n\nSee [[valve]].\n",
        "valve.md": f"# Valve\n\nThe {shared.word} valve opens to the left.\n",
    }
    reports = shared.at_once(lambda name: shared.send(name, "/v1/files", **folder(notes)))
    assert [report["refused"] for report in reports] == [0, 0, 0], reports
    for report in shared.at_once(lambda name: shared.send(name, "/v1/files", **folder(notes))):
        assert (report["stored"], report["refused"]) == (0, 0), report
    told = [each for each in shared.listed("memories", episodes="handbook") if shared.word in each["description"]]
    assert len(told) == len(notes)
    assert shared.word in shared.asked(
        "Kai", "/v1/retrieve", query_text=f"Who is needed for the {shared.word} pump?"
    )

    [author] = [each["author"] for each in told if "valve opens" in each["description"]]
    mine, another = sorted(TEAM, key=lambda name: shared.citizens[name] != author)[:2]
    other = {**notes, "valve.md": f"# Valve\n\nThe {shared.word} valve opens to the right.\n"}
    report = shared.send(another, "/v1/files", **folder(other))
    assert report["superseded"] == 0
    assert report["refused"] == 1
    assert "only its author or a steward" in report["faults"][0]
    assert shared.send(mine, "/v1/files", **folder(other))["superseded"] == 1


def test_a_feed_that_three_send_at_once_is_stored_once_and_grows_by_whoever_sends_more(shared: Shared) -> None:
    feed = [{"speaker": "Desk", "text": f"The {shared.word} pump reports {number} bar."} for number in range(6)]
    sent = {"episode_id": f"feed-{shared.word}", "messages": feed}
    reports = shared.at_once(lambda name: shared.send(name, "/v1/episodes", **sent))
    assert [report["refused"] for report in reports] == [0, 0, 0]
    turns = [
        each for each in shared.listed("memories", episodes=sent["episode_id"]) if each["node_type"] == "Turn"
    ]
    assert len(turns) == len(feed)
    assert [shared.send(name, "/v1/episodes", **sent)["stored"] for name in TEAM] == [0, 0, 0]
    between = {"speaker": "Desk", "text": f"Nobody looked at the {shared.word} pump."}
    more = {**sent, "messages": [*feed[:3], between, *feed[3:]]}
    for _ in range(2):
        report = shared.send("Noor", "/v1/episodes", **more)
        assert report["refused"] == 0, report["faults"]
    assert report["stored"] == 0
    ids = {each["node_id"] for each in turns}
    steps = [each for each in shared.listed("links", relation_type="NEXT") if each["source_id"] in ids]
    assert Counter(each["source_id"] for each in steps).most_common(1)[0][1] == 1
    own = shared.clients["Kai"].post("/v1/episodes", json={"citizen_id": shared.citizens["Kai"], **sent})
    assert own.json()["stored"] > 0, "what lies in the shared graph is no reason to keep it from one's own"


def test_a_message_of_another_cannot_be_edited_or_taken_back(shared: Shared) -> None:
    path = f"/v1/episodes/edits-{shared.word}/turns"
    shared.send("Ada", path, messages=shared.said("Ada"))
    for edit in ({"text": f"Nobody checked the {shared.word} pump."}, {"deleted": True}):
        message = {**shared.said("Ada")[1], **edit}
        [told] = shared.send("Kai", path, messages=[message])["messages"]
        assert (told["status"], "only its author" in told["reason"]) == ("refused", True)
    [told] = shared.send("Ada", path, messages=[{**shared.said("Ada")[1], "deleted": True}])["messages"]
    assert told["status"] == "retracted"


def test_nobody_erases_the_links_of_another_by_naming_their_episode(shared: Shared, service: Service) -> None:
    episode, ends = f"plan-{shared.word}", [f"{shared.word}-{n}" for n in range(2)]
    tie: dict[str, Any] = {
        "command": "relate",
        "id": f"{shared.word}-tie",
        "source_id": ends[0],
        "target_id": ends[1],
    }
    tie |= {"relation_type": "NEEDS", "episode_id": episode, "goal": "g", "mindstate": "m", "energy": 0.5}
    tie |= {"confidence": 0.5, "emotion_vector": {}}
    memories = [{"command": "remember", "id": name, "name": name} for name in ends]
    bait = {"command": "remember", "id": f"{shared.word}-bait", "name": "Bait", "episode_id": episode}
    for name, commands in (("Ada", [*memories, tie]), ("Kai", [bait])):
        told = [{**each, **shared.named(name)} for each in commands]
        sent = shared.clients[name].post("/v1/commands", json=told)
        assert sent.is_success, sent.text
    refused = shared.clients["Kai"].delete(f"/v1/episodes/{episode}", params=shared.named("Kai"))
    assert "only its author or a steward" in problem_in(refused, 403)["detail"]
    assert tie["id"] in {each["link_id"] for each in shared.listed("links", relation_type="NEEDS")}
    erased = service.http.delete(f"/v1/episodes/{episode}", params=shared.where)
    assert erased.json()["removed"]["links"] == 1


def test_who_speaks_earlier_in_what_another_brings_is_known_from_then_on(shared: Shared) -> None:
    late, early = (
        {"speaker": shared.word, "text": f"Here is {shared.word}.", "timestamp": f"{year}-01-01T00:00:00Z"}
        for year in (2026, 2024)
    )
    shared.send("Ada", f"/v1/episodes/late-{shared.word}/turns", messages=[late])
    shared.send("Kai", f"/v1/episodes/early-{shared.word}/turns", messages=[early])
    [person] = [each for each in shared.listed("memories", node_type="Person") if each["name"] == shared.word]
    assert (person["valid_at"][:4], person["author"]) == ("2024", shared.citizens["Ada"])


ROUTES: Final[Mapping[str, dict[str, Any]]] = {
    "/v1/episodes": {"messages": [{"speaker": "Eve", "text": "The teapot is mine."}]},
    "/v1/episodes/eve/turns": {"messages": [{"speaker": "Eve", "text": "The teapot is mine."}]},
    "/v1/files": folder({"eve.md": "# Eve\n\nThe teapot is mine.\n"}),
}


@pytest.mark.parametrize("path", ROUTES)
def test_a_key_without_the_right_feeds_nothing_and_reads_nothing(
    shared: Shared, service: Service, path: str
) -> None:
    shared.send("Ada", f"/v1/episodes/secret-{shared.word}/turns", messages=shared.said("Ada"))
    reading = service.key("citizen:eve:*", f"{shared.scope}:read")
    for key, status in ((service.key("citizen:eve:*"), None), (reading, 403)):
        unnamed = 404 if "collective" in shared.where else 403
        with service.client(key) as eve, service.unchanged():
            body = {"citizen_id": "eve", **shared.where, **ROUTES[path]}
            problem_in(eve.post(path, json=body), status or unnamed)
            problem_in(eve.delete(f"/v1/episodes/secret-{shared.word}", params=shared.where), status or unnamed)
            if status is None:
                named = {**shared.named("Ada"), "citizen_id": "eve"}
                problem_in(eve.get("/v1/files/mirror", params=named), unnamed)
                problem_in(eve.get(f"/v1/episodes/secret-{shared.word}", params=shared.where), unnamed)


def test_a_citizen_that_a_key_does_not_reach_is_no_author(shared: Shared, service: Service) -> None:
    with service.client(service.key("citizen:eve:*", f"{shared.scope}:write")) as eve, service.unchanged():
        body = {"citizen_id": shared.citizens["Ada"], **shared.where, **ROUTES["/v1/episodes"]}
        problem_in(eve.post("/v1/episodes", json=body), 404)


def test_a_conversation_is_stored_in_the_background_of_a_shared_graph(shared: Shared) -> None:
    body = {"citizen_id": shared.citizens["Ada"], **shared.where, "messages": shared.said("Ada")}
    begun = shared.clients["Ada"].post("/v1/episodes", json=body, headers={"Prefer": "respond-async"})
    assert begun.status_code == 202
    address = begun.headers["Location"]
    while (progress := shared.clients["Ada"].get(address).json())["status"] == "running":
        pass
    assert (progress["status"], progress["report"]["stored"] > SENT) == ("stored", True)
    named = shared.named("Kai")
    assert shared.clients["Kai"].get(address.partition("?")[0], params=named).json() == progress


def test_python_feeds_a_shared_graph_and_saves_it_as_files(
    shared: Shared, service: Service, tmp_path: Any
) -> None:
    citizen: str = shared.citizens["Ada"]
    where: Any = shared.where
    page = tmp_path / "page.md"
    page.write_text(f"# Page\n\nA page about the {shared.word} pump.\n", encoding="utf-8")
    with Substrate(service.url, service.key(f"citizen:{citizen}:*", f"{shared.scope}:*")) as client:
        heard = client.hear(f"py-{shared.word}", "Ada", f"Hear {shared.word}.", citizen_id=citizen, **where)
        taken = client.ingest(citizen, [{"role": "user", "content": f"Take in {shared.word}."}], **where)
        filed = client.ingest_file(citizen, page, **where)
        assert (heard.stored, taken.stored > 0, filed.stored > 0) == (1, True, True)
        assert client.save_mirror(citizen, tmp_path / "shared.tar", **where) > 0
        erased = client.erase_episode(episode_id=f"py-{shared.word}", citizen_id=citizen, **where)
        assert erased.removed.memories >= 2


def test_a_life_of_a_shared_graph_is_known_as_it_happened(service: Service) -> None:
    collective = f"past-{uuid4().hex[:8]}"
    talk = [{"speaker": "Kai", "text": "The pump is in.", "timestamp": "2024-05-01T10:00:00Z"}]
    body = {"citizen_id": "kai", "collective": collective, "messages": talk, "known_as_happened": True}
    assert service.http.post("/v1/episodes", json=body).json()["refused"] == 0
    where = {"level": "N2", "collective": collective, "known_at": "2024-06-01T00:00:00Z"}
    known = service.http.get("/v1/memories", params=where).json()["memories"]
    assert "The pump is in." in [each["description"] for each in known]


def test_the_command_line_hears_and_erases_on_a_shared_level_as_the_citizen(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    substrate, word = Command(service.data, capsys), f"w{uuid4().hex[:8]}"
    on_level = ("--level", "N2")
    operator = substrate("hear", f"all-{word}", "Ada", f"The {word} pump is in.", *on_level, "--json")
    assert (operator.code, json.loads(operator.out)["citizen_id"]) == (0, None)
    own = substrate("hear", f"own-{word}", "Ada", f"The {word} pump leaks.", "-c", f"ada-{word}", *on_level)
    assert own.code == 0, own.err
    erasing = ("erase", "--episode", f"own-{word}", *on_level, "--yes")
    refused = substrate(*erasing, "-c", f"bob-{word}")
    assert refused.code != 0
    assert "only its author or a steward" in " ".join(refused.err.split())
    assert substrate(*erasing, "-c", f"ada-{word}").code == 0
