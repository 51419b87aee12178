// Put the parts of the report together: the open sample, and the keys.

let source;
let table;
let opened = null;  // the row in the panel
const DRAWN = { scores: scoresParts, ...ofTabs("draw"), models: sideParts, answers: answersParts, speed: speedParts, run: runFacts };  // tab → what draws its parts

sayFrame();
followTheme(byId("theme"));
byId("all-runs").hidden = byId("one-file").hidden = !data.served;
if (data.served) byId("one-file").href = `${location.pathname}/report.html`;
drawOverview();
drawFilters();
addEventListener("DOMContentLoaded", begin);

/** Draw everything that needs no sample. */
function drawOverview() {
  readGroups();
  byId("title").replaceChildren(plain(data.name));
  byId("headline").replaceChildren(...headline().flat());
  byId("subtitle").replaceChildren(subtitle());
  byId("head").replaceChildren(...causes());
  if (data.has_samples === false) {
    byId("live").hidden = false;
    byId("live").textContent = say("The {all} samples are too many for one file; aisprompt view shows them. Scores and charts are of all.", { all: count(data.tasks.reduce((sum, task) => sum + task.samples, 0)) });
  }
  drawTabs();
}

async function begin() {
  source = await new (data.served ? ServedSource : FileSource)().open();
  table = new Table(openPosition, applyFilters);
  if (data.tasks.length === 1) table.sorting = { name: "state", down: false };  // what went wrong first
  table.drawColumns();
  await readAddress();
  performance.mark("samples");  // what bench/report.py looks for
  for (const kind of ["CSV", "JSON"]) byId(`save-${kind.toLowerCase()}`).onclick = () => exportRows(kind);
  if (data.served) follow();
  byId("show-keys").onclick = byId("keys").onclick = showKeys;
  addEventListener("hashchange", readAddress);
  addEventListener("keydown", onKey);
  for (const kind of ["click", "keydown"]) addEventListener(kind, closeMenus);
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((part) => { part.open = true; }));
}

/** Show the samples that pass these filters, ready for the keys. */
async function showSamples(chosen) {
  if (!table) return;  // the rows are not unpacked yet
  showTab("samples");
  await setFilters(chosen);
  byId("tabs").scrollIntoView({ block: "nearest" });
  table.grid.scrollTop = 0;
  table.grid.focus({ preventScroll: true });
}

/** Open the sample at a position of the table. */
async function openPosition(position) {
  table.select(position);
  const [selection, chosen] = [table.selection, table.current];
  await selection.load(chosen, chosen + 1);
  const row = selection.at(chosen);
  if (!row) return;
  if (table.selection !== selection) {  // more samples were found meanwhile, or others
    const place = await table.selection.position(row);
    if (place < 0) return;
    table.select(place);
  }
  opened = row;
  const [shown] = await Promise.all([source.sample(row), loadLibraries()]);
  if (opened !== row) return;  // the next one was opened meanwhile
  byId("browser").classList.add("open");
  byId("sample").hidden = false;
  byId("browser").scrollIntoView({ block: "nearest" });
  const place = say("{number} of {all}", { number: count(table.current + 1), all: count(table.selection.length) });
  await drawSample(byId("sample"), row, shown, place, { previous: () => step(-1), next: () => step(1), close: closeSample });
  markHits();
}

function closeSample() {
  opened = null;
  byId("browser").classList.remove("open");
  byId("sample").hidden = true;
  table.grid.focus({ preventScroll: true });
  writeAddress();
}

/** Select another row; if a sample is open, open the sample of that row. */
function step(by) {
  const position = table.current < 0 ? 0 : table.current + by;
  if (opened) openPosition(position);
  else table.select(position);
  byId("browser").scrollIntoView({ block: "nearest" });
}

/** Show all texts of the open sample rendered, or all of them exactly. */
function toggleRendered() {
  const blocks = [...byId("sample").querySelectorAll(".either")];
  const isRendered = blocks.some((block) => !block.querySelector(":scope > .rendered").hidden);
  for (const block of blocks) block.show(!isRendered);
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches("input, select, textarea");
  if (event.key === "Escape") return byId("keys").open ? undefined : typing ? event.target.blur() : opened && closeSample();
  const leaves = event.key === "Enter" && event.target.id === "query";
  if (event.key === "?" && !typing) return showKeys();
  if (byId("keys").open) return undefined;
  const action = !typing || leaves ? keyActions(event)[event.key] : null;
  if (!action) return;
  event.preventDefault();
  if (!HAS.samples()) return;
  if (shownTab() !== "samples" && !(event.key === "/" && shownTab() === "models")) showTab("samples");
  if (leaves) table.grid.focus();
  action();
}

/** Show which keys there are, or no longer. */
function showKeys() {
  byId("keys").open ? byId("keys").close() : byId("keys").showModal();
}

/** What each key does, given where the focus is. */
function keyActions({ target }) {
  const [rows, page] = [table.selection.length, table.page()];
  const always = { j: () => step(1), k: () => step(-1), w: () => toggleStates(misses()), r: toggleRendered, "/": () => byId("query").focus() };
  const inTable = { ArrowDown: () => step(1), ArrowUp: () => step(-1), PageDown: () => step(page), PageUp: () => step(-page), Home: () => step(-rows), End: () => step(rows) };
  const open = { Enter: () => openPosition(Math.max(table.current, 0)) };
  return { ...always, ...(target === table.grid && inTable), ...(!target.closest("button, a, summary") && open) };
}
