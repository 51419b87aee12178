// The tab of the run: command lines, versions and config.

// What varies in messages of one kind, as in utils/text.py.
const VARIES = /(HTTP \d{3}|https?:\/\/[^\s/]+)\S*|\[[^\]]*\]|(?<!\w)'[^']*'(?!\w)|"[^"]*"|\w*\d(?:[\w.,-]*\w)?/g;

/** One line below the title: when, how much, and how it ended. */
function subtitle() {
  const samples = data.tasks.reduce((sum, task) => sum + task.samples, 0);
  const started = data.sessions.length ? moment(data.sessions[0].started) : data.time;
  if (!HAS.samples()) return [started, ...Object.values(FURTHER).flatMap((tab) => tab.facts()), ...(data.status === "finished" ? [] : [plain(say(data.status))])].join(" · ");
  const facts = [started, counted(new Set(data.scores.map(({ model }) => model)).size, "model"), counted(parts.flatMap(({ members }) => members ?? [null]).length, "dataset"), counted(samples, "sample")];
  return (["finished", "partial"].includes(data.status) ? facts : [...facts, plain(say(data.status))]).join(" · ");
}

/** Why tasks have no score: each cause once, before everything else. */
function causes() {
  const failed = data.scores.filter((line) => line.score == null && /^(error|no answer|no value)/.test(line.note) && !groupNames().has(line.dataset));
  if (!failed.length) return [];
  const few = (names) => names.slice(0, WORST).map(plain).join(", ") + (names.length > WORST ? ", …" : "");
  const lines = [...Map.groupBy(failed, ({ note }) => note.replace(VARIES, "$1")).values()].sort((a, b) => b.length - a.length).map((own) => {
    const [models, datasets] = ["model", "dataset"].map((key) => [...new Set(own.map((line) => line[key]))]);
    const size = [...(models.length > 1 ? [counted(models.length, "model")] : []), counted(datasets.length, "dataset")].join(" · ");
    return el("li", {}, el("b", { title: models.map(plain).join("\n") }, few(models)), ` ${plain(own[0].note.replace(/^error: /, ""))} `, el("span", { class: "soft", title: datasets.map(plain).join("\n") }, `${size}: ${few(datasets)}`));
  });
  return [el("ul", { class: "causes" }, lines)];
}

/** What a session asked: ", 1,319 requests, 0.43 USD". */
function usedBy(session) {
  const used = session.used;
  if (!used?.requests) return "";
  const cost = Object.entries(used.cost || {}).map(([currency, amount]) => `, ${figure(amount)} ${currency}`);
  return `, ${counted(used.requests, "request")}${plain(cost.join(""))}`;
}

function runFacts() {
  const sessions = data.sessions.map((session) => el("li", {}, el("code", {}, plain(session.command || "aisprompt run")), el("span", { class: "soft" }, ` ${moment(session.started)}${session.ended ? `, ${duration(session.started, session.ended)}` : ""}, ${plain(say(session.status))}${usedBy(session)}`)));
  const versions = Object.entries(data.versions).map(([name, version]) => el("span", { class: "version" }, `${plain(name)} `, el("b", {}, plain(String(version)))));
  return [
    el("ol", { class: "sessions" }, sessions),
    byId("panel-prompts").querySelector("[data-dataset]") ? null : el("p", { class: "soft" }, say("The origins of prompts are not kept in this run folder; aisprompt view-prompt shows those of a config.")),
    el("details", {}, el("summary", {}, say("Versions")), el("p", { class: "versions" }, versions)),
    el("details", {}, el("summary", {}, say("Config of the run")), el("pre", { class: "config" }, ...visible(data.config))),
  ].filter(Boolean);
}
