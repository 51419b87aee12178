// Label one answer after the other. Each label is saved before the next answer is shown.

const data = JSON.parse(byId("data").textContent);
const PLACE = `${location.pathname.replace(/\/$/, "")}/data`;
const history = [];  // numbers of answers in the order of labelling, for undo
const skipped = new Set();
let labels = [];
let comments = [];
let shown = null;  // number of the answer; null when all have a label
let busy = false;

Object.assign(LABELS, data.words);
sayFrame();
followTheme(byId("theme"));
byId("subtitle").append(`${plain(data.name)} · ${counted(data.total, "answer")}`);
byId("right").addEventListener("click", () => decide(true));
byId("wrong").addEventListener("click", () => decide(false));
byId("skip").addEventListener("click", skip);
byId("undo").addEventListener("click", undo);
document.addEventListener("keydown", (event) => {
  if (event.target.id === "comment") {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const action = { 1: () => decide(true), 0: () => decide(false), s: skip, u: undo, c: () => byId("comment").focus() }[event.key];
  if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  action();
});
start();

async function start() {
  const state = await ask(PLACE);
  if (!state) return;
  take(state);
  show(next());
}

/** The first answer without a label; skipped answers come last. */
function next() {
  const open = labels.flatMap((label, number) => (label == null ? [number] : []));
  return open.find((number) => !skipped.has(number)) ?? open[0] ?? null;
}

async function show(number) {
  shown = number;
  byId("comment").value = number == null ? "" : comments[number];
  for (const id of ["right", "wrong", "skip", "comment"]) byId(id).disabled = number == null;
  if (number == null) {
    byId("shown").replaceChildren(el("p", { class: "empty" }, say("All answers have a label.")));
    return;
  }
  const found = await ask(`${PLACE}?number=${number}`);
  if (!found || shown !== number) return;
  const part = (title, text) => [el("h2", {}, say(title)), el("pre", { class: "text", dir: "auto" }, plain(text))];
  const question = found.question.map(({ role, text }) => (found.question.length > 1 ? `${role}: ${text}` : text)).join("\n\n");
  byId("shown").replaceChildren(...part("Question", question), ...(found.gold == null ? [] : part("Gold answer", found.gold)), ...part("Answer", found.answer));
  byId("shown").dataset.number = number;
}

async function decide(label) {
  if (shown == null || busy) return;
  const number = shown;
  if (!(await save(number, label))) return;
  skipped.delete(number);
  history.push(number);
  show(next());
}

function skip() {
  if (shown == null || busy) return;
  const number = shown;
  skipped.delete(number);
  skipped.add(number);  // at the end
  const open = labels.flatMap((label, place) => (label == null ? [place] : []));
  const waiting = open.find((place) => !skipped.has(place)) ?? [...skipped].find((place) => labels[place] == null);
  show(waiting ?? number);
}

/** Take the last label of this page back, and show its answer again. */
async function undo() {
  if (busy || !history.length) return;
  const number = history.at(-1);
  const comment = comments[number];
  if (!(await save(number, null))) return;
  history.pop();
  comments[number] = comment;
  show(number);
}

async function save(number, label) {
  busy = true;
  const body = JSON.stringify({ number, label, comment: byId("comment").value });
  const state = await ask(PLACE, { method: "POST", headers: { "X-Aisprompt-Report": "1", "Content-Type": "application/json" }, body });
  busy = false;
  if (state) take(state);
  return state != null;
}

function take(state) {
  ({ labels, comments } = state);
  byId("progress").textContent = say("{number} of {all} labelled", { number: count(labels.filter((label) => label != null).length), all: count(labels.length) });
  byId("undo").disabled = false;
  const { agreement } = state;
  byId("agreement").textContent = agreement ? say("People agree on {equal} of {answers} answers.", { equal: count(agreement.equal), answers: count(agreement.answers) }) : "";
}

/** Return the values of the server; what went wrong is shown, and null returned. */
async function ask(place, options) {
  try {
    const reply = await fetch(place, options);
    byId("trouble").textContent = reply.ok ? "" : plain(await reply.text());
    return reply.ok ? await reply.json() : null;
  } catch {
    byId("trouble").textContent = say("The server does not answer: is aisprompt view still running?");
    return null;
  }
}
