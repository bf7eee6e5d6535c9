// A click on a column title sorts the table by this column: the first click ascending, the second click descending.
function valueOf(cell) {
  const value = cell.dataset.value;
  return value !== undefined ? Number(value) : cell.textContent;
}

// Compares two values of cells. Numbers come before texts. Cells without a value come last in both directions.
function compare(a, b, direction) {
  const empty = value => value === '-' || value === '';
  if (empty(a) || empty(b)) return Number(empty(a)) - Number(empty(b));
  if (typeof a === 'number' && typeof b === 'number') return direction * (a - b);
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  return direction * a.localeCompare(b, undefined, {numeric: true});
}

function sortBy(table, title) {
  const direction = title.getAttribute('aria-sort') === 'ascending' ? -1 : 1;
  for (const other of title.parentElement.cells) other.removeAttribute('aria-sort');
  title.setAttribute('aria-sort', direction > 0 ? 'ascending' : 'descending');
  const rows = [...table.tBodies[0].rows].map(row => [valueOf(row.cells[title.cellIndex]), row]);
  rows.sort((a, b) => compare(a[0], b[0], direction));
  table.tBodies[0].append(...rows.map(pair => pair[1]));
}

for (const table of document.querySelectorAll('table[data-sortable]'))
  for (const title of table.tHead.rows[0].cells) {
    const button = make('button', {type: 'button'}, title.textContent);
    button.addEventListener('click', () => sortBy(table, title));
    title.replaceChildren(button);
  }
