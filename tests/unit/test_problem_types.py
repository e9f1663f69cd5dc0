"""docs/errors.md lists every type of problem that an answer can have, with its status, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from api.problems import slugs

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"


def test_every_type_of_problem_is_listed_with_its_status() -> None:
    rows = re.findall(r"^\| `/problems/([a-z-]+)` \| (?:other )?(\w+) \|", PAGE.read_text(), re.MULTILINE)
    listed = {slug: 400 if status == "4xx" else int(status) for slug, status in rows}
    assert listed == slugs()
    assert len(rows) == len(listed)
