// The tabs of distributions and speed: lengths and times of answers, why some are not scored, speed of the servers.

function answersParts() {
  const measures = [
    { title: say("Tokens per sample"), format: wholes, ...data.lengths.tokens },
    { title: say("Characters per sample"), format: wholes, ...data.lengths.characters },
    { title: say("Time per sample"), format: seconds, ...data.seconds },
  ].filter(({ edges }) => edges.length);
  const charts = measures.length ? el("div", { class: "charts" }, measures.map(distributionChart)) : null;
  return [charts, ...reasonsParts()].filter(Boolean);
}

function wholes(number) {
  return count(Math.round(number));
}

/** The speed of the servers; null if none was asked. */
function speedTable() {
  const tasks = Object.entries(data.speeds);
  if (!tasks.length) return null;
  const time = (times, name) => cell("number", times ? seconds(times[name]) : "");
  const head = [header("", say("Server speed")), ...["Requests", "Latency p50", "p90", "p99", "First token p50", "p90", "In flight", "Answers / s", "Tokens / s"].map((title) => header("number", say(title)))];
  const rows = tasks.map(([name, speed]) => el("tr", {}, el("th", { scope: "row" }, plain(name)), cell("number", count(speed.requests)), ...["p50", "p90", "p99"].map((part) => time(speed.latency, part)), ...["p50", "p90"].map((part) => time(speed.first_token, part)), ...[speed.concurrency, speed.requests_per_second, speed.output_tokens_per_second].map((number) => cell("number", figure(number)))));
  return el("div", { class: "scroll", tabindex: "0" }, el("table", { class: "speeds" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows)));
}

/** Reasons of answers that are not scored, the most frequent of each task first. */
function reasonsParts() {
  const tasks = byDataset(data.tasks).filter((task) => Object.keys(task.reasons).length);
  if (!tasks.length) return [];
  const lines = tasks.map((task) => {
    const reasons = Object.entries(task.reasons).sort((a, b) => b[1] - a[1]).map(([reason, number]) => `${plain(reason)} ${count(number)}`);
    return el("li", {}, el("b", {}, plain(`${task.model}/${task.dataset}`)), " ", reasons.join(", "));
  });
  return [el("h2", {}, say("Not scored")), el("ul", { class: "reasons" }, lines)];
}
