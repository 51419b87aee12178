// The table of samples. Only the visible lines are elements, so that 100,000 samples are as quick as 100.

const GOLD = "The right answer, from the data";
const COLUMNS = [
  { name: "state", title: "State", show: (row) => [el("i", { class: `swatch ${row.state}` }), el("span", { class: "word" }, stateWord(row.state))], key: (row) => WORST_FIRST.indexOf(row.state) },
  { name: "question", title: "Question", show: (row) => plain(row.question), key: (row) => row.question },
  { name: "extracted", title: "Extracted", show: (row) => (row.extracted == null ? unreadText(row) : plain(row.extracted)), key: (row) => row.extracted },
  { name: "gold", title: "Gold", about: GOLD, show: (row) => (row.gold == null ? "" : plain(row.gold)), key: (row) => row.gold },
  { name: "value", title: "Score", number: true, show: (row) => (row.value == null ? "" : figure(row.value)), key: (row) => row.value },
  { name: "length", title: "Length", number: true, show: (row) => (row.length == null ? "" : count(row.length)), key: (row) => row.length },
  { name: "seconds", title: "Time", number: true, show: (row) => (row.seconds == null ? "" : seconds(row.seconds)), key: (row) => row.seconds },
  { name: "model", title: "Model", show: (row) => cutName(row.task.model), key: (row) => row.task.model },
  { name: "dataset", title: "Dataset", show: (row) => cutName(row.task.dataset), key: (row) => row.task.dataset },
  { name: "index", title: "Row", number: true, show: (row) => String(row.index), key: (row) => row.index },
];

/** What is shown where nothing was extracted: the end of the answer, or why there is none. */
function unreadText({ unread, reason }) {
  return el("span", { class: "soft", title: plain([unread, reason].filter(Boolean).join("\n")) }, unread ? `“${plain(unread)}”` : plain(reason || say("none")));
}

const SPARE = 8;  // lines drawn above and below the visible ones

class Table {
  /** A click on a line calls `open(position)`, one on a heading `sort()`. */
  constructor(open, sort) {
    this.sort = sort;
    this.selection = new LocalSelection([]);
    this.current = -1;
    this.sorting = { name: null, down: false };
    this.grid = byId("grid");
    this.space = byId("rows");
    this.grid.addEventListener("scroll", () => requestAnimationFrame(() => this.draw()));
    new ResizeObserver(() => this.draw()).observe(this.grid);
    // While a line is pressed nothing is drawn again: a click on an element that is gone by its release would be lost.
    this.pressed = false;
    this.space.addEventListener("pointerdown", () => { this.pressed = true; });
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => setTimeout(() => this.release()));
    this.space.addEventListener("click", (event) => open(Math.floor((event.clientY - this.space.getBoundingClientRect().top) / this.height())));
    this.drawColumns();
  }

  /** Show these rows; `current` is the position of the one that is selected, -1 for none. */
  show(selection, current) {
    this.selection = selection;
    this.current = current;
    this.grid.setAttribute("aria-rowcount", selection.length + 1);
    this.space.hidden = !selection.length;
    byId("none").hidden = selection.length > 0;
    this.draw();
  }

  /** Select the row at a position and scroll to it. */
  select(position) {
    if (!this.selection.length) return;
    this.current = Math.min(Math.max(position, 0), this.selection.length - 1);
    const [height, top, seen] = [this.height(), this.current * this.height(), this.seen()];
    if (top < this.grid.scrollTop) this.grid.scrollTop = top;
    if (top + height > this.grid.scrollTop + seen) this.grid.scrollTop = top + height - seen;
    this.draw();
  }

  sortBy(name) {
    const again = this.sorting.name === name;
    this.sorting = again && this.sorting.down ? { name: null, down: false } : { name, down: again };
    this.drawColumns();
    byId("columns").querySelector(`.${name} button`).focus();
    this.sort();
  }

  /** The height of a line in pixels, which the style sheet decides. */
  height() {
    return parseFloat(getComputedStyle(this.grid).getPropertyValue("--row"));
  }

  /** The height of the visible lines in pixels, without the headings. */
  seen() {
    return this.grid.clientHeight - byId("columns").offsetHeight;
  }

  /** Lines on a page. */
  page() {
    return Math.max(1, Math.floor(this.seen() / this.height()) - 1);
  }

  /** Draw what a press has held up. */
  release() {
    if (!this.pressed) return;
    this.pressed = false;
    this.draw();
  }

  draw() {
    if (this.pressed) return;
    const height = this.height();
    this.space.style.height = `${this.selection.length * height}px`;
    const lowest = Math.max(0, this.selection.length * height - this.seen());
    const top = Math.min(this.grid.scrollTop, lowest);  // Chromium may give the old place until its next picture
    const first = Math.max(0, Math.floor(top / height) - SPARE);
    const last = Math.min(this.selection.length, Math.ceil((top + this.grid.clientHeight) / height) + SPARE);
    this.selection.load(first, last)?.then(() => this.draw());
    const lines = [];
    for (let position = first; position < last; position += 1) lines.push(this.line(this.selection.at(position), position, height));
    this.space.replaceChildren(...lines);
    if (this.current >= first && this.current < last) this.grid.setAttribute("aria-activedescendant", `row-${this.current}`);
    else this.grid.removeAttribute("aria-activedescendant");
    markHits();
  }

  line(row, position, height) {
    const cells = row ? this.columns.map((column) => el("div", { class: `cell ${column.name}${column.number ? " number" : ""}`, role: "gridcell", dir: column.number ? null : "auto" }, column.show(row))) : [el("div", { class: "cell soft", role: "gridcell" }, "…")];
    const line = el("div", { class: "row", id: `row-${position}`, role: "row", "aria-rowindex": position + 2, "aria-selected": position === this.current ? "true" : "false" }, cells);
    line.style.transform = `translateY(${position * height}px)`;
    return line;
  }

  drawColumns() {
    this.columns = COLUMNS.filter(({ name }) => !["model", "dataset"].includes(name) || names(name).length > 1);
    byId("columns").replaceChildren(...this.columns.map(({ name, title, about, number }) => {
      const order = this.sorting.name !== name ? "none" : this.sorting.down ? "descending" : "ascending";
      const sort = el("button", { type: "button", onclick: () => this.sortBy(name) }, say(title), el("span", { class: "order", "aria-hidden": "true" }, { none: "", ascending: " ↑", descending: " ↓" }[order]));
      return el("div", { class: `cell ${name}${number ? " number" : ""}`, role: "columnheader", "aria-sort": order, title: about && say(about) }, sort);
    }));
  }
}

/** Sort rows by a column; rows without a value come last, equal rows keep their order. */
function sorted(rows, { name, down }) {
  const column = COLUMNS.find((column) => column.name === name);
  if (!column) return rows;
  const compare = (a, b) => (typeof a === "number" ? a - b : compareTexts(a, b));
  return [...rows].sort((a, b) => {
    const [left, right] = [column.key(a), column.key(b)];
    if (left == null || right == null) return (left == null) - (right == null);
    return (down ? -1 : 1) * compare(left, right);
  });
}

const compareTexts = new Intl.Collator(undefined, { numeric: true }).compare;
