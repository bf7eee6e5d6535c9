// Functions that the other scripts call. They insert the names of runs and metrics as text only, never as HTML.
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

function shortNumber(value) {
  if (value === null || value === undefined) return '-';
  if (typeof value !== 'number') return String(value);
  return String(Number(value.toPrecision(6)));
}
