// Charts with an axis of round numbers, as wide as there is room, and saved as SVG or PNG.

const SIDE = 10;  // room left and right of the axis, in pixels
const LINE = 14;  // height of a line of text
const GAP = 12;  // least room between two texts on a line
const measuring = document.createElement("canvas").getContext("2d");
measuring.font = '12px system-ui, "Noto Sans", "Noto Sans CJK SC", sans-serif';  // as style.css has it
const WHOLE_NAME = 12;  // characters; shorter names are not cut
const HUES = 8;  // of models, --hue-0 to --hue-7
const SHAPES = [(x, y) => svg("circle", { cx: x, cy: y, r: 4.2 }), (x, y) => svg("path", { d: `M${x - 4} ${y - 4}h8v8h-8z` }), (x, y) => svg("path", { d: `M${x} ${y - 5}l5 9h-10z` }), (x, y) => svg("path", { d: `M${x} ${y - 5.4}l5.4 5.4l-5.4 5.4l-5.4 -5.4z` })];
const PNG_SCALE = 2;
const INLINED = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "text-anchor"];

/**
 * A figure of rows. `build(width)` returns `{ rows, axis, models }`: each row has a `label`,
 * a `value` in words, a `height` and `marks(y)`; `axis` has pairs of a place in pixels and a text; `models` are named above.
 */
function chart(title, build) {
  return picture(title, (width) => chartOf(title, width, build(width)));
}

/** A figure that is drawn again when its width changes, and by its `redraw()`; `draw(width)` returns an SVG element. */
function picture(title, draw, ...notes) {
  const holder = el("div", { class: "chart-holder" });
  const save = (kind) => el("button", { type: "button", class: "link", "aria-label": say("Save {title} as {kind}", { title, kind }), onclick: () => saveChart(holder.firstChild, title, kind) }, kind);
  let drawn = 0;
  new ResizeObserver(([{ contentRect }]) => {
    const width = Math.floor(contentRect.width);
    if (width && width !== drawn) holder.replaceChildren(draw(width));
    drawn = width;
  }).observe(holder);
  const node = el("figure", { class: "chart" }, el("figcaption", {}, el("b", {}, title), el("span", { class: "saves soft" }, save("SVG"), " ", save("PNG"))), holder, notes);
  node.redraw = () => { if (drawn) holder.replaceChildren(draw(drawn)); };
  return node;
}

function chartOf(title, width, { rows, axis: marks, models }) {
  const room = width - 2 * SIDE;
  const [key, top] = modelKey(models, room);
  const more = rows.some(({ label, value }) => textWidth(label) + textWidth(value) + GAP > room) ? LINE : 0;  // values below labels
  let y = top;
  const drawn = rows.map((row) => {
    const top = y + more;
    y = top + row.height + 18;
    const value = more ? { x: SIDE } : { x: width - SIDE, "text-anchor": "end" };
    return [svg("text", { class: "label", x: SIDE, y: top - more + 12 }, shortened(row.label, room)), svg("text", { class: "label value", y: top + 12, ...value }, shortened(row.value, room)), row.marks(top + 17)];
  });
  const grid = marks.map(([x]) => svg("line", { class: "grid", x1: x, x2: x, y1: top, y2: y }));
  const words = marks.map(([x, text]) => svg("text", { class: "tick", x, y: y + 14, "text-anchor": x < 30 ? "start" : x > width - 30 ? "end" : "middle" }, text));
  const label = `${title}: ${rows.map((row) => `${row.label} ${row.value}`).join("; ")}`;
  return svg("svg", { class: "chart-plot", width, height: y + 20, viewBox: `0 0 ${width} ${y + 20}`, role: "img", "aria-label": label }, key, grid, drawn, words);
}

/** The marks of the models with their names, and how high they are. */
function modelKey(models, room) {
  return chartKey(models.map((model) => [plain(model), (x, y) => modelMark(model, x, y)]), room);
}

/** Marks with their texts, from pairs of a text and what draws its mark; and how high they are. */
function chartKey(items, room) {
  let [x, y] = [SIDE, 4];
  const drawn = items.map(([text, mark]) => {
    const shown = shortened(text, room - 2 * GAP);
    const width = textWidth(shown) + 2 * GAP + 4;
    if (x > SIDE && x + width > room) [x, y] = [SIDE, y + LINE + 4];
    const parts = [mark(x + 5, y + 8), svg("text", { class: "label value", x: x + 16, y: y + 12 }, shown)];
    x += width;
    return parts;
  });
  return [drawn, y + LINE + 12];
}

