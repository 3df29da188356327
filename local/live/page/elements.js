// Creates the document's elements: a heading for each service, a panel for each chart.
function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

// Converts text in backticks to code elements.
function withCode(text) {
  return text.split("`").map((part, i) => (i % 2 ? element("code", { textContent: part }) : part))
}

// Returns a link to the stand-in for Chargebee, which opens in another tab. A saved page has none: the stand-in has ended.
function invoices({ chargebee }) {
  if (!chargebee || saved) return []
  return [element("a", { className: "invoices", href: chargebee, target: "_blank", rel: "noopener", textContent: "Invoices, from pending to closed" })]
}

const WHY_WAITING = "Why webhooks wait although nothing blocks the event loop:"

function heading(service) {
  const parts = {
    health: element("span", { className: "health", textContent: "not known yet" }),
    totals: element("span", { className: "totals" }),
    sentHere: element("span", { className: "sent-here" }),
    limit: element("p", { className: "waits" }),
  }
  const place = element("section", { className: "service" },
    element("h2", { textContent: service.name }),
    element("p", { className: "change" }, ...withCode(service.change && `The change: ${service.change}`)),
    element("p", { className: "cost" }, ...withCode(service.cost && `Its cost: ${service.cost}`)),
    element("p", { className: "waits" }, ...(service.waits ? [element("b", { textContent: WHY_WAITING }), ` ${service.waits}`] : [])),
    parts.limit,
    element("p", { className: "state" }, parts.health, parts.totals, ...invoices(service), parts.sentHere))
  document.getElementById("services").append(place)
  return { place, ...parts }
}

function readout({ name, label, tone, rare }) {
  const value = element("b", { textContent: "–" })
  const mark = element("i", { className: tone })
  return { value, name, rare, place: element("span", {}, mark, `${label} `, value) }
}

function figure(chart, service) {
  const readouts = chart.series.map(readout)
  const plot = element("div", { className: "plot", role: "img" })
  const who = services.length > 1 ? [element("span", { className: "who", textContent: service.name })] : []
  const unsent = element("span", { className: "unsent", textContent: NOBODY_SENT, hidden: true })
  const caption = element("figcaption", {}, ...who, unsent, ...readouts.map(one => one.place))
  return { place: element("figure", {}, caption, plot), plot, readouts, unsent }
}

function panel(chart) {
  const figures = services.map(service => figure(chart, service))
  const plots = element("div", { className: "plots" }, ...figures.map(one => one.place))
  const title = element("h3", {}, `${chart.title} `, element("small", { textContent: chart.unit }))
  document.getElementById("charts").append(element("section", { className: "panel", id: chart.id }, title, plots))
  return figures
}

function table(service) {
  const rows = CHARTS.flatMap(chart => chart.series.map(series => {
    const now = element("td"), highest = element("td")
    const name = element("th", { scope: "row", textContent: `${chart.title}: ${series.label}` })
    return { chart, name: series.name, now, highest, place: element("tr", {}, name, now, highest) }
  }))
  const head = ["", "now", "highest in two minutes"].map(text => element("th", { scope: "col", textContent: text }))
  const whole = element("table", {},
    element("caption", { className: "unseen", textContent: `Figures of ${service.name}` }),
    element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows.map(row => row.place)))
  const details = element("details", {}, element("summary", { textContent: `${service.name} as a table` }),
    element("div", { className: "scroll" }, whole))
  document.getElementById("tables").append(details)
  return { details, rows }
}
