// Charts that can be zoomed and hovered, in the place of the pictures that stand still.
const choice = {axis: 0, logarithmic: false};
const plots = new Map();  // by figure

// Rows of all series by x, as dygraphs takes them: [x, y of the first series, ...]; null: that series has no point there.
function rowsOf(chart, axis) {
  const rows = new Map();
  chart.series.forEach((series, number) => {
    const places = series.x[axis] || series.x[0];
    series.y.forEach((y, i) => {
      if (places[i] === null) return;
      if (!rows.has(places[i])) rows.set(places[i], [places[i], ...chart.series.map(() => null)]);
      rows.get(places[i])[number + 1] = y === null ? NaN : y;  // a gap
    });
  });
  return [...rows.values()].sort((a, b) => a[0] - b[0]);
}

// dygraphs takes each name once.
function labelsOf(chart) {
  return ['x', ...chart.series.map((series, i) => i + ' ' + series.name)];
}

function drawMarks(chart, axis, context, area, graph) {
  chart.series.forEach((series, number) => {
    const places = series.x[axis] || series.x[0];
    context.save();
    context.strokeStyle = colorOf('lost');
    context.setLineDash([4, 3]);
    for (const restart of series.restarts) {
      const x = graph.toDomXCoord(places[restart]);
      if (x < area.x || x > area.x + area.w) continue;
      const [top, bottom] = chart.series.length > 1 ? [graph.toDomYCoord(series.y[restart]) - 6, graph.toDomYCoord(series.y[restart]) + 6]
                                                    : [area.y, area.y + area.h];
      context.beginPath();
      context.moveTo(x, top);
      context.lineTo(x, bottom);
      context.stroke();
    }
    context.restore();
    if (series.best === null) return;
    const [x, y] = graph.toDomCoords(places[series.best], series.y[series.best]);
    if (x < area.x || x > area.x + area.w) return;
    context.save();
    context.strokeStyle = colorOf(chart.series.length > 1 ? 'c' + number % 8 : 'c2');
    context.lineWidth = 2;
    context.beginPath();
    context.arc(x, y, 5, 0, 2 * Math.PI);
    context.stroke();
    context.restore();
  });
}

function optionsOf(chart, axis) {
  return {
    labels: labelsOf(chart),
    colors: chart.series.map((_, i) => colorOf('c' + i % 8)),
    logscale: choice.logarithmic && !chart.stacked,
    stackedGraph: chart.stacked,
    stackedGraphNaNFill: 'none',
    connectSeparatedPoints: !chart.stacked,
    legend: 'never',
    strokeWidth: 1.6,
    axisLineColor: colorOf('rule'),
    gridLineColor: colorOf('rule'),
    gridLineWidth: 0.6,
    rightGap: 12,
    includeZero: chart.stacked,
    axes: {
      x: {pixelsPerLabel: 70, axisLabelFormatter: shortNumber, drawGrid: false},
      y: {axisLabelWidth: 58, axisLabelFormatter: shortNumber, pixelsPerLabel: 34},
    },
    drawPoints: chart.series.every(series => series.y.length === 1),
    pointSize: 3,
    highlightCircleSize: 3,
    highlightSeriesOpts: chart.series.length > 1 && !chart.stacked ? {strokeWidth: 3} : null,
    highlightSeriesBackgroundColor: colorOf('paper'),
    underlayCallback: (context, area, graph) => drawMarks(chart, axis, context, area, graph),
  };
}

// Of many series the nearest to the pointer comes first.
function readoutOf(chart, axis, x, points, nearest) {
  const shown = points.filter(point => point.yval !== null && !Number.isNaN(point.yval))
                    .sort((a, b) => Number(b.name === nearest) - Number(a.name === nearest)).slice(0, 6);
  const values = shown.map(point => {
    const series = chart.series[Number(point.name.split(' ')[0])];
    return (chart.series.length > 1 ? series.name + ' ' : '') + shortNumber(point.yval);
  });
  return (chart.axes[axis] || chart.axes[0]) + ' ' + shortNumber(x) + ': ' + values.join(', ');
}

