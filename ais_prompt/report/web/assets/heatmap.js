// Long contexts: heatmaps of length by task and by depth, and the effective length. The numbers are in every cell.

const RULER_THRESHOLD = 85.6;  // Hsieh et al. 2024 (RULER): the score of Llama2-7B at 4k

/** The part of the scores that is about long contexts; nothing in a run without any. */
function longContextParts() {
  const contexts = data.long_contexts ?? [];
  if (!contexts.length) return [];
  const input = el("input", { type: "number", id: "threshold", min: 0, max: 100, step: 0.1, value: RULER_THRESHOLD });
  const label = el("label", { for: "threshold", title: say("the score of Llama2-7B at 4k, as in RULER") }, say("Effective length: the largest with a score of at least"), " ", input, " %");
  return [el("h2", {}, say("Long contexts")), el("p", { class: "threshold soft" }, label), ...contexts.map((context) => contextPart(context, input))];
}

function contextPart(context, input) {
  const name = [plain(context.model), context.language === "zh" ? "中文" : null].filter(Boolean).join(" · ");
  const effective = el("output", { class: "effective", for: "threshold" });
  const update = () => effective.replaceChildren(effectiveLength(context, Number(input.value) / 100));
  input.addEventListener("input", update);
  update();
  const ofDepth = context.tasks.filter((task) => context.depths.some((cell) => cell.task === task));
  const single = ofDepth.length > 1 ? [el("details", {}, el("summary", {}, say("Depth by task")), el("div", { class: "measures" }, ofDepth.map((task) => depthMap(context, [task], name, `${plain(task)}: `))))] : [];
  return el("section", { class: "long-context" },
    el("h3", {}, name, " ", effective),
    el("div", { class: "measures" }, taskMap(context, name), ofDepth.length ? depthMap(context, ofDepth, name) : null),
    ...single);
}

/** The effective length in words, with the lengths that the ends of the intervals give. */
function effectiveLength(context, threshold) {
  const complete = context.lengths.filter(({ tasks }) => tasks === context.tasks.length);
  if (!complete.length) return say("no length has all tasks");
  const largest = (key) => complete.findLast((line) => line[key] != null && line[key] >= threshold)?.length;
  const named = (length) => (length === undefined ? `< ${lengthName(complete[0].length)}` : lengthName(length));
  const note = context.estimated ? `, ${say("lengths are estimates")}` : "";
  return `${named(largest("score"))} (95 %: ${named(largest("low"))} – ${named(largest("high"))}${note})`;
}

function lengthName(length) {
  if (length % 1048576 === 0) return `${length / 1048576}M`;
  return length % 1024 === 0 ? `${length / 1024}k` : count(length);
}

/** Task by length, and the mean of the tasks. */
function taskMap(context, name) {
  const found = new Map(context.scores.map((cell) => [`${cell.task} ${cell.length}`, cell]));
  const rows = context.tasks.map((task) => [plain(task), context.lengths.map(({ length }) => found.get(`${task} ${length}`))]);
  if (rows.length > 1) rows.push([say("mean"), context.lengths]);
  return contextTable(name, say("score by task and length, %"), "Task", context, rows);
}

/** Depth by length, the mean of some tasks. */
function depthMap(context, tasks, name, prefix = "") {
  const cells = context.depths.filter(({ task }) => tasks.includes(task));
  const depths = [...new Set(cells.map(({ depth }) => depth))].sort((one, other) => one - other);
  const rows = depths.map((depth) => [`${depth} %`, context.lengths.map(({ length }) => meanCell(cells.filter((cell) => cell.depth === depth && cell.length === length)))]);
  return contextTable(name, prefix + say("score by depth and length, %"), "Depth", context, rows);
}

function contextTable(name, title, corner, { lengths }, rows) {
  return heatTable(`${name}: ${title}`, title, corner, lengths.map(({ length }) => lengthName(length)), rows.map(([row, cells]) => [row, cells.map((found) => heatCell(found))]));
}

function meanCell(cells) {
  if (cells.length < 2) return cells[0];
  const sum = (key) => cells.reduce((all, cell) => all + cell[key], 0);
  return { score: sum("score") / cells.length, n: sum("n") };
}

/** A table with a name for screen readers, a title and a corner; `rows` are pairs of a name and cells. */
function heatTable(name, title, corner, columns, rows) {
  const head = el("tr", {}, header("", corner), columns.map((column) => el("th", { scope: "col", class: "number", title: column }, column)));
  const body = rows.map(([row, cells]) => el("tr", {}, el("th", { scope: "row", dir: "auto" }, row), cells));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name }, el("table", { class: "heat" }, el("caption", {}, title), el("thead", {}, head), el("tbody", {}, body)));
}

/** A score in words and in colour; the interval is shown on hovering. A click calls `choose`. */
function heatCell(found, choose) {
  if (!found) return cell("number soft", "–");
  const ends = span(found.low, found.high, true);
  const text = String(Math.round(100 * found.score));
  const shown = cell("number", choose ? el("button", { type: "button", class: "link score", onclick: choose }, text) : text);
  shown.title = `${percent(found.score)}${ends ? ` (95 %: ${ends})` : ""}, ${counted(found.n, "sample")}`;
  shown.style.setProperty("--heat", found.score);
  return shown;
}
