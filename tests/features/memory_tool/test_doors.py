"""The memory tool over REST and with the Python client."""

from __future__ import annotations

from api.client import Substrate
from tests.acceptance.conftest import ADMIN_KEY, Service


def test_files_are_made_edited_moved_and_deleted_with_the_documented_texts(service: Service, citizen: str) -> None:
    with Substrate(service.url, api_key=ADMIN_KEY) as client:

        def tool(**given: object) -> str:
            answer = client.memory_tool(citizen_id=citizen, **given)  # type: ignore[arg-type]
            assert answer.is_error == (
                not answer.content.startswith(("Here", "File", "The memory", "The file", "Succ"))
            )
            return answer.content

        head = "Here're the files and directories up to 2 levels deep in /memories"
        assert tool(command="view", path="/memories").startswith(f"{head}, excluding")
        tom = "/memories/people/tom.md"
        made = {"command": "create", "path": tom, "file_text": "# Tom\nDrinks his tea with milk.\n"}
        assert tool(**made) == f"File created successfully at: {tom}"
        assert tool(**made) == f"Error: File {tom} already exists"
        assert tool(**{**made, "path": "/memories/people"}) == "Error: File /memories/people already exists"
        assert tool(**{**made, "path": f"{tom}/x"}).endswith("already exists")
        assert f"27B\t{tom}" in tool(command="view", path="/memories") or tom in tool(
            command="view", path="/memories"
        )
        edited = tool(command="str_replace", path=tom, old_str="with milk", new_str="black")
        assert edited == "The memory file has been edited.\n     1\t# Tom\n     2\tDrinks his tea black."
        added = tool(command="insert", path=tom, insert_line=2, insert_text="Lives in Bergen.\n")
        assert added == f"The file {tom} has been edited."
        assert tool(command="view", path=tom, view_range=[2, 3]).endswith(
            "     2\tDrinks his tea black.\n     3\tLives in Bergen."
        )
        assert "Drinks his tea black." in str(client.retrieve(citizen_id=citizen, query="How does Tom drink tea?"))
        moved = tool(command="rename", old_path="/memories/people", new_path="/memories/friends")
        assert moved == "Successfully renamed /memories/people to /memories/friends"
        assert tool(command="view", path=tom) == f"The path {tom} does not exist. Please provide a valid path."
        assert tool(command="rename", old_path="/memories/friends", new_path="/memories/friends/x").endswith(
            "exists"
        )
        page = next(
            line.split("\t")[1]
            for line in tool(command="view", path="/memories/mirror/@memories").splitlines()[1:]
        )
        assert page.startswith("/memories/mirror/@memories")
        assert tool(command="create", path="/memories/mirror/x", file_text="") == (
            "Error: The path /memories/mirror/x is read-only"
        )
        assert tool(command="delete", path="/memories") == "Error: The path /memories is read-only"
        assert tool(command="delete", path="/memories/friends") == "Successfully deleted /memories/friends"
        assert (
            tool(command="delete", path="/memories/friends") == "Error: The path /memories/friends does not exist"
        )
        assert tool(**made) == f"File created successfully at: {tom}"
        assert tool(command="view", path=tom).endswith("     2\tDrinks his tea with milk.")
        assert tool(command="create", path="/memories/empty", file_text="").startswith("File created")
        assert "0B\t/memories/empty" in tool(command="view", path="/memories")
        assert tool(command="view", path="/memories/empty").endswith("     1\t")
        for path in ("/memories/../etc/passwd", "/memories/%2e%2e/x", "/etc"):
            assert tool(command="view", path=path) == f"Error: Invalid path {path}. It must lie within /memories"
            assert tool(command="create", path=path, file_text="x").startswith("Error: Invalid path")


def test_a_page_of_the_mirror_is_read_beside_the_files(service: Service, citizen: str) -> None:
    service.remember(citizen, name="Tea", description="Tom takes it black.", tags=["tea"])
    asked = {"citizen_id": citizen, "command": "view", "path": "/memories/mirror/@general/#tea"}

    def view() -> str:
        return str(service.http.post("/v1/memory_tool", json=asked).json()["content"])

    listed = service.http.post("/v1/memory_tool", json={**asked, "path": "/memories/mirror"}).json()["content"]
    asked["path"] = listed.splitlines()[2].split("\t")[1]
    while not asked["path"].endswith(".md"):
        asked["path"] = next(
            line.split("\t")[1] for line in view().splitlines()[2:] if line.startswith(tuple("0123456789"))
        )
    assert "Tom takes it black." in view()


def test_what_is_missing_is_refused_and_reading_needs_the_right_to_read(service: Service, citizen: str) -> None:
    lacking = service.http.post(
        "/v1/memory_tool", json={"citizen_id": citizen, "command": "create", "path": "/memories/a"}
    )
    assert lacking.status_code == 422
    assert "file_text" in lacking.text
    key = {"Authorization": f"Bearer {service.key(f'citizen:{citizen}:read')}"}
    call = {"citizen_id": citizen, "command": "view", "path": "/memories"}
    assert service.http.post("/v1/memory_tool", json=call, headers=key).status_code == 200
    written = {**call, "command": "create", "path": "/memories/a", "file_text": "x"}
    assert service.http.post("/v1/memory_tool", json=written, headers=key).status_code == 403
