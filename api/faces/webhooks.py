"""`substrate webhooks`: where the changes of a memory are sent, and what became of each message."""

from __future__ import annotations

from api.cli import formatting, options, support
from api.cli.program import argument, option
from orchestration.features.webhooks import feature as flow
from schemas.collectives import GraphRequest
from schemas.upkeep import webhooks as values


class WebhooksCommand(options.OfGraph, name="webhooks"):
    """Send each change to URL from now on; without one, list the webhooks. A running service sends."""

    url: str | None = argument("[URL]", "Such as https://example.org/hook.", None)
    commands: list[str] | None = option("--command NAME", "Only this kind, such as correct; repeat for several.")
    types: list[str] | None = option("--type", "Only memories or links of this type; repeat for several.")
    sources: list[str] | None = option("--source", "Only by this source's word; repeat for several.")
    author: str | None = option("--author ID", "Only of this author, in N2 and N3.")
    log: str | None = option("--log ID", "List the messages of a webhook.")
    status: str | None = option("--status NAME", "With --log: delivered, waiting, dead or gone.")
    again: str | None = option("--again ID", "Send the dead messages of a webhook again.")
    remove: str | None = option("--remove ID", "Remove a webhook.")
    as_json: bool = options.ANSWER_AS_JSON

    def run(self) -> None:
        choice = self.request(GraphRequest)
        if self.url is not None:
            request = self.request(values.WebhookRequest)
            self.show(self.answer(flow.create_webhook, request, of=request), self._one)
        elif self.log is not None:
            asked = self.request(values.DeliveriesRequest)
            self.show(self.answer(flow.list_deliveries, self.log, asked, of=asked), self._log)
        elif self.again is not None:
            chosen = self.request(values.SendAgain)
            self.show(self.answer(flow.send_again, self.again, chosen, of=chosen), self._log)
        elif self.remove is not None:
            self.show(self.answer(flow.remove_webhook, self.remove, choice, of=choice), self._one)
        else:
            for each in self.answer(flow.list_webhooks, choice, of=choice).webhooks:
                self.show(each, self._one)

    @staticmethod
    def _one(hook: values.Webhook, page: support.Sheet) -> None:
        page.say(f"{hook.id}  {hook.status:<6} {formatting.to_line(hook.url)}  {hook.why or ''}".rstrip())
        if isinstance(hook, values.NewWebhook):
            page.say(f"secret, shown only now: {hook.secret}", "bold")

    @staticmethod
    def _log(found: values.DeliveriesAnswer, page: support.Sheet) -> None:
        for one in found.deliveries:
            when, what = formatting.format_time(one.at), one.command or one.kind
            page.say(f"{when}  {one.status:<9} {one.attempts}  {what}  {formatting.to_line(one.answer)}  {one.id}")
