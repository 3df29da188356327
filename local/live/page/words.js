// Describes the charts in words, for screen readers, the heading and the table.
const SUMMARY_SECONDS = 15
const NOBODY_SENT = "Nobody has sent webhooks from this page."
let announced = ""
let announcedAt = 0

const latest = (at, name) => moments.at(-1)?.services[at][name]
const highest = (at, name) => moments.reduce((most, moment) => Math.max(most, moment.services[at][name] ?? -1), -1)

// Returns true if the chart shows what this page's buttons measure, and nobody has pressed one of the buttons.
const unsent = (chart, at) => Boolean(chart.sender) && !moments.at(-1)?.sent_here[at].sent

// Returns the index of the first moment since when the service has not answered, or null if it answers.
function unansweredSince(at) {
  const since = moments.findLastIndex(moment => !moment.services[at].timed_out) + 1
  return since < moments.length ? since : null
}

function health(at) {
  const since = unansweredSince(at)
  if (since == null) return `answers in ${duration(latest(at, "probe"))}`
  const seconds = moments.at(-1).t - moments[since].t + 1
  return `no answer for ${since ? "" : "at least "}${number(seconds)} s` // the page keeps no earlier moments
}

const strong = value => element("b", { textContent: number(value) })
const sum = counts => Object.values(counts).reduce((all, count) => all + count, 0)
const plain = outcome => outcome.replaceAll("-", " ")

// The reasons for outcomes whose names do not explain themselves.
const WHY = {
  overloaded: "too many webhooks in flight, or the expected wait was too long",
  unanswered: "the sender closed the connection, or an error is in the log",
}

function reasons(group, counts) {
  if (group === "rejected") return ` (${Object.entries(counts).map(([outcome, count]) => `${number(count)} ${plain(outcome)}`).join(", ")})`
  return group in WHY ? ` (${WHY[group]})` : ""
}

// Returns the number of webhooks that the service has counted, by outcome. Other senders' webhooks count, too.
function totals(at) {
  const counted = moments.findLast(moment => moment.services[at].totals)?.services[at].totals
  if (counted == null || !webhooks) return []
  const { queued = { queued: 0 }, ...others } = counted
  const parts = Object.entries(queued).map(([outcome, count]) => [strong(count), ` ${outcome}`])
  for (const [group, counts] of Object.entries(others)) parts.push([strong(sum(counts)), ` ${group}${reasons(group, counts)}`])
  return [...parts.flatMap((part, i) => (i ? [", ", ...part] : part)), " since the service started"]
}

// Returns the number of webhooks that this page has sent, and the numbers of their answers by status.
function sentHere(at) {
  const { sent, answers, p50, p99 } = moments.at(-1).sent_here[at]
  if (!sent) return []
  const { 0: none = 0, ...statuses } = answers
  const parts = Object.entries(statuses).map(([status, count]) => `${number(count)} answered ${status}`)
  if (none) parts.push(`${number(none)} got no answer`)
  const waiting = sent - sum(answers)
  if (waiting) parts.push(`${number(waiting)} still waiting`)
  const waited = p50 == null ? "" : `; sender’s response time ${duration(p50)} (median) and ${duration(p99)} (99th percentile)`
  return [strong(sent), ` sent from this page: ${parts.join(", ")}${waited}`]
}

// Returns the limit that makes webhooks wait, if all of group commit's calls are in flight.
function limit(at) {
  const calls = latest(at, "calls_full")
  if (calls == null) return []
  const which = calls === 1 ? "the one call to SQS that a FIFO queue allows is" : `all ${number(calls)} calls to SQS are`
  return [element("b", { textContent: "The limit that holds:" }), ` ${which} in flight, with at most ten webhooks in each. The others wait.`]
}

function throughput(at) {
  const [service, sender] = ["times", "sender"].map(id => ALL_CHARTS.find(chart => chart.id === id))
  if (!webhooks) return ""
  const waited = unsent(sender, at) ? "" : `, of the sender’s ${formatted(sender, latest(at, "sender_p99"))}`
  return `, ${number(latest(at, "queued") ?? 0)} webhooks a second queued, 99th percentile of the service’s response time `
    + `${formatted(service, latest(at, "p99"))}${waited}`
}

// Tells screen readers at once if a service stops answering or answers again, and every 15 s while webhooks are queued.
function announce() {
  const states = services.map((service, at) => `${service.name}: ${unansweredSince(at) == null ? "answers" : "does not answer"}`).join(". ")
  const busy = services.some((_, at) => latest(at, "queued") > 0)
  const now = performance.now() / 1000
  if (states === announced && !(busy && now - announcedAt > SUMMARY_SECONDS)) return
  announced = states
  announcedAt = now
  document.getElementById("summary").textContent = services.map((service, at) => `${service.name} ${health(at)}${throughput(at)}.`).join(" ")
}

function describe(chart, at, plot) {
  const parts = unsent(chart, at) ? [NOBODY_SENT] : chart.series.map(({ name, label }) => {
    const most = highest(at, name)
    return `${label} ${formatted(chart, latest(at, name))}${most < 0 ? "" : `, at most ${chart.format(most)}`}`
  })
  plot.setAttribute("aria-label", `${services[at].name}, ${chart.title}: ${parts.join("; ")}`)
}

function fillTable({ details, rows }, at) {
  if (!details.open) return
  for (const { chart, name, now, highest: cell } of rows) {
    const most = highest(at, name)
    now.textContent = unsent(chart, at) ? "nothing sent from this page" : formatted(chart, latest(at, name))
    cell.textContent = most < 0 ? "–" : chart.format(most)
  }
}
