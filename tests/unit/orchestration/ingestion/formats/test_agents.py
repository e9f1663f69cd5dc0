"""The sessions of agents: what a person said, what the model said, and what tools were asked and gave."""

from __future__ import annotations

import json

from orchestration.ingestion.formats import parse_readable
from orchestration.ingestion.formats.agents import MOST_OUTPUT
from orchestration.ingestion.formats.files import make_file
from orchestration.ingestion.formats.reader import FileSet
from tests.unit.orchestration.ingestion.formats.exports import (
    EXPORTS,
    counted,
    episodes,
    lines,
    read_all,
    read_raw,
    turns,
)

AGENTS = EXPORTS / "agents"
CLAUDE = (AGENTS / "claude_code.jsonl").read_bytes()


def said(name: str) -> list[str]:
    return lines(read_raw(name, (AGENTS / name).read_bytes()))


def test_a_session_of_claude_code_keeps_words_and_tools_apart() -> None:
    parsed = read_raw("claude_code.jsonl", CLAUDE)
    assert lines(parsed) == [
        "user: The tide gauge in Husum reports in centimetres. Fix the reader.",
        "assistant: I look at the reader.",
        'tool: Bash: {"command": "pytest -q tests/test_gauge.py", "description": "Run the tests"}',
        "tool: E   assert 412 == 4.12\n1 failed in 0.31s",
        "assistant: The reader now divides by one hundred.",
        "user: Good. We release on Thursdays only.",
    ]
    [episode] = episodes(parsed)
    assert (episode.id, episode.title) == ("session-3f6c2b1e-7a40-4f0e-9d55-1b2c3d4e5f60", "tidewatch")
    call, result = turns(parsed)[2:4]
    assert (call.extra["kind"], result.extra["kind"], result.extra["tool"]) == ("call", "result", "Bash")
    assert counted(parsed) == {
        "notes of the program": 3,
        "what the host added": 2,
        "messages between agents": 1,
        "messages without text": 1,
        "thoughts, images and marks": 2,
    }


def test_a_line_that_is_being_written_is_no_fault_and_a_broken_line_is_one() -> None:
    half = CLAUDE.splitlines(keepends=True)[3][:200]
    parsed = read_raw("a.jsonl", CLAUDE + half)
    assert (len(lines(parsed)), parsed.faults) == (6, ())
    assert counted(parsed)["a last line that is not whole yet"] == 1
    parsed = read_raw("a.jsonl", half + b"\n" + CLAUDE)
    assert parsed.faults == ("a.jsonl, line 1: is not JSON",)
    parsed = read_raw("a.jsonl", CLAUDE + half + b"\n" + CLAUDE[-1:])
    assert parsed.faults == ("a.jsonl, line 14: is not JSON",)


def test_a_megabyte_from_a_tool_is_shortened_and_its_size_is_told() -> None:
    entry = json.loads(CLAUDE.splitlines()[7])
    entry["message"]["content"][0]["content"] = [{"type": "text", "text": "begin " + "x" * (1 << 20) + " end"}]
    parsed = read_raw("a.jsonl", CLAUDE.splitlines()[3] + b"\n" + json.dumps(entry).encode() + b"\n")
    text = turns(parsed)[-1].text
    assert len(text) < MOST_OUTPUT + 100
    assert (text[:6], text[-4:], "1,046,586 characters" in text) == ("begin ", " end", True)
    assert counted(parsed)["texts of tools were shortened to 2,000 characters"] == 1


def test_memories_that_a_host_put_into_a_prompt_are_nobodys_words() -> None:
    entry = json.loads(CLAUDE.splitlines()[3])
    entry["message"]["content"] = "<system-reminder>\nShe likes tea.\n</system-reminder>\nWhat now?"
    [turn] = turns(read_raw("a.jsonl", json.dumps(entry).encode() + b"\n{}\n"))
    assert (turn.text, len(turn.extra["injected"])) == ("What now?", 1)


