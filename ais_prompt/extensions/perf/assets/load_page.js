// A page with pictures of one load: its requests, or its rates. Dragging over a picture chooses a time for all of them.

let chosen = null;  // the range of times, in seconds; null for all

sayFrame();
followTheme(byId("theme"));
byId("title").append(plain(data.name));
byId("subtitle").append(`${counted(data.charts.requests.of, "request")} · ${seconds(data.charts.seconds)}`);
const options = { range: () => chosen, onzoom: (range) => { chosen = range; pictures.forEach((one) => one.redraw()); } };
const pictures = data.kind === "rates"
  ? [ratesPicture(data.charts, { ...options, height: 320 }), inFlightPicture(data.charts, options)]
  : [requestsPicture(data.charts, { ...options, height: 460 }), inFlightPicture(data.charts, options)];
byId("pictures").append(...pictures, el("p", { class: "soft" }, say("Drag to choose a time; a double click shows all of it.")));
