"""Computes, from two scrapes, the numbers that the live page draws for one service and one moment."""

from local.live.exposition import Scrape
from local.live.quantiles import quantile

# Numbers by name. None means that the number is unknown, or that nothing happened. Times are in milliseconds, rates are
# in webhooks per second, and CPU time is in percent of one core.
Values = dict[str, float | None]
# Group commit sends up to ten webhooks in a call to SQS, and limits how many calls are in flight. The limit makes
# webhooks wait if two conditions are met. First, at least the share _LAST_SHARE of the calls began as the last call
# that the limit allowed. Second, a message waited on average at least _WAITED_SECONDS until its call began. On a FIFO
# queue, the limit is one call, so the first condition is always met, and only the second condition matters.
_LAST_SHARE, _WAITED_SECONDS = 0.9, 0.005
# Numbers of webhooks by group of outcomes, such as `rejected`, and within each group by outcome.
Totals = dict[str, dict[str, int]]

_WEBHOOKS = "invoice_webhook_webhooks_total"
_ACCEPTED = ("queued", "processed")  # v01 processes webhooks instead of queueing them
_REJECTED = "rejected"
# The series with this label and value counts webhooks without an answer. These webhooks have no response time.
_UNANSWERED = ("http_response_status_code", "")
# The group of each outcome. Other outcomes are names of refusals (see `app.web.problems`); their group is `rejected`.
_GROUPS = {**dict.fromkeys(_ACCEPTED, "queued"), **{name: name for name in ("ignored", "overloaded", "unanswered")}}


def totals(after: Scrape) -> Totals:
    """Returns the number of webhooks since the service's start, by group and outcome, without zeros."""
    found: Totals = {}
    for outcome, count in sorted(after.by(_WEBHOOKS, "outcome").items()):
        if count:
            found.setdefault(_GROUPS.get(outcome, _REJECTED), {})[outcome] = round(count)
    return found


def values(before: Scrape, after: Scrape) -> Values:
    """Returns the numbers for the time between the two scrapes, and the values of the gauges in `after`."""
    return _outcomes(before, after) | _times(before, after) | _gauges(after) | _process(before, after)


def _outcomes(before: Scrape, after: Scrape) -> Values:
    """Returns the webhooks per second in each group of outcomes."""
    seconds = after.taken - before.taken
    old, new = before.by(_WEBHOOKS, "outcome"), after.by(_WEBHOOKS, "outcome")
    rates: Values = dict.fromkeys([*_GROUPS.values(), _REJECTED], 0.0)
    for outcome, count in new.items():
        group = _GROUPS.get(outcome, _REJECTED)
        rates[group] = (rates[group] or 0.0) + max(0.0, count - old.get(outcome, 0.0)) / seconds
    return rates


def _times(before: Scrape, after: Scrape) -> Values:
    def milliseconds(name: str, share: float) -> float | None:
        old, new = (scrape.total(f"{name}_sum", _UNANSWERED) or 0.0 for scrape in (before, after))
        seconds = quantile(share, before.buckets(name, _UNANSWERED), after.buckets(name, _UNANSWERED), new - old)
        return None if seconds is None else seconds * 1000

    longest = after.total("event_loop_delay_max_seconds")
    delay = milliseconds("event_loop_delay_seconds", 0.99)
    if delay is not None and longest is not None:
        # The estimate may be too high. The longest delay of the last ten seconds is exact, and limits the estimate.
        delay = min(delay, longest * 1000)
    return {
        "p50": milliseconds("http_server_request_duration_seconds", 0.5),
        "p99": milliseconds("http_server_request_duration_seconds", 0.99),
        "loop_p99": delay,
        "loop_max": None if longest is None else longest * 1000,
        "sqs_p50": milliseconds("messaging_client_operation_duration_seconds", 0.5),
        "sqs_p99": milliseconds("messaging_client_operation_duration_seconds", 0.99),
    }


def _gauges(after: Scrape) -> Values:
    return {
        "in_flight": after.total("http_server_active_requests"),
        "tokens_used": after.total("thread_tokens_used"),
        "tokens_waiting": after.total("thread_tokens_waiting"),
        "tokens_limit": after.total("thread_tokens_limit"),
    }


def _process(before: Scrape, after: Scrape) -> Values:
    seconds = after.taken - before.taken
    batches = _change("invoice_webhook_sqs_batch_size_messages_count", before, after)
    messages = _change("invoice_webhook_sqs_batch_size_messages_sum", before, after)
    cpu = _change("process_cpu_time_seconds_total", before, after)
    throttled = _change("container_cpu_throttled_time_seconds_total", before, after)
    return {
        "calls_full": _full(before, after),
        "batch": messages / batches if batches and messages else None,
        "cpu": None if cpu is None else 100 * cpu / seconds,
        "throttled": None if throttled is None else 100 * throttled / seconds,
    }


def _full(before: Scrape, after: Scrape) -> float | None:
    """Returns the average number of SQS calls in flight, or None if the limit of such calls makes no webhook wait."""
    calls = _change("invoice_webhook_sqs_calls_count", before, after)
    in_flight = _change("invoice_webhook_sqs_calls_sum", before, after)
    last = _change("invoice_webhook_sqs_last_calls_total", before, after)
    waited = _change("invoice_webhook_sqs_wait_seconds_sum", before, after)
    waits = _change("invoice_webhook_sqs_wait_seconds_count", before, after)
    if not (calls and in_flight and last and waited and waits):
        return None
    return round(in_flight / calls) if last >= _LAST_SHARE * calls and waited >= _WAITED_SECONDS * waits else None


def _change(name: str, before: Scrape, after: Scrape) -> float | None:
    """Returns the increase of the counter `name`, or None if the counter is missing or was reset."""
    old, new = before.total(name) or 0.0, after.total(name)
    return None if new is None or new < old else new - old
