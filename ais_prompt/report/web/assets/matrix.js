// The head of the report: the main score of each model on each dataset. A click shows the samples behind it.

/** Draw the matrix; `choose(filters)` shows the samples of a cell, a row or a column. */
function scoreMatrix(choose) {
  const cells = mainScores();
  const [models, datasets] = ["model", "dataset"].map((key) => [...new Set(cells.map((cell) => cell[key]))]);
  const found = new Map(cells.map((cell) => [keyOf(cell), cell]));
  const best = new Map(datasets.map((dataset) => [dataset, bestOf(cells.filter((cell) => cell.dataset === dataset))]));
  const head = el("tr", {}, el("td"), models.map((model) => el("th", { scope: "col", class: "number" }, filterButton(model, { model }, choose))));
  const rows = datasets.map((dataset) => {
    const own = cells.filter((cell) => cell.dataset === dataset);
    const isAverage = !own.some(taskOf);
    const name = isAverage ? plain(dataset) : filterButton(dataset, { dataset }, choose);
    return el("tr", { class: isAverage ? "average" : null }, el("th", { scope: "row", dir: "auto" }, name, " ", el("span", { class: "metric soft" }, plain(own[0].metric ?? ""))), models.map((model) => matrixCell(found.get(keyOf({ model, dataset })), best.get(dataset), choose)));
  });
  return el("div", { class: "scroll matrix-frame", tabindex: "0", role: "region", "aria-label": say("Scores") }, el("table", { class: "matrix" }, el("thead", {}, head), el("tbody", {}, rows)));
}

function keyOf({ model, dataset }) {
  return `${model}\n${dataset}`;
}

/** The first row of the summary for each task is its main metric. */
function mainScores() {
  const found = new Map();
  for (const line of data.scores) if (!found.has(keyOf(line))) found.set(keyOf(line), line);
  return [...found.values()];
}

/** The best score among models; null if there is one model only. */
function bestOf(cells) {
  const scores = cells.map((cell) => cell.score).filter((score) => score != null);
  return scores.length > 1 ? Math.max(...scores) : null;
}

function filterButton(name, filters, choose) {
  return el("button", { type: "button", class: "link", title: say("Show its samples"), onclick: () => choose(filters) }, plain(name));
}

function matrixCell(line, best, choose) {
  if (!line) return el("td", { class: "number soft" }, "–");
  const task = taskOf(line);
  const { model, dataset } = line;
  if (line.score == null) return el("td", { class: "number note", title: plain(line.note) }, plain(line.note || say("not scored")).split(":")[0]);
  const text = scored(line.score, line.fraction);
  const ends = span(line.ci95_low, line.ci95_high, line.fraction);
  const score = task ? el("button", { type: "button", class: "link score", title: say("Show its samples"), onclick: () => choose({ model, dataset }) }, text) : el("span", { class: "score" }, text);
  return el("td", { class: `number${line.score === best ? " best" : ""}` }, score, " ", el("span", { class: "ends soft" }, ends), " ", task ? missButton(task, choose) : null);
}

/** From a score to its wrong samples; nothing for a task without right and wrong. */
function missButton(task, choose) {
  const number = MISSES.reduce((sum, state) => sum + (task.states[state] ?? 0), 0);
  if (!number) return null;
  const { model, dataset } = task;
  return el("button", { type: "button", class: "link miss", "aria-label": say("{number} wrong samples of {model} on {dataset}", { number: count(number), model: plain(model), dataset: plain(dataset) }), onclick: () => choose({ model, dataset, state: MISSES }) }, el("i", { class: "swatch wrong" }), count(number));
}
