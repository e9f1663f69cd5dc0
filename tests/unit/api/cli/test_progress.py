"""Progress where there is no terminal."""

from __future__ import annotations

import pytest

from api.cli import support


def test_a_pipe_gets_a_line_every_few_seconds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter((0.0, 1.0, 6.0, 7.0, 12.0))
    monkeypatch.setattr("api.cli.support.time.monotonic", lambda: next(times))
    with support.progress_bar(900, "messages") as advance:
        for done in (10, 300, 400):
            advance(done, 900)
    lines = capsys.readouterr().err.split("\n")
    assert [line for line in lines if "messages" in line] == ["300 of 900 messages"]
