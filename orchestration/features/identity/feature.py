"""What identity adds to the core."""

from __future__ import annotations

from typing import Final

from orchestration.feature import Feature
from orchestration.features.identity import flow, learning
from orchestration.features.identity.learning import learning_moments
from orchestration.features.identity.values import WhoIs, count_again
from schemas.operation import Called, Operation, citizen_may, group

OPERATIONS: Final = group(
    "citizens",
    Operation("get_identity", "GET /v1/citizens/{citizen_id}/identity", "Read who a citizen is",
              citizen_may("read"), flow.who,
              call=Called("identity", "Who the citizen is, or was: the entities that most of its memories point "
                          "to.", takes=WhoIs)),
    Operation("list_dissonances", "GET /v1/citizens/{citizen_id}/dissonances", "List beliefs that changed",
              citizen_may("read"), learning.learning_page, notes=True,
              call=Called("dissonances", "Every belief that changed, and how often each correction pattern "
                          "recurs.\n\nWith `limit` or `cursor` only one page; with `known_at` as it was known "
                          "then.", pages="dissonances", reads=count_again)),
    Operation("compare_identity", "GET /v1/citizens/{citizen_id}/identity/diff", "Read what changed in a citizen",
              citizen_may("read"), flow.read_identity_diff,
              call=Called("identity_diff", "What changed in the citizen between `from_time` and `to_time`, which "
                          "is now if it is left out.")),
)  # fmt: skip
FEATURE: Final = Feature("identity", operations=OPERATIONS, sections={"learning": learning_moments})
