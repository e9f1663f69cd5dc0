"""The command `substrate` as its users meet it: a process, its output, its exit code; on a real engine."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis

from api.cli import program
from substrate.engine.unix_socket import socket_path
from substrate.inference.tokens import counter
from tests.engine_processes import held_engine
from tests.loopback import free_port

ROOT = Path(__file__).parents[2]
PROGRAM = [sys.executable, "-m", "api.cli"]
EXPECTED = json.loads((ROOT / "examples" / "ada" / "expect.json").read_text("utf-8"))
TALK = [
    {"role": "mira", "content": "I went to the lighthouse choir yesterday, it was [bold]loud[/oops] :smile:"},
    {"role": "jon", "content": "Did they sing the storm song?"},
    {"role": "mira", "content": "Twice. My brother Tomas bakes rye bread for them every Sunday."},
    {"role": "jon", "content": "Then I shall come on Sunday."},
]


class Said:
    """What a run of the command left: its exit code and both outputs."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err
        assert "Traceback" not in out + err


class Command:
    """The command, called inside this process: the same entry, without the start of an interpreter."""

    def __init__(self, data: Path, captured: pytest.CaptureFixture[str]) -> None:
        self.data, self.captured = data, captured

    def __call__(self, *words: str) -> Said:
        with pytest.raises(SystemExit) as end:
            program.main(["--data", str(self.data), *words])
        captured = self.captured.readouterr()
        assert isinstance(end.value.code, int)
        return Said(end.value.code, captured.out, captured.err)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data directory with the citizen `mira-1` and one conversation, whose engine runs."""
    home = tmp_path_factory.mktemp("cli")
    talk = home / "talk.json"
    stamped = [{**turn, "timestamp": f"2026-03-0{day}T10:00:00Z"} for day, turn in enumerate(TALK, start=1)]
    talk.write_text(json.dumps(stamped), "utf-8")
    taken = run("--data", str(home / "data"), "ingest", str(talk), "-f", "messages", "-c", "mira-1")
    assert taken.code == 0, taken.err
    assert "4 turns" in taken.out
    assert not (home / "data" / "engine.sock").exists()
    with held_engine(home / "data") as data:
        yield data


@pytest.fixture
def command(data: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(data, capsys)


@pytest.fixture
def wordless_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands and services load no model: it is half of what their start takes."""
    monkeypatch.setenv("SUBSTRATE_EMBEDDING", "none")


def run(*words: str, **options: Any) -> Said:
    """The command in a process of its own."""
    done = subprocess.run([*PROGRAM, *words], cwd=ROOT, capture_output=True, text=True, timeout=300, **options)
    return Said(done.returncode, done.stdout, done.stderr)


# A number of tokens


@pytest.mark.parametrize("limit", [200, 300, 500])
def test_what_is_printed_has_at_most_so_many_tokens(limit: int, command: Command) -> None:
    for words in (("ask", "Who bakes bread?"), ("wake",)):
        said = command(*words, "-c", "mira-1", "--max-tokens", str(limit))
        assert said.code == 0
        assert counter()(said.out) <= limit
        assert "rye bread" in said.out or words == ("wake",)
    asked = ("ask", "Who bakes bread?", "-c", "mira-1")
    whole, bounded = command(*asked).out, command(*asked, "--max-tokens", "9000").out
    assert re.sub(r"\d+ ms", "", bounded) == re.sub(r"\d+ ms", "", whole)


# The surface


def test_help_names_every_command() -> None:
    said = run("--help")
    assert said.code == 0
    assert all(name in said.out for name in program.COMMANDS)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("aks",), "'ask'"),
        (("ask",), "question"),
        (("ask", "x"), "--citizen"),
        (("ask", "--data", "x", "y"), "come first"),
        (("ask", "x", "-c", "mira-1", "--limit", "many"), "--limit"),
    ],
)
def test_a_wrong_call_is_one_line_and_code_2(words: tuple[str, ...], expected: str, command: Command) -> None:
    said = command(*words)
    assert said.code == 2
    assert expected in said.err
    assert len(said.err.splitlines()) == 1
    assert said.err.startswith("error: ")


