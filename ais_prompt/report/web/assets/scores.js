// The tab of scores: a matrix of each metric, the models of each dataset on one axis, and scores by columns of the data.

const UNSCORED = ["unparsed", "truncated", "no_gold", "failed"];
const LOSS_NAME = 260;  // pixels of the name of a task in a wide window

/** Draw the tab; a click calls `choose(filters)`. */
function scoresParts(choose) {
  const measures = scoreMeasures(choose);
  const measure = measureOf("scores", measures);
  if (!measure) return [];
  const notes = [...doubts(), ...data.precision.map((note) => el("li", {}, plain(note)))];
  return [lossNotes(choose), measureChoice("scores", measures, measure), matrix({ ...measure, corner: say("Dataset"), ranking: data.ranking, choose }), scoresLegend(), notes.length ? el("ul", { class: "soft notes" }, notes) : null, foldedPart("strips", dotsChart(measure)), ...longContextParts(), ...breakdownParts(choose), ...otherPostprocessors()];
}

/** Tasks whose wrong answers contain the gold answer: a line for each advice, which names the first of them and the score that it has there. */
function doubts() {
  const tasks = data.tasks.filter((task) => task.doubt && passesTask(task));
  const groups = Map.groupBy(tasks, ({ doubt }) => doubt.slice(doubt.indexOf(": ")).replace(/[\d.]+( %)?$/, ""));
  return [...groups.values()].map(([{ model, dataset, doubt }, ...more]) => el("li", { class: "note" }, `${more.length ? `${counted(more.length + 1, "task")}, ` : ""}${plain(model)}/${plain(dataset)}: ${plain(doubt)}`));
}

/** Answers without a score: for each state, unparsed first, how many, and the tasks that have the largest shares of them. */
function lossNotes(choose) {
  const lines = UNSCORED.map((state) => {
    const tasks = data.tasks.filter((task) => task.states[state] && passesTask(task)).sort((a, b) => b.states[state] / b.samples - a.states[state] / a.samples);
    if (!tasks.length) return null;
    const sum = (valueOf) => tasks.reduce((all, task) => all + valueOf(task), 0);
    const worst = tasks.slice(0, WORST).map((task) => lossButton(task, state, choose));
    const more = tasks.length > WORST ? say("{number} more", { number: count(tasks.length - WORST) }) : null;
    return el("li", {}, el("i", { class: `swatch ${state}` }), el("b", {}, `${count(sum((task) => task.states[state]))} ${stateWord(state)}`), el("span", { class: "soft" }, [...worst, more].filter(Boolean).map((part) => [" · ", part])));
  });
  const scoredLines = new Set(data.scores.filter((line) => taskOf(line) && passesTask(taskOf(line))).map(keyOf));
  const [line] = data.scores.filter((one) => scoredLines.has(keyOf(one)));
  const bounds = scoredLines.size === 1 && boundsText(line) ? el("li", { class: "soft" }, boundsText(line)) : null;
  const found = [...lines, bounds].filter(Boolean);
  return found.length ? el("ul", { class: "losses" }, found) : null;
}

/** "mock/questions 7 of 219": leads to these samples. */
function lossButton(task, state, choose) {
  const { model, dataset } = task;
  const name = `${plain(model)}/${plain(dataset)}`;
  const line = data.scores.find((one) => one.finished != null && keyOf(one) === keyOf(task));
  const without = state === "truncated" && line ? ` (${say("{score} without them", { score: scored(line.finished, line.fraction) })})` : "";
  return el("button", { type: "button", class: "link", title: name, onclick: () => choose({ model, dataset, state }) }, `${shortened(name, Math.min(LOSS_NAME, 0.42 * innerWidth))} ${say("{number} of {all}", { number: count(task.states[state]), all: count(task.samples) })}${without}`);
}

/** What the score would be if all answers without a score were wrong, and if all were right; null if each has one. */
function boundsText({ bound_low: low, bound_high: high, fraction }) {
  return high > low ? say("{low} if all answers without a score were wrong, {high} if all were right", { low: scored(low, fraction), high: scored(high, fraction) }) : null;
}

const unfolded = new Set();  // keys of `foldedPart` that are open

/** A chart that is drawn when it is unfolded. */
function foldedPart(key, chart) {
  if (!chart) return null;
  const summary = el("summary", { "data-focus": `unfold ${key}` }, chart.querySelector("figcaption b").textContent);
  return el("details", { class: "folded-chart", open: unfolded.has(key), ontoggle: (event) => unfolded[event.target.open ? "add" : "delete"](key) }, summary, chart);
}

