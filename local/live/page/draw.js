// Draws one uPlot chart for each chart of each service.
const GAP_SECONDS = 2.5 // lines continue over shorter gaps, which come from late scrapes
const colour = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()
const axisEnds = {} // the highest value of each chart's axis; all services have the same axis

// Returns how many seconds the charts show: two minutes, or less while the page has data for a shorter time.
function span() {
  const known = moments.length ? moments.at(-1).t - moments[0].t : 0
  return SPANS.find(seconds => seconds > known) ?? SPANS.at(-1)
}

function series({ label, tone }, index) {
  const quiet = tone === "quiet"
  const dash = { quiet: [4, 4], ink: [2, 3] }[tone]
  return {
    label, stroke: () => colour(tone), width: quiet ? 1 : 2, dash,
    points: { show: true, size: 3, fill: () => colour(tone), filter: isolatedPoints },
    gaps: (plot, at, first, last, gaps) => {
      const least = plot.valToPos(GAP_SECONDS, "x", true) - plot.valToPos(0, "x", true)
      return gaps.filter(([from, to]) => to - from > least)
    },
  }
}

// A value without neighbours gets a point, because it has no line.
function isolatedPoints(plot, at) {
  const values = plot.data[at]
  const known = i => values[i] != null
  return values.flatMap((_, i) => (known(i) && ![-1, 1, -2, 2].some(step => known(i + step)) ? [i] : []))
}

// If services are side by side, only the lowest chart of a column has labels on the time axis.
const wide = matchMedia("(min-width: 44rem)")
const hasTimeLabels = chart => services.length === 1 || !wide.matches || chart === CHARTS.at(-1)

function axes(chart) {
  const common = { stroke: () => colour("quiet"), font: "12px system-ui, sans-serif", ticks: { show: false } }
  const ago = seconds => (seconds === 0 ? "now" : `−${-seconds} s`)
  return [
    { ...common, size: () => (hasTimeLabels(chart) ? 28 : 6), gap: 8,
      grid: { stroke: () => colour("line"), width: 1 },
      splits: () => [1, .75, .5, .25, 0].map(part => -part * span()),
      values: (plot, at) => at.map(seconds => (hasTimeLabels(chart) ? ago(seconds) : "")) },
    { ...common, size: 56, gap: 6, grid: { stroke: () => colour("line"), width: 1 }, filter: (plot, at) => at,
      splits: () => splits(chart, axisEnds[chart.id]), values: (plot, at) => at.map(value => chart.format(value)) },
  ]
}

// uPlot draws the last line on top. In reverse order, the first line (normal work) covers other lines that are at zero.
const ordered = chart => chart.series.toReversed()

function draw(chart, place, height, hooks) {
  return new uPlot({
    width: place.clientWidth, height, padding: [chart.marks ? 6 + 12 * LABEL_ROWS : 8, 26, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false }, sync: { key: "live" } },
    scales: {
      x: { time: false, range: () => [-span(), 0] },
      y: { distr: chart.log ? 3 : 1, range: () => [chart.log ? 1 : 0, axisEnds[chart.id]] },
    },
    axes: axes(chart),
    series: [{}, ...ordered(chart).map(series)],
    hooks,
  }, [[], ...ordered(chart).map(() => [])], place)
}

// Draws bands behind the lines, for the times in which the service did not answer.
function bands(plot, ranges, words) {
  const { left, top: above, width, height } = plot.bbox
  plot.ctx.save() // restored below, because uPlot relies on the settings of its drawing context
  for (const [from, to] of ranges) {
    const x = Math.max(left, plot.valToPos(from, "x", true))
    const end = Math.min(left + width, plot.valToPos(to, "x", true))
    plot.ctx.fillStyle = colour("band")
    plot.ctx.fillRect(x, above, Math.max(end - x, 1), height)
    if (words) caption(plot.ctx, x, end, above + height)
  }
  plot.ctx.restore()
}

function caption(ctx, from, to, bottom) {
  const text = "no answer"
  ctx.font = `600 ${11 * uPlot.pxRatio}px system-ui, sans-serif`
  if (ctx.measureText(text).width > to - from - 8 * uPlot.pxRatio) return
  ctx.fillStyle = colour("alarm")
  ctx.textAlign = "center"
  ctx.textBaseline = "alphabetic"
  ctx.fillText(text, (from + to) / 2, bottom - 6 * uPlot.pxRatio)
}

const LABEL_ROWS = 3 // one for each button that may be pressed at nearly the same time

// Draws a vertical line for each press of a button. One chart also shows labels, in rows if they would overlap.
function marks(plot, pressed, words) {
  const { ctx, bbox } = plot
  const ratio = uPlot.pxRatio
  const ends = Array(LABEL_ROWS).fill(0)
  ctx.save()
  ctx.strokeStyle = ctx.fillStyle = colour("quiet")
  ctx.textAlign = "left"
  ctx.textBaseline = "alphabetic"
  ctx.lineWidth = ratio
  ctx.setLineDash([3 * ratio, 3 * ratio])
  ctx.font = `${11 * ratio}px system-ui, sans-serif`
  for (const [at, label] of pressed) {
    const x = plot.valToPos(at, "x", true)
    if (x < bbox.left) continue
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
    const room = ctx.measureText(label).width
    const begin = x + room > ctx.canvas.width ? x - room : x
    const level = ends.findIndex(end => begin >= end)
    if (!words || level < 0) continue
    ctx.fillText(label, begin, bbox.top - (5 + 12 * level) * ratio)
    ends[level] = begin + room + 4 * ratio
  }
  ctx.restore()
}
