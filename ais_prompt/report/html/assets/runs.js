// The list of runs.

followTheme(byId("theme"));
byId("subtitle").append(`${counted(data.runs.length, "run")} in ${plain(data.work_dir)}`);
byId("runs").append(data.runs.length ? runsTable() : el("p", { class: "empty soft" }, "No runs yet. Start one with aisprompt run."));

function runsTable() {
  const head = [el("th", { scope: "col" }, "Run"), el("th", { scope: "col" }, "Scores"), el("th", { scope: "col", class: "number" }, "Answers"), el("th", { scope: "col" }, "State")];
  return el("div", { class: "scroll" }, el("table", { class: "runs" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, data.runs.map(runRow))));
}

function runRow(run) {
  const when = run.started ? moment(run.started) : run.time;
  const name = el("a", { href: run.address }, plain(run.name));
  return el("tr", {}, el("th", { scope: "row" }, name, el("span", { class: "when soft" }, plain(when))), el("td", {}, scoreList(run)), el("td", { class: "number" }, answers(run)), el("td", { class: run.status === "finished" && !run.trouble ? "soft" : "note" }, plain(run.trouble || run.status)));
}

/** The main score of every task: a line for each dataset, with its models. */
function scoreList(run) {
  const mains = new Map(run.scores.toReversed().map((score) => [`${score.model}\n${score.dataset}`, score]));
  const byName = Map.groupBy([...mains.values()].toReversed(), (score) => score.dataset);
  return el("ul", { class: "main-scores" }, [...byName].map(([dataset, scores]) => el("li", { dir: "auto" }, el("span", { class: "soft" }, `${plain(dataset)} `), scores.map(scoreItem))));
}

function scoreItem({ model, score, fraction, note, n, of }) {
  const value = score == null ? plain(note || "no score").split(":")[0] : scored(score, fraction);
  return el("span", { class: "main-score" }, plain(model), " ", el("b", {}, value), of ? ` (${count(n)} of ${count(of)})` : "");
}

/** Number of answers asked for. */
function answers(run) {
  const sizes = new Map(run.scores.filter((score) => score.n != null && !/_average$/.test(score.metric)).map((score) => [`${score.model}\n${score.dataset}`, score.n]));
  return sizes.size ? count([...sizes.values()].reduce((sum, n) => sum + n, 0)) : "";
}
