// The charts, each with its lines (`series`). `name` is the name of a line's number in the data. Lines for normal work
// are blue (`main`), and lines that need attention are orange (`warn`). Charts with `any` suit every app, not only one
// that takes webhooks. Lines with `rare` are hidden while all their numbers are 0. Charts with the same `axis` have the
// same scale. Charts with `sender` show what the page's buttons measure, and say so if nobody has pressed one.

const ALL_CHARTS = [
  { id: "answers", title: "Answers", unit: "webhooks per second", format: perSecond, least: 10, marks: true, series: [
    { name: "queued", label: "queued", tone: "main" },
    { name: "rejected", label: "rejected", tone: "warn", rare: true },
    { name: "overloaded", label: "overloaded", tone: "shed", rare: true },
    { name: "unanswered", label: "unanswered", tone: "ink", rare: true },
    { name: "ignored", label: "ignored", tone: "quiet", rare: true } ] },
  { id: "times", axis: "times", title: "Service’s response time", unit: "after accept; log scale", format: duration, log: true, series: [
    { name: "p50", label: "median", tone: "main" },
    { name: "p99", label: "99th percentile", tone: "warn" } ] },
  { id: "sender", axis: "times", sender: true, title: "Sender’s response time", unit: "from this page; log scale", format: duration, log: true, series: [
    { name: "sender_p50", label: "median", tone: "main" },
    { name: "sender_p99", label: "99th percentile", tone: "warn" } ] },
  { id: "loop", any: true, title: "Event loop delay", unit: "log scale", format: duration, log: true, series: [
    { name: "loop_p99", label: "99th percentile", tone: "main" },
    { name: "loop_max", label: "longest in 10 s", tone: "warn" } ] },
  { id: "probe", any: true, title: "Response to /healthz", unit: "log scale; time-out 1 s", format: duration, log: true, labelUnanswered: true, series: [
    { name: "probe", label: "probe", tone: "main" } ] },
  { id: "flight", title: "In flight", unit: "webhooks", format: number, least: 10, series: [
    { name: "in_flight", label: "in flight", tone: "main" } ] },
  { id: "threads", any: true, title: "Thread tokens", unit: "threads", format: number, least: 10, series: [
    { name: "tokens_used", label: "used", tone: "main" },
    { name: "tokens_waiting", label: "waiting for one", tone: "warn" },
    { name: "tokens_limit", label: "limit", tone: "quiet" } ] },
  { id: "sqs", title: "Call to SQS", unit: "log scale", format: duration, log: true, series: [
    { name: "sqs_p50", label: "median", tone: "main" },
    { name: "sqs_p99", label: "99th percentile", tone: "warn" } ] },
  { id: "batch", title: "Batch", unit: "messages per call to SQS", format: number, least: 10, series: [
    { name: "batch", label: "mean", tone: "main" } ] },
  { id: "cpu", any: true, title: "CPU", unit: "% of one core", format: percent, least: 100, series: [
    { name: "cpu", label: "used", tone: "main" },
    { name: "throttled", label: "throttled", tone: "warn" } ] },
]
const SPANS = [40, 80, 120] // seconds
const MOMENTS = 240
