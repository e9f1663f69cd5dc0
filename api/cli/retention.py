"""`substrate retention`: say how long the memories of a graph are kept."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.text import Text

from api.cli import formatting, options, support
from api.cli.quarantine import By
from orchestration.features.withholding import retention as flow
from orchestration.features.withholding.values import PoliciesAnswer, Policy, PolicyReach, SetPolicy
from schemas.collectives import GraphRequest
from schemas.errors import InvalidRequest
from schemas.settings import Settings

OPTIONS: Final = {
    **options.GRAPH,
    **options.named("source", "tag", "keep_days", "keep_newest", "age", "by", "confirm"),
    "node_type": "--type",
}

app = typer.Typer(add_completion=False)


@app.command()
def retention(  # noqa: PLR0913  (a command's arguments are its options)
    ctx: typer.Context,
    name: Annotated[str | None, typer.Argument(help="The name of a policy; without one, all are listed.")] = None,
    *,
    citizen: options.AnyCitizen = None,
    level: options.Level = "N1",
    collective: options.Collective = None,
    source: Annotated[str | None, typer.Option(help="Only what this source wrote: tool, ingestion, …")] = None,
    tag: Annotated[str | None, typer.Option(help="Only what has this tag.")] = None,
    node_type: options.NodeType = None,
    keep_days: Annotated[float | None, typer.Option(help="Keep what is younger than so many days.")] = None,
    keep_newest: Annotated[int | None, typer.Option(help="Keep so many of the newest.")] = None,
    until_resolved: Annotated[bool, typer.Option("--until-resolved", help="Keep what is not resolved.")] = False,
    age: Annotated[str, typer.Option(help="Count from when it was `written`, or `happened`.")] = "written",
    erase: Annotated[bool, typer.Option("--erase", help="Remove for good instead of retracting.")] = False,
    by: By = "citizen",
    confirm: Annotated[
        int | None, typer.Option(help="The count that it reaches, if that is more than half of the graph.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what it reaches.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the policy; what it reached stays so.")] = False,
    as_json: options.AnswerAsJson = False,
) -> None:
    """Store a policy, show what it reaches, remove it, or list all.

    The job `retention` of `substrate upkeep run` retracts what the policies do not keep; the job `erasure` removes
    what those with --erase do not keep, and runs only where it is named.
    """
    settings = support.read_settings(ctx)
    graph = {"citizen_id": citizen, **options.graph(level, collective)}
    keeps = support.drop_unset({"keep_days": keep_days, "keep_newest": keep_newest})
    if until_resolved:
        keeps["keep_until_resolved"] = True
    if name is None:
        if keeps or remove:
            raise InvalidRequest(
                "a policy needs a name", remedy="Example: substrate retention news --keep-days 30."
            )
        choice = support.validate(GraphRequest, graph, OPTIONS)
        policies = support.in_store(settings, lambda deps, _: flow.list_policies(choice, deps), choice)
        support.print_answer(policies, _show_all, as_json=as_json)
        return
    if not keeps:
        choice = support.validate(GraphRequest, graph, OPTIONS)
        _show_or_remove(settings, name, choice, remove=remove, as_json=as_json)
        return
    chosen = support.drop_unset({"source": source, "tag": tag, "node_type": node_type, "confirm": confirm})
    fields: dict[str, Any] = {**graph, **keeps, **chosen, "age": age, "by": by, "dry_run": dry_run}
    policy = support.validate(SetPolicy, {**fields, "action": "erase" if erase else "retract"}, OPTIONS)
    support.validate(Policy, {"name": name, "rule": policy.rule()}, {"name": "NAME"})
    reach = support.in_store(settings, lambda deps, now: flow.set_policy(name, policy, deps, now), policy)
    support.print_answer(reach, _show_reach, as_json=as_json)


def _show_or_remove(settings: Settings, name: str, choice: GraphRequest, *, remove: bool, as_json: bool) -> None:
    if remove:
        removed = support.in_store(settings, lambda deps, _: flow.remove_policy(name, choice, deps), choice)
        support.print_answer(removed, _show_removed, as_json=as_json)
    else:
        reach = support.in_store(settings, lambda deps, now: flow.show_policy(name, choice, deps, now), choice)
        support.print_answer(reach, _show_reach, as_json=as_json)


def _show_all(answer: PoliciesAnswer, console: Console) -> None:
    for policy in answer.policies:
        console.print(Text(_describe(policy)), soft_wrap=True)
    if not answer.policies:
        support.messages().print(Text("no policies: everything is kept", "bright_black"))


def _show_removed(policy: Policy, console: Console) -> None:
    console.print(Text(f"removed {_describe(policy)}"), soft_wrap=True)


def _show_reach(reach: PolicyReach, console: Console) -> None:
    console.print(Text(_describe(reach.policy)), soft_wrap=True)
    counts = f"reaches {reach.reached:,} of {reach.total:,} memories"
    console.print(Text(f"  {counts}{'' if reach.stored else '; nothing was stored'}"))
    for memory in reach.shown:
        console.print(Text(f"  {formatting.to_line(memory.id)} {formatting.to_line(memory.name)}"), soft_wrap=True)
    if reach.asks:
        console.print(Text(f"  more than half of them: --confirm {reach.reached} says that you mean it", "yellow"))


def _describe(policy: Policy) -> str:
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
