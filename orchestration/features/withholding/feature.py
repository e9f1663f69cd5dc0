"""What withholding adds to the core."""

from __future__ import annotations

from typing import Final

from orchestration.feature import Feature
from orchestration.features.withholding import quarantine, retention
from orchestration.features.withholding.retention import ErasureJob, RetentionJob
from schemas.operation import Called, Operation, graph_may, group
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
              CHANGES, quarantine.quarantine,
              call=Called(says="Hide what came from a source, an episode or a key, and what follows from it; "
                               "`dry_run` only lists it.", once=True)),
    Operation("list_quarantines", "GET /v1/upkeep/quarantine", "List quarantines",
              READS, quarantine.list_quarantines),
    Operation("get_quarantine", "GET /v1/upkeep/quarantine/{quarantine_id}", "Read a quarantine",
              READS, quarantine.read_quarantine),
    Operation("release_quarantine", "POST /v1/upkeep/quarantine/{quarantine_id}/release",
              "Bring back what a quarantine hid", CHANGES, quarantine.release,
              call=Called(says="Bring back everything that it hid, but what was changed since.")),
    Operation("retract_quarantine", "POST /v1/upkeep/quarantine/{quarantine_id}/retract",
              "Make a quarantine final", CHANGES, quarantine.retract,
              call=Called(says="Make it final: what it hid stays retracted.")),
)  # fmt: skip
POLICIES: Final = group(
    "upkeep",
    Operation("list_policies", "GET /v1/upkeep/policies", "List policies of retention",
              READS, retention.list_policies, call=Called(says="The policies of retention of a graph, by name.")),
    Operation("get_policy", "GET /v1/upkeep/policies/{name}", "Read a policy and what it reaches",
              READS, retention.show_policy),
    Operation("set_policy", "PUT /v1/upkeep/policies/{name}", "Say how long memories are kept",
              CHANGES, retention.set_policy,
              call=Called(says="Store a policy, or with `dry_run` count what it reaches.\n\nRaises Conflict when "
                               "it reaches more than half of the graph and `confirm` is not that count.")),
    Operation("remove_policy", "DELETE /v1/upkeep/policies/{name}", "Remove a policy of retention",
              REMOVES, retention.remove_policy, call=Called(once=True)),
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
