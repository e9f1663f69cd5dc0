"""`substrate quarantine`: hide what came from a distrusted source, list it, release it, or make it final."""

from __future__ import annotations

from typing import Final

from rich.text import Text

from api.cli import formatting, options, support
from api.cli.program import argument, option
from orchestration.features.withholding import feature as policies
from orchestration.features.withholding import quarantine as flow
from orchestration.features.withholding.values import (
    KEEPS,
    SELECTS,
    PoliciesAnswer,
    Policy,
    PolicyReach,
    Quarantine,
    QuarantineChange,
    QuarantineRequest,
    SetPolicy,
)
from schemas.collectives import GraphRequest, owner_of
from schemas.errors import InvalidRequest
from schemas.memory import graph_key
from substrate.language.text import count_of

BY: Final = option("--by SOURCE", "The source that orders it; more trust reaches more.", "citizen")


class QuarantineCommand(options.OfGraph, name="quarantine"):
    """Hide what came from a source, and what follows from it; without a choice, list the quarantines.

    All that is given must fit. Hidden memories stand in no answer about now; --release brings them back.
    """

    source: str | None = option("--source", "What this source wrote: tool, ingestion, …")
    episode_id: str | None = option("--episode ID", "What came from this conversation.")
    key_id: str | None = option("--key ID", "What was written with this key.")
    speaker: str | None = option("--speaker", "What this speaker said.")
    tag: str | None = option("--tag", "What has this tag.")
    since: str | None = option("--since TIME", "What was written from then on.")
    until: str | None = option("--until TIME", "What was written before.")
    note: str | None = option("--note", "A reason, for the list.")
    by: str = BY
    dry_run: bool = option("--dry-run", "Only list what would be hidden.", False)
    shown: str | None = option("--show ID", "Show a quarantine.")
    release: str | None = option("--release ID", "Bring back what it hid.")
    retract: str | None = option("--retract ID", "Make it final.")
    as_json: bool = options.ANSWER_AS_JSON

    def run(self) -> None:
        chooses = not self.fields().keys().isdisjoint(SELECTS)
        changes = ((flow.read_quarantine, self.shown), (flow.release, self.release), (flow.retract, self.retract))
        named = [(change, name) for change, name in changes if name is not None]
        if len(named) + chooses > 1:
            raise InvalidRequest(
                f"--show, --release, --retract and a choice ({', '.join(SELECTS)}): give one of them"
            )
        if chooses:
            request = self.request(QuarantineRequest)
            self.show(self.answer(flow.quarantine, request, of=request), _show)
            return
        choice = self.request(QuarantineChange)
        for change, name in named:
            self.show(self.answer(change, name, choice, of=choice), _show)
        if named:
            return
        found = self.answer(flow.list_quarantines, choice, of=choice).quarantines
        for each in found:
            self.show(each, _show)
        if not found and not self.as_json:
            support.remark("nothing was quarantined")


def _show(shown: Quarantine, page: support.Sheet) -> None:
    counts = (
        f"{count_of(shown.memories, 'memory')} and {count_of(shown.links, 'link')} hidden, "
        f"{shown.taken_back:,} taken back, {count_of(shown.feedback, 'feedback')} put aside, "
        f"{shown.kept:,} kept, {shown.refused:,} refused"
    )
    name = shown.id or f"of {owner_of(graph_key(shown.level, shown.collective), shown.citizen_id)}"
    page.say(Text.assemble((shown.status.replace("_", " "), "bold"), f" {name}: {counts}"))
    for thing in shown.things:
        described = f"{formatting.to_line(thing.id)} {formatting.to_line(thing.name)}".strip()
        why = thing.why.replace("_", " ")
        page.say(f"  {thing.fate.replace('_', ' ')}: {described} ({why})")
    if shown.not_released:
        page.fold(f"  {shown.not_released:,} were changed since and stay as they are", "yellow")
    if shown.status == "hidden":
        before = shown.known_before.isoformat().replace("+00:00", "Z")
        page.say(f"  the present before: --known-at {before}", "bright_black")


