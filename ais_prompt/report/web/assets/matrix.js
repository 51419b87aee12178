// A table of datasets by models: sorted by any model, groups folded, the mean first, the best of each row marked.

const WIDE_UP_TO = 3;  // models with intervals and counts beside the scores
const LEAST_HEADING = 84;  // pixels; names of models in narrower columns are upright
const HEADING = 170;  // pixels of a model's name; of a longer one the middle is left out
const LEAST_COLUMN = 29;  // pixels; a table with narrower columns scrolls
const sorting = { by: null, down: true };  // a model, "" for the names of datasets, null for the order of the summary

/**
 * Draw the matrix of a measure: `cellOf(model, name)` is a cell `{ value, text, title, … }`, null where there is none;
 * `format(value)` is for means; `best` is Math.max or Math.min, left out if cells say which of them `isBest`; `ranking` is the
 * order of models that have one; `mean` is { datasets, width, cellOf } of all datasets, where it is known; `corner` is above the
 * names; `choose(filters)` shows the samples of a cell or a row.
 */
function matrix({ label, corner, cellOf, format, best, ranking = [], mean, choose }) {
  const models = shownModels().sort((one, other) => ranking.indexOf(one) - ranking.indexOf(other));
  const isWide = models.length <= WIDE_UP_TO;
  const has = (name) => models.some((model) => cellOf(model, name));
  const present = shownParts().map(({ name, members }) => ({ name, members: members?.filter(has) ?? null })).filter(({ name, members }) => members?.length ?? has(name));
  const found = sortedParts(present, (model, part) => groupCell(model, part, cellOf, format));
  const leaves = found.flatMap(({ name, members }) => members ?? [name]);
  const range = rangeOf(leaves.flatMap((name) => models.map((model) => cellOf(model, name))));
  const line = (name, kind, heading, cells) => el("tr", { class: kind }, el("th", { scope: "row", dir: "auto", title: plain(name) }, heading), cells.map((cell, place) => matrixCell(cell, { cells, best, range, isWide, choose: cell?.task && (() => choose({ model: models[place], dataset: name })) })));
  const ownLine = (name, kind, heading) => line(name, kind, heading, models.map((model) => cellOf(model, name)));
  const datasetLine = (name, kind) => ownLine(name, kind, el("button", { type: "button", class: "link", onclick: () => choose({ dataset: name }) }, cutName(name)));
  const rows = found.flatMap((part) => {
    if (!part.members) return [datasetLine(part.name, null)];
    const group = line(part.name, "group", foldButton(part), models.map((model) => groupCell(model, part, cellOf, format)));
    return folded.has(part.name) ? [group] : [group, ...part.members.map((name) => datasetLine(name, "member"))];
  });
  const means = averages.filter(has).map((name) => ownLine(name, "average", cutName(name)));
  const isWhole = mean?.datasets === leaves.length;
  const meanCell = isWhole ? mean.cellOf : (model) => meanOf(leaves.map((name) => cellOf(model, name)), format);
  const meanName = say("mean of {number}", { number: counted(leaves.length, "dataset") }) + (isWhole ? mean.width : "");
  if (leaves.length > 1) means.push(line(say("mean"), "average", meanName, models.map(meanCell)));
  const head = el("tr", {}, columnHeading("", corner), models.map((model) => columnHeading(model, shortened(plain(model), HEADING), plain(model))));
  const table = el("table", { class: `matrix${isWide ? " wide" : ""}`, "aria-label": label }, el("colgroup", {}, el("col", { class: "names" }), models.map(() => el("col"))), el("thead", {}, head), means.length ? el("tbody", { class: "means" }, means) : null, el("tbody", {}, rows));
  table.style.setProperty("--models", models.length);
  return fitted(el("div", { class: "matrix-frame" }, table), table, models.length);
}

/** Turn the names of models, or let the table scroll, if there is no room. */
function fitted(frame, table, number) {
  new ResizeObserver(([{ contentRect: { width } }]) => {
    const column = (width - table.querySelector("th").offsetWidth) / number;
    table.classList.toggle("upright", column < LEAST_HEADING);
    frame.classList.toggle("scroll", column < LEAST_COLUMN);
    if (column < LEAST_COLUMN) frame.tabIndex = 0;
  }).observe(frame);
  return frame;
}

function columnHeading(name, text, title = text) {
  const order = sorting.by !== name ? "none" : sorting.down ? "descending" : "ascending";
  const sort = () => {
    const first = name !== "";  // models: the best first; names: in their order
    if (sorting.by !== name) Object.assign(sorting, { by: name, down: first });
    else if (sorting.down === first) sorting.down = !first;
    else sorting.by = null;
    drawShown();
  };
  return el("th", { scope: "col", "aria-sort": order, title }, el("button", { type: "button", "data-focus": `sort ${name}`, onclick: sort }, el("span", {}, text), el("span", { class: "order", "aria-hidden": "true" }, { none: "", ascending: " ↑", descending: " ↓" }[order])));
}

