// The tab of performance: a line for each load, and below it the numbers, verdicts and pictures of each.

const FEW_LOADS = 3;  // that are shown without unfolding
const SHOWN_PERCENTILES = ["p50", "p90", "p99"];  // the files have more
const LOAD_COLUMNS = [["TTFT p50", "ttft_seconds", "p50"], ["TTFT p99", "ttft_seconds", "p99"], ["TPOT p50", "tpot_seconds", "p50"], ["E2EL p50", "e2el_seconds", "p50"], ["E2EL p99", "e2el_seconds", "p99"]];

addTab("loads", {
  title: "Performance",
  has: () => (data.loads?.length ?? 0) + (data.sweeps?.length ?? 0),
  isInstead: () => data.is_load || FURTHER.loads.has(),
  draw: loadsParts,
  facts: loadFacts,
  progress: loadProgress,
  listed: ({ loads = [] }) => loadList(loads),
  words: ({ loads = [] }) => loads.map(({ model }) => model),
});

/** For the line below the title: how many loads and requests there are. */
function loadFacts() {
  const { loads = [], sweeps = [] } = data;
  if (sweeps.length && !loads.length) return [counted(sweeps.reduce((sum, sweep) => sum + sweep.points.length, 0), "load")];
  return [counted(loads.length, "load"), counted(loads.reduce((sum, load) => sum + load.stages.total.requests, 0), "request")];
}

/** "mock/sums: 120 of 200 requests sent · 8 in flight · 110 answered · 2 failed · 19.8 requests/s". */
function loadProgress({ task, requests, sent, in_flight, answered, failed, per_second }) {
  const words = [say(requests == null ? "{sent} requests sent" : "{sent} of {all} requests sent", { sent: count(sent), all: requests == null ? "" : count(requests) }), say("{number} in flight", { number: count(in_flight) }), say("{number} answered", { number: count(answered) }), say("{number} failed", { number: count(failed) }), `${figure(per_second)} ${say("requests/s")}`];
  return { done: answered + failed, of: requests, words: `${plain(task)}: ${words.join(" · ")}` };
}

/** The main numbers of the first loads. */
function loadList(loads) {
  if (!loads.length) return null;
  const head = ["", "TTFT p50", "E2EL p50", say("Requests / s"), say("Tokens / s"), say("failed"), say("Verdicts")].map((text, place) => el("th", { scope: "col", class: place ? "number" : "" }, place ? text : say("Performance")));
  const time = (value) => (value == null ? "–" : seconds(value));
  const line = (load) => el("tr", {}, el("th", { scope: "row", dir: "auto" }, plain([load.point, `${load.model}/${load.dataset}`].filter(Boolean).join(" · "))), [time(load.ttft_seconds), time(load.e2el_seconds), figure(load.requests_per_second), figure(load.output_tokens_per_second), count(load.failed)].map((text) => el("td", { class: "number" }, text)), el("td", { class: load.wrong.length ? "note" : "soft", title: load.wrong.join(", ") }, load.wrong.length ? `${load.wrong.length} WARN` : say("ok")));
  const more = loads.length - SHOWN_MODELS;
  return [el("table", { class: "main-scores" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, loads.slice(0, SHOWN_MODELS).map(line))), more > 0 ? el("span", { class: "soft" }, say("{number} more", { number: count(more) })) : null];
}

function loadsParts() {
  const shown = data.loads.filter((load) => (!filters.model.size || filters.model.has(load.model)) && (!filters.dataset.size || filters.dataset.has(load.dataset)));
  const summary = shown.length > 1 ? loadsTable(shown) : null;
  return [data.sweeps.map(sweepPart), summary, shown.map((load) => loadPart(load, shown.length))].flat();
}

function loadName({ model, dataset }) {
  return plain(`${model}/${dataset}`);
}

