// The table of samples. Only the visible lines are elements, so that 100,000 samples are as quick as 100.

const COLUMNS = [
  { name: "state", title: "State", show: (row) => [el("i", { class: `swatch ${row.state}` }), el("span", { class: "word" }, row.state)], key: (row) => STATES.indexOf(row.state) },
  { name: "question", title: "Question", show: (row) => plain(row.question), key: (row) => row.question },
  { name: "extracted", title: "Extracted", show: (row) => (row.extracted == null ? el("span", { class: "soft" }, plain(row.reason || "none")) : plain(row.extracted)), key: (row) => row.extracted },
  { name: "gold", title: "Gold", show: (row) => (row.gold == null ? "" : plain(row.gold)), key: (row) => row.gold },
  { name: "value", title: "Score", number: true, show: (row) => (row.value == null ? "" : figure(row.value)), key: (row) => row.value },
  { name: "length", title: "Length", number: true, show: (row) => (row.length == null ? "" : count(row.length)), key: (row) => row.length },
  { name: "seconds", title: "Time", number: true, show: (row) => (row.seconds == null ? "" : seconds(row.seconds)), key: (row) => row.seconds },
  { name: "model", title: "Model", show: (row) => plain(row.task.model), key: (row) => row.task.model },
  { name: "dataset", title: "Dataset", show: (row) => plain(row.task.dataset), key: (row) => row.task.dataset },
  { name: "index", title: "Row", number: true, show: (row) => String(row.index), key: (row) => row.index },
];
const SPARE = 8;  // lines drawn above and below the visible ones

class Table {
  /** A click on a line calls `open(row)`. */
  constructor(open) {
    this.open = open;
    this.rows = [];
    this.current = -1;
    this.sorting = { name: null, down: false };
    this.view = byId("rows");
    this.space = el("div", { class: "space", role: "rowgroup" });
    this.view.append(this.space);
    this.view.addEventListener("scroll", () => requestAnimationFrame(() => this.draw()));
    new ResizeObserver(() => this.draw()).observe(this.view);
    this.columns = COLUMNS.filter(({ name }) => !["model", "dataset"].includes(name) || names(name).length > 1);
    this.drawColumns();
  }

  /** Show these rows; the current one stays current if it is among them. */
  show(rows) {
    const current = this.row();
    this.unsorted = rows;
    this.rows = sorted(rows, this.sorting);
    this.current = current ? this.rows.indexOf(current) : -1;
    this.view.setAttribute("aria-rowcount", this.rows.length);
    this.draw();
  }

  row() {
    return this.rows[this.current];
  }

  /** Select the row at a position and scroll to it. */
  select(position) {
    if (!this.rows.length) return;
    this.current = Math.min(Math.max(position, 0), this.rows.length - 1);
    const [height, top] = [this.height(), this.current * this.height()];
    if (top < this.view.scrollTop) this.view.scrollTop = top;
    if (top + height > this.view.scrollTop + this.view.clientHeight) this.view.scrollTop = top + height - this.view.clientHeight;
    this.draw();
  }

  sortBy(name) {
    const again = this.sorting.name === name;
    this.sorting = again && this.sorting.down ? { name: null, down: false } : { name, down: again };
    this.drawColumns();
    this.show(this.unsorted);
  }

  /** The height of a line in pixels, which the style sheet decides. */
  height() {
    return parseFloat(getComputedStyle(this.view).getPropertyValue("--row"));
  }

  draw() {
    const height = this.height();
    this.space.style.height = `${Math.max(1, this.rows.length) * height}px`;
    const first = Math.max(0, Math.floor(this.view.scrollTop / height) - SPARE);
    const last = Math.min(this.rows.length, Math.ceil((this.view.scrollTop + this.view.clientHeight) / height) + SPARE);
    this.space.replaceChildren(...this.rows.slice(first, last).map((row, offset) => this.line(row, first + offset, height)));
    if (!this.rows.length) this.space.append(el("p", { class: "empty soft" }, "No matching samples."));
    this.view.setAttribute("aria-activedescendant", this.current < 0 ? "" : `row-${this.current}`);
  }

  line(row, position, height) {
    const cells = this.columns.map((column) => el("div", { class: `cell ${column.name}${column.number ? " number" : ""}`, role: "gridcell", dir: column.number ? null : "auto" }, column.show(row)));
    const line = el("div", { class: "row", id: `row-${position}`, role: "row", "aria-rowindex": position + 1, "aria-selected": position === this.current ? "true" : "false", onclick: () => { this.select(position); this.open(row); } }, cells);
    line.style.transform = `translateY(${position * height}px)`;
    return line;
  }

  drawColumns() {
    byId("columns").replaceChildren(...this.columns.map(({ name, title, number }) => {
      const order = this.sorting.name !== name ? "none" : this.sorting.down ? "descending" : "ascending";
      const sort = el("button", { type: "button", onclick: () => this.sortBy(name) }, title, el("span", { class: "order", "aria-hidden": "true" }, { none: "", ascending: " ↑", descending: " ↓" }[order]));
      return el("div", { class: `cell ${name}${number ? " number" : ""}`, role: "columnheader", "aria-sort": order }, sort);
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
