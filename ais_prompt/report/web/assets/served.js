// The samples of a run that `aisprompt view` serves: the server filters and sorts, and the page asks for screenfuls.

const SCREENFUL = 200;  // rows in one request

/** Ask the server of this page. */
async function ask(part, parameters = {}) {
  const reply = await fetch(`${location.pathname}/${part}?${new URLSearchParams(parameters)}`);
  if (!reply.ok) throw new Error(await reply.text());
  return reply.json();
}

class ServedSource {
  async open() {
    this.count();
    return this;
  }

  /** Count the samples again, after the overview has changed. */
  count() {
    this.size = data.tasks.reduce((sum, task) => sum + task.samples, 0);
  }

  async find(filters, sorting, show, signal) {
    if (!this.size) return show({ selection: new LocalSelection([]), states: {}, share: 1 });
    const selection = new ServedSelection(queryOf(filters, sorting));
    const { states } = await selection.ask(0, SCREENFUL);
    if (!signal.aborted) await show({ selection, states, share: 1 });
  }

  async named(name) {
    if (!this.size) return undefined;
    const { named } = await ask("rows", { sample: name });
    return named ? withTask(named) : undefined;
  }

  async sample(row) {
    const chunk = await ask("sample", { number: row.number });
    return { chunk, sample: chunk.samples[0], neighbour: chunk.samples[1], neighbourName: say(chunk.is_first ? "the next sample" : "the previous sample") };
  }

  async others(row) {
    return (await ask("others", { number: row.number })).map(withTask);
  }
}

function queryOf(filters, { name, down }) {
  const query = new URLSearchParams();
  for (const key of ["model", "dataset", "state"]) for (const name of filters[key]) query.append(key, name);
  if (filters.query) query.set("query", filters.query);
  for (const pair of Object.entries(filters.columns)) query.append("column", JSON.stringify(pair));
  if (name) query.set("sort", name);
  if (name && down) query.set("down", "true");
  return query;
}

function withTask(row) {
  const task = data.tasks[row.task];
  return { ...row, task, length: row[task.unit] };
}

/** Rows that are loaded when they are looked at. */
class ServedSelection {
  constructor(query) {
    this.query = query;
    this.rows = new Map();  // position → row
    this.loading = new Map();  // number of a screenful → promise
    this.length = 0;
  }

  async ask(from, to, more = {}) {
    const answer = await ask("rows", [...this.query, ["from", from], ["to", to], ...Object.entries(more)]);
    answer.rows.forEach((row, place) => this.rows.set(from + place, withTask(row)));
    this.length = answer.length;
    return answer;
  }

  at(position) {
    return this.rows.get(position);
  }

  load(first, last) {
    const wanted = [];
    for (let screen = Math.floor(first / SCREENFUL); screen * SCREENFUL < last; screen += 1) {
      const begin = screen * SCREENFUL;
      if (this.rows.has(begin)) continue;
      if (!this.loading.has(screen)) this.loading.set(screen, this.ask(begin, begin + SCREENFUL));
      wanted.push(this.loading.get(screen));
    }
    return wanted.length ? Promise.all(wanted) : null;
  }

  async position(row) {
    return (await this.ask(0, 0, { sample: nameOf(row) })).position;
  }
}
