// Models side by side: a row a question, a column a model. Chips choose by which of the models are right.
// The models are those of the filters, all of them if none is chosen, up to eight.

const MOST_MODELS = 8;
const QUESTIONS = 50;  // rows that are added at once
const sides = { key: null, verdict: "", found: null, panel: el("div", {}), asking: new AbortController() };

/** The models side by side, in the order of the run. */
function sideModels() {
  return names("model").filter((name) => !filters.model.size || filters.model.has(name)).slice(0, MOST_MODELS);
}

function sideParts() {
  const isOwn = names("model").length > 1 && !areTwo();  // in the toolbar they would move the tabs
  return [isOwn ? byId("verdicts") : null, names("model").length > 1 ? sides.panel : null];
}

/** Whether two models are shown: the chips of their verdicts are above all tabs then, else in this one. */
function areTwo() {
  return sideModels().length === 2;
}

/** Load the questions if the tab or its chips are shown, and the filters are others than before. */
function showSides() {
  const isOpen = shownTab() === "models";
  const chips = byId("verdicts");
  areTwo() ? byId("found").before(chips) : byId("panel-models").prepend(chips);
  chips.hidden = !table || names("model").length < 2 || !(isOpen || areTwo());
  if (chips.hidden) return;
  const key = `${queryOf(filters, {})}&${sides.verdict}&${data.version}&${isOpen}`;
  if (sides.key === key) return drawVerdicts();
  sides.key = key;
  sides.asking.abort();
  sides.asking = new AbortController();
  const { signal } = sides.asking;
  const draw = (found) => {
    if (signal.aborted) return;
    sides.found = found;
    drawVerdicts();
    if (isOpen) drawSides(found);
  };
  if (sideModels().length < 2) {
    sides.found = null;
    chips.hidden = true;
    chips.replaceChildren();
    sides.panel.replaceChildren(el("p", { class: "empty soft" }, say("Choose two models or more.")));
    return undefined;
  }
  return source.questions(filters, sides.verdict, isOpen ? QUESTIONS : 0, draw, signal);
}

/** The verdicts with their labels and the states of the swatches before them. */
function verdictChips(models) {
  const [first, second] = models.map(plain);
  const two = [["all", say("both right"), "right"], ["first", say("only {model}", { model: first }), "partial"], ["second", say("only {model}", { model: second }), "partial"], ["none", say("both wrong"), "wrong"]];
  const more = [["all", say("all right"), "right"], ["some", say("some right"), "partial"], ["none", say("none right"), "wrong"]];
  return models.length === 2 ? two : more;
}

function drawVerdicts() {
  const isOpen = shownTab() === "models";
  const chips = verdictChips(sideModels()).map(([verdict, label, state]) => {
    const isChosen = isOpen && sides.verdict === verdict;
    return el("button", { type: "button", class: "chip", "aria-pressed": String(isChosen), "data-verdict": verdict, title: label, onclick: () => chooseVerdict(isChosen ? "" : verdict) }, el("i", { class: `swatch ${state}` }), el("span", { class: "label" }, label), el("span", { class: "soft" }, sides.found ? ` ${count(sides.found.verdicts[verdict] ?? 0)}` : ""));
  });
  const focused = byId("verdicts").contains(document.activeElement) && document.activeElement.dataset.verdict;
  byId("verdicts").replaceChildren(...chips);
  if (focused) byId("verdicts").querySelector(`[data-verdict=${focused}]`)?.focus();
}

/** Show the questions of a verdict; empty shows all. */
function chooseVerdict(verdict) {
  sides.verdict = verdict;
  if (shownTab() !== "models") showTab("models");
  else showSides();
  writeAddress();
}

/** Draw the table; `found` has the first rows, and `more(from)` the further ones. */
function drawSides(found) {
  const { models } = found;
  const body = el("tbody");
  const head = [header("", say("Question")), el("th", { scope: "col", title: say(GOLD) }, say("Gold")), ...models.map((model) => el("th", { scope: "col", class: "answered-by", dir: "auto", title: plain(model) }, plain(model)))];
  const grid = el("div", { class: "scroll", tabindex: "0" }, el("table", { class: "sides" }, el("thead", {}, el("tr", {}, head)), body));
  const rest = el("p", { class: "soft" });
  const add = (rows) => {
    body.append(...rows.map((samples) => sideRow(samples, models)));
    const left = found.length - body.querySelectorAll(".question").length;
    const more = async () => add(await found.more(found.length - left));
    rest.replaceChildren(...(left > 0 ? [el("button", { type: "button", class: "more", onclick: more }, say("Show more ({number} left)", { number: count(left) }))] : []));
  };
  const all = names("model").filter((name) => !filters.model.size || filters.model.has(name));
  const fewer = all.length > models.length ? [el("p", { class: "soft" }, say("The first {number} of {all} models; choose others above.", { number: count(models.length), all: count(all.length) }))] : [];
  const compare = data.served && models.length === 2 ? [el("a", { href: comparisonAddress(models) }, say("Differences with intervals and causes"))] : [];
  const line = el("p", { class: "soft" }, `${counted(found.length, "question")}`, compare.length ? " · " : "", compare);
  sides.panel.replaceChildren(line, ...fewer, found.length ? grid : el("p", { class: "empty soft" }, say("No matching samples.")), rest);
  add(found.rows);
  markHits();
}

