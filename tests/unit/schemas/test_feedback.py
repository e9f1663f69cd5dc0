"""What a feedback may say; the rest is tested over every door."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from schemas.mind.feedback import Feedback


@pytest.mark.parametrize("step", [".", ".."])
def test_an_id_that_shortens_a_path_is_refused(step: str) -> None:
    with pytest.raises(ValidationError, match="a step in a path"):
        Feedback(query_text="where is the key?", used=("m1",), feedback_id=step)


def test_an_id_with_dots_is_kept() -> None:
    assert Feedback(query_text="where is the key?", used=("m1",), feedback_id="a..b").feedback_id == "a..b"
