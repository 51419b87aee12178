// The tabs of distributions and speed: lengths and times of answers, why some are not scored, speed of the servers.

const WORST = 3;  // tasks that are named beside a reason

function answersParts(choose) {
  const measures = [
    { title: say("Tokens per sample"), format: wholes, ...data.lengths.tokens },
    { title: say("Characters per sample"), format: wholes, ...data.lengths.characters },
    { title: say("Time per sample"), format: seconds, ...data.seconds },
  ].filter(({ edges }) => edges.length);
  const charts = measures.length ? el("div", { class: "charts" }, measures.map(distributionChart)) : null;
  return [charts, ...reasonsParts(choose)].filter(Boolean);
}

function wholes(number) {
  return count(Math.round(number));
}

/** The speed of the servers: a matrix of one measure. */
function speedParts(choose) {
  const measure = (label, valueOf, format, best) => ({ label, format, best, valueOf });
  const rate = (name) => (speed) => speed[name];
  const time = (of, part) => (speed) => speed[of]?.[part];
  const all = [
    measure(`${say("Latency p50")}`, time("latency", "p50"), seconds, Math.min), measure(`${say("Latency")} p90`, time("latency", "p90"), seconds, Math.min), measure(`${say("Latency")} p99`, time("latency", "p99"), seconds, Math.min),
    measure(say("First token p50"), time("first_token", "p50"), seconds, Math.min), measure(`${say("First token")} p90`, time("first_token", "p90"), seconds, Math.min),
    measure(say("Tokens / s"), rate("output_tokens_per_second"), figure, Math.max), measure(say("Answers / s"), rate("requests_per_second"), figure, Math.max),
    measure(say("In flight"), rate("concurrency"), figure, null), measure(say("Requests"), rate("requests"), wholes, null),
  ];
  const measures = all.filter(({ valueOf }) => Object.values(data.speeds).some((speed) => valueOf(speed) != null));
  const chosen = measureOf("speed", measures);
  if (!chosen) return [];
  const cellOf = remembered((model, dataset) => {
    const speed = data.speeds[`${model}/${dataset}`];
    const value = speed && chosen.valueOf(speed);
    if (value == null) return null;
    const others = measures.map(({ label, valueOf, format }) => [label, valueOf(speed), format]).filter(([, one]) => one != null).map(([label, one, format]) => `${label}: ${format(one)}`);
    return { value, text: chosen.format(value), title: others.join("\n"), task: taskOf({ model, dataset }) };
  });
  return [measureChoice("speed", measures, chosen), matrix({ ...chosen, corner: say("Server speed"), cellOf, choose })];
}

/** Why answers have no score: each reason once, the most frequent first, with the tasks that have most of them. */
function reasonsParts(choose) {
  const found = new Map();
  for (const task of data.tasks.filter(passesTask)) {
    for (const [reason, number] of Object.entries(task.reasons)) found.set(reason, [...(found.get(reason) ?? []), [task, number]]);
  }
  if (!found.size) return [];
  const sum = (tasks) => tasks.reduce((all, [, number]) => all + number, 0);
  const lines = [...found].sort((a, b) => sum(b[1]) - sum(a[1])).map(([reason, tasks]) => {
    const worst = [...tasks].sort((a, b) => b[1] - a[1]).slice(0, WORST).map(([{ model, dataset }, number]) => el("button", { type: "button", class: "link", onclick: () => choose({ model, dataset, state: ["unparsed", "truncated", "failed"] }) }, `${plain(model)}/${plain(dataset)} ${count(number)}`));
    return el("li", {}, el("b", {}, `${plain(reason)} ${count(sum(tasks))}`), el("span", { class: "soft" }, counted(tasks.length, "task"), worst.map((button) => [" · ", button]), tasks.length > WORST ? " · …" : ""));
  });
  return [el("h2", {}, say("Not scored")), el("ul", { class: "reasons" }, lines)];
}
