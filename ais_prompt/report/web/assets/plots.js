// Scales and axes of plots.

const STATES = ["right", "partial", "wrong", "scored", "answered", "unparsed", "truncated", "no_gold", "failed"];
const WORST_FIRST = ["wrong", "unparsed", "truncated", "no_gold", "failed", "partial", "scored", "answered", "right"];  // as in index.py
const STATE_WORDS = { unparsed: "no answer", truncated: "cut", no_gold: "no gold" };  // the others are words already
const ABOUT_STATES = { unparsed: "unparsed: nothing was extracted from the answer", truncated: "truncated: the answer was cut at max_out_len", no_gold: "no gold: the right answer of the row is missing or cannot be used" };

/** The word for a state, as in a terminal; files and addresses have its name. */
function stateWord(state) {
  return say(STATE_WORDS[state] ?? state);
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

/** Draw labels along a column of plots, from pairs of a position between 0 and 1 and a text. */
function axis(labels) {
  return el("div", { class: "axis", "aria-hidden": "true" }, labels.map(([place, text]) => {
    const label = el("span", {}, text);
    label.style.left = `${100 * place}%`;
    label.style.translate = place === 0 || place === 1 ? `${-100 * place}%` : "-50%";  // not beyond the ends
    return label;
  }));
}
