// The tab of scores: every metric with interval, bounds and states, and scores under other postprocessors.

/** Draw the tab; a click calls `choose(filters)`. */
function scoresParts(choose) {
  return [scoresTable(choose), legend(), el("div", { class: "charts" }, intervalsChart(data.scores)), ...longContextParts(), ...breakdownParts(choose), ...otherPostprocessors()];
}

/** The models or datasets that have samples. */
function names(key) {
  return [...new Set(data.tasks.map((task) => task[key]))];
}

function cell(kind, ...children) {
  return el("td", { class: kind }, ...children);
}

function header(kind, ...children) {
  return el("th", { scope: "col", class: kind || null }, ...children.map((child) => (typeof child === "string" ? say(child) : child)));
}

/** Sort lines by dataset, so that models come below each other. */
function byDataset(lines) {
  const order = [...new Set(lines.map((line) => line.dataset))];
  return [...lines].sort((a, b) => order.indexOf(a.dataset) - order.indexOf(b.dataset));
}

/** Dataset and model of a line; a name that repeats the line before is hidden. */
function nameCells(line, before) {
  const same = before?.dataset === line.dataset;
  const sameModel = same && before.model === line.model;
  return [
    el("th", { scope: "row", class: `dataset${same ? " again" : ""}`, dir: "auto" }, plain(line.dataset)),
    el("td", { class: `model${sameModel ? " again" : ""}`, dir: "auto" }, plain(line.model)),
  ];
}

function taskOf({ model, dataset }) {
  return data.tasks.find((task) => task.model === model && task.dataset === dataset);
}

function scoresTable(choose) {
  const lines = byDataset(data.scores);
  const range = scoreRange(lines.filter((line) => line.fraction));
  const plotted = lines.some((line) => line.fraction && line.score != null);
  const head = [...["Dataset", "Model", "Metric"].map((title) => header("", say(title))), header("number", say("Score")), header("number", "95 %"), header("plotted", plotted ? scoreAxis(range) : null), header("number n", say("Samples")), header("plotted", say("States"))];
  const rows = lines.map((line, number) => scoreRow(line, lines[number - 1], range, choose));
  return el("div", { class: "scroll", tabindex: "0" }, el("table", { class: "scores" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows)));
}

function scoreRow(line, before, range, choose) {
  const task = taskOf(line);
  const again = before?.dataset === line.dataset && before.model === line.model;
  const show = (state) => choose({ model: line.model, dataset: line.dataset, ...(state && { state }) });
  const score = line.score == null ? [el("td", { class: "note", colspan: 4 }, plain(line.note || say("not scored")))] : scoreCells(line, range, task && show);
  const states = task && !again ? [cell("number n", sizeOf(line, task)), cell("plotted states-cell", stateBar(task.states, show), troubleOf(task))] : [cell("number n", line.n && !task ? sizeOf(line, { samples: line.n }) : ""), cell("plotted states-cell")];
  return el("tr", {}, nameCells(line, before), score, states);
}

/** Number of samples asked; and of all, if not every sample was asked. */
function sizeOf(line, task) {
  return line.of ? say("{number} of {all}", { number: count(line.n), all: count(line.of) }) : count(task.samples);
}

function scoreCells(line, range, show) {
  const text = scored(line.score, line.fraction);
  const value = show ? el("button", { type: "button", class: "link", title: say("Show its samples"), onclick: () => show() }, text) : text;
  return [
    cell("metric soft", plain(line.metric), line.repeats > 1 ? say(", {number} answers each", { number: line.repeats }) : ""),
    cell("number score", value),
    cell("number interval-ends soft", span(line.ci95_low, line.ci95_high, line.fraction)),
    cell("plotted interval-cell", line.fraction ? scorePlot(line, range) : null),
  ];
}

function troubleOf(task) {
  return task.trouble ? el("p", { class: "note" }, `${say("Some samples cannot be shown:")} ${plain(task.trouble)}`) : null;
}

function legend() {
  const numbers = (state) => data.tasks.reduce((sum, task) => sum + (task.states[state] ?? 0), 0);
  const states = STATES.filter(numbers).map((state) => el("li", {}, el("i", { class: `swatch ${state}` }), `${say(state)} `, el("b", {}, count(numbers(state)))));
  const bounded = data.scores.some((line) => line.bound_high > line.bound_low);
  const lines = data.scores.some((line) => line.ci95_low != null) ? say(bounded ? "Thick lines: 95 % intervals; thin lines: bounds if all missing and unparsed answers were wrong, or right." : "Thick lines: 95 % intervals.") : "";
  const precision = data.precision.map((note) => el("li", { class: "what" }, plain(note)));
  return el("ul", { class: "legend soft" }, states, el("li", { class: "what" }, lines), precision);
}

/** Scores under other postprocessors; open if one differs by more than a standard error. */
function otherPostprocessors() {
  const tasks = data.tasks.filter((task) => task.sensitivity);
  if (!tasks.length) return [];
  const fraction = (task) => data.scores.find((line) => line.model === task.model && line.dataset === task.dataset)?.fraction ?? true;
  const head = ["Dataset", "Model", "Postprocessor"].map((title) => header("", say(title))).concat(["Score", "Difference", "Changed"].map((title) => header("number", say(title))));
  const rows = tasks.flatMap((task) => {
    const { sensitivity } = task;
    const own = el("tr", {}, nameCells(task), cell("", el("b", {}, plain(sensitivity.postprocessor)), say(", configured")), cell("number", scored(sensitivity.score, fraction(task))), cell("number", `± ${scored(sensitivity.stderr, fraction(task))}`), cell("number", say("of {number}", { number: count(sensitivity.samples) })));
    const others = sensitivity.others.map((other) => el("tr", { class: sensitivity.far.includes(other.postprocessor) ? "far" : null }, nameCells(task, task), cell("", plain(other.postprocessor)), cell("number", scored(other.score, fraction(task))), cell("number", `${other.score < sensitivity.score ? "−" : "+"}${scored(Math.abs(other.score - sensitivity.score), fraction(task))}`), cell("number", count(other.changed))));
    return [own, ...others];
  });
  const far = tasks.filter((task) => task.sensitivity.far.length);
  const drawn = tasks.filter((task) => task.sensitivity.samples < task.sensitivity.of);
  const notes = [far.length ? `${counted(far.length, "task")}: ${say("another postprocessor changes the score by more than a standard error.")}` : say("No postprocessor changes a score by more than a standard error."), drawn.length ? `${counted(drawn.length, "task")}: ${say("1,000 samples, drawn at random.")}` : ""];
  return [el("details", { class: "read-otherwise", open: far.length ? "" : null }, el("summary", {}, say("Scores under other postprocessors")), el("p", { class: far.length ? "note" : "soft" }, notes.filter(Boolean).join(" ")), el("div", { class: "scroll", tabindex: "0" }, el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows))))];
}