function modelMark(model, x, y) {
  const number = names("model").indexOf(model);
  const mark = SHAPES[(number + Math.floor(number / HUES)) % SHAPES.length](x, y);
  mark.setAttribute("fill", modelHue(model));
  return mark;
}

/** The colour of a model, the same in all charts. */
function modelHue(model) {
  return `var(--hue-${names("model").indexOf(model) % HUES})`;
}

function textWidth(text) {
  return measuring.measureText(text).width;
}

/** Return a text that fits into a width; its middle is left out if it must be. */
function shortened(text, room) {
  if (textWidth(text) <= room) return text;
  let kept = text.length - 1;
  const cut = () => `${text.slice(0, Math.ceil(kept / 2))}…${text.slice(text.length - Math.floor(kept / 2))}`;
  while (kept > 1 && textWidth(cut()) > room) kept -= 1;
  return kept > 1 ? cut() : "";
}

/** Return a name for a line that may be too narrow: its middle is left out then, since names often differ at their ends. */
function cutName(name) {
  const characters = [...plain(name)];
  if (characters.length <= WHOLE_NAME) return characters.join("");
  const middle = Math.ceil(characters.length / 2);
  const half = (...ends) => characters.slice(...ends).join("");
  return [el("span", { class: "cut" }, half(0, middle)), el("span", { class: "cut" }, el("bdi", {}, half(middle)))];
}

/** A scale from values to pixels; logarithmic if `isLog`. */
function chartScale([low, high], width, isLog = false) {
  const [map, from, to] = isLog ? [Math.log, Math.log(low), Math.log(high)] : [(value) => value, low, high];
  return (value) => SIDE + ((width - 2 * SIDE) * (map(Math.min(Math.max(value, low), high)) - from)) / (to - from);
}

/** Round numbers on a logarithmic axis: 1, 2 and 5 times powers of ten, or powers of ten only. */
function logTicks([low, high], most = 8) {
  const powers = Array.from({ length: Math.ceil(Math.log10(high)) - Math.floor(Math.log10(low)) + 1 }, (_, place) => 10 ** (Math.floor(Math.log10(low)) + place));
  const within = (numbers) => numbers.filter((number) => number >= low * 0.999 && number <= high * 1.001);
  const fine = within(powers.flatMap((power) => [power, 2 * power, 5 * power]));
  return fine.length <= most ? fine : within(powers);
}

/** The scores of each dataset or folded group on one axis, a mark for each model; intervals if there are few models. */
function dotsChart({ cellOf, format }) {
  const models = shownModels().filter((model) => names("model").includes(model));
  const inOrder = sortedParts(shownParts(), (model, part) => groupCell(model, part, cellOf, format));
  const rows = shownLines(inOrder).map((line) => ({ ...line, cells: models.map((model) => groupCell(model, line, cellOf, format)).map((cell) => (cell?.value != null && cell.fraction !== false ? cell : null)) })).filter(({ cells }) => cells.some(Boolean));
  if (!rows.length) return null;
  const range = scoreRange(rows.flatMap(({ cells }) => cells.filter(Boolean).map((cell) => (models.length <= WIDE_UP_TO && cell.line) || { score: cell.value })));
  return chart(say(models.length <= WIDE_UP_TO ? "Scores with 95 % intervals" : "Scores"), (width) => {
    const x = chartScale(range, width);
    const drawn = rows.map(({ name, cells }) => {
      const own = cells.map((cell, place) => ({ ...cell, model: models[place] })).filter(({ value }) => value != null);
      const step = models.length <= WIDE_UP_TO ? 9 : 0;  // intervals lie below each other
      const marks = (y) => [svg("line", { class: "grid", x1: SIDE, x2: width - SIDE, y1: y + 5, y2: y + 5 }), own.map(({ model, value, line, title }, place) => {
        const at = y + 5 + step * place;
        const interval = step && line?.ci95_low != null ? svg("line", { class: "range", stroke: modelHue(model), x1: x(line.ci95_low), x2: x(line.ci95_high), y1: at, y2: at }) : null;
        return svg("g", {}, svg("title", {}, `${plain(model)}: ${title}`), interval, modelMark(model, x(value), at));
      })];
      const values = own.map(({ value }) => value);
      const ends = models.length === 1 ? span(own[0].line?.ci95_low, own[0].line?.ci95_high, true) : "";
      return { label: plain(name), value: `${[...new Set([Math.min(...values), Math.max(...values)].map(format))].join("–")} %${ends ? ` (${ends})` : ""}`, height: 12 + step * (own.length - 1), marks };
    });
    return { rows: drawn, models, axis: ticks(range).map((tick) => [x(tick), `${Math.round(100 * tick)} %`]) };
  });
}

