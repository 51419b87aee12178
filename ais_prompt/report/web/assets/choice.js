// A choice of several names in a menu; in a group all at once. Nothing chosen means all.

const MOST_OPTIONS = 12;  // a menu of more has a search

/** Draw the menu of `filters[key]`; `groups` are `{ name, members }`. */
function drawChoice(key, { all, several, groups = [] }) {
  const menu = byId(key);
  const present = names(key);
  const grouped = groups.filter(({ members }) => members);
  menu.hidden = present.length < 2;
  const box = (name, members, kind) => {
    const input = el("input", { type: "checkbox", onchange: () => choose(members, input.checked) });
    return el("label", { class: kind, dir: "auto", title: plain(name), "data-names": JSON.stringify(members) }, input, el("span", {}, plain(name)), members.length > 1 ? el("span", { class: "soft" }, count(members.length)) : null);
  };
  const choose = (members, isChosen) => {
    for (const name of members) filters[key][isChosen ? "add" : "delete"](name);
    applyFilters();
  };
  const alone = present.filter((name) => !grouped.some(({ members }) => members.includes(name)));
  const boxes = [...grouped.flatMap(({ name, members }) => [box(name, members, "group"), ...members.map((member) => box(member, [member], "member"))]), ...alone.map((name) => box(name, [name], ""))];
  const none = el("button", { type: "button", class: "link", onclick: () => { filters[key].clear(); applyFilters(); } }, all);
  const find = present.length > MOST_OPTIONS ? el("input", { type: "search", placeholder: say("search"), "aria-label": say("search"), autocomplete: "off", spellcheck: "false", oninput: () => showMatches(boxes, find.value) }) : null;
  menu.replaceChildren(el("summary", {}), el("div", { class: "options", role: "group", "aria-label": all }, find, none, boxes));
  menu.ontoggle = () => { if (menu.open) find?.focus({ preventScroll: true }); };
  menu.show = () => {
    const chosen = [...filters[key]];
    const words = chosen.length > 1 ? say(several, { number: count(chosen.length), all: count(present.length) }) : all;
    menu.querySelector("summary").replaceChildren(chosen.length === 1 ? el("span", {}, cutName(chosen[0])) : words);
    for (const label of menu.querySelectorAll("label")) {
      const members = JSON.parse(label.dataset.names);
      const number = members.filter((name) => filters[key].has(name)).length;
      Object.assign(label.firstChild, { checked: number === members.length, indeterminate: number > 0 && number < members.length });
    }
  };
  menu.show();
}

/** Show the options with a name that contains a text, and the groups that have one. */
function showMatches(boxes, text) {
  const wanted = text.trim().toLowerCase();
  for (const label of boxes) label.hidden = ![label.title, ...JSON.parse(label.dataset.names)].some((name) => name.toLowerCase().includes(wanted));
}

/** Close open menus at a click elsewhere and at Escape. */
function closeMenus(event) {
  for (const menu of document.querySelectorAll(".choice[open]")) {
    if (event.type === "keydown" ? event.key === "Escape" : !menu.contains(event.target)) menu.open = false;
  }
}