# Asking


def test_a_question_finds_its_turn_and_says_when_and_why(command: Command) -> None:
    said = command("ask", "Who bakes rye bread?", "-c", "mira-1")
    assert said.code == 0
    assert "My brother Tomas bakes rye bread" in said.out
    assert "3 March 2026" in said.out
    assert "talk:D1:3" in said.out
    assert "found by" in said.out


@pytest.mark.parametrize("columns", ["80", "120"])
def test_no_line_is_wider_than_the_terminal_and_markup_is_shown_as_it_is(
    columns: str, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    said = command("ask", "lighthouse choir", "-c", "mira-1", "--explain")
    assert "[bold]loud[/oops] :smile:" in " ".join(said.out.split())
    assert "score" in said.out
    assert max(map(len, said.out.splitlines())) <= int(columns)
    assert "\x1b" not in said.out


def test_what_each_feature_brings_to_the_confidence_is_printed_when_asked_for(command: Command) -> None:
    told = [
        " ".join(command("ask", "Who bakes rye bread?", "-c", "mira-1", *more).out.split())
        for more in ([], ["--explain"])
    ]
    assert ["answer_confidence, in log-odds: likeness" in out for out in told] == [False, True]


def test_json_is_the_whole_stream_and_nothing_else(command: Command) -> None:
    said = command("ask", "storm song", "-c", "mira-1", "--json", "--level", "n1")
    stream = json.loads(said.out)
    assert stream["citizen_id"] == "mira-1"
    assert list(stream["levels"]) == ["n1_personal"]
    assert "talk:D1:2" in [node["node_id"] for node in stream["activation_tiers"]["focus"]]
    assert said.err == ""


def test_a_past_day_shows_what_held_then(command: Command) -> None:
    said = command("ask", "storm song", "-c", "mira-1", "--as-of", "2026-03-01T12:00", "--known-at", "2100-01-01")
    assert said.code == 0
    assert "storm song" not in said.out.partition("\n")[2]
    assert "as of 1 March 2026 12:00 UTC" in said.out
    assert "no time zone" in said.out


def test_the_fault_of_an_unknown_citizen_suggests_similar_names(command: Command) -> None:
    said = command("ask", "x", "-c", "mira1")
    assert said.code == 4
    assert "Did you mean mira-1?" in said.err


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("--level", "N7"), "--level"),
        (("--mode", "sideways"), "--mode"),
        (("--mode", "point_in_time"), "--as-of"),
        (("--mode", "current", "--as-of", "2026-01-01"), "--as-of"),
        (("--as-of", "someday"), "--as-of"),
        (("--limit", "0"), "--limit"),
        (("--min-energy", "1.2"), "--min-energy"),
        (("--min-confidence", "nan"), "--min-confidence"),
    ],
)
def test_the_fault_of_an_invalid_intention_names_the_options(
    words: tuple[str, ...], option: str, command: Command
) -> None:
    said = command("ask", "x", "-c", "mira-1", *words)
    assert said.code == 2
    assert option in said.err


def test_every_fault_has_its_line(command: Command) -> None:
    said = command("ask", "  ", "-c", "no citizen", "--level", "N7", "--limit", "101")
    assert said.code == 2
    told = {line.split()[1] for line in said.err.splitlines()}
    assert told == {"QUESTION:", "--level:", "--limit:", "--citizen:"}


# Writing


def test_a_memory_goes_in_comes_back_and_has_a_history(command: Command) -> None:
    name = 'The "quiet" `bay` of {Tarn} $x MATCH (n) DETACH DELETE n'
    felt = ("--emotion", "joy=0.7", "--emotion", "calm=0.4", "--tag", "sea", "--state", "in_progress")
    stored = command("remember", name, "-c", "mira-1", "--id", "bay", "--valid-at", "2026-02-01", *felt)
    assert stored.code == 0, stored.err
    assert command("remember", name, "-c", "mira-1", "--id", "bay", "--description", "other").code == 5
    [record] = json.loads(command("history", "bay", "-c", "mira-1", "--json").out)
    assert record["name"] == name
    assert record["emotion_vector"] == {"joy": 0.7, "calm": 0.4}
    shown = command("history", "bay", "-c", "mira-1").out
    assert "2026-02-01 00:00" in shown
    assert "1 record" in shown