/** The distribution of a length or a time in each dataset or folded group, a line for each model. */
function distributionChart({ title, groups, edges, format }) {
  const numbers = new Map(data.tasks.map((task, number) => [keyOf(task), number]));
  const models = shownModels();
  const rows = shownLines().map(({ name, members }) => ({ name, lines: models.map((model) => ({ model, found: members.map((dataset) => groups[numbers.get(keyOf({ model, dataset }))]).filter(Boolean) })).filter(({ found }) => found.length) })).filter(({ lines }) => lines.length);
  if (!rows.length) return null;
  const range = [edges[0], edges.at(-1)];
  const isLog = edges.length > 2 && edges[0] > 0 && Math.abs(edges[2] / edges[1] - edges[1] / edges[0]) < 1e-6;
  return chart(title, (width) => {
    const x = chartScale(range, width, isLog);
    const drawn = rows.map(({ name, lines }) => {
      const shares = lines.map(({ model, found }) => ({ model, found, share: sharesOf(found) }));
      const highest = Math.max(...shares.flatMap(({ share }) => share));
      const medians = lines.flatMap(({ found }) => found.map(({ median }) => median));
      const ends = [...new Set([Math.min(...medians), Math.max(...medians)].map(format))];
      return { label: plain(name), value: `${say("median")} ${ends.join("–")}`, height: 32, marks: (y) => [svg("line", { class: "base", x1: x(range[0]), x2: x(range[1]), y1: y + 30.5, y2: y + 30.5 }), shares.map((line) => distributionLine(line, edges, x, y + 30, 28 / highest, format))] };
    });
    return { rows: drawn, models: models.filter((model) => rows.some(({ lines }) => lines.some((line) => line.model === model))), axis: (isLog ? logTicks(range) : ticks(range)).map((tick) => [x(tick), format(tick)]) };
  });
}

/** The share of the answers in each bin. */
function sharesOf(found) {
  const counts = found[0].counts.map((_, bin) => found.reduce((sum, one) => sum + one.counts[bin], 0));
  const all = counts.reduce((sum, number) => sum + number, 0);
  return counts.map((number) => number / all);
}

function distributionLine({ model, found, share }, edges, x, base, unit, format) {
  const points = share.flatMap((part, bin) => [`${x(edges[bin]).toFixed(1)} ${(base - unit * part).toFixed(1)}`, `${x(edges[bin + 1]).toFixed(1)} ${(base - unit * part).toFixed(1)}`]);
  const figures = found.length > 1 ? "" : `: ${say("{one}, {other}", { one: `${say("median")} ${format(found[0].median)}`, other: `${say("95 % below")} ${format(found[0].p95)}` })}`;
  return svg("path", { class: "line", d: `M${x(edges[0])} ${base}L${points.join("L")}L${x(edges.at(-1))} ${base}`, stroke: modelHue(model) }, svg("title", {}, `${plain(model)}${figures}`));
}

/** Save a chart with its colours as they are shown. */
async function saveChart(plot, title, kind) {
  const copy = plot.cloneNode(true);
  const [from, to] = [plot, copy].map((node) => [node, ...node.querySelectorAll("*")]);
  to.forEach((node, place) => {
    const style = getComputedStyle(from[place]);
    for (const name of INLINED) node.setAttribute(name, style.getPropertyValue(name));
    node.removeAttribute("class");
  });
  const paper = getComputedStyle(document.documentElement).getPropertyValue("--card");
  copy.prepend(svg("rect", { width: "100%", height: "100%", fill: getComputedStyle(plot.closest("figure")).backgroundColor || paper }));
  copy.setAttribute("xmlns", SVG);
  const text = new XMLSerializer().serializeToString(copy);
  const name = `${data.name} ${title}`.replace(/[^\p{L}\p{N}]+/gu, "-");
  if (kind === "SVG") return saveFile(`${name}.svg`, new Blob([text], { type: "image/svg+xml" }));
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = el("canvas", { width: PNG_SCALE * image.width, height: PNG_SCALE * image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => saveFile(`${name}.png`, blob));
}

/** Let the browser save a file. */
function saveFile(name, blob) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
