"""Which precision a machine runs: by trial, which is kept; by features where nothing can be kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from substrate.inference.minilm import model_file
from substrate.inference.minilm.model_file import Precision, by_features, choose, fastest


def no_trial() -> dict[Precision, float]:
    raise AssertionError("the kept choice was not used")


def test_the_fastest_is_chosen_and_the_first_where_none_is_clearly_faster() -> None:
    assert fastest({"int8": 20.0, "u8s8": 10.0}) == "u8s8"
    assert fastest({"int8": 10.0, "u8s8": 20.0}) == "int8"
    assert fastest({"int8": 10.0, "u8s8": 9.5}) == "int8"


def test_a_choice_is_kept_and_says_how_it_was_made(tmp_path: Path) -> None:
    made = choose(tmp_path / "new", "1.0", lambda: {"int8": 20.0, "u8s8": 10.0})
    assert str(made) == "u8s8, chosen by trial on this machine (int8 20.0 ms, u8s8 10.0 ms a text)"
    assert choose(tmp_path / "new", "1.0", no_trial) == made


def test_another_processor_makes_its_own_trial_in_the_same_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert choose(tmp_path, "1.0", lambda: {"int8": 20.0, "u8s8": 10.0}).precision == "u8s8"
    facts = tmp_path / "cpuinfo"
    facts.write_text("processor: 0\nmodel name: another\nflags: avx2 avx512_vnni\ncpu MHz: 1\n\nprocessor: 1\n")
    monkeypatch.setattr(model_file, "CPU_FACTS", facts)
    assert choose(tmp_path, "1.0", lambda: {"int8": 5.0, "u8s8": 6.0}).precision == "int8"
    facts.write_text(facts.read_text().replace("cpu MHz: 1", "cpu MHz: 2"))
    assert choose(tmp_path, "1.0", no_trial).precision == "int8"


@pytest.mark.parametrize("damage", ["", "{}", "[]", "null", '{"precision": "fp64", "milliseconds": {}}'])
def test_a_damaged_choice_is_made_again(tmp_path: Path, damage: str) -> None:
    choose(tmp_path, "1.0", lambda: {"int8": 20.0, "u8s8": 10.0})
    [kept] = tmp_path.iterdir()
    kept.write_text(damage)
    assert choose(tmp_path, "1.0", lambda: {"int8": 10.0, "u8s8": 20.0}).precision == "int8"
    assert [path.name for path in tmp_path.iterdir()] == [kept.name]


def test_where_nothing_can_be_kept_the_features_decide(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    made = choose(tmp_path / "file", "1.0", no_trial)
    assert made.precision in model_file.CANDIDATES
    assert str(made).endswith("chosen by the processor's features")


def test_byte_sums_in_one_instruction_are_what_int8_needs() -> None:
    assert by_features("flags: fma avx2 bmi2") == "u8s8"
    assert by_features("flags: fma avx2 avx512_vnni") == "int8"
    assert by_features("flags: fma avx2 avx_vnni") == "int8"
    assert by_features("Features: fp asimd asimddp") == "int8"
    assert by_features("") == "int8"
