const { saved, services, loads, delays, moments } = JSON.parse(document.getElementById("data").textContent)
const webhooks = delays.length > 0
const CHARTS = webhooks ? ALL_CHARTS : ALL_CHARTS.filter(chart => chart.any)
const byId = id => document.getElementById(id)
document.body.classList.toggle("race", services.length > 1)
document.title = `${services.map(service => service.name).join(" against ")}, live`

const headings = services.map(heading)
const tables = services.map(table)
const panels = CHARTS.map(chart => ({ chart, figures: panel(chart) }))
const now = () => moments.at(-1).t
const last = CHARTS.at(-1)
const height = chart => (services.length > 1 && wide.matches ? 84 + (chart.marks ? 40 : 0) + (chart === last ? 22 : 0) : 150)
let hovered = null // the moment under the pointer

for (const { chart, figures } of panels) {
  axisEnds[chart.id] = axisEnd(chart, 0)
  figures.forEach((one, at) => {
    one.uplot = draw(chart, one.plot, height(chart), {
      drawClear: [plot => moments.length && bands(plot, unansweredRanges(at), chart.labelUnanswered)],
      draw: [plot => moments.length && marks(plot, pressed(), chart.marks)],
      setCursor: [plot => { hovered = plot.cursor.left < 0 ? null : plot.cursor.idx; readouts() }],
    })
    new ResizeObserver(() => one.uplot.setSize({ width: one.plot.clientWidth, height: height(chart) })).observe(one.plot)
  })
}

function unansweredRanges(at) {
  const ranges = []
  moments.forEach((moment, i) => {
    if (!moment.services[at].timed_out) return
    const t = moment.t - now()
    if (i && moments[i - 1].services[at].timed_out) ranges.at(-1)[1] = t
    else ranges.push([t - 1, t]) // begins a second earlier, because the probe has already waited for a second
  })
  return ranges
}

const pressed = () => moments.flatMap(moment => moment.pressed.map(label => [moment.t - now(), label]))

const absent = (rare, at, name) => Boolean(rare) && highest(at, name) <= 0

function readouts() {
  const moment = moments[hovered ?? moments.length - 1] ?? moments.at(-1)
  if (!moment) return
  for (const { chart, figures } of panels)
    figures.forEach((one, at) => {
      one.unsent.hidden = !unsent(chart, at)
      one.readouts.forEach(({ name, rare, value, place }) => {
        value.textContent = formatted(chart, moment.services[at][name])
        place.hidden = unsent(chart, at) || absent(rare, at, name)
      })
    })
}

function redraw() {
  if (!moments.length) return
  const times = moments.map(moment => moment.t - now())
  for (const { chart, figures } of panels) {
    const lines = CHARTS.filter(one => one === chart || (chart.axis && one.axis === chart.axis)).flatMap(one => one.series)
    axisEnds[chart.id] = axisEnd(chart, Math.max(...services.flatMap((_, at) => lines.map(line => highest(at, line.name)))))
    figures.forEach(({ uplot, plot }, at) => {
      const values = ordered(chart).map(({ name, rare }) => moments.map(({ services: all }) => {
        const value = absent(rare, at, name) ? null : all[at][name] ?? null
        return chart.log && value !== null ? Math.max(value, 1) : value
      }))
      uplot.setData([times, ...values])
      describe(chart, at, plot)
    })
  }
  readouts()
  headings.forEach(({ place, health: state, totals: sums, sentHere: sentHereText, limit: limitText }, at) => {
    place.classList.toggle("no-answer", unansweredSince(at) != null)
    state.textContent = health(at)
    sums.replaceChildren(...totals(at))
    sentHereText.replaceChildren(...sentHere(at))
    limitText.replaceChildren(...limit(at))
  })
  tables.forEach(fillTable)
  for (const button of byId("delays").querySelectorAll("button"))
    button.setAttribute("aria-pressed", Number(button.value) === moments.at(-1).delay)
  announce()
}

let due = false
function redrawSoon() {
  if (!due) requestAnimationFrame(() => { due = false; redraw() })
  due = true
}

async function press(path, refusal) {
  const answer = await fetch(path, { method: "POST" }).catch(() => null)
  byId("reply").textContent = answer?.ok ? "" : answer ? refusal : "The live page’s process does not answer."
}

function control(place, label, action, properties = {}) {
  const button = element("button", { type: "button", textContent: label, ...properties })
  button.addEventListener("click", action)
  byId(place).append(button)
}

function connect() {
  const source = new EventSource("events")
  source.onopen = () => { byId("source").textContent = services.map(service => service.url).join(" · "); byId("source").className = "" }
  source.onerror = () => { byId("source").textContent = "The live page’s process does not answer: was the local run stopped?"; byId("source").className = "gone" }
  source.addEventListener("restarted", () => location.reload())
  source.onmessage = event => {
    moments.push(JSON.parse(event.data))
    if (moments.length > MOMENTS) moments.shift()
    redrawSoon()
  }
}

if (saved) {
  byId("source").textContent = `saved on ${saved}`
  byId("controls").hidden = true
  redrawSoon()
} else {
  for (const [name, label] of Object.entries(loads))
    control("loads", label, () => press(`send/${name}`, "Not sent: earlier webhooks still wait for their answers."))
  for (const delay of delays)
    control("delays", delay, () => press(`delay/${delay}`, "SQS did not accept the new latency."),
      { value: delay, ariaLabel: `SQS slower by ${delay} ms` })
  byId("delays").append(element("span", { className: "label", textContent: "ms" }))
  byId("delays").hidden = !webhooks
  connect()
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawSoon)
window.addEventListener("resize", redrawSoon)
