// Pictures of a load: its requests, numbers in flight, rates and latencies against time, and its distributions.

const LEFT = 54;  // room for the labels of the vertical axis, in pixels
const BELOW = 20;  // room for those of the horizontal axis
const WIDE_RATIO = 20;  // an axis is logarithmic if its ends are further apart

/**
 * A picture of two axes; `x()` and `y()` return a `range`, a `format`, `isLog` and `isDown`. `keys` are pairs of a text and a class.
 * `marks(x, y)` returns what is drawn, given the scales to pixels; what is outside of the ranges is cut off.
 */
function plane(title, { x, y, height = 170, keys, marks, notes = [], onzoom }) {
  return picture(title, (width) => {
    const axes = [x(), y()];
    const room = width - LEFT - SIDE;
    const [key, top] = chartKey(keys.map(([text, kind]) => [text, (at, on) => svg("line", { class: `key ${kind}`, x1: at - 5, x2: at + 6, y1: on, y2: on })]), width - 2 * SIDE);
    const [across, down] = [[0, room], axes[1].isDown ? [0, height] : [height, 0]].map((ends, place) => axisScale(axes[place], ends));
    const [columns, lines] = axes.map(({ range, isLog }) => (isLog ? logTicks(range, 6) : ticks(range)));
    const grid = lines.map((tick) => [svg("line", { class: "grid", x1: LEFT, x2: width - SIDE, y1: top + down(tick), y2: top + down(tick) }), svg("text", { class: "tick", x: LEFT - 6, y: top + down(tick) + 4, "text-anchor": "end" }, axes[1].format(tick))]);
    const words = columns.map((tick) => svg("text", { class: "tick", x: LEFT + across(tick), y: top + height + 15, "text-anchor": across(tick) > room - 16 ? "end" : "middle" }, axes[0].format(tick)));
    const inner = svg("svg", { x: LEFT, y: top, width: room, height, viewBox: `0 0 ${room} ${height}` }, marks(across, down));
    const full = top + height + BELOW;
    const plot = svg("svg", { class: "chart-plot load-plot", width, height: full, viewBox: `0 0 ${width} ${full}`, role: "img", "aria-label": title }, key, grid, words, inner);
    if (onzoom) zoomable(plot, (place) => axes[0].range[0] + ((place - LEFT) / room) * (axes[0].range[1] - axes[0].range[0]), onzoom);
    return plot;
  }, ...notes);
}

function axisScale({ range: [low, high], isLog }, [from, to]) {
  const map = isLog ? (value) => Math.log(Math.max(value, low)) : (value) => value;
  return (value) => from + ((to - from) * (map(value) - map(low))) / (map(high) - map(low) || 1);
}

/** Choose a range by dragging, and all of it by a double click. */
function zoomable(plot, timeAt, onzoom) {
  let from = null;
  const mark = svg("rect", { class: "chosen", y: 0, height: "100%", hidden: true });
  const place = (event) => event.clientX - plot.getBoundingClientRect().left;
  plot.append(mark);
  plot.addEventListener("pointerdown", (event) => { from = place(event); plot.setPointerCapture(event.pointerId); });
  plot.addEventListener("pointermove", (event) => {
    if (from == null) return;
    mark.removeAttribute("hidden");
    mark.setAttribute("x", Math.min(from, place(event)));
    mark.setAttribute("width", Math.abs(place(event) - from));
  });
  plot.addEventListener("pointerup", (event) => {
    const ends = [from, place(event)].sort((a, b) => a - b);
    from = null;
    mark.setAttribute("hidden", "");
    if (ends[1] - ends[0] > 5) onzoom(ends.map(timeAt));
  });
  plot.addEventListener("dblclick", () => onzoom(null));
}

function timeAxis(charts, range) {
  return () => ({ range: range?.() ?? [0, charts.seconds], format: seconds });
}

/** An axis from 0; the largest value has some room above it. */
function countAxis(most) {
  return () => ({ range: [0, most > 0 ? 1.05 * most : 1], format: figure });
}

/** A line for each request, in the order of sending: until its first piece, and from there to its last. */
function requestsPicture({ requests, seconds: length }, { range, onzoom, height }) {
  const every = requests.number.length < requests.of ? [el("p", { class: "soft" }, say("{shown} of {all} requests are drawn, evenly spaced.", { shown: count(requests.number.length), all: count(requests.of) }))] : [];
  const thick = (height - 4) / requests.of > 3 ? 2 : 1;
  const lines = (y, ends) => requests.number.map((number, place) => [ends(place), y(number + 0.5).toFixed(1)]).filter(([part]) => part);
  const path = (x, y, kind, ends) => svg("path", { class: kind, "stroke-width": thick, d: lines(y, ends).map(([[start, end], at]) => `M${x(start).toFixed(1)} ${at}H${Math.max(x(end), x(start) + 0.5).toFixed(1)}`).join("") });
  const { start, first, end, failed } = requests;
  return plane(say("Requests"), {
    x: timeAxis({ seconds: length }, range), y: () => ({ range: [0, requests.of], format: count, isDown: true }), height, onzoom, notes: every,
    keys: [[say("to the first piece (TTFT)"), "ttft"], [say("to the last piece"), "decode"], ...(failed.includes(1) ? [[say("failed"), "broken"]] : [])],
    marks: (x, y) => [
      path(x, y, "ttft", (place) => !failed[place] && first[place] != null && [start[place], first[place]]),
      path(x, y, "decode", (place) => !failed[place] && [first[place] ?? start[place], end[place]]),
      path(x, y, "broken", (place) => failed[place] && [start[place], end[place]]),
    ],
  });
}