/** A line for each load. */
function loadsTable(loads) {
  const head = ["", say("requests"), say("failed"), ...LOAD_COLUMNS.map(([title]) => title), say("Requests / s"), say("Tokens / s"), say("In flight"), say("Verdicts")];
  const rows = loads.map((load) => {
    const total = load.stages.total;
    const times = LOAD_COLUMNS.map(([, metric, name]) => total.distributions[metric]?.percentiles[name]);
    const wrong = load.verdicts.filter(({ holds }) => !holds).map(({ name }) => name);
    const cells = [count(total.requests), count(total.failed), ...times.map((time) => (time == null ? "" : seconds(time))), figure(total.requests_per_second), figure(total.output_tokens_per_second), figure(total.concurrency)];
    return el("tr", {}, el("th", { scope: "row", class: "model" }, loadName(load)), cells.map((cell) => el("td", { class: "number" }, cell)), el("td", { class: wrong.length ? "note" : "soft" }, wrong.length ? `WARN: ${wrong.join(", ")}` : say("ok")));
  });
  return el("div", { class: "scroll", tabindex: "0" }, el("table", { class: "speeds" }, el("thead", {}, el("tr", {}, head.map((text, place) => el("th", { scope: "col", class: place && place < head.length - 1 ? "number" : "" }, text)))), el("tbody", {}, rows)));
}

/** Everything about one load; of many loads it is made when it is opened. */
function loadPart(load, loads) {
  const body = el("div", { class: "load" });
  const part = el("details", { class: "load-part", open: loads <= FEW_LOADS }, el("summary", {}, el("b", {}, loadName(load)), ` ${loadWords(load)}`), body);
  const fill = () => { if (part.open && !body.childElementCount) body.append(...loadDetails(load)); };
  part.addEventListener("toggle", fill);
  fill();
  return part;
}

/** "200 requests at 20/s", "64 requests from 8 clients". */
function loadWords({ plan, stages }) {
  const { kind, places } = plan.schedule;
  const how = kind === "users" ? counted(places, "user") : plan.rate != null ? say("{rate} requests/s planned", { rate: figure(plan.rate) }) : places != null ? counted(places, "client") : plain(kind);
  return `${counted(stages.total.requests, "request")} · ${how}`;
}

function loadDetails(load) {
  const { charts, stages, verdicts } = load;
  const isVoiding = ({ name, holds }) => !holds && data.voiding.includes(name);
  const line = ({ name, holds, text }) => el("li", { class: holds ? "soft" : "note" }, el("b", {}, holds ? say("ok") : name === "slo" ? "FAIL" : "WARN"), ` ${plain(name)}: ${plain(text)}`);
  const listOf = (found) => (found.length ? el("ul", { class: "verdicts" }, found.map(line)) : null);
  const [above, below] = [verdicts.filter(isVoiding), verdicts.filter((one) => !isVoiding(one))];
  const pictures = charts ? [latenciesPicture(charts), inFlightPicture(charts, { height: 170 }), loadDistributions(charts), ratesPicture(charts)].filter(Boolean) : [];
  const [total, ...others] = Object.values(stages).map(stageTable);
  return [listOf(above), total, load.goodput ? goodputPart(load.goodput) : null, listOf(below), el("div", { class: "charts" }, pictures), ...others].filter(Boolean);
}

/** The requests that meet all goals, and each goal. */
function goodputPart({ requests_per_second, share, slos }) {
  const goals = slos.map(({ text, value, met, share: within }) => el("li", { class: met ? "soft" : "note" }, el("b", {}, say(met ? "met" : "missed")), ` ${plain(text)}: ${value == null ? "–" : seconds(value)}, ${say("{share} of the requests are within the limit", { share: percent(within) })}`));
  return el("ul", { class: "verdicts" }, el("li", {}, el("b", {}, say("Goodput")), ` ${figure(requests_per_second)} ${say("requests/s")} (${percent(share)})`), goals);
}

