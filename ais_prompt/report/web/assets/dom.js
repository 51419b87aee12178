"use strict";
// Create elements. Text from data becomes text nodes only, so that none of it can become markup.

const SVG = "http://www.w3.org/2000/svg";

/** Create an element with attributes and children; a function as the value of `onclick` and the like is a listener. */
function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** Create an SVG element in the same way. */
function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter((child) => child != null));
  return node;
}

function byId(id) {
  return document.getElementById(id);
}

/** Follow the system's colours until the reader chooses; keep the choice where the browser allows it. */
function followTheme(button) {
  const stored = () => {
    try { return localStorage.getItem("theme"); } catch { return null; }
  };
  const dark = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const label = () => {
    button.textContent = say(dark() ? "Light" : "Dark");
    button.setAttribute("aria-label", say(dark() ? "Change to light colours" : "Change to dark colours"));
  };
  if (stored()) document.documentElement.dataset.theme = stored();
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = dark() ? "light" : "dark";
    try { localStorage.setItem("theme", document.documentElement.dataset.theme); } catch { /* kept for this page only */ }
    label();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
  label();
}
