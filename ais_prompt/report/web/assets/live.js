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

const pace = { scored: "", share: 1, first: null };  // how many samples a request is, and where the count began

/** "752 of 1,920 samples · 8 samples/s · 2 min 30 s left", from what the journals count between two scorings. */
function progressOf({ answered, samples, requests, version, status }) {
  if (!samples) return { words: say("{done} answers", { done: count(requests) }) };
  if (version !== pace.scored) Object.assign(pace, { scored: version, share: requests ? Math.min(1, answered / requests) : 1 });
  pace.first ??= { at: Date.now(), requests };
  const done = Math.min(samples, Math.max(answered, Math.round(requests * pace.share)));
  const rate = (pace.share * (requests - pace.first.requests)) / ((Date.now() - pace.first.at) / 1000);
  const left = status === "running" && rate > 0 ? [say("{number} samples/s", { number: figure(rate) }), say("{time} left", { time: duration(0, 1000 * Math.round((samples - done) / rate)) })] : [];
  return { done, words: [say("{done} of {all} samples", { done: count(done), all: count(samples) }), ...left].join(" · ") };
}

/** "running: 47 of 51 samples"; of a finished run, how many of its samples are indexed. */
function drawLive(state) {
  const banner = byId("live");
  if (state.status === "finished" && state.indexed < 1) return drawIndexing(banner, Math.round(100 * state.indexed));
  banner.hidden = state.status === "finished";
  banner.className = `live ${state.status}`;
  const [[name, now] = []] = Object.entries(state.tabs);
  const { done, words, of = state.samples } = name ? FURTHER[name].progress(now) : progressOf(state);
  const progress = of ? el("progress", { max: of, value: done, "aria-label": words }) : null;
  const button = el("button", { type: "button", onclick: async () => { button.disabled = true; await scoreNow(); button.disabled = false; } }, say("Score the answers so far"));
  const isOver = !["running", "finished"].includes(state.status);
  banner.replaceChildren(el("b", {}, say(state.status)), ` ${words}`, ...[progress].filter(Boolean), state.pending ? el("span", { class: "soft" }, plain(state.pending)) : "", isOver && state.requests ? button : "");
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
  drawOverview();
  drawFilters();
  table.drawColumns();
  opened = name ? ((await source.named(name)) ?? null) : null;
  await applyFilters();
}
