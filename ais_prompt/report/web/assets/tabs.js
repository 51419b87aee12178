// Tabs, used with mouse and keys as the ARIA Authoring Practices describe.

const TABS = { samples: "Samples", scores: "Scores", answers: "Distributions", prompts: "Prompts", speed: "Speed", run: "Run and config" };

/** Draw the tabs of the panels that have something to show. */
function drawTabs() {
  const present = Object.keys(TABS).filter((name) => byId(`panel-${name}`).childElementCount);
  byId("tabs").replaceChildren(...present.map((name) => el("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}`, onclick: () => { showTab(name); writeAddress(); } }, say(TABS[name]))));
  byId("tabs").onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const name = present.at((present.indexOf(shownTab()) + step) % present.length);
    showTab(name);
    writeAddress();
    byId(`tab-${name}`).focus();
  };
  showTab("samples");
}

function showTab(name) {
  if (!byId(`tab-${name}`)) return;
  for (const tab of byId("tabs").children) {
    const shown = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", shown);
    tab.tabIndex = shown ? 0 : -1;
    byId(tab.getAttribute("aria-controls")).hidden = !shown;
  }
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
  return byId("tabs").querySelector("[aria-selected=true]").id.slice("tab-".length);
}