class RetentionCommand(options.OfGraph, name="retention"):
    """Store a policy, show what it reaches, remove it, or list all.

    The job `retention` of `substrate upkeep run` retracts what the policies do not keep; the job `erasure` removes
    what those with --erase do not keep, and runs only where it is named.
    """

    name: str | None = argument(None, "The name of a policy; without one, all are listed.", None)
    source: str | None = option("--source", "Only what this source wrote: tool, ingestion, …")
    tag: str | None = option("--tag", "Only what has this tag.")
    node_type: str | None = options.NODE_TYPE
    keep_days: float | None = option("--keep-days", "Keep what is younger than so many days.")
    keep_newest: int | None = option("--keep-newest", "Keep so many of the newest.")
    keep_until_resolved: bool = option("--until-resolved", "Keep what is not resolved.", False)
    age: str = option("--age", "Count from when it was `written`, or `happened`.", "written")
    erase: bool = option("--erase", "Remove for good instead of retracting.", False)
    by: str = BY
    confirm: int | None = option("--confirm", "The count that it reaches, if that is more than half of the graph.")
    dry_run: bool = option("--dry-run", "Only count what it reaches.", False)
    remove: bool = option("--remove", "Remove the policy; what it reached stays so.", False)
    as_json: bool = options.ANSWER_AS_JSON

    def run(self) -> None:
        name, keeps = self.name, not self.fields().keys().isdisjoint(KEEPS)
        if name is None and (keeps or self.remove):
            raise InvalidRequest(
                "a policy needs a name", remedy="Example: substrate retention news --keep-days 30."
            )
        if keeps:
            policy = self.request(SetPolicy, action="erase" if self.erase else "retract")
            support.validate(Policy, {"name": name, "rule": policy.rule()}, {"name": "NAME"})
            self.show(self.answer(policies.set_policy, name, policy, of=policy), _show_reach)
            return
        choice = self.request(GraphRequest)
        if name is None:
            self.show(self.answer(policies.list_policies, choice, of=choice), _show_policies)
        elif self.remove:
            removed = self.answer(policies.remove_policy, name, choice, of=choice)
            self.show(removed, lambda policy, page: page.say(f"removed {_describe_policy(policy)}"))
        else:
            self.show(self.answer(policies.show_policy, name, choice, of=choice), _show_reach)


def _show_policies(answer: PoliciesAnswer, page: support.Sheet) -> None:
    for policy in answer.policies:
        page.say(_describe_policy(policy))
    if not answer.policies:
        support.remark("no policies: everything is kept")


def _show_reach(reach: PolicyReach, page: support.Sheet) -> None:
    page.say(_describe_policy(reach.policy))
    counts = f"reaches {reach.reached:,} of {reach.total:,} memories"
    page.fold(f"  {counts}{'' if reach.stored else '; nothing was stored'}")
    for memory in reach.shown:
        page.say(f"  {formatting.to_line(memory.id)} {formatting.to_line(memory.name)}")
    if reach.asks:
        page.fold(f"  more than half of them: --confirm {reach.reached} says that you mean it", "yellow")


def _describe_policy(policy: Policy) -> str:
    """A policy in words, such as "news: of source tool keep 30 days; else retract"."""
    rule = policy.rule
    about = [f"of source {rule.source}"] if rule.source else []
    about += [f"with tag {rule.tag}"] if rule.tag else []
    about += [f"of type {rule.node_type}"] if rule.node_type else []
    kept = [f"{rule.keep_days:g} days since {rule.age}"] if rule.keep_days is not None else []
    kept += [f"the {rule.keep_newest:,} newest"] if rule.keep_newest is not None else []
    kept += ["what is not resolved"] if rule.keep_until_resolved else []
    words = " ".join((*about, "keep", " or ".join(kept)))
    return f"{formatting.to_line(policy.name)}: {words}; else {rule.action}"
