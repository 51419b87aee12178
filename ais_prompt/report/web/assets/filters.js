// The filters above the table, the samples that pass them, and the address of what is shown.

const filters = { state: new Set(), model: "", dataset: "", query: "", columns: {} };
let finding = new AbortController();

function drawFilters() {
  for (const key of ["model", "dataset"]) {
    const all = el("option", { value: "" }, say(key === "model" ? "All models" : "All datasets"));
    byId(key).replaceChildren(all, ...names(key).map((name) => el("option", { value: name }, plain(name))));
    byId(key).hidden = names(key).length < 2;
    byId(key).onchange = () => { filters[key] = byId(key).value; applyFilters(); };
  }
  drawColumnFilters();
  const present = STATES.filter((state) => data.tasks.some((task) => task.states[state]));
  byId("states").replaceChildren(...present.map((state) => el("button", { type: "button", class: "chip", "aria-pressed": "false", "data-state": state, onclick: () => toggleStates([state]) }, el("i", { class: `swatch ${state}` }), `${say(state)} `, el("span", { class: "soft" }))));
  let waiting;
  byId("query").oninput = () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { filters.query = byId("query").value.trim(); applyFilters(); }, 150);
  };
}

/** A choice for each column of the data that has few values. */
function drawColumnFilters() {
  const columns = new Map();
  for (const task of data.tasks) {
    for (const [name, values] of Object.entries(task.columns)) columns.set(name, [...new Set([...(columns.get(name) ?? []), ...values])]);
  }
  byId("column-filters").replaceChildren(...[...columns].map(([name, values]) => {
    const options = values.map((value) => el("option", { value: JSON.stringify(value) }, plain(String(value))));
    const choice = el("select", { "aria-label": plain(name), "data-column": name }, el("option", { value: "" }, say("All: {name}", { name: plain(name) })), options);
    choice.onchange = () => { choice.value ? filters.columns[name] = JSON.parse(choice.value) : delete filters.columns[name]; applyFilters(); };
    return choice;
  }));
}

/** Show samples in these states too; if all of them are shown, no longer. */
function toggleStates(states) {
  const all = states.every((state) => filters.state.has(state));
  for (const state of states) all ? filters.state.delete(state) : filters.state.add(state);
  applyFilters();
}

/** The states below the full score that the run has. */
function misses() {
  return MISSES.filter((state) => byId("states").querySelector(`[data-state=${state}]`));
}

/** Set these filters and reset all others. */
function setFilters({ model = "", dataset = "", state, query = "", columns = {} }) {
  Object.assign(filters, { model, dataset, query, columns: { ...columns }, state: new Set([state].flat().filter(Boolean)) });
  return applyFilters();
}

/** Find the samples that pass the filters, and show them as they are found. */
function applyFilters() {
  finding.abort();
  finding = new AbortController();
  byId("model").value = filters.model;
  byId("dataset").value = filters.dataset;
  for (const choice of byId("column-filters").children) choice.value = choice.dataset.column in filters.columns ? JSON.stringify(filters.columns[choice.dataset.column]) : "";
  if (byId("query").value.trim() !== filters.query) byId("query").value = filters.query;
  for (const chip of byId("states").children) chip.setAttribute("aria-pressed", filters.state.has(chip.dataset.state));
  byId("found").textContent = say("searching");
  writeAddress();
  const { signal } = finding;
  return source.find(filters, table.sorting, (found) => signal.aborted || showFound(found), signal);
}

async function showFound({ selection, states, share }) {
  for (const chip of byId("states").children) chip.lastChild.textContent = count(states[chip.dataset.state] ?? 0);
  byId("found").textContent = share < 1 ? say("searching, {percent} %", { percent: Math.round(100 * share) }) : foundText(selection.length);
  const position = opened ? await selection.position(opened) : -1;
  table.show(selection, position);
  if (opened && position < 0 && share === 1) closeSample();
}

function foundText(number) {
  return number === source.size ? counted(number, "sample") : say("{number} of {all}", { number: count(number), all: count(source.size) });
}

/** Return the fragment of the address for what is shown. */
function address() {
  const parts = new URLSearchParams();
  if (shownTab() !== "samples") parts.set("tab", shownTab());
  for (const key of ["model", "dataset", "query"]) if (filters[key]) parts.set(key, filters[key]);
  for (const state of filters.state) parts.append("state", state);
  for (const [name, value] of Object.entries(filters.columns)) parts.append("column", JSON.stringify([name, value]));
  if (opened) parts.set("sample", nameOf(opened));
  if (opened && beside) parts.set("beside", beside);
  return parts.toString();
}

function writeAddress() {
  if (address() !== location.hash.slice(1)) history.replaceState(null, "", `#${address()}`);
}

/** Show what the address names. */
async function readAddress() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const name = parts.get("sample");
  beside = parts.get("beside") ?? "";
  showTab(parts.get("tab") ?? "samples");
  opened = (name && (await source.named(name))) || null;
  await setFilters({ model: parts.get("model") ?? "", dataset: parts.get("dataset") ?? "", query: parts.get("query") ?? "", state: parts.getAll("state"), columns: columnsOf(parts) });
  if (opened) openPosition(table.current);
  if (opened && data.served && shownTab() === "prompts") showChosenPrompts(opened);
}

/** The columns that an address filters by; broken ones are left out. */
function columnsOf(parts) {
  try {
    return Object.fromEntries(parts.getAll("column").map((text) => JSON.parse(text)));
  } catch {
    return {};
  }
}
