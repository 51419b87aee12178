// Small plots. Each is an image with a label in words.

const STATES = ["right", "partial", "wrong", "scored", "answered", "unparsed", "truncated", "failed"];

/** Draw the number of samples in each state as one bar; a click on a part calls `choose` with the state. */
function stateBar(states, choose) {
  const present = STATES.filter((state) => states[state]);
  const all = present.reduce((sum, state) => sum + states[state], 0);
  const label = present.map((state) => `${count(states[state])} ${say(state)}`).join(", ");
  const parts = present.map((state) => {
    const part = el("span", { class: `part ${state}`, title: `${count(states[state])} ${say(state)} (${percent(states[state] / all)})`, onclick: (event) => { event.stopPropagation(); choose?.(state); } });
    part.style.flexGrow = states[state];
    return part;
  });
  return el("span", { class: "bar", role: "img", "aria-label": label || "no samples" }, parts);
}

/** Return the range of all scores and intervals, in tenths, with a margin. */
function scoreRange(lines) {
  const values = lines.flatMap((line) => [line.ci95_low ?? line.score, line.ci95_high ?? line.score]).filter((value) => value != null);
  if (!values.length) return [0, 1];
  const range = [Math.floor(Math.min(...values) * 10 - 0.2) / 10, Math.ceil(Math.max(...values) * 10 + 0.2) / 10];
  return [Math.min(1, Math.max(0, range[0])), Math.min(1, range[1])];
}

const WIDTH = 240;
const PAD = 6;

function scale([low, high]) {
  return (value) => PAD + ((WIDTH - 2 * PAD) * (Math.min(Math.max(value, low), high) - low)) / (high - low);
}

/** Return round numbers within a range, at most five: multiples of 1, 2 or 5 times a power of ten. */
function ticks([low, high], most = 5) {
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => (high - low) / (power * factor) <= most) ?? 10);
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, number) => (first + number) * step);
}

/** Draw a score as a dot, its interval as a thick line, and its bounds as a thin line. */
function scorePlot(line, range) {
  const x = scale(range);
  const level = (kind, low, high) => (low == null || high == null ? null : svg("line", { class: kind, x1: x(low), x2: x(high), y1: 10, y2: 10 }));
  const grid = ticks(range).map((tick) => svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: 0, y2: 20 }));
  const words = [
    percent(line.score),
    line.ci95_low == null ? null : `95 % interval ${span(line.ci95_low, line.ci95_high, true)}`,
    line.bound_high > line.bound_low ? `bounds ${span(line.bound_low, line.bound_high, true)}` : null,
  ].filter(Boolean).join(", ");
  return svg("svg", { class: "plot", viewBox: `0 0 ${WIDTH} 20`, role: "img", "aria-label": words }, svg("title", {}, words), grid, level("bounds", line.bound_low, line.bound_high), level("interval", line.ci95_low, line.ci95_high), svg("circle", { class: "dot", cx: x(line.score), cy: 10, r: 4.2 }));
}

/** Draw labels along a column of plots, from pairs of a position between 0 and 1 and a text. */
function axis(labels) {
  return el("div", { class: "axis", "aria-hidden": "true" }, labels.map(([place, text]) => {
    const label = el("span", {}, text);
    label.style.left = `${100 * place}%`;
    label.style.translate = place === 0 || place === 1 ? `${-100 * place}%` : "-50%";  // not beyond the ends
    return label;
  }));
}

/** Draw the axis of a column of `scorePlot`. */
function scoreAxis(range) {
  return axis(ticks(range).map((tick) => [scale(range)(tick) / WIDTH, String(Math.round(tick * 100))]));
}
