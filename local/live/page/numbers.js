// The functions are declared with `function`, so that charts.js, which comes first, can already use them.
function number(value) {
  return value >= 10 || Number.isInteger(value) ? Math.round(value).toLocaleString("en") : value.toFixed(1)
}

function perSecond(value) {
  return `${number(value)}/s`
}

function percent(value) {
  return `${Math.round(value)} %`
}

function duration(milliseconds) {
  if (milliseconds >= 999.5) return `${number(milliseconds / 1000)} s`
  return `${milliseconds >= 10 ? Math.round(milliseconds) : Number(milliseconds.toPrecision(2))} ms`
}

function formatted(chart, value) {
  return value == null ? "–" : chart.format(value)
}

// Returns the highest value of an axis: 1, 2 or 5 times a power of ten, or on a logarithmic axis a power of ten.
function axisEnd(chart, highest) {
  if (chart.log) return 10 ** Math.max(2, Math.ceil(Math.log10(Math.max(highest, 1))))
  const wanted = Math.max(highest * 1.05, chart.least)
  const power = 10 ** Math.floor(Math.log10(wanted))
  return power * [1, 2, 5, 10].find(factor => factor * power >= wanted)
}

function splits(chart, end) {
  if (!chart.log) return [0, end / 2, end]
  return Array.from({ length: Math.round(Math.log10(end)) + 1 }, (_, power) => 10 ** power)
}
