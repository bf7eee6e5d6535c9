// What the other scripts share. Names of runs and metrics go into the page as text only, never as HTML.
const data = JSON.parse(document.getElementById('data').textContent);

function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function drawn(name, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function colorOf(name) {
  return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
}

function shortNumber(value) {
  if (value === null || value === undefined) return '-';
  if (typeof value !== 'number') return String(value);
  return String(Number(value.toPrecision(6)));
}

// Calls it when the colours of the page change, between light and dark.
function whenColorsChange(draw) {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
}
