// The steps of an agent: each of its requests to a model, folded, and the files that it left.

/** Draw the steps; a request is put together when it is opened, from the messages that it adds to the one before. */
function stepsPart(chunk, steps) {
  const whole = [];
  for (const { shared, messages } of steps) whole.push([...(whole.at(-1) ?? []).slice(0, shared), ...messages]);
  return el("section", { class: "steps" }, el("h4", {}, counted(steps.length, "step")), steps.map((step, number) => stepBlock(chunk, step, whole, number)));
}

function stepBlock(chunk, step, whole, number) {
  const { answer } = step;
  const calls = (answer.tool_calls ?? []).map((call) => say("calls {tool}", { tool: plain(call.name) }));
  const facts = [...calls, answer.failure ? plain(answer.failure.kind) : null, ...answerFacts(answer), step.cost == null ? null : say("cost {amount}", { amount: figure(step.cost, 6) }), say("after {time}", { time: seconds(step.began) })].filter(Boolean);
  const body = el("div");
  const fill = () => body.replaceChildren(promptBlock(chunk, whole[number], number ? whole[number - 1] : null, say("the previous step")), ...fieldsPart(chunk, step), el("h4", {}, say("Answer")), ...answerBlock(chunk, answer, null));
  return el("details", { class: "fold step", ontoggle: () => body.childElementCount || fill() }, el("summary", {}, el("b", {}, String(number + 1)), ` ${facts.join(" · ")}`), body);
}

function fieldsPart(chunk, { fields }) {
  return fields ? [el("details", { class: "fold" }, el("summary", {}, say("Options and tools of the request")), wholeText(textOf(chunk, fields)))] : [];
}

function filesPart(chunk, files) {
  const one = ({ name, size, text }) => el("details", { class: "fold" }, el("summary", {}, `${plain(name)} · ${counted(size, "byte")}`), text ? wholeText(textOf(chunk, text)) : el("p", { class: "soft" }, say("not kept as a text")));
  return el("section", {}, el("h4", {}, say("Files that the agent left")), files.map(one));
}