def test_a_file_of_commands_is_taken_in_as_a_whole_or_not_at_all(command: Command, tmp_path: Path) -> None:
    lines = [
        {"command": "remember", "id": "boat", "name": "Boat", "valid_at": "2026-01-01"},
        {"command": "supersede", "id": "boat", "description": "It leaks."},
        {"command": "retract", "id": "nobody"},
    ]
    file = tmp_path / "boat.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    whole = ("ingest", str(file), "-f", "commands", "-c", "mira-1", "--atomic")
    refused = command(*whole)
    assert (refused.code, "stored 0" in refused.out) == (5, True)
    faults = " ".join(refused.out.split()).split("refused: ")[1:]
    assert "there is no memory nobody" in faults[0]
    assert all("not applied" in fault for fault in faults[1:])
    assert command("history", "boat", "-c", "mira-1").code == 4
    file.write_text("\n".join(map(json.dumps, lines[:2])), "utf-8")
    assert command(*whole).code == 0
    assert "2 records" in command("history", "boat", "-c", "mira-1").out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("ingest", "examples/ada/talk_with_luca.jsonl", "-f", "messages", "-c", "mira-1", "--atomic"), 2),
        (("undo", "nothing", "-c", "mira-1"), 4),
        (("undo", "nothing"), 2),
        (("remember", "x"), 2),
        (("remember", "x", "-c", "mira-1", "--energy", "1.2"), 2),
        (("remember", "x", "-c", "mira-1", "--emotion", "joy=very"), 2),
        (("remember", "x", "-c", "mira-1", "--emotion", "joy=nan"), 2),
        (("remember", "x", "-c", "mira-1", "--valid-at", "0001-01-01"), 2),
        (("remember", "x\x07", "-c", "mira-1"), 2),
        (("remember", "y" * 7_000_000, "-c", "mira-1"), 2),
        (("history", "nothing", "-c", "mira-1"), 4),
        (("history", "nothing", "-c", "nobody"), 4),
        (("history", "nothing", "--level", "N2"), 4),
        (("history", "nothing"), 2),
        (("ingest", "no/such/file", "-f", "messages", "-c", "mira-1"), 2),
        (("ingest", "pyproject.toml", "-f", "locomo"), 2),
        (("ingest", "pyproject.toml", "-f", "sonnets"), 2),
        (("ingest", "examples/ada/talk_with_luca.jsonl", "-f", "messages"), 2),
    ],
)
def test_bad_input_gets_a_clear_line_and_its_code(words: tuple[str, ...], code: int, command: Command) -> None:
    said = command(*words)
    assert (said.code, said.out) == (code, "")
    assert said.err.startswith("error: ")
    assert all(len(line) < 500 for line in said.err.splitlines())


def test_an_interrupted_ingestion_goes_on_without_duplicates(tmp_path: Path) -> None:
    talk, home = tmp_path / "long.jsonl", tmp_path / "data"
    turns = [{"role": "mira", "content": f"line {number}"} for number in range(900)]
    talk.write_text("\n".join(map(json.dumps, turns)), "utf-8")
    words = ["--data", str(home), "ingest", str(talk), "-f", "messages", "-c", "mira-1"]
    process = subprocess.Popen(
        [*PROGRAM, *words], cwd=ROOT, stderr=subprocess.PIPE, text=True, preexec_fn=as_in_a_terminal
    )
    interrupt_when_stored(process, home, 40)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "without duplicates" in err
    assert "Traceback" not in err
    again = run(*words)
    assert again.code == 0
    stored, known = map(int, re.findall(r"(?:stored|already) ([\d,]+)", again.out.replace(",", "")))
    assert known >= 40
    assert stored + known == 3 * 900 + 2 + 1 - 1


