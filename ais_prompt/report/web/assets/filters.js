// The filters above the tabs, the samples that pass them, and the address of what is shown.

const filters = { state: new Set(), model: new Set(), dataset: new Set(), query: "", columns: {} };  // an empty set is all
let finding = new AbortController();

function drawFilters() {
  drawChoice("model", { all: say("All models"), several: "{number} of {all} models" });
  drawChoice("dataset", { all: say("All datasets"), several: "{number} of {all} datasets", groups: parts });
  byId("fold").hidden = !parts.some(({ members }) => members);
  byId("fold").onclick = () => { foldAll(!folded.size); drawShown(); };
  drawColumnFilters();
  const present = STATES.filter((state) => data.tasks.some((task) => task.states[state]));
  byId("states").replaceChildren(...present.map((state) => el("button", { type: "button", class: "chip", "aria-pressed": "false", "data-state": state, title: ABOUT_STATES[state] && say(ABOUT_STATES[state]), onclick: (event) => { toggleStates([state]); focusRows(event); } }, el("i", { class: `swatch ${state}` }), `${stateWord(state)} `, el("span", { class: "soft" }))));
  let waiting;
  byId("query").oninput = () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      filters.query = byId("query").value.trim();
      if (filters.query && !["samples", "models"].includes(shownTab())) showTab("samples");
      applyFilters();
    }, 150);
  };
}

/** After a click on a chip the keys are those of the table; with the keyboard the focus stays. */
function focusRows(event) {
  if (event.detail && shownTab() === "samples") table.grid.focus({ preventScroll: true });
}

/** Whether a task passes the filters of models, datasets and states. */
function passesTask({ model, dataset, states }) {
  return (!filters.model.size || filters.model.has(model)) && (!filters.dataset.size || filters.dataset.has(dataset)) && (!filters.state.size || [...filters.state].some((state) => states[state]));
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

/** Set these filters and reset all others; `model`, `dataset` and `state` are a name or several. */
function setFilters({ query = "", columns = {}, ...chosen }) {
  Object.assign(filters, { query, columns: { ...columns } });
  for (const key of ["model", "dataset", "state"]) filters[key] = new Set([chosen[key]].flat().filter(Boolean));
  return applyFilters();
}

/** Find the samples that pass the filters, and show them as they are found. */
function applyFilters() {
  finding.abort();
  finding = new AbortController();
  for (const key of ["model", "dataset"]) byId(key).show();
  for (const choice of byId("column-filters").children) choice.value = choice.dataset.column in filters.columns ? JSON.stringify(filters.columns[choice.dataset.column]) : "";
  if (byId("query").value.trim() !== filters.query) byId("query").value = filters.query;
  for (const chip of byId("states").children) chip.setAttribute("aria-pressed", filters.state.has(chip.dataset.state));
  byId("found").textContent = say("searching");
  drawShown();
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
  const values = new URLSearchParams(queryOf(filters, {}));
  for (const { name, members } of parts) {
    if (!members?.every((member) => filters.dataset.has(member))) continue;
    for (const member of members) values.delete("dataset", member);
    values.append("group", name);
  }
  if (sides.verdict && shownTab() === "models") values.set("verdict", sides.verdict);
  if (opened) values.set("sample", nameOf(opened));
  if (opened && beside) values.set("beside", beside);
  return shownTab() === impliedTab(values) ? values.toString() : new URLSearchParams([["tab", shownTab()], ...values]).toString();
}

/** The tab of an address that names none: samples are what filters are mostly for. */
function impliedTab(values) {
  return values.size || data.tasks.length < 2 ? "samples" : "scores";
}

function addressedTab() {
  const values = new URLSearchParams(location.hash.slice(1));
  return values.get("tab") ?? impliedTab(values);
}

function writeAddress() {
  if (address() !== location.hash.slice(1)) history.replaceState(null, "", `#${address()}`);
}

/** Show what the address names. */
async function readAddress() {
  const values = new URLSearchParams(location.hash.slice(1));
  const name = values.get("sample");
  beside = values.get("beside") ?? "";
  sides.verdict = values.get("verdict") ?? "";
  showTab(addressedTab());
  opened = (name && (await source.named(name))) || null;
  const ofGroups = values.getAll("group").flatMap((group) => parts.find(({ name }) => name === group)?.members ?? []);
  await setFilters({ model: values.getAll("model"), dataset: [...values.getAll("dataset"), ...ofGroups], state: values.getAll("state"), query: values.get("query") ?? "", columns: columnsOf(values) });
  if (opened) openPosition(table.current);
  if (opened && data.served && shownTab() === "prompts") showChosenPrompts(opened);
}

/** The columns that an address filters by; broken ones are left out. */
function columnsOf(values) {
  try {
    return Object.fromEntries(values.getAll("column").map((text) => JSON.parse(text)));
  } catch {
    return {};
  }
}
