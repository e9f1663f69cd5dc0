"""`substrate quarantine`: hide what came from a distrusted source, list it, release it, or make it final."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from api.cli import bind, formatting, options, support
from orchestration.dependencies import Deps
from orchestration.features.withholding import feature as policies_flow
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
from schemas.settings import Settings
from schemas.temporal import Instant
from substrate.language.text import count_of

By = Annotated[str, typer.Option(metavar="SOURCE", help="The source that orders it; more trust reaches more.")]

app = typer.Typer(add_completion=False)


class _Quarantine(bind.OfGraph):
    source: Annotated[str | None, typer.Option(help="What this source wrote: tool, ingestion, …")] = None
    episode_id: Annotated[
        str | None, typer.Option("--episode", metavar="ID", help="What came from this conversation.")
    ] = None
    key_id: Annotated[str | None, typer.Option("--key", metavar="ID", help="What was written with this key.")] = (
        None
    )
    speaker: Annotated[str | None, typer.Option(help="What this speaker said.")] = None
    tag: Annotated[str | None, typer.Option(help="What has this tag.")] = None
    since: Annotated[str | None, typer.Option(metavar="TIME", help="What was written from then on.")] = None
    until: Annotated[str | None, typer.Option(metavar="TIME", help="What was written before.")] = None
    note: Annotated[str | None, typer.Option(help="A reason, for the list.")] = None
    by: By = "citizen"
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would be hidden.")] = False
    show: Annotated[str | None, typer.Option(metavar="ID", help="Show a quarantine.")] = None
    release: Annotated[str | None, typer.Option(metavar="ID", help="Bring back what it hid.")] = None
    retract: Annotated[str | None, typer.Option(metavar="ID", help="Make it final.")] = None
    as_json: options.AnswerAsJson = False


@bind.command(app, _Quarantine)
def quarantine(given: _Quarantine) -> None:
    """Hide what came from a source, and what follows from it; without a choice, list the quarantines.

    All that is given must fit. Hidden memories stand in no answer about now; --release brings them back.
    """
    settings = support.read_settings(given.ctx)
    chooses = not given.fields().keys().isdisjoint(SELECTS)
    named = [each for each in (given.show, given.release, given.retract) if each is not None]
    if len(named) + chooses > 1:
        raise InvalidRequest(f"--show, --release, --retract and a choice ({', '.join(SELECTS)}): give one of them")
    if chooses:
        request = given.request(QuarantineRequest)
        answer = support.in_store(settings, lambda deps, now: flow.quarantine(request, deps, now), request)
        support.print_answer(answer, _show, as_json=given.as_json)
        return
    change = given.request(QuarantineChange)
    if not named:
        _list(settings, change, as_json=given.as_json)
        return
    answer = support.in_store(settings, _action(change, given.show, given.release, given.retract), change)
    support.print_answer(answer, _show, as_json=given.as_json)


type _Flow = Callable[[Deps, Instant], Awaitable[Quarantine]]


def _action(change: QuarantineChange, show: str | None, release: str | None, retract: str | None) -> _Flow:
    if show is not None:
        return lambda deps, _: flow.read_quarantine(show, change, deps)
    if release is not None:
        return lambda deps, now: flow.release(release, change, deps, now)
    return lambda deps, now: flow.retract(str(retract), change, deps, now)


def _list(settings: Settings, request: GraphRequest, *, as_json: bool) -> None:
    found = support.in_store(settings, lambda deps, _: flow.list_quarantines(request, deps), request).quarantines
    for each in found:
        support.print_answer(each, _show, as_json=as_json)
    if not found and not as_json:
        support.messages().print(Text("nothing was quarantined", "bright_black"))


def _show(shown: Quarantine, console: Console) -> None:
    counts = ", ".join(
        (
            f"{count_of(shown.memories, 'memory')} and {count_of(shown.links, 'link')} hidden",
            f"{shown.taken_back:,} taken back",
            f"{count_of(shown.feedback, 'feedback')} put aside",
            f"{shown.kept:,} kept",
            f"{shown.refused:,} refused",
        )
    )
    name = shown.id or f"of {owner_of(graph_key(shown.level, shown.collective), shown.citizen_id)}"
    console.print(Text.assemble((shown.status.replace("_", " "), "bold"), f" {name}: {counts}"), soft_wrap=True)
    for thing in shown.things:
        described = f"{formatting.to_line(thing.id)} {formatting.to_line(thing.name)}".strip()
        why = thing.why.replace("_", " ")
        console.print(Text(f"  {thing.fate.replace('_', ' ')}: {described} ({why})"), soft_wrap=True)
    if shown.not_released:
        console.print(Text(f"  {shown.not_released:,} were changed since and stay as they are", "yellow"))
    if shown.status == "hidden":
        before = shown.known_before.isoformat().replace("+00:00", "Z")
        console.print(Text(f"  the present before: --known-at {before}", "bright_black"), soft_wrap=True)


class _Retention(bind.OfGraph):
    name: Annotated[str | None, typer.Argument(help="The name of a policy; without one, all are listed.")] = None
    source: Annotated[str | None, typer.Option(help="Only what this source wrote: tool, ingestion, …")] = None
    tag: Annotated[str | None, typer.Option(help="Only what has this tag.")] = None
    node_type: options.NodeType = None
    keep_days: Annotated[float | None, typer.Option(help="Keep what is younger than so many days.")] = None
    keep_newest: Annotated[int | None, typer.Option(help="Keep so many of the newest.")] = None
    keep_until_resolved: Annotated[bool, typer.Option("--until-resolved", help="Keep what is not resolved.")] = (
        False
    )
    age: Annotated[str, typer.Option(help="Count from when it was `written`, or `happened`.")] = "written"
    erase: Annotated[bool, typer.Option("--erase", help="Remove for good instead of retracting.")] = False
    by: By = "citizen"
    confirm: Annotated[
        int | None, typer.Option(help="The count that it reaches, if that is more than half of the graph.")
    ] = None
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what it reaches.")] = False
    remove: Annotated[bool, typer.Option("--remove", help="Remove the policy; what it reached stays so.")] = False
    as_json: options.AnswerAsJson = False


@bind.command(app, _Retention)
def retention(given: _Retention) -> None:
    """Store a policy, show what it reaches, remove it, or list all.

    The job `retention` of `substrate upkeep run` retracts what the policies do not keep; the job `erasure` removes
    what those with --erase do not keep, and runs only where it is named.
    """
    settings, name = support.read_settings(given.ctx), given.name
    keeps = not given.fields().keys().isdisjoint(KEEPS)
    if name is None:
        if keeps or given.remove:
            raise InvalidRequest(
                "a policy needs a name", remedy="Example: substrate retention news --keep-days 30."
            )
        choice = given.request(GraphRequest)
        policies = support.in_store(settings, lambda deps, _: policies_flow.list_policies(choice, deps), choice)
        support.print_answer(policies, _show_policies, as_json=given.as_json)
        return
    if not keeps:
        choice = given.request(GraphRequest)
        _show_or_remove(settings, name, choice, remove=given.remove, as_json=given.as_json)
        return
    policy = given.request(SetPolicy, action="erase" if given.erase else "retract")
    support.validate(Policy, {"name": name, "rule": policy.rule()}, {"name": "NAME"})
    reach = support.in_store(settings, lambda deps, now: policies_flow.set_policy(name, policy, deps, now), policy)
    support.print_answer(reach, _show_reach, as_json=given.as_json)


def _show_or_remove(settings: Settings, name: str, choice: GraphRequest, *, remove: bool, as_json: bool) -> None:
    if remove:
        removed = support.in_store(
            settings, lambda deps, _: policies_flow.remove_policy(name, choice, deps), choice
        )
        support.print_answer(removed, _show_removed_policy, as_json=as_json)
    else:
        reach = support.in_store(
            settings, lambda deps, now: policies_flow.show_policy(name, choice, deps, now), choice
        )
        support.print_answer(reach, _show_reach, as_json=as_json)


def _show_policies(answer: PoliciesAnswer, console: Console) -> None:
    for policy in answer.policies:
        console.print(Text(_describe_policy(policy)), soft_wrap=True)
    if not answer.policies:
        support.messages().print(Text("no policies: everything is kept", "bright_black"))


def _show_removed_policy(policy: Policy, console: Console) -> None:
    console.print(Text(f"removed {_describe_policy(policy)}"), soft_wrap=True)


def _show_reach(reach: PolicyReach, console: Console) -> None:
    console.print(Text(_describe_policy(reach.policy)), soft_wrap=True)
    counts = f"reaches {reach.reached:,} of {reach.total:,} memories"
    console.print(Text(f"  {counts}{'' if reach.stored else '; nothing was stored'}"))
    for memory in reach.shown:
        console.print(Text(f"  {formatting.to_line(memory.id)} {formatting.to_line(memory.name)}"), soft_wrap=True)
    if reach.asks:
        console.print(Text(f"  more than half of them: --confirm {reach.reached} says that you mean it", "yellow"))


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