function cell(kind, ...children) {
  return el("td", { class: kind }, ...children);
}

function header(kind, ...children) {
  return el("th", { scope: "col", class: kind || null }, ...children.map((child) => (typeof child === "string" ? say(child) : child)));
}

/** The main metric of each dataset, and each metric that is not the main one of all. */
function scoreMeasures(choose) {
  const mains = new Map();
  const byMetric = new Map();
  for (const line of data.scores) {
    const key = keyOf(line);
    if (!mains.has(key)) mains.set(key, line);
    else if (taskOf(line)) byMetric.set(line.metric, (byMetric.get(line.metric) ?? new Map()).set(key, line));
  }
  const metrics = [...new Set([...mains.values()].filter(taskOf).map(({ metric }) => metric).filter(Boolean))];
  const measure = (label, lines) => ({ label, lines, format: (value) => bare(value, true), cellOf: remembered((model, dataset) => scoreOf(lines.get(keyOf({ model, dataset })), metrics.length > 1 && label !== metrics[0], choose)) });
  const means = new Map(data.mean?.scores.map((line) => [line.model, line]));
  const mean = means.size ? { ...data.mean, cellOf: (model) => scoreOf(means.get(model), false, choose) } : null;
  return [{ ...measure(metrics.length === 1 ? plain(metrics[0]) : say("Main metric"), mains), mean }, ...[...byMetric].map(([metric, lines]) => measure(plain(metric), lines))];
}

/** Beside the title: the score of each model with its interval, the best first; of several datasets their mean. */
function headline() {
  const [measure] = scoreMeasures(() => {});
  const datasets = parts.flatMap(({ name, members }) => members ?? [name]);
  const models = [...new Set(data.scores.map(({ model }) => model))];
  const cellOf = (model) => (datasets.length === 1 ? measure.cellOf(model, datasets[0]) : meanOf(datasets.map((name) => measure.cellOf(model, name)), measure.format));
  const found = models.map((model) => ({ model, ...cellOf(model) })).filter(({ value, isPartial }) => value != null && !isPartial).sort((a, b) => (a.isLess ? a.value - b.value : b.value - a.value));
  if (!found.length) return [];
  const shown = found.slice(0, WORST).map(({ model, value, fraction, ends, title }) => el("span", { title }, models.length > 1 ? `${shortened(plain(model), HEADING)} ` : "", el("b", {}, scored(value, fraction ?? true)), ends ? el("span", { class: "soft" }, ` ${ends}`) : ""));
  const of = datasets.length > 1 ? el("span", { class: "soft" }, `${say("mean of {number}", { number: counted(datasets.length, "dataset") })}:`) : "";
  return [of, " ", shown.flatMap((one, place) => (place ? [" · ", one] : [one])), found.length > WORST ? " · …" : ""];
}

/** A score as a cell of the matrix; null without a line. */
function scoreOf(line, isNamed, choose) {
  if (!line) return null;
  if (line.score == null) {
    const isWaiting = /^(not asked|paused|not scored|-$)/.test(line.note);
    return { value: null, text: isWaiting ? "·" : plain(line.note || say("not scored")).split(":")[0], title: plain(line.note), isWaiting };
  }
  const task = taskOf(line);
  const ends = span(line.ci95_low, line.ci95_high, line.fraction);
  const whole = line.of ?? (line.population && line.population * line.repeats);
  const size = task && `${whole ? say("{number} of {all}", { number: count(line.n), all: counted(whole, "sample") }) : counted(task.samples, "sample")}: ${statesText(task.states)}`;
  const finished = line.finished != null ? say("{score} without cut answers", { score: scored(line.finished, line.fraction) }) : null;
  const lines = [`${scored(line.score, line.fraction)}${ends ? ` (95 %: ${ends})` : ""}${isNamed || !task ? ` ${plain(line.metric ?? "")}` : ""}`, size, boundsText(line), finished, line.repeats > 1 ? say("{number} answers each", { number: line.repeats }) : null, task?.trouble && `${say("Some samples cannot be shown:")} ${plain(task.trouble)}`];
  return {
    value: line.score,
    text: bare(line.score, line.fraction),
    title: lines.filter(Boolean).join("\n"),
    fraction: line.fraction,
    isLess: line.lower_is_better,
    line,
    task,
    done: line.of ? line.n / line.of : 1,
    hasGaps: line.is_starred,
    isBest: line.is_best,
    ends: line.of ? `${ends} · ${say("{number} of {all}", { number: count(line.n), all: count(line.of) })}` : ends,
    miss: task && (() => missButton(task, choose)),
  };
}

