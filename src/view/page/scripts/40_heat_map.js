// Shows the values of the heat map's cell at the pointer, or of the cell that the arrow keys have selected.
function useHeatMap(heat) {
  const cells = document.getElementById('heat-cells'), svg = cells.querySelector('svg');
  const readout = document.getElementById('heat-readout');
  const frame = drawn('rect', {class: 'here', width: 1, height: 1, visibility: 'hidden'});
  svg.append(frame);
  const cell = {row: 0, column: heat.columns.length - 1};

  function milliseconds(microseconds) {
    return microseconds === null ? '-' : shortNumber(microseconds / 1000) + ' ms';
  }

  function show() {
    const own = heat.own[cell.row][cell.column], median = heat.median[cell.column];
    const difference = own === null || !median ? '' : ', ' + (own >= median ? '+' : '') + (100 * (own / median - 1)).toFixed(1) + ' % compared with the median ' + milliseconds(median);
    readout.textContent = heat.rows[cell.row] + ', ' + heat.columns[cell.column] + ': ' + milliseconds(own) + difference;
    frame.setAttribute('x', cell.column);
    frame.setAttribute('y', cell.row);
    frame.setAttribute('visibility', 'visible');
  }

  cells.addEventListener('pointermove', event => {
    const area = svg.getBoundingClientRect();
    cell.column = Math.max(0, Math.min(heat.columns.length - 1, Math.floor((event.clientX - area.left) / area.width * heat.columns.length)));
    cell.row = Math.max(0, Math.min(heat.rows.length - 1, Math.floor((event.clientY - area.top) / area.height * heat.rows.length)));
    show();
  });
  cells.addEventListener('keydown', event => {
    const moves = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]};
    const move = moves[event.key];
    if (!move) return;
    cell.row = Math.max(0, Math.min(heat.rows.length - 1, cell.row + move[0]));
    cell.column = Math.max(0, Math.min(heat.columns.length - 1, cell.column + move[1]));
    show();
    event.preventDefault();
  });
}

if (data.heat) useHeatMap(data.heat);
