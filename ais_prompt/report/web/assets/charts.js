// Charts with an axis of round numbers, as wide as there is room, and saved as SVG or PNG.

const SIDE = 10;  // room left and right of the axis, in pixels
const LINE = 14;  // height of a line of text
const GAP = 12;  // least room between two texts on a line
const measuring = document.createElement("canvas").getContext("2d");
measuring.font = '12px system-ui, "Noto Sans", "Noto Sans CJK SC", sans-serif';  // as style.css has it
const HUES = ["--accent", "--wrong", "--right", "--truncated", "--unparsed", "--failed"];  // of models
const PNG_SCALE = 2;
const INLINED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "text-anchor"];

/**
 * A figure that is drawn again when its width changes. `build(width)` returns `{ rows, axis }`: each row has a `label`, a
 * `value` in words, a `height` and `marks(y)`; `axis` has pairs of a place in pixels and a text.
 */
function chart(title, build) {
  const holder = el("div", { class: "chart-holder" });
  const save = (kind) => el("button", { type: "button", class: "link", "aria-label": say("Save {title} as {kind}", { title, kind }), onclick: () => saveChart(holder.firstChild, title, kind) }, kind);
  let drawn = 0;
  new ResizeObserver(([{ contentRect }]) => {
    const width = Math.floor(contentRect.width);
    if (width && width !== drawn) holder.replaceChildren(chartOf(title, width, build(width)));
    drawn = width;
  }).observe(holder);
  return el("figure", { class: "chart" }, el("figcaption", {}, el("b", {}, title), el("span", { class: "saves soft" }, save("SVG"), " ", save("PNG"))), holder);
}

function chartOf(title, width, { rows, axis: marks }) {
  const room = width - 2 * SIDE;
  const more = rows.some(({ label, value }) => textWidth(label) + textWidth(value) + GAP > room) ? LINE : 0;  // values below labels
  let y = 4;
  const parts = rows.map((row) => {
    const top = y + more;
    y = top + row.height + 18;
    const value = more ? { x: SIDE } : { x: width - SIDE, "text-anchor": "end" };
    return [svg("text", { class: "label", x: SIDE, y: top - more + 12 }, shortened(row.label, room)), svg("text", { class: "label value", y: top + 12, ...value }, shortened(row.value, room)), row.marks(top + 17)];
  });
  const grid = marks.map(([x]) => svg("line", { class: "grid", x1: x, x2: x, y1: 4, y2: y }));
  const words = marks.map(([x, text]) => svg("text", { class: "tick", x, y: y + 14, "text-anchor": x < 30 ? "start" : x > width - 30 ? "end" : "middle" }, text));
  const label = `${title}: ${rows.map((row) => `${row.label} ${row.value}`).join("; ")}`;
  return svg("svg", { class: "chart-plot", width, height: y + 20, viewBox: `0 0 ${width} ${y + 20}`, role: "img", "aria-label": label }, grid, parts, words);
}

function textWidth(text) {
  return measuring.measureText(text).width;
}

/** Return a text that fits into a width; its end is left out if it must be. */
function shortened(text, room) {
  let shown = text;
  while (shown && textWidth(shown) > room) shown = `${shown.replace(/…$/, "").slice(0, -1)}…`.replace(/^…$/, "");
  return shown;
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

/** Scores of all datasets with intervals, the models in colours. */
function intervalsChart(lines, title = say("Scores with 95 % intervals")) {
  const shown = byDataset(lines.filter((line) => line.fraction && line.score != null));
  if (!shown.length) return null;
  const range = scoreRange(shown);
  const models = [...new Set(shown.map(({ model }) => model))];
  const metrics = ({ dataset }) => new Set(shown.filter((line) => line.dataset === dataset).map(({ metric }) => metric)).size;
  return chart(title, (width) => {
    const x = chartScale(range, width);
    const rows = shown.map((line) => {
      const hue = `var(${HUES[models.indexOf(line.model) % HUES.length]})`;
      const interval = line.ci95_low == null ? null : svg("line", { class: "range", stroke: hue, x1: x(line.ci95_low), x2: x(line.ci95_high) });
      const marks = (y) => {
        for (const end of ["y1", "y2"]) interval?.setAttribute(end, y + 6);
        return [interval, svg("circle", { fill: hue, cx: x(line.score), cy: y + 6, r: 4.5 })];
      };
      const ends = span(line.ci95_low, line.ci95_high, true);
      const names = [line.dataset, line.model, ...(metrics(line) > 1 ? [line.metric] : [])];
      return { label: names.map(plain).join(" · "), value: `${percent(line.score)}${ends ? ` (${ends})` : ""}`, height: 14, marks };
    });
    return { rows, axis: ticks(range).map((tick) => [x(tick), `${Math.round(100 * tick)} %`]) };
  });
}

/** The distribution of a length or a time in each task that has it. */
function distributionChart({ title, groups, edges, format }) {
  const tasks = byDataset(data.tasks.filter((_, number) => groups[number]));
  const range = [edges[0], edges.at(-1)];
  const isLog = edges.length > 2 && edges[0] > 0 && Math.abs(edges[2] / edges[1] - edges[1] / edges[0]) < 1e-6;
  return chart(title, (width) => {
    const x = chartScale(range, width, isLog);
    const rows = tasks.map((task) => {
      const group = groups[data.tasks.indexOf(task)];
      return { label: `${plain(task.dataset)} · ${plain(task.model)}`, value: say("{one}, {other}", { one: `${say("median")} ${format(group.median)}`, other: `${say("95 % below")} ${format(group.p95)}` }), height: 30, marks: (y) => histogramMarks(group, edges, x, y, format) };
    });
    return { rows, axis: (isLog ? logTicks(range) : ticks(range)).map((tick) => [x(tick), format(tick)]) };
  });
}

function histogramMarks({ counts, median }, edges, x, y, format) {
  const highest = Math.max(...counts);
  const bars = counts.map((number, bin) => {
    const height = number ? Math.max(1.5, (26 * number) / highest) : 0;
    return svg("rect", { class: "bin", x: x(edges[bin]) + 0.5, y: y + 28 - height, width: Math.max(0.5, x(edges[bin + 1]) - x(edges[bin]) - 1), height }, svg("title", {}, `${format(edges[bin])} – ${format(edges[bin + 1])}: ${count(number)}`));
  });
  return [bars, svg("line", { class: "base", x1: x(edges[0]), x2: x(edges.at(-1)), y1: y + 28.5, y2: y + 28.5 }), svg("line", { class: "median", x1: x(median), x2: x(median), y1: y, y2: y + 28 })];
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
  const name = `${data.name ?? "comparison"} ${title}`.replace(/[^\p{L}\p{N}]+/gu, "-");
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
