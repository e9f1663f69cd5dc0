"""What sharing adds to the core."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from orchestration.feature import Feature
from orchestration.features.sharing import flow
from orchestration.features.sharing.flow import contests_shown
from orchestration.features.sharing.values import Shared
from schemas.operation import Asked, Called, May, Need, Operation, group, record_may


def _share_needs(asked: Asked) -> Iterable[Need]:
    """A copy shows the others what only readers of the original could see."""
    share = asked.request
    yield Need("write", share.citizen_id)
    yield Need("read", share.citizen_id, share.stands_in)
    yield Need("write", share.citizen_id, share.goes_to)


def _contest_needs(asked: Asked) -> Iterable[Need]:
    contest = asked.request
    yield Need("write", contest.citizen_id)
    yield Need("read", contest.citizen_id, contest.graph_key)
    yield Need("write", contest.citizen_id, contest.graph_key)


SHARES: Final = May(
    "citizen:ID:write, read where it stands, LEVEL:write where it goes", _share_needs, first="write"
)
CONTESTS: Final = May(
    "citizen:ID:write; LEVEL:read and :write, or of the collective", _contest_needs, first="write"
)
READS: Final = May("LEVEL:read", lambda asked: [Need("read", None, asked.request.graph_key)])

OPERATIONS: Final = group(
    "sharing",
    Operation("get_agreement", "GET /v1/memories/{level}/{memory_id:path}/agreement",
              "See how far citizens agree on a memory", record_may("read", "LEVEL:read"), flow.read_agreement,
              call=Called("agreement", "How far the citizens agree on a shared memory: who holds it, who has a "
                          "copy, who contests it.")),
    Operation("share_memory", "POST /v1/share", "Share a memory with others", SHARES, flow.share,
              gives=Shared,
              call=Called("share", "Copy a memory with its links to N2 or N3; sent again, it brings the copy up "
                          "to date.")),
    Operation("contest_memory", "POST /v1/contests", "Contest a shared memory", CONTESTS, flow.contest,
              call=Called("contest", "Say that a shared memory of another is wrong, and why; sent again, it "
                          "changes the reason.")),
    Operation("withdraw_contest", "POST /v1/contests/withdraw", "Take a contest back",
              CONTESTS, flow.withdraw, call=Called(says="Take a contest back from now on.")),
    Operation("list_contested", "GET /v1/contested", "List what is contested", READS, flow.list_contested,
              call=Called(says="One page of the shared memories that somebody contests, with who does and why.")),
)  # fmt: skip
FEATURE: Final = Feature("sharing", operations=OPERATIONS, sections={"contested": contests_shown})
