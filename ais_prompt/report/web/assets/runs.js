// The list of runs: search, filter, sort, and two runs to compare.

const ORDERS = { newest: (a, b) => b.place - a.place, name: (a, b) => compareNames(a.name, b.name), score: (a, b) => meanScore(b) - meanScore(a) };
const compareNames = new Intl.Collator(undefined, { numeric: true }).compare;
const chosen = new Set();  // addresses of runs to compare

sayFrame();
followTheme(byId("theme"));
byId("subtitle").append(`${counted(data.runs.length, "run")} · ${plain(data.work_dir)}`);
data.runs.forEach((run, number) => { run.place = data.runs.length - number; });
drawRunFilters();
drawRuns();

function drawRunFilters() {
  const statuses = [...new Set(data.runs.map(statusOf))];
  byId("status").append(el("option", { value: "" }, say("All states")), ...statuses.map((status) => el("option", { value: status }, plain(say(status)))));
  byId("order").append(...Object.entries({ newest: "newest first", name: "by name", score: "best first" }).map(([value, label]) => el("option", { value }, say(label))));
  for (const id of ["query", "status", "order"]) byId(id).addEventListener("input", drawRuns);
  byId("compare").addEventListener("click", () => { location.href = `/compare?${new URLSearchParams([...chosen].map((address) => ["run", address]))}`; });
}

function statusOf(run) {
  return run.trouble ? "broken" : run.status || "unknown";
}

/** The mean of the scores in percent; runs without one come last. */
function meanScore(run) {
  const scores = run.scores.filter((score) => score.fraction && score.score != null).map(({ score }) => score);
  return scores.length ? scores.reduce((sum, score) => sum + score, 0) / scores.length : -1;
}

function drawRuns() {
  const words = byId("query").value.toLowerCase().split(/\s+/).filter(Boolean);
  const text = (run) => [run.name, run.time, run.status, run.trouble, run.cause, ...run.scores.flatMap(({ model, dataset }) => [model, dataset])].join(" ").toLowerCase();
  const shown = data.runs.filter((run) => words.every((word) => text(run).includes(word)) && (!byId("status").value || statusOf(run) === byId("status").value));
  shown.sort(ORDERS[byId("order").value]);
  const empty = say(data.runs.length ? "No matching runs." : "No runs yet. Start one with aisprompt run.");
  byId("runs").replaceChildren(shown.length ? runsTable(shown) : el("p", { class: "empty soft" }, empty));
  byId("found").textContent = shown.length === data.runs.length ? "" : say("{number} of {all}", { number: count(shown.length), all: count(data.runs.length) });
}

function runsTable(runs) {
  const head = [el("th", { scope: "col" }, say("Run")), el("th", { scope: "col" }, say("Scores")), el("th", { scope: "col", class: "number" }, say("Answers")), el("th", { scope: "col" }, say("State"))];
  return el("div", { class: "scroll", tabindex: "0" }, el("table", { class: "runs" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, runs.map(runRow))));
}

function runRow(run) {
  const when = run.started ? moment(run.started) : run.time;
  const name = el("a", { href: run.address }, plain(run.name));
  const box = el("input", { type: "checkbox", "aria-label": say("Compare {name}", { name: `${plain(run.name)} ${plain(when)}` }), checked: chosen.has(run.address), onchange: () => choose(run.address, box.checked) });
  return el("tr", {}, el("th", { scope: "row" }, el("label", { class: "pick" }, box), name, el("span", { class: "when soft" }, plain(when))), el("td", {}, scoreList(run)), el("td", { class: "number" }, answers(run)), el("td", { class: run.status === "finished" && !run.trouble ? "soft" : "note" }, plain(say(run.trouble || run.status)), run.cause ? el("span", { class: "when" }, plain(run.cause)) : null));
}

/** Mark a run for the comparison; the oldest of three is no longer. */
function choose(address, isChosen) {
  chosen.delete(address);
  if (isChosen) chosen.add(address);
  if (chosen.size > 2) chosen.delete(chosen.values().next().value);
  byId("compare").disabled = chosen.size !== 2;
  drawRuns();
}

/** The main score of every task: a line for each dataset, with its models. */
function scoreList(run) {
  const mains = new Map(run.scores.toReversed().map((score) => [`${score.model}\n${score.dataset}`, score]));
  const byName = Map.groupBy([...mains.values()].toReversed(), (score) => score.dataset);
  return el("ul", { class: "main-scores" }, [...byName].map(([dataset, scores]) => el("li", { dir: "auto" }, el("span", { class: "soft" }, `${plain(dataset)} `), scores.map(scoreItem))));
}

function scoreItem({ model, score, fraction, note, n, of }) {
  const value = score == null ? plain(note || say("no score")).split(":")[0] : scored(score, fraction);
  return el("span", { class: "main-score" }, plain(model), " ", el("b", {}, value), of ? ` (${say("{number} of {all}", { number: count(n), all: count(of) })})` : "");
}

/** Number of answers asked for. */
function answers(run) {
  const sizes = new Map(run.scores.filter((score) => score.n != null && !/_average$/.test(score.metric)).map((score) => [`${score.model}\n${score.dataset}`, score.n]));
  return sizes.size ? count([...sizes.values()].reduce((sum, n) => sum + n, 0)) : "";
}