function comparisonAddress([first, second]) {
  return `/compare?${new URLSearchParams([["run", location.pathname.replace(/\/$/, "")], ["model", first], ["model", second]])}`;
}

/** Draw a question; a click opens the whole answers below it. */
function sideRow(samples, models) {
  const [one] = samples;
  const of = new Map(samples.map((row) => [row.task.model, row]));
  const opener = el("button", { type: "button", class: "link", "aria-expanded": "false", dir: "auto", onclick: () => openSides(line, opener, samples) }, plain(one.question || one.id));
  const where = names("dataset").length > 1 ? el("span", { class: "soft" }, plain(one.task.dataset)) : null;
  const line = el("tr", { class: "question" }, el("th", { scope: "row" }, el("div", {}, opener), where), el("td", { dir: "auto" }, one.gold == null ? "" : plain(one.gold)), models.map((model) => sideCell(of.get(model))));
  return line;
}

function sideCell(row) {
  if (!row) return el("td", { class: "soft" }, "–");
  const answer = row.extracted == null ? unreadText(row) : plain(row.extracted);
  return el("td", { class: "side", dir: "auto", title: stateWord(row.state) }, el("i", { class: `swatch ${row.state}` }), el("span", { class: "unseen" }, `${stateWord(row.state)} `), answer);
}

/** Show or hide the answers of all models to a question, those of two with their differences marked. */
async function openSides(line, opener, samples) {
  const isOpen = opener.getAttribute("aria-expanded") === "true";
  opener.setAttribute("aria-expanded", String(!isOpen));
  if (isOpen) return line.nextElementSibling.remove();
  const whole = el("td", { colspan: line.children.length }, el("span", { class: "soft" }, say("searching")));
  line.after(el("tr", { class: "answers-of" }, whole));
  const shown = await Promise.all(samples.map((row) => source.sample(row)));
  await loadLibraries();
  const cards = samples.length === 2 ? besideAnswers(samples, shown) : el("section", { class: "cards" }, samples.map((row, place) => sideCard(row, shown[place])));
  const links = samples.map((row) => el("button", { type: "button", class: "link", onclick: () => openSide(row) }, plain(row.task.model)));
  whole.replaceChildren(cards, el("p", { class: "soft" }, say("Prompt and details: "), links.flatMap((link, place) => (place ? [" · ", link] : [link]))));
  return undefined;
}

function sideCard(row, { chunk, sample }) {
  return el("div", { class: "card" }, el("h4", {}, el("i", { class: `swatch ${row.state}` }), plain(row.task.model), el("span", { class: "soft" }, ` ${stateWord(row.state)}`)), sample.requests.flatMap(({ answers }) => answers.map((answer) => el("div", { class: "answer" }, wholeText(answerText(chunk, answer))))));
}

/** Open a sample in the table of samples, among all of its model and dataset. */
async function openSide(row) {
  await showSamples({ model: row.task.model, dataset: row.task.dataset });
  const named = await source.named(nameOf(row));
  const position = named ? await table.selection.position(named) : -1;
  if (position >= 0) openPosition(position);
}

/** Which models are right: `all`, `none`, of two `first` or `second`, of more `some`; empty if one is neither right nor wrong. */
function verdictOf(samples, models) {
  const right = samples.filter(({ state }) => state === "right");
  if (!samples.every(({ state }) => state === "right" || MISSES.includes(state))) return "";
  if (right.length === samples.length) return "all";
  if (!right.length) return "none";
  if (models.length > 2) return "some";
  return right[0].task.model === models[0] ? "first" : "second";
}

/** The questions of a self-contained file, from the samples that pass the filters. */
FileSource.prototype.questions = function questions(filters, verdict, size, show, signal) {
  const models = sideModels();
  return this.find(filters, {}, ({ selection }) => {
    this.ofSample ??= Map.groupBy(this.rows, sampleOf);
    const keys = new Set(selection.rows.map(sampleOf));
    const all = [...keys].map((key) => this.ofSample.get(key).filter(({ task }) => models.includes(task.model))).filter((samples) => samples.length > 1);
    const verdicts = {};
    for (const samples of all) {
      const found = verdictOf(samples, models);
      verdicts[found] = (verdicts[found] ?? 0) + 1;
    }
    const rows = verdict ? all.filter((samples) => verdictOf(samples, models) === verdict) : all;
    show({ models, verdicts, length: rows.length, rows: rows.slice(0, size), more: (from) => rows.slice(from, from + QUESTIONS) });
  }, signal);
};

/** The questions of a run that is served. */
ServedSource.prototype.questions = async function questions(filters, verdict, size, show) {
  const load = (from, to) => ask("questions", [...queryOf(filters, {}), ["verdict", verdict], ["from", from], ["to", to]]);
  const drawn = ({ rows }) => rows.map((samples) => samples.map(withTask));
  const found = await load(0, size);
  show({ ...found, rows: drawn(found), more: async (from) => drawn(await load(from, from + QUESTIONS)) });
};