/** The number of requests in flight, in steps. */
function inFlightPicture({ in_flight: { times, numbers, is_most }, seconds: length }, options = {}) {
  return plane(say("In flight"), {
    x: timeAxis({ seconds: length }, options.range), y: countAxis(Math.max(...numbers)), height: 130, ...options,
    notes: is_most ? [el("p", { class: "soft" }, say("The largest number of each of {number} periods.", { number: count(times.length) }))] : [],
    keys: [[say("requests in flight"), "decode"]],
    marks: (x, y) => svg("path", { class: "line decode", d: `M${x(times[0])} ${y(0)}${numbers.map((number, place) => `V${y(number).toFixed(1)}H${x(times[place + 1] ?? length).toFixed(1)}`).join("")}` }),
  });
}

/** Requests planned, sent and answered per second. */
function ratesPicture({ rates, seconds: length }, options = {}) {
  const kinds = [["planned", "planned", say("planned")], ["sent", "ttft", say("sent")], ["answered", "decode", say("answered")]].filter(([name]) => rates[name]);
  const step = length / rates.sent.length;
  return plane(say("Requests / s"), {
    x: timeAxis({ seconds: length }, options.range), y: countAxis(Math.max(...kinds.flatMap(([name]) => rates[name]))), ...options,
    keys: kinds.map(([, kind, text]) => [text, kind]),
    marks: (x, y) => kinds.map(([name, kind]) => svg("path", { class: `line ${kind}`, d: `M${x(0)} ${y(0)}${rates[name].map((rate, place) => `V${y(rate).toFixed(1)}H${x(step * (place + 1)).toFixed(1)}`).join("")}` })),
  });
}

/** TTFT and E2EL of the requests that are drawn, at the time of sending, and the medians of all requests. */
function latenciesPicture({ requests, latencies, seconds: length }) {
  const kinds = [["e2el_seconds", "decode", "E2EL", requests.end], ["ttft_seconds", "ttft", "TTFT", requests.first]].filter(([name]) => latencies[name].median.some((value) => value != null));
  const values = kinds.flatMap(([name]) => [...latencies[name].median, ...latencies[name].most]).filter((value) => value != null);
  if (!values.length) return null;
  const least = Math.min(...kinds.flatMap(([name]) => latencies[name].median).filter((value) => value > 0));
  const most = Math.max(...values);
  const isLog = most > WIDE_RATIO * least;
  const step = length / latencies.e2el_seconds.median.length;
  const dots = (x, y, ends) => ends.map((end, place) => (end == null || requests.failed[place] ? "" : `M${x(requests.start[place]).toFixed(1)} ${y(end - requests.start[place]).toFixed(1)}h0`)).join("");
  const medians = (x, y, found) => found.map((value, place) => (value == null ? "" : `M${x(step * place).toFixed(1)} ${y(value).toFixed(1)}H${x(step * (place + 1)).toFixed(1)}`)).join("");
  return plane(say("Latency against time"), {
    x: timeAxis({ seconds: length }), y: () => ({ range: isLog ? [0.8 * least, 1.1 * most] : [0, 1.05 * most], format: seconds, isLog }),
    keys: kinds.map(([, kind, text]) => [say("{name}, with medians", { name: text }), kind]),
    marks: (x, y) => kinds.map(([name, kind, , ends]) => [svg("path", { class: `dots ${kind}`, d: dots(x, y, ends) }), svg("path", { class: `median ${kind}`, d: medians(x, y, latencies[name].median) })]),
  });
}

/** The distributions of latencies on one axis. */
function loadDistributions({ distributions }) {
  const found = [["ttft_seconds", "TTFT", "ttft"], ["e2el_seconds", "E2EL", "decode"], ["itl_seconds", "ITL", "planned"]].filter(([name]) => distributions[name]);
  if (!found.length) return null;
  const edges = found.flatMap(([name]) => distributions[name].edges);
  const range = [Math.min(...edges), Math.max(...edges)];
  return chart(say("Distribution of latencies"), (width) => {
    const x = chartScale(range, width, true);
    const rows = found.map(([name, label, kind]) => {
      const { edges: ends, counts } = distributions[name];
      const unit = 30 / Math.max(...counts);
      const marks = (y) => [svg("line", { class: "base", x1: x(range[0]), x2: x(range[1]), y1: y + 32.5, y2: y + 32.5 }), svg("path", { class: `line ${kind}`, d: `M${x(ends[0])} ${y + 32}${counts.map((number, place) => `V${(y + 32 - unit * number).toFixed(1)}H${Math.max(x(ends[place + 1]), x(ends[place]) + 1).toFixed(1)}`).join("")}V${y + 32}` })];
      return { label, value: `${seconds(ends[0])} – ${seconds(ends.at(-1))}`, height: 34, marks };
    });
    return { rows, models: [], axis: logTicks(range, 6).map((tick) => [x(tick), seconds(tick)]) };
  });
}