def as_in_a_terminal() -> None:
    """Whoever runs the tests in the background has them ignore interrupts, and all that they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupt_when_stored(process: subprocess.Popen[str], home: Path, least: int) -> None:
    """Interrupt the process once the engine of `home` holds that many memories, counted while it stands still."""
    give_up = time.monotonic() + 300
    while time.monotonic() < give_up and process.poll() is None:
        process.send_signal(signal.SIGSTOP)
        enough = stored_in(home) >= least
        if enough:
            process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGCONT)
        if enough:
            return
        time.sleep(0.02)
    raise AssertionError("too little was stored, or all of it")


def stored_in(home: Path) -> int:
    if not socket_path(home).exists():
        return 0
    query = "MATCH (n:ConsciousnessNode) RETURN count(n)"
    try:
        with redis.Redis(unix_socket_path=str(socket_path(home))) as engine:
            return int(engine.execute_command("GRAPH.RO_QUERY", "citizen_mira-1", query)[1][0][0])
    except redis.RedisError:
        return 0


# The house


def test_the_doctor_is_content_with_a_sound_house(command: Command) -> None:
    said = command("doctor")
    assert said.code == 0, said.out
    assert "indexes OPERATIONAL" in " ".join(said.out.split())
    assert "✗" not in said.out


def test_a_shell_completes_commands_and_options(command: Command) -> None:
    def proposed(words: str) -> list[str]:
        asked = {"_SUBSTRATE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        called = "import sys; sys.argv = ['substrate']; from api.cli.program import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", called], capture_output=True, text=True, timeout=60, check=False,
            env=asked,
        )  # fmt: skip
        return done.stdout.split()

    assert "ingest" in proposed("substrate in")
    assert "--json" in proposed("substrate doctor --js")
    assert "_substrate_completion" in command("--show-completion", "bash").out


def test_the_doctor_and_an_ingestion_answer_in_json(tmp_path: Path, command: Command) -> None:
    checks = json.loads(command("doctor", "--json").out)
    assert {"subject", "detail", "remedy"} == checks[0].keys()
    (tmp_path / "chat.jsonl").write_text('{"speaker": "Ada", "text": "The boat is red."}\n', "utf-8")
    said = command("ingest", str(tmp_path / "chat.jsonl"), "--format", "messages", "-c", "ada", "--json")
    assert json.loads(said.out)["report"]["stored"] > 0


def test_the_doctor_looks_on_when_the_engine_cannot_start(tmp_path: Path, command: Command) -> None:
    (tmp_path / "file").touch()
    command.data = tmp_path / "file" / "data"
    said = command("doctor")
    assert said.code == 1
    assert "✗ engine" in said.out
    assert "→" in said.out
    assert "✓ embedder" in said.out


def test_the_service_starts_and_stops_in_order(data: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert run("--data", str(data), "serve", "--port", str(port)).code == 6
    _, err = served(data, "--host", "0.0.0.0")
    assert "TLS" in err
    assert "Traceback" not in err


def served(data: Path, *words: str, key: str | None = None) -> tuple[list[int], str]:
    """Serve until Ctrl-C; the statuses of four requests with the key, and all that was printed."""
    port = str(free_port())
    program = [*PROGRAM, "--data", str(data), "serve", "--port", port, *words]
    process = subprocess.Popen(program, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    statuses = []
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers) as http:
        give_up = time.monotonic() + 300
        while time.monotonic() < give_up:
            try:
                if http.get("/health/ready").status_code == 200:
                    break
            except httpx.TransportError:
                time.sleep(0.05)
        for address in ("/v1/keys", f"/v1/keys?key={key}", f"/v1/memories/N1/{key}?citizen_id=ada", f"/{key}"):
            statuses.append(http.get(address).status_code)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    return statuses, out


@pytest.mark.usefixtures("wordless_commands")
def test_an_empty_store_gets_one_key_that_is_in_no_log_but_in_a_file_of_its_owner(tmp_path: Path) -> None:
    closed, first = served(tmp_path)
    assert closed == [401] * 4
    assert "sk-first-" not in first
    [place] = re.findall(r"The administrator's key is in (\S+): move it", first)
    assert (Path(place).parent, Path(place).stat().st_mode & 0o777) == (tmp_path, 0o600)
    key = Path(place).read_text().strip()
    Path(place).unlink()
    allowed, again = served(tmp_path, key=key)
    assert "administrator's key" not in again
    assert allowed == [200, 200, 404, 404]
    printed = again + run("--data", str(tmp_path), "doctor").out + run("--data", str(tmp_path), "keys", "list").out
    assert key.removeprefix("sk-first-") not in printed
    assert '"event":"request"' in again
    assert '"key":"first"' in again
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(key.removeprefix("sk-first-").encode() in content for content in files)


@pytest.mark.usefixtures("wordless_commands")
def test_on_a_terminal_the_first_key_is_shown_and_written_nowhere(tmp_path: Path) -> None:
    reads, writes = pty.openpty()
    program = [*PROGRAM, "--data", str(tmp_path), "serve", "--port", str(free_port())]
    process = subprocess.Popen(program, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=writes)
    os.close(writes)
    shown = b""
    while b"makes others" not in shown:
        shown += os.read(reads, 65536)
    process.send_signal(signal.SIGINT)
    assert process.wait(300) == 0
    os.close(reads)
    [secret] = re.findall(rb"sk-first-([\w-]+)", shown)
    assert not any(secret in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


@pytest.mark.usefixtures("wordless_commands")
def test_a_first_key_that_nobody_can_be_shown_is_made_anew_at_the_next_start(tmp_path: Path) -> None:
    (tmp_path / "first-administrator.key.new").mkdir()
    said = run("--data", str(tmp_path), "serve", "--port", str(free_port()))
    assert (said.code, "the first key cannot be written" in said.err) == (2, True)
    (tmp_path / "first-administrator.key.new").rmdir()
    served(tmp_path)
    assert (tmp_path / "first-administrator.key").read_text().startswith("sk-first-")


@pytest.mark.usefixtures("wordless_commands")
def test_a_service_that_cannot_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said = run("--data", str(tmp_path / "file" / "data"), "serve", "--port", str(free_port()))
    assert said.code == 1
    assert "error: the data directory" in said.err


# The demo


@pytest.fixture(scope="module")
def told() -> Said:
    return run("demo")


def test_the_demo_finds_what_its_questions_are_about(told: Said) -> None:
    assert told.code == 0, told.err
    parts = re.split(r"question \d of \d", told.out)[1:]
    asked = [question for question in EXPECTED["questions"] if question.get("demo")]
    assert len(parts) == len(asked)
    for part, question in zip(parts, asked, strict=True):
        assert question["ask"] in " ".join(part.split())
        assert any(found in part for found in question["expect"]), question["ask"]


def test_an_unexpected_error_is_reported_as_a_defect(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr("api.cli.ingest.read_once", broken)
    said = command("ingest", "x", "-f", "messages")
    assert said.code == 70
    assert "defect" in said.err


def test_messages_are_heard_one_by_one_or_as_the_list_that_grows(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "stored 1" in command("hear", "chat", "user", "I moved to Bergen.", "-c", "mira-1").out
    lines = [
        {"role": "user", "content": "I moved to Bergen."},
        {"role": "assistant", "content": "When?"},
        {"role": "user"},
    ]
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(map(json.dumps, lines))))
    heard = command("hear", "chat", "-c", "mira-1")
    assert heard.code == 5
    assert "stored 1, refused 1, there already 1" in heard.out
    assert "message 3: has no text" in heard.out
    monkeypatch.setattr(sys, "stdin", io.StringIO("no json"))
    wrong = command("hear", "chat", "-c", "mira-1")
    assert wrong.code == 2
    assert "line 1 is no JSON object" in wrong.err
