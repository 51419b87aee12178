// The list of runs: search, filter, sort, and two runs to compare.

const ORDERS = { newest: (a, b) => b.place - a.place, name: (a, b) => compareNames(a.name, b.name), score: (a, b) => bestScore(b) - bestScore(a) };
const compareNames = new Intl.Collator(undefined, { numeric: true }).compare;
const SHOWN_MODELS = 3;  // of a run, without unfolding
const SHOWN_CHANGES = 3;  // values of the config that differ from the run before
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
  byId("compare").hidden = data.is_static;
  byId("compare").addEventListener("click", () => { location.href = `/compare?${new URLSearchParams([...chosen].map((address) => ["run", address]))}`; });
}

function statusOf(run) {
  return run.trouble ? "broken" : run.status || "unknown";
}

/** The best mean of a model; runs without one come last. */
function bestScore(run) {
  return Math.max(-1, ...run.scores.filter(({ mean, fraction }) => fraction && mean != null).map((one) => (one.lower_is_better ? 1 - one.mean : one.mean)));
}

/** Order the best mean first, and models without one last. */
function byMean(one, other) {
  if (one.mean == null || other.mean == null) return (one.mean == null) - (other.mean == null);
  return one.lower_is_better ? one.mean - other.mean : other.mean - one.mean;
}

function drawRuns() {
  const words = byId("query").value.toLowerCase().split(/\s+/).filter(Boolean);
  const text = (run) => [run.name, run.time, run.status, run.trouble, run.cause, ...run.scores.map(({ model }) => model), ...Object.values(FURTHER).flatMap((tab) => tab.words(run)), ...run.datasets, ...run.changes].join(" ").toLowerCase();
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
  return el("tr", {}, el("th", { scope: "row" }, data.is_static ? null : el("label", { class: "pick" }, box), name, el("span", { class: "when soft" }, plain(when)), changesText(run)), el("td", {}, scoreList(run), Object.values(FURTHER).map((tab) => tab.listed(run))), el("td", { class: "number" }, run.answers ? count(run.answers) : ""), el("td", { class: run.trouble || run.failed || ["failed", "interrupted"].includes(run.status) ? "note" : "soft" }, plain(say(run.trouble || run.status)), run.cause ? el("span", { class: "when" }, `${counted(run.failed, "task")}: ${plain(run.cause)}`) : null));
}

/** "Since the run before: temperature: 0.0 → 0.7", of a run whose config differs from that of the run of its name before it. */
function changesText({ changes }) {
  if (!changes.length) return null;
  const lines = changes.map(plain);
  const more = lines.length > SHOWN_CHANGES ? [say("{number} more", { number: count(lines.length - SHOWN_CHANGES) })] : [];
  return el("span", { class: "changes soft", title: `${say("Since the run before:")}\n${lines.join("\n")}` }, [...lines.slice(0, SHOWN_CHANGES), ...more].map((line) => el("span", {}, line)));
}

/** Mark a run for the comparison; the oldest of three is no longer. */
function choose(address, isChosen) {
  chosen.delete(address);
  if (isChosen) chosen.add(address);
  if (chosen.size > 2) chosen.delete(chosen.values().next().value);
  byId("compare").disabled = chosen.size !== 2;
  drawRuns();
}

/** The best models, each with its mean and its groups; the others are folded. */
function scoreList(run) {
  const models = [...run.scores].sort(byMean);
  const parts = run.scores.reduce((most, { parts }) => (parts.length > most.length ? parts : most), []).map(({ name }) => name);
  const isSingle = run.datasets.length === 1;
  const head = el("tr", {}, el("th", { scope: "col" }, isSingle ? plain(run.datasets[0]) : counted(run.datasets.length, "dataset")), el("th", { scope: "col", class: "number" }, isSingle ? "" : say("mean")), parts.map((name) => el("th", { scope: "col", class: "number", title: plain(name) }, plain(name))));
  const line = (one) => el("tr", {}, el("th", { scope: "row", dir: "auto" }, plain(one.model)), el("td", { class: "number" }, el("b", {}, one.mean == null ? "–" : scored(one.mean, one.fraction)), one.scored < one.of ? el("span", { class: "soft" }, ` ${say("{number} of {all}", { number: count(one.scored), all: count(one.of) })}`) : null), parts.map((name) => el("td", { class: "number" }, partText(one.parts.find((part) => part.name === name)))));
  const rest = models.slice(SHOWN_MODELS);
  const body = el("tbody", {}, models.slice(0, SHOWN_MODELS).map(line));
  const more = el("button", { type: "button", class: "link", onclick: () => { body.append(...rest.map(line)); more.remove(); } }, say("Show more ({number} left)", { number: count(rest.length) }));
  return models.length ? [el("table", { class: "main-scores" }, el("thead", {}, head), body), rest.length ? more : null].filter(Boolean) : [];
}

function partText(part) {
  return part?.score == null ? "–" : scored(part.score, part.fraction);
}
