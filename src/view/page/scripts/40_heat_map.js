// The heat map tells what lies under the pointer, or under the frame that the arrow keys move.
function useHeatMap(heat) {
  const cells = document.getElementById('heat-cells'), svg = cells.querySelector('svg');
  const readout = document.getElementById('heat-readout');
  const frame = drawn('rect', {class: 'here', width: 1, height: 1, visibility: 'hidden'});
  svg.append(frame);
  const place = {row: 0, column: heat.columns.length - 1};

  function milliseconds(microseconds) {
    return microseconds === null ? '-' : shortNumber(microseconds / 1000) + ' ms';
  }

  function show() {
    const own = heat.own[place.row][place.column], median = heat.median[place.column];
    const beside = own === null || !median ? '' : ', ' + (own >= median ? '+' : '') + (100 * (own / median - 1)).toFixed(1) + ' % beside ' + milliseconds(median);
    readout.textContent = heat.rows[place.row] + ', ' + heat.columns[place.column] + ': ' + milliseconds(own) + beside;
    frame.setAttribute('x', place.column);
    frame.setAttribute('y', place.row);
    frame.setAttribute('visibility', 'visible');
  }

  cells.addEventListener('pointermove', event => {
    const area = svg.getBoundingClientRect();
    place.column = Math.max(0, Math.min(heat.columns.length - 1, Math.floor((event.clientX - area.left) / area.width * heat.columns.length)));
    place.row = Math.max(0, Math.min(heat.rows.length - 1, Math.floor((event.clientY - area.top) / area.height * heat.rows.length)));
    show();
  });
  cells.addEventListener('keydown', event => {
    const moves = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]};
    const move = moves[event.key];
    if (!move) return;
    place.row = Math.max(0, Math.min(heat.rows.length - 1, place.row + move[0]));
    place.column = Math.max(0, Math.min(heat.columns.length - 1, place.column + move[1]));
    show();
    event.preventDefault();
  });
}

if (data.heat) useHeatMap(data.heat);
