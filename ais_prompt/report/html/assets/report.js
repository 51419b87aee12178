// Filters, keys, and the address of what is shown.

const filters = { state: new Set(), model: "", dataset: "", query: "" };
let rows = [];
let table;
let searching = new AbortController();
let opened = null;  // the row in the panel

followTheme(byId("theme"));
byId("all-runs").hidden = !["127.0.0.1", "localhost"].includes(location.hostname);  // served by `aisprompt view`
drawOverview((chosen) => {
  byId("samples").scrollIntoView();
  setFilters(chosen);
});
drawControls();
addEventListener("DOMContentLoaded", begin);

async function begin() {
  rows = await unpackedRows();
  table = new Table((row) => openRow(row));
  readAddress();
  performance.mark("samples");  // what tools/bench/report.py looks for
  addEventListener("hashchange", readAddress);
  addEventListener("keydown", onKey);
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((part) => { part.open = true; }));
}

function drawControls() {
  for (const key of ["model", "dataset"]) {
    const all = el("option", { value: "" }, key === "model" ? "All models" : "All datasets");
    byId(key).append(all, ...names(key).map((name) => el("option", { value: name }, plain(name))));
    byId(key).hidden = names(key).length < 2;
    byId(key).addEventListener("change", () => { filters[key] = byId(key).value; applyFilters(); });
  }
  const present = STATES.filter((state) => data.tasks.some((task) => task.states[state]));
  byId("states").append(...present.map((state) => el("button", { type: "button", class: "chip", "aria-pressed": "false", "data-state": state, onclick: () => toggleState(state) }, el("i", { class: `swatch ${state}` }), `${state} `, el("span", { class: "soft" }))));
  let waiting;
  byId("query").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { filters.query = byId("query").value.trim(); applyFilters(); }, 150);
  });
}

function toggleState(state) {
  if (!filters.state.delete(state)) filters.state.add(state);
  applyFilters();
}

/** Set these filters and reset all others. */
function setFilters({ model = "", dataset = "", state, query = "" }) {
  Object.assign(filters, { model, dataset, query, state: new Set([state].flat().filter(Boolean)) });
  applyFilters();
}

function applyFilters() {
  if (!table) return;  // the rows are not unpacked yet
  searching.abort();
  searching = new AbortController();
  byId("model").value = filters.model;
  byId("dataset").value = filters.dataset;
  if (byId("query").value.trim() !== filters.query) byId("query").value = filters.query;
  const ofTasks = rows.filter(({ task }) => (!filters.model || task.model === filters.model) && (!filters.dataset || task.dataset === filters.dataset));
  drawChips(ofTasks);
  const chosen = ofTasks.filter((row) => !filters.state.size || filters.state.has(row.state));
  byId("found").textContent = "searching";
  if (filters.query) search(chosen, filters.query, (matches, share) => showRows(chosen.filter((row) => matches.has(row)), share), searching.signal);
  else showRows(chosen, 1);
  writeAddress();
}

function drawChips(ofTasks) {
  const numbers = {};
  for (const row of ofTasks) numbers[row.state] = (numbers[row.state] ?? 0) + 1;
  for (const chip of byId("states").children) {
    chip.setAttribute("aria-pressed", filters.state.has(chip.dataset.state));
    chip.lastChild.textContent = count(numbers[chip.dataset.state] ?? 0);
  }
}

function showRows(shown, share) {
  table.show(shown);
  byId("found").textContent = share < 1 ? `searching, ${Math.round(100 * share)} %` : shown.length === rows.length ? counted(rows.length, "sample") : `${count(shown.length)} of ${count(rows.length)}`;
}

async function openRow(row) {
  opened = row;
  byId("browser").classList.add("open");
  byId("sample").hidden = false;
  writeAddress();
  const actions = { previous: () => step(-1), next: () => step(1), close: closeRow };
  const place = table.rows.indexOf(row);
  await drawSample(byId("sample"), row, place < 0 ? "" : `${count(place + 1)} of ${count(table.rows.length)}`, actions);
}

function closeRow() {
  opened = null;
  byId("browser").classList.remove("open");
  byId("sample").hidden = true;
  byId("rows").focus({ preventScroll: true });
  writeAddress();
}

/** Select another row; if a sample is open, open the sample of that row. */
function step(by) {
  table.select(table.current < 0 ? 0 : table.current + by);
  if (opened && table.row()) openRow(table.row());
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches("input, select, textarea");
  if (event.key === "Escape") return typing ? event.target.blur() : closeRow();
  if (typing && !(event.key === "Enter" && event.target.id === "query")) return;
  const page = Math.max(1, Math.floor(table.view.clientHeight / table.height()) - 1);
  const inTable = document.activeElement === table.view;
  const actions = {
    j: () => step(1),
    k: () => step(-1),
    "/": () => byId("query").focus(),
    ...(inTable && { ArrowDown: () => step(1), ArrowUp: () => step(-1), PageDown: () => step(page), PageUp: () => step(-page), Home: () => step(-table.rows.length), End: () => step(table.rows.length) }),
    ...(!event.target.matches("button, a, summary") && { Enter: () => { if (table.current < 0) table.select(0); if (table.row()) openRow(table.row()); } }),
  };
  if (!actions[event.key]) return;
  event.preventDefault();
  actions[event.key]();
}

function nameOf(row) {
  return `${row.task.model}/${row.task.dataset}/${row.id}`;
}

/** Return the fragment of the address for what is shown. */
function address() {
  const parts = new URLSearchParams();
  for (const key of ["model", "dataset", "query"]) if (filters[key]) parts.set(key, filters[key]);
  for (const state of filters.state) parts.append("state", state);
  if (opened) parts.set("sample", nameOf(opened));
  return parts.toString();
}

function writeAddress() {
  if (address() !== location.hash.slice(1)) history.replaceState(null, "", `#${address()}`);
}

function readAddress() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const name = parts.get("sample");
  const row = name && rows.find((candidate) => nameOf(candidate) === name);
  setFilters({ model: parts.get("model") ?? "", dataset: parts.get("dataset") ?? "", query: parts.get("query") ?? "", state: parts.getAll("state") });
  if (!row) return;
  byId("samples").scrollIntoView();
  table.select(table.rows.indexOf(row));
  openRow(row);
}
