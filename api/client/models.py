"""The values that the clients inside the service take and give. Written by `scripts/client.py`."""
# ruff: noqa: E501, I001
# fmt: off

from orchestration.features.association.values import Associations as Associations, TagWalk as TagWalk
from orchestration.features.contexts.values import AgentLog as AgentLog, AgentNote as AgentNote, ContextReceipt as ContextReceipt, GivenEdge as GivenEdge, GivenNode as GivenNode, WriteContext as WriteContext
from orchestration.features.identity.values import Identity as Identity, IdentityDiff as IdentityDiff, LearningMoments as LearningMoments, WhoIs as WhoIs, count_again as count_again
from orchestration.features.imagination.values import Calibration as Calibration, Imagination as Imagination, Imagine as Imagine, PredictionPage as PredictionPage
from orchestration.features.life.values import Life as Life
from orchestration.features.memory_tool.feature import MemoryToolAnswer as MemoryToolAnswer, MemoryToolCall as MemoryToolCall
from orchestration.features.replay.values import Replay as Replay, StreamPage as StreamPage, StreamRecord as StreamRecord
from orchestration.features.revaluation.values import Draw as Draw, Judgement as Judgement, JudgementsAnswer as JudgementsAnswer
from orchestration.features.rules.values import RulesAnswer as RulesAnswer, RulesCheck as RulesCheck, RulesVerdict as RulesVerdict
from orchestration.features.shape.values import Look as Look, Perspectives as Perspectives
from orchestration.features.sharing.values import Agreement as Agreement, ContestRequest as ContestRequest, ContestedPage as ContestedPage, Share as Share, Shared as Shared, Withdraw as Withdraw
from orchestration.features.situation.values import GivenStimulus as GivenStimulus, Situation as Situation, SituationRequest as SituationRequest
from orchestration.features.withholding.values import PoliciesAnswer as PoliciesAnswer, Policy as Policy, PolicyReach as PolicyReach, Quarantine as Quarantine, QuarantineChange as QuarantineChange, QuarantineRequest as QuarantineRequest, QuarantinesAnswer as QuarantinesAnswer, SetPolicy as SetPolicy
from schemas.collectives import CollectivePage as CollectivePage
from schemas.commands import Correct as Correct, CorrectLink as CorrectLink, EraseCitizen as EraseCitizen, EraseEpisode as EraseEpisode, EraseMemory as EraseMemory, ErasureReport as ErasureReport, Relate as Relate, Remember as Remember, Resolve as Resolve, ResolveLink as ResolveLink, Retract as Retract, Supersede as Supersede, SupersedeLink as SupersedeLink, Undo as Undo, UndoLink as UndoLink, Unrelate as Unrelate, WriteReceipt as WriteReceipt
from schemas.intention import EmotionsMatch as EmotionsMatch, Filters as Filters, Form as Form, Part as Part, Plurality as Plurality, Prefer as Prefer, QueryMode as QueryMode, Rerank as Rerank, RetrievalIntention as RetrievalIntention, StateBasedRetrieval as StateBasedRetrieval
from schemas.keys import KeyChange as KeyChange, KeyInfo as KeyInfo, KeyList as KeyList, KeyRequest as KeyRequest, NewKey as NewKey
from schemas.memory import ConsciousnessNode as ConsciousnessNode, ConsciousnessRelationship as ConsciousnessRelationship, Level as Level, ResolutionState as ResolutionState, Source as Source, ValidationResult as ValidationResult
from schemas.mind.appetite import Appetite as Appetite, IntendRequest as IntendRequest
from schemas.mind.feedback import Feedback as Feedback, FeedbackPage as FeedbackPage, FeedbackRecord as FeedbackRecord, FeedbackTakenBack as FeedbackTakenBack, NotChanged as NotChanged
from schemas.mind.state import CitizenPage as CitizenPage, CitizenState as CitizenState, CitizenUsage as CitizenUsage, Drive as Drive, EnergySeries as EnergySeries, Sense as Sense, StateChange as StateChange, StateHistory as StateHistory
from schemas.responses import Alive as Alive, EpisodeReport as EpisodeReport, HeardReport as HeardReport, IngestReport as IngestReport, Intended as Intended, LinkHistory as LinkHistory, LinkPage as LinkPage, MemoryHistory as MemoryHistory, MemoryPage as MemoryPage, Ready as Ready, ReceiptList as ReceiptList, SentIntended as SentIntended, expand_intended as expand_intended
from schemas.stream import ConsciousnessStream as ConsciousnessStream
from schemas.stream_forms import StreamAnswer as StreamAnswer, stream_of as stream_of
from schemas.temporal import TemporalMode as TemporalMode
from schemas.upkeep.applied_changes import ChangePage as ChangePage
from schemas.upkeep.findings import ApplyCommand as ApplyCommand, CloseRecord as CloseRecord, QualityAnswer as QualityAnswer, ReEmbed as ReEmbed, RepairOutcome as RepairOutcome, RepairRequest as RepairRequest, RetractLink as RetractLink, ReviseLink as ReviseLink, SweepAnswer as SweepAnswer, SweepRequest as SweepRequest
from schemas.upkeep.offers import OfferOutcome as OfferOutcome, OfferReply as OfferReply, OffersAnswer as OffersAnswer, OffersRequest as OffersRequest
from schemas.upkeep.runs import OwnUpkeep as OwnUpkeep, Run as Run, RunRequest as RunRequest, RunsAnswer as RunsAnswer
from schemas.upkeep.webhooks import DeliveriesAnswer as DeliveriesAnswer, NewWebhook as NewWebhook, SendAgain as SendAgain, Webhook as Webhook, WebhookRequest as WebhookRequest, WebhooksAnswer as WebhooksAnswer
from schemas.wave_signal import Relation as Relation, Resonances as Resonances, Resonate as Resonate, Weights as Weights, WindowItem as WindowItem