def test_a_session_in_which_nobody_speaks_keeps_no_other_out_and_is_no_fault() -> None:
    files = [
        make_file("p/a.jsonl", CLAUDE),
        make_file("p/b.jsonl", CLAUDE.splitlines()[0]),
        make_file("p/c.json", b'{"x": 1}'),
    ]
    intake = parse_readable(None, FileSet("projects", tuple(files), "mira"))
    assert len(lines(intake.parsed)) == 6
    assert intake.parsed.faults == ("p/c.json: its format cannot be told",)
    assert intake.unread == {"p/c.json"}


def test_a_session_that_goes_on_in_another_file_is_one_conversation() -> None:
    rows = CLAUDE.splitlines(keepends=True)
    parsed = read_all([make_file("a.jsonl", b"".join(rows[:9])), make_file("b.jsonl", b"".join(rows[4:]))])
    assert (len(episodes(parsed)), len(lines(parsed))) == (1, 6)


def test_a_rollout_of_codex_names_its_session_and_leaves_out_what_the_program_adds() -> None:
    parsed = read_raw("rollout-2026.jsonl", (AGENTS / "codex_rollout.jsonl").read_bytes())
    assert [one.id for one in episodes(parsed)] == ["codex:0196a1b2-33aa-7d10-8e44-5c6d7e8f9a0b"]
    assert [line[:40] for line in lines(parsed)] == [
        "user: The cider press counts crates twic",
        'tool: shell: {"command":["rg","crate"]}',
        'tool: {"output":"press.py:14: crates += ',
        "tool: apply_patch: *** Begin Patch\n*** E",
        "tool: Success.",
        "assistant: Each crate is counted when it",
    ]
    assert counted(parsed)["what the host added"] == 1


def test_other_sessions_and_traces() -> None:
    assert said("opencode_session.json") == [
        "user: The scale under hive seven drifts by two kilos.",
        "assistant: It drifts with the heat of noon.",
        'tool: bash: {"command": "cat scale.log"}',
        "tool: 07:00 31.2\n12:00 33.1",
    ]
    assert said("langchain_messages.json") == [
        "user: The loom needs a new reed with 40 dents.",
        'tool: order: {"part": "reed"}',
        "tool: ordered: A-77",
        "assistant: It is ordered as A-77.",
    ]
    assert said("langchain_dump.json") == ["user: The kiln is fired on Mondays.", "assistant: Mondays it is."]
    assert said("openai_agents_traces.json") == [
        "user: A table for five at the Seehof on Sunday.",
        'tool: book: {"guests":5}',
        "tool: booked, table 12",
        "assistant: Table 12 is yours.",
    ]


def test_runs_of_langsmith_repeat_what_was_said_and_it_is_kept_once() -> None:
    assert said("langsmith_runs.jsonl") == [
        "user: My violin is tuned to 415 hertz.",
        "assistant: A baroque pitch.",
        "user: Gut strings, of course.",
        "assistant: They need care.",
    ]


def test_a_line_or_an_item_is_a_conversation_of_its_own() -> None:
    parsed = read_raw("a.jsonl", (AGENTS / "conversations.jsonl").read_bytes())
    assert [(one.title, len(one.messages)) for one in episodes(parsed)] == [("Ferry", 4), ("session 1", 2)]
    whole = [json.loads(line) for line in (AGENTS / "conversations.jsonl").read_text().splitlines()]
    assert lines(read_raw("a.json", json.dumps(whole).encode())) == lines(parsed)
    assert said("sharegpt.json")[0] == "user: My bicycle is called Rosine."


def test_a_grown_conversation_without_an_id_keeps_its_own() -> None:
    talk = {"messages": [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hi."}]}
    more = {"messages": [*talk["messages"], {"role": "user", "content": "Bye."}]}
    first, later = (read_raw("a.json", json.dumps([one, one]).encode()) for one in (talk, more))
    assert [one.id for one in episodes(first)] == [one.id for one in episodes(later)]
    assert len({one.id for one in episodes(first)}) == 2
