// Tabs, used with mouse and keys as the ARIA Authoring Practices describe.

const TABS = { scores: "Scores", ...ofTabs("title", (tab) => !tab.isBehindSamples), samples: "Samples", ...ofTabs("title", (tab) => tab.isBehindSamples), models: "Models side by side", answers: "Distributions", prompts: "Prompts", speed: "Speed", run: "Run and config" };

/** Whether there is something to show in a tab. */
const HAS = { scores: () => data.scores.length, ...ofTabs("has"), samples: () => data.tasks.length || !Object.values(FURTHER).some((tab) => tab.isInstead()), models: () => names("model").length > 1, answers: () => data.tasks.length, speed: () => Object.keys(data.speeds).length, prompts: () => byId("panel-prompts").childElementCount };

for (const name of Object.keys(FURTHER)) {
  const panel = el("section", { id: `panel-${name}`, role: "tabpanel", "aria-labelledby": `tab-${name}` });
  panel.hidden = true;
  byId("panel-scores").after(panel);
}

function drawTabs() {
  const present = Object.keys(TABS).filter((name) => HAS[name]?.() ?? true);
  byId("tabs").replaceChildren(...present.map((name) => el("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}`, onclick: () => { showTab(name); writeAddress(); } }, say(TABS[name]))));
  byId("tabs").onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const name = present.at((present.indexOf(shownTab()) + step) % present.length);
    showTab(name);
    writeAddress();
    byId(`tab-${name}`).focus();
  };
  byId("toolbar").hidden = byId("panel-samples").hidden = !HAS.samples();
  showTab(addressedTab());
}

function showTab(name) {
  document.body.style.minHeight = `${scrollY + innerHeight}px`;  // a shorter tab does not scroll
  if (!byId(`tab-${name}`)) name = HAS.samples() ? "samples" : Object.keys(FURTHER).find((other) => FURTHER[other].has()) ?? "run";
  for (const tab of byId("tabs").children) {
    const shown = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", shown);
    tab.tabIndex = shown ? 0 : -1;
    byId(tab.getAttribute("aria-controls")).hidden = !shown;
  }
  drawShown();
}

/** Draw the tab that is shown, as the filters and folds are now; the focus stays where it is. */
function drawShown() {
  const name = shownTab();
  byId("fold").textContent = say(folded.size ? "Unfold groups" : "Fold groups");
  for (const prompt of byId("panel-prompts").querySelectorAll("[data-dataset]")) prompt.hidden = filters.dataset.size > 0 && !filters.dataset.has(prompt.dataset.dataset);
  showSides();
  if (!(name in DRAWN)) return;
  const focused = document.activeElement?.dataset.focus;
  byId(`panel-${name}`).replaceChildren(...DRAWN[name](showSamples).filter(Boolean));
  if (focused) [...byId(`panel-${name}`).querySelectorAll("[data-focus]")].find((one) => one.dataset.focus === focused)?.focus({ preventScroll: true });
}

/** Show how the prompts of a dataset are made. */
function showPrompts(question) {
  question.open = true;
  showTab("prompts");
  writeAddress();
  question.scrollIntoView();
  question.querySelector("summary").focus({ preventScroll: true });
}

/** Show how the prompts of a sample are made. Its texts are escaped by the server, and no script of such HTML runs. */
async function showChosenPrompts(row) {
  const { html } = await ask("prompts", { number: row.number });
  const chosen = byId("chosen-prompts");
  chosen.replaceChildren(...new DOMParser().parseFromString(html, "text/html").body.children);
  showTab("prompts");
  writeAddress();
  chosen.scrollIntoView();
  chosen.focus({ preventScroll: true });
}

function shownTab() {
  return byId("tabs").querySelector("[aria-selected=true]")?.id.slice("tab-".length);
}
