"""The shape lint finds each fault it knows, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.shape_lint import find_faults, main

NESTED = "a comprehension inside a comprehension; name the inner one"
TWO_LOOPS = "two `for`s with a condition in one comprehension; write a loop or name a part"


@pytest.mark.parametrize(
    ("source", "faults"),
    [
        ("[x for x in [y for y in z]]", [(1, NESTED)]),
        ("{k: {v for v in w} for k, w in z}", [(1, NESTED)]),
        ("sum(len([y for y in x]) for x in z)", [(1, NESTED)]),
        ("[y for x in z for y in x if y]", [(1, TWO_LOOPS)]),
        ("[y for x in z if x for y in x]", [(1, TWO_LOOPS)]),
        ("def f(a, b, c, d, e): ...", [(1, "`f` has 5 positional parameters; 4 at most")]),
        ("async def f(a, b, /, c, d, e): ...", [(1, "`f` has 5 positional parameters; 4 at most")]),
        ("class A:\n    def f(self, a, b, c, d, e): ...", [(2, "`f` has 5 positional parameters; 4 at most")]),
        (
            "def f(a: tuple[int, str]): ...",
            [(1, "parameter `a` is a tuple of unlike things; give the parts names")],
        ),
        (
            "def f(*, a: tuple[int, str]): ...",
            [(1, "parameter `a` is a tuple of unlike things; give the parts names")],
        ),
    ],
)
def test_every_fault_is_found_at_its_line(source: str, faults: list[tuple[int, str]]) -> None:
    assert list(find_faults(source)) == faults


@pytest.mark.parametrize(
    "source",
    [
        "[x for x in z if x]",
        "[y for x in z for y in x]",
        "a = [x for x in z]\nb = [y for y in a]",
        "class A:\n    def f(self, a, b, c, d): ...",
        "class A:\n    @classmethod\n    def f(cls, a, b, c, d): ...",
        "def f(a, b, c, d, *, e, f): ...",
        "@app.command()\ndef f(a, b, c, d, e): ...",
        "def f(a: tuple[int, ...], b: tuple[int, int], c: dict[int, str]): ...",
    ],
)
def test_plain_shapes_pass(source: str) -> None:
    assert not list(find_faults(source))


def test_each_finding_is_a_line_and_the_exit_code_says_whether_there_is_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clean, faulty = tmp_path / "clean.py", tmp_path / "faulty.py"
    clean.write_text("x = 1\n")
    faulty.write_text("\n[y for x in z for y in x if y]\n")
    assert main([str(clean)]) == 0
    assert main([str(clean), str(faulty)]) == 1
    assert capsys.readouterr().out == f"{faulty}:2: {TWO_LOOPS}\n"


def test_the_packages_are_clean(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0, capsys.readouterr().out