function foldButton({ name, members }) {
  const toggle = () => { folded[folded.has(name) ? "delete" : "add"](name); drawShown(); };
  return el("button", { type: "button", class: "fold-group", "aria-expanded": String(!folded.has(name)), "data-focus": `fold ${name}`, onclick: toggle }, el("i", { "aria-hidden": "true" }, folded.has(name) ? "▸" : "▾"), el("span", {}, cutName(name)), el("span", { class: "soft" }, count(members.length)));
}

/** Sort the parts, and the members of each, by the values of a model or by name; those without a value come last. */
function sortedParts(found, cellOf) {
  const { by, down } = sorting;
  if (by === null || (by && !shownModels().includes(by))) return found;
  const ordered = (items, key) => {
    const values = new Map(items.map((item) => [item, key(item)]));
    return [...items].sort((one, other) => {
      const [left, right] = [values.get(one), values.get(other)];
      if (left == null || right == null) return (left == null) - (right == null);
      return (down ? -1 : 1) * (by ? left - right : compareTexts(left, right));
    });
  };
  const inside = found.map((part) => ({ ...part, members: part.members && ordered(part.members, (name) => (by ? cellOf(by, { name })?.value : name)) }));
  return ordered(inside, (part) => (by ? cellOf(by, part)?.value : part.name));
}

/** The same function, which makes each cell once: a cell is looked at for sorting, colours, means and charts. */
function remembered(cellOf) {
  const known = new Map();
  return (model, dataset) => {
    const key = keyOf({ model, dataset });
    if (!known.has(key)) known.set(key, cellOf(model, dataset));
    return known.get(key);
  };
}

/** The cell of a part: its own, the mean of those members that pass the filters, or why they have no value. */
function groupCell(model, { name, members }, cellOf, format) {
  const own = cellOf(model, name);
  const all = parts.find((part) => part.name === name)?.members;
  if (!members || (own?.value != null && (!all || all.length === members.length))) return own;
  const cells = members.map((member) => cellOf(model, member));
  return meanOf(cells, format) ?? cells.find(Boolean) ?? own;
}

function meanOf(cells, format) {
  const values = cells.map((cell) => cell?.value).filter((value) => value != null);
  if (!values.length || cells.some((cell) => cell?.fraction === false)) return null;
  const value = values.reduce((sum, one) => sum + one, 0) / values.length;
  return { value, text: format(value), isPartial: values.length < cells.length, title: say("mean of {number}", { number: say("{number} of {all}", { number: count(values.length), all: counted(cells.length, "dataset") }) }) };
}

function rangeOf(cells) {
  const values = cells.filter((cell) => cell?.value != null && cell.fraction !== false).map(({ value }) => value);
  return [Math.min(...values), Math.max(...values)];
}

function matrixCell(cell, { cells, best, range: [low, high], isWide, choose }) {
  if (!cell) return el("td", { class: "soft" }, "–");
  if (cell.value == null) return el("td", { class: cell.isWaiting ? "soft" : "note", title: cell.title }, cell.text);
  const values = cells.map((one) => one?.value).filter((value) => value != null);
  const isBest = best ? new Set(values).size > 1 && cell.value === best(...values) : cell.isBest;
  const shown = choose ? el("button", { type: "button", class: "link score", title: cell.title, onclick: choose }, cell.text) : el("span", { class: "score", title: cell.title }, cell.text);
  const more = isWide ? [" ", el("span", { class: "ends soft" }, cell.ends ?? ""), " ", el("span", { class: "miss" }, cell.miss?.())] : [];
  const drawn = el("td", { class: [isBest && "best", cell.isPartial && "partly"].filter(Boolean).join(" ") || null }, shown, cell.hasGaps ? el("span", { class: "gaps", title: cell.title }, "*") : null, more);
  const share = (cell.value - low) / (high - low);
  if (cell.fraction !== false && high > low) drawn.style.setProperty("--heat", (cell.isLess ? 1 - share : share).toFixed(3));
  if (cell.done < 1) drawn.style.setProperty("--done", cell.done);
  return drawn;
}

/** A choice among measures, drawn above their matrix; nothing if there is only one. */
function measureChoice(key, measures, chosen) {
  if (measures.length < 2) return null;
  return el("div", { class: "chips", role: "group", "aria-label": say("Measure") }, measures.map(({ label }) => el("button", { type: "button", class: "chip", "aria-pressed": String(label === chosen.label), "data-focus": `${key} ${label}`, onclick: () => { shownMeasure[key] = label; drawShown(); } }, label)));
}

const shownMeasure = {};  // tab → label of a measure

/** The measure that a tab shows: the first until another one is chosen. */
function measureOf(key, measures) {
  return measures.find(({ label }) => label === shownMeasure[key]) ?? measures[0];
}
