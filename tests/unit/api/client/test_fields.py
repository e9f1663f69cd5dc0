"""The fields that the clients take by name are those of the values that they stand for, under all their names."""

from __future__ import annotations

from typing import Any

import pytest

from api.client import citizen_calls, fields, mind_calls, upkeep_calls
from api.request_parsing.addresses import MomentRequest
from api.request_parsing.pagination import HistoryRequest, LinkListRequest, MemoryListRequest
from orchestration.features.association.values import TagWalk
from orchestration.features.identity.values import Between, LearningPage, WhoIs
from orchestration.features.rules.values import RulesCheck, RulesPage
from orchestration.features.shape.values import Look
from orchestration.features.withholding.values import QuarantineRequest, SetPolicy
from schemas import commands
from schemas.base import Request
from schemas.field_names import ALIASES, FieldNames
from schemas.intention import RetrievalIntention, StateBasedRetrieval
from schemas.keys import KeyChange, KeyRequest
from schemas.mind.state import StateAsOf, StateChange
from schemas.paging import Paged
from schemas.upkeep import RepairRequest, SweepRequest
from schemas.upkeep.runs import OwnUpkeep, RunRequest
from schemas.wave_signal import Resonate

IN_PATH = frozenset(("level",))
PAIRS: list[tuple[Any, type[Request]]] = [
    (fields.RetrieveFields, RetrievalIntention), (fields.WakeFields, StateBasedRetrieval),
    (fields.ResonateFields, Resonate), (fields.AssociateFields, TagWalk), (fields.IdentityFields, WhoIs),
    (fields.RememberFields, commands.Remember), (fields.SupersedeFields, commands.Supersede),
    (fields.CorrectFields, commands.Correct), (fields.EndFields, commands.Retract),
    (fields.EndFields, commands.Unrelate), (fields.ResolveFields, commands.Resolve),
    (fields.ResolveFields, commands.ResolveLink), (fields.UndoFields, commands.Undo),
    (fields.UndoFields, commands.UndoLink), (fields.RelateFields, commands.Relate),
    (fields.SupersedeLinkFields, commands.SupersedeLink), (fields.CorrectLinkFields, commands.CorrectLink),
    (fields.EraseMemoryFields, commands.EraseMemory), (fields.EraseEpisodeFields, commands.EraseEpisode),
    (fields.EraseCitizenFields, commands.EraseCitizen), (fields.MemoryListFields, MemoryListRequest),
    (fields.LinkListFields, LinkListRequest), (fields.RecordFields, MomentRequest),
    (fields.HistoryFields, HistoryRequest), (fields.StateFields, StateChange), (fields.MomentFields, StateAsOf),
    (fields.PageFields, Paged), (fields.LearningFields, LearningPage), (fields.SweepFields, SweepRequest),
    (fields.RepairFields, RepairRequest), (fields.KeyFields, KeyRequest), (fields.KeyChangeFields, KeyChange),
    (citizen_calls.BetweenFields, Between), (citizen_calls.LookFields, Look),
    (mind_calls.RulesCheckFields, RulesCheck), (mind_calls.RulesFields, RulesPage),
    (upkeep_calls.RunFields, RunRequest), (upkeep_calls.OwnFields, OwnUpkeep),
    (upkeep_calls.QuarantineFields, QuarantineRequest), (upkeep_calls.PolicyFields, SetPolicy),
]  # fmt: skip


@pytest.mark.parametrize(
    ("taken", "kind"), PAIRS, ids=[f"{each[0].__name__}-{each[1].__name__}" for each in PAIRS]
)
def test_a_method_takes_the_fields_of_its_value_under_all_their_names(taken: Any, kind: type[Request]) -> None:
    names = FieldNames.of(kind.model_fields, ALIASES)
    of_value = (names.fields | names.aliases.keys()) - {"command"}
    assert taken.__annotations__.keys() - IN_PATH == of_value - IN_PATH
