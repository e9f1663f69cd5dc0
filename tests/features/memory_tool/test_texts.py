"""The texts of the memory tool, as its documentation shows them."""

from __future__ import annotations

import pytest

from orchestration.features.memory_tool import texts
from orchestration.features.memory_tool.texts import ToolFault


@pytest.mark.parametrize(
    "path",
    ["", "/", "memories", "/etc/passwd", "/memoriesx", "/memories/../etc", "/memories/..", "/memories/./a",
     "/memories//a", "/memories/%2e%2e/a", "/memories/%252e%252e/a", "/memories/..\\a", "/memories/a\x00",
     "/memories/a/%2e%2e%2f%2e%2e%2fetc", "../memories/a", "/MEMORIES/a"],
)  # fmt: skip
def test_a_path_that_leaves_the_directory_is_refused(path: str) -> None:
    with pytest.raises(ToolFault, match="Invalid path"):
        texts.check_path(path)


def test_a_path_within_the_directory_is_kept() -> None:
    assert texts.check_path("/memories/") == texts.ROOT
    assert texts.check_path("/memories/a b/ü..md") == "/memories/a b/ü..md"


def test_a_directory_is_listed_two_levels_deep_without_hidden_items() -> None:
    sizes = {
        "/memories/a.md": 1536, "/memories/b/c.md": 3, "/memories/b/d/e.md": 2 * 1024 * 1024,
        "/memories/.git/x": 9, "/memories/node_modules/y": 9, "/other": 5,
    }  # fmt: skip
    assert texts.list_directory("/memories", sizes) == (
        "Here're the files and directories up to 2 levels deep in /memories, "
        "excluding hidden items and node_modules:\n"
        "2.0M\t/memories\n1.5K\t/memories/a.md\n2.0M\t/memories/b\n3B\t/memories/b/c.md\n2.0M\t/memories/b/d"
    )


def test_a_file_is_shown_with_numbers_and_within_a_range() -> None:
    text = "one\ntwo\nthree\n"
    shown = "Here's the content of /memories/a with line numbers:\n"
    assert texts.show_file("/memories/a", text, None) == f"{shown}     1\tone\n     2\ttwo\n     3\tthree"
    assert texts.show_file("/memories/a", text, [2, -1]) == f"{shown}     2\ttwo\n     3\tthree"
    assert texts.show_file("/memories/a", "", None) == f"{shown}     1\t"
    for wrong in ([0, 1], [3, 2], [1, 9], [-1, -1]):
        with pytest.raises(ToolFault, match="Invalid `view_range`"):
            texts.show_file("/memories/a", text, wrong)
    with pytest.raises(ToolFault, match=r"exceeds maximum line limit of 999,999 lines\."):
        texts.show_file("/memories/a", "\n" * 1_000_001, None)


def test_a_text_is_replaced_where_it_stands_once() -> None:
    edited, said = texts.replace("/memories/a", "one\ntwo\n", "two", "2\n3")
    assert edited == "one\n2\n3\n"
    assert said == "The memory file has been edited.\n     1\tone\n     2\t2\n     3\t3"
    with pytest.raises(ToolFault) as none:
        texts.replace("/memories/a", "one", "x", "")
    assert str(none.value) == "No replacement was performed, old_str `x` did not appear verbatim in /memories/a."
    with pytest.raises(ToolFault) as many:
        texts.replace("/memories/a", "o\no\n", "o", "")
    assert str(many.value) == (
        "No replacement was performed. Multiple occurrences of old_str `o` in lines: 1, 2. "
        "Please ensure it is unique"
    )


@pytest.mark.parametrize(
    ("text", "line", "added", "edited"),
    [("a\nb\n", 0, "x\n", "x\na\nb\n"), ("a\nb\n", 1, "x", "a\nx\nb\n"), ("a\nb", 2, "x\n", "a\nb\nx\n"),
     ("a", 1, "x", "a\nx"), ("", 0, "x\n", "x\n")],
)  # fmt: skip
def test_a_text_is_inserted_behind_a_line(text: str, line: int, added: str, edited: str) -> None:
    assert texts.insert("/memories/a", text, line, added) == (edited, "The file /memories/a has been edited.")


def test_a_line_that_is_not_there_takes_nothing() -> None:
    with pytest.raises(ToolFault) as fault:
        texts.insert("/memories/a", "a\nb\n", 3, "x")
    assert str(fault.value) == (
        "Error: Invalid `insert_line` parameter: 3. It should be within the range of lines of the file: [0, 2]"
    )