/** A score for a narrow cell: 72.5, and 100 without a digit. */
function bare(number, fraction) {
  return scored(number, fraction).replace(" %", "").replace(/^100\.0$/, "100");
}

/** "29 right, 9 wrong, 2 unparsed". */
function statesText(states) {
  return STATES.filter((state) => states[state]).map((state) => `${count(states[state])} ${stateWord(state)}`).join(", ");
}

/** From a score to its wrong samples; nothing for a task without right and wrong. */
function missButton(task, choose) {
  const number = MISSES.reduce((sum, state) => sum + (task.states[state] ?? 0), 0);
  if (!number) return null;
  const { model, dataset } = task;
  const words = say("{number} samples of {model} on {dataset} below the full score", { number: count(number), model: plain(model), dataset: plain(dataset) });
  return el("button", { type: "button", class: "link", "aria-label": words, title: `${words}: ${statesText(task.states)}`, onclick: () => choose({ model, dataset, state: misses() }) }, el("i", { class: "swatch wrong" }), count(number));
}

function scoresLegend() {
  const marked = data.scores.some((line) => line.is_starred);
  const several = data.scores.some((line) => line.is_best);
  const misses = shownModels().length <= WIDE_UP_TO && data.tasks.some(({ states }) => MISSES.some((state) => states[state]));
  const words = [say("Scores in %."), several ? say("Underlined: best, or as good.") : "", marked ? say("* More than 5 % of the answers have no score.") : ""];
  const dots = misses ? [" ", el("span", { class: "miss" }, el("i", { class: "swatch wrong" }), say("samples below the full score"))] : [];
  return el("p", { class: "legend soft" }, words.filter(Boolean).join(" "), dots);
}

/** Scores under other postprocessors, a line for each that was tried; open if one differs by more than a standard error. */
function otherPostprocessors() {
  const tasks = data.tasks.filter((task) => task.sensitivity && passesTask(task));
  if (!tasks.length) return [];
  const tried = new Map();
  for (const task of tasks) {
    for (const other of task.sensitivity.others) {
      const key = `${task.sensitivity.postprocessor}\n${other.postprocessor}`;
      tried.set(key, [...(tried.get(key) ?? []), { task, other, difference: other.score - task.sensitivity.score, isFar: task.sensitivity.far.includes(other.postprocessor) }]);
    }
  }
  const fraction = (task) => data.scores.find((line) => line.model === task.model && line.dataset === task.dataset)?.fraction ?? true;
  const signed = ({ task, difference }) => `${difference < 0 ? "−" : "+"}${scored(Math.abs(difference), fraction(task))}`;
  const rows = [...tried.values()].map((found) => {
    const [worst] = [...found].sort((a, b) => Math.abs(b.difference) - Math.abs(a.difference));
    const far = found.filter(({ isFar }) => isFar).length;
    return el("tr", { class: far ? "far" : null }, cell("", plain(worst.other.postprocessor)), cell("soft", plain(worst.task.sensitivity.postprocessor)), cell("number", say("{number} of {all}", { number: count(far), all: counted(found.length, "task") })), cell("number", signed(worst)), cell("", plain(`${worst.task.model}/${worst.task.dataset}`)), cell("number", say("{number} of {all}", { number: count(worst.other.changed), all: count(worst.task.sensitivity.samples) })));
  });
  const far = tasks.filter((task) => task.sensitivity.far.length);
  const drawn = tasks.filter((task) => task.sensitivity.samples < task.sensitivity.of);
  const notes = [far.length ? `${counted(far.length, "task")}: ${say("another postprocessor changes the score by more than a standard error.")}` : say("No postprocessor changes a score by more than a standard error."), drawn.length ? `${counted(drawn.length, "task")}: ${say("1,000 samples, drawn at random.")}` : ""];
  const head = ["Postprocessor", "Configured", "More than a standard error", "Largest difference", "Task", "Changed"].map((title, place) => header([2, 3, 5].includes(place) ? "number" : "", title));
  return [el("details", { class: "read-otherwise", open: far.length > 0 }, el("summary", {}, say("Scores under other postprocessors")), el("p", { class: far.length ? "note" : "soft" }, notes.filter(Boolean).join(" ")), el("div", { class: "scroll", tabindex: "0" }, el("table", { class: "speeds" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows))))];
}
