"""The shape lint finds each fault it knows, and nothing else."""

from __future__ import annotations

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


def test_the_packages_are_clean(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0, capsys.readouterr().out
