// Follow a run that is not finished: its progress, and its scores and samples as they come.

/** Listen to the server of this page. */
function follow() {
  const events = new EventSource(`${location.pathname}/events`);
  events.onmessage = async (event) => {
    const state = JSON.parse(event.data);
    drawLive(state);
    if (state.is_due) scoreNow();
    if (state.status === "finished" && state.indexed === 1) events.close();
    if (state.version !== data.version) await refresh();
  };
}

/** Have the server score what is answered so far. */
async function scoreNow() {
  await fetch(`${location.pathname}/score`, { method: "POST", headers: { "X-Aisprompt-Report": "1" } });
}

/** "running: 47 of 51 samples"; of a finished run, how many of its samples are indexed. */
function drawLive(state) {
  const banner = byId("live");
  if (state.status === "finished" && state.indexed < 1) return drawIndexing(banner, Math.round(100 * state.indexed));
  banner.hidden = state.status === "finished";
  banner.className = `live ${state.status}`;
  const done = state.samples ? say("{done} of {all} samples", { done: count(state.answered), all: count(state.samples) }) : say("{done} answers", { done: count(state.requests) });
  const progress = state.samples ? el("progress", { max: state.samples, value: state.answered, "aria-label": done }) : null;
  const button = el("button", { type: "button", onclick: async () => { button.disabled = true; await scoreNow(); button.disabled = false; } }, say("Score the answers so far"));
  const isOver = !["running", "finished"].includes(state.status);
  banner.replaceChildren(el("b", {}, say(state.status)), ` ${done}`, ...[progress].filter(Boolean), state.pending ? el("span", { class: "soft" }, plain(state.pending)) : "", isOver && state.requests ? button : "");
}

/** "Reading the samples: 34 %". */
function drawIndexing(banner, percent) {
  const words = say("Reading the samples: {percent} %. Search and filters find those read so far.", { percent });
  banner.hidden = false;
  banner.className = "live running";
  banner.replaceChildren(words, " ", el("progress", { max: 100, value: percent, "aria-label": words }));
}

/** Show the newest scores and samples; filters and the open sample stay. */
async function refresh() {
  const name = opened && nameOf(opened);
  data = { ...await ask("overview"), served: true };
  source.count();
  const tab = shownTab();
  drawOverview();
  drawFilters();
  showTab(tab);
  opened = name ? ((await source.named(name)) ?? null) : null;
  await applyFilters();
}