/** The numbers of a stage; 95 % intervals below them. */
function stageTable(stage) {
  const rows = Object.keys(data.metrics).filter((name) => name in stage.distributions).map((name) => {
    const found = stage.distributions[name];
    const format = name.endsWith("_seconds") && !name.endsWith("per_seconds") ? seconds : figure;
    const cell = (value, interval, isThin) => el("td", { class: `number${isThin ? " soft" : ""}`, title: isThin ? say("Few values: fewer than five are beyond it.") : null }, value == null ? "∞" : format(value), interval ? el("span", { class: "interval soft" }, interval.map((end) => (end == null ? "∞" : format(end))).join(" – ")) : null);
    const quantiles = SHOWN_PERCENTILES.map((key) => cell(found.percentiles[key], found.intervals[key], found.thin.includes(key)));
    return el("tr", {}, el("th", { scope: "row" }, data.metrics[name]), cell(found.mean, found.intervals.mean), quantiles, cell(found.most), el("td", { class: "number" }, count(found.n)));
  });
  const head = [say(stage.stage), say("mean"), ...SHOWN_PERCENTILES, say("largest"), "n"].map((text, place) => el("th", { scope: "col", class: place ? "number" : "" }, text));
  const rate = (name, unit) => `${figure(stage[name])} ${stage.intervals?.[name] ? `(${stage.intervals[name].map((end) => figure(end)).join(" – ")}) ` : ""}${unit}`;
  const facts = [say("{done} of {all} answered in {time}", { done: count(stage.answered), all: count(stage.requests), time: seconds(stage.seconds) }), rate("requests_per_second", say("requests/s")), rate("input_tokens_per_second", say("tokens in/s")), rate("output_tokens_per_second", say("tokens out/s")), say("{number} in flight, at most {most}", { number: figure(stage.concurrency), most: count(stage.peak_concurrency) })];
  return el("div", {}, el("div", { class: "scroll", tabindex: "0" }, el("table", { class: "speeds load-numbers" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows))), el("p", { class: "load-facts" }, facts.join(" · ")));
}

/** Throughput against latency of the points of a sweep; from the knee on, more load costs latency. */
function sweepPart({ model, dataset, points, knee }) {
  const rates = points.map((point) => point.output_tokens_per_second);
  const kinds = [["e2el_seconds_p50", "decode", "E2EL p50"], ["ttft_seconds_p50", "ttft", "TTFT p50"]];
  const times = kinds.flatMap(([name]) => points.map((point) => point[name]));
  const isLog = Math.max(...times) > WIDE_RATIO * Math.min(...times);
  const notes = [el("p", { class: "soft" }, knee == null ? say("There is no knee: throughput and latency rise alike.") : say("Knee at {name}: from there on, latency grows more than throughput.", { name: plain(points[knee].name) }))];
  return el("div", { class: "load" }, plane(`${loadName({ model, dataset })}: ${say("throughput against latency")}`, {
    x: () => ({ range: [0, 1.12 * Math.max(...rates)], format: figure }), y: () => ({ range: isLog ? [0.8 * Math.min(...times), 1.5 * Math.max(...times)] : [0, 1.12 * Math.max(...times)], format: seconds, isLog }),
    height: 240, notes, keys: [...kinds.map(([, kind, text]) => [text, kind]), ...(knee == null ? [] : [[say("knee"), "knee"]])],
    marks: (x, y) => [
      knee == null ? null : svg("line", { class: "knee", x1: x(rates[knee]), x2: x(rates[knee]), y1: 0, y2: "100%" }),
      kinds.map(([name, kind]) => [svg("path", { class: `line ${kind}`, d: points.map((point, place) => `${place ? "L" : "M"}${x(rates[place]).toFixed(1)} ${y(point[name]).toFixed(1)}`).join("") }), points.map((point, place) => svg("circle", { class: kind, cx: x(rates[place]), cy: y(point[name]), r: 3.5 }, svg("title", {}, `${plain(point.name)}: ${figure(rates[place])} ${say("tokens out/s")}, ${seconds(point[name])}`)))]),
      points.map((point, place) => {
        const isRight = rates[place] > Math.max(...rates) / 2;
        return svg("text", { class: "tick", x: x(rates[place]) + (isRight ? -8 : 6), y: y(point.e2el_seconds_p50) - 6, "text-anchor": isRight ? "end" : "start" }, plain(point.name));
      }),
    ],
  }), el("p", { class: "soft" }, say("Horizontal: tokens of answers per second; vertical: latency.")));
}
