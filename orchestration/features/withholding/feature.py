"""What withholding adds to the core."""

from __future__ import annotations

from typing import Final

from orchestration.feature import Feature
from orchestration.features.withholding import quarantine, retention
from orchestration.features.withholding.job import ErasureJob, RetentionJob
from schemas.operation import Operation, graph_may, group
from substrate.store.kept import Kept

READS: Final = graph_may("read", upkeep=True)
REMOVES: Final = graph_may("write", upkeep=True)
CHANGES: Final = graph_may(
    "write",
    "upkeep, and citizen:ID:write or LEVEL:write; citizen:ID:erase or LEVEL:erase for what erases",
    upkeep=True,
    source="by",
)

QUARANTINES: Final = group(
    "upkeep",
    Operation("quarantine", "POST /v1/upkeep/quarantine", "Hide what came from a source",
              CHANGES, quarantine.quarantine),
    Operation("list_quarantines", "GET /v1/upkeep/quarantine", "List quarantines",
              READS, quarantine.list_quarantines),
    Operation("get_quarantine", "GET /v1/upkeep/quarantine/{quarantine_id}", "Read a quarantine",
              READS, quarantine.read_quarantine),
    Operation("release_quarantine", "POST /v1/upkeep/quarantine/{quarantine_id}/release",
              "Bring back what a quarantine hid", CHANGES, quarantine.release),
    Operation("retract_quarantine", "POST /v1/upkeep/quarantine/{quarantine_id}/retract",
              "Make a quarantine final", CHANGES, quarantine.retract),
)  # fmt: skip
POLICIES: Final = group(
    "upkeep",
    Operation("list_policies", "GET /v1/upkeep/policies", "List policies of retention",
              READS, retention.list_policies),
    Operation("get_policy", "GET /v1/upkeep/policies/{name}", "Read a policy and what it reaches",
              READS, retention.show_policy),
    Operation("set_policy", "PUT /v1/upkeep/policies/{name}", "Say how long memories are kept",
              CHANGES, retention.set_policy),
    Operation("remove_policy", "DELETE /v1/upkeep/policies/{name}", "Remove a policy of retention",
              REMOVES, retention.remove_policy),
)  # fmt: skip
OPERATIONS: Final = (*QUARANTINES, *POLICIES)
FEATURE: Final = Feature(
    "withholding",
    operations=OPERATIONS,
    kept=(
        Kept("Quarantine", why="has what its writer named: a source, an episode, a tag", is_carried=True),
        Kept("RetentionPolicy", why="has what its writer named", is_carried=True),
    ),
    jobs=(RetentionJob(), ErasureJob()),
)