function axisOf(figure, chart) {
  return figure.closest('#curves') ? Math.min(choice.axis, chart.axes.length - 1) : 0;
}

function draw(figure) {
  const chart = data.charts[Number(figure.dataset.chart)];
  const axis = axisOf(figure, chart);
  const rows = rowsOf(chart, axis);
  if (rows.length === 0) return;
  const box = figure.querySelector('.chart');
  if (!plots.has(figure)) {
    box.replaceChildren(make('div', {class: 'plot', tabindex: '0', role: 'img', 'aria-label': chart.title + ': arrows move along it, + and - zoom, 0 shows all'}));
    box.append(make('p', {class: 'readout', 'aria-live': 'polite'}, chart.axes[axis]));
  } else {
    plots.get(figure).graph.destroy();
  }
  const plot = box.querySelector('.plot'), readout = box.querySelector('.readout');
  const say = (event, x, points, row, nearest) => { readout.textContent = readoutOf(chart, axis, x, points, nearest); };
  const graph = new Dygraph(plot, rows, {...optionsOf(chart, axis), highlightCallback: say,
                                         unhighlightCallback: () => { readout.textContent = chart.axes[axis]; }});
  readout.textContent = chart.axes[axis];
  if (!plots.has(figure)) plot.addEventListener('keydown', event => useKey(event, figure));
  plots.set(figure, {graph, chart, axis, readout, row: -1});
}

// The keyboard does what the mouse does.
function useKey(event, figure) {
  const plot = plots.get(figure);
  const [from, to] = plot.graph.xAxisRange(), middle = (from + to) / 2, half = (to - from) / 2;
  const window = scale => plot.graph.updateOptions({dateWindow: [middle - half * scale, middle + half * scale]});
  const move = by => {
    plot.row = Math.max(0, Math.min(plot.graph.numRows() - 1, plot.row + by));
    plot.graph.setSelection(plot.row);
    const points = plot.chart.series.map((series, i) => ({name: i + ' ' + series.name, yval: plot.graph.getValue(plot.row, i + 1)}));
    plot.readout.textContent = readoutOf(plot.chart, plot.axis, plot.graph.getValue(plot.row, 0), points);
  };
  const keys = {ArrowLeft: () => move(-1), ArrowRight: () => move(1), PageUp: () => move(-25), PageDown: () => move(25), '+': () => window(0.5),
                '-': () => window(2), 0: () => plot.graph.resetZoom()};
  if (!keys[event.key]) return;
  keys[event.key]();
  event.preventDefault();
}

function drawAgain(figures) {
  for (const figure of figures) if (plots.has(figure)) draw(figure);
}

function controlsFor(box) {
  const curves = () => document.querySelectorAll('#curves figure');
  const axes = data.charts[Number(curves()[0].dataset.chart)].axes;
  const group = make('fieldset', {}, make('legend', {}, 'by'));
  axes.forEach((title, i) => {
    const input = make('input', {type: 'radio', name: 'axis', value: String(i)});
    input.checked = i === 0;
    input.addEventListener('change', () => { choice.axis = i; drawAgain(curves()); });
    group.append(make('label', {}, input, ' ' + title));
  });
  const log = make('input', {type: 'checkbox'});
  log.addEventListener('change', () => { choice.logarithmic = log.checked; drawAgain(curves()); });
  const all = make('button', {type: 'button'}, 'Show all');
  all.addEventListener('click', () => curves().forEach(figure => plots.has(figure) && plots.get(figure).graph.resetZoom()));
  box.append(group, make('label', {}, log, ' logarithmic'), all, make('span', {class: 'note'}, 'drag to zoom, double click to show all'));
}

if (typeof Dygraph !== 'undefined') {
  document.querySelectorAll('[data-controls]').forEach(controlsFor);
  const figures = [...document.querySelectorAll('figure[data-chart]')];
  // One after the other, so that the page can be used meanwhile.
  const drawFrom = number => {
    if (number === figures.length) return;
    draw(figures[number]);
    setTimeout(drawFrom, 0, number + 1);
  };
  drawFrom(0);
  whenColorsChange(() => drawAgain(figures));
}
