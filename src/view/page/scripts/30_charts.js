// The interactive charts of a page: this script shows the values at the pointer, zooms, and switches the x-axis and the
// scale of the y-axis. It redraws the lines, marks and labels of the SVG picture in the page with the CSS classes of
// the picture.
const choice = {axis: 0, logarithmic: false};
const charts = new Map();  // key: the figure element

function rangeOf(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) if (Number.isFinite(value)) { low = Math.min(low, value); high = Math.max(high, value); }
  return [low, high];
}

// Returns about `count` values of ticks, and at least three: multiples of 1, 2 or 5 times a power of ten.
function ticksOf(low, high, count) {
  for (let parts = count; high > low; ++parts) {
    const rough = (high - low) / parts, power = 10 ** Math.floor(Math.log10(rough)), factor = rough / power;
    const step = (factor < 1.5 ? 1 : factor < 3.5 ? 2 : factor < 7.5 ? 5 : 10) * power, ticks = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step && ticks.length < 20; ++i) ticks.push(i * step);
    if (ticks.length >= 3 || parts > count + 8) return ticks;
  }
  return [];
}

function logarithmicTicks(low, high, count) {
  const powers = [];
  for (let power = Math.floor(low); power <= high; ++power) for (const factor of [1, 2, 5]) powers.push([factor, factor * 10 ** power]);
  const shown = powers.filter(([factor, value]) => Math.log10(value) >= low - 1e-9 && Math.log10(value) <= high + 1e-9);
  const tens = shown.filter(([factor]) => factor === 1), every = Math.ceil(tens.length / (count + 1));
  const ticks = (tens.length >= 3 ? tens.filter((_, i) => i % every === 0) : shown).map(([factor, value]) => value);
  return ticks.length >= 3 ? ticks : ticksOf(10 ** low, 10 ** high, count);
}

// Returns an axis, which maps values to positions from 0 to 1.
function axisOf([low, high], logarithmic, padding) {
  const margin = high > low ? padding * (high - low) : logarithmic ? 0.5 : Math.abs(high) * 0.1 || 1;
  const [from, to] = [low - margin, high + margin], scale = value => logarithmic ? Math.log10(value) : value;
  return {from, to, position: value => value === null ? NaN : (scale(value) - from) / (to - from),
          ticks: count => logarithmic ? logarithmicTicks(from, to, count) : ticksOf(from, to, count)};
}

// The chart in a figure, with its zoom and the point that the user selected with the arrow keys.
class FigureChart {
  constructor(figure) {
    this.chart = data.charts[Number(figure.dataset.chart)];
    this.isMetric = figure.closest('#curves') !== null;
    this.svg = figure.querySelector('.chart-svg');
    this.size = this.svg.viewBox.baseVal;
    this.area = this.svg.querySelector('.area');
    this.readout = make('p', {class: 'readout', 'aria-live': 'polite'});
    figure.querySelector('.chart').append(this.readout);
    this.window = null;
    this.selected = -1;
    this.values = this.chart.series.map(series => [...series.y]);
    if (this.chart.stacked)
      for (let i = 1; i < this.values.length; ++i) this.values[i] = this.values[i].map((y, j) => y === null ? null : y + this.values[i - 1][j]);
    if (!this.area) return;
    [this.left, this.top, this.width, this.height] = ['x', 'y', 'width', 'height'].map(name => Number(this.area.getAttribute(name)));
    this.cursor = drawn('path', {class: 'cursor'});
    this.selection = drawn('rect', {class: 'selection', y: this.top, height: this.height, visibility: 'hidden'});
    this.svg.append(this.cursor, this.selection);
    this.svg.setAttribute('tabindex', '0');
    this.svg.setAttribute('aria-label', this.chart.title + ': arrow keys show values, + and - zoom, 0 shows all');
    this.findAxes();
    this.listen();
    this.clear();
  }

  get axis() { return this.isMetric ? Math.min(choice.axis, this.chart.axes.length - 1) : 0; }
  get isLogarithmic() { return this.isMetric && choice.logarithmic; }
  x(series) { return series.x[this.axis] || series.x[0]; }

  findAxes() {
    const [low, high] = this.window || rangeOf(this.chart.series.flatMap(series => this.x(series)));
    const shown = this.chart.series.flatMap((series, n) => this.values[n].filter((y, i) => this.x(series)[i] >= low && this.x(series)[i] <= high));
    const heights = shown.filter(y => y !== null).concat(this.chart.stacked ? [0] : []);
    this.xAxis = axisOf([low, high], false, 0);
    this.yAxis = axisOf(rangeOf(this.isLogarithmic ? heights.map(Math.log10) : heights), this.isLogarithmic, 0.04);
  }

  place(n, i) { return [this.xAxis.position(this.x(this.chart.series[n])[i]) * this.width, (1 - this.yAxis.position(this.values[n][i])) * this.height]; }

  path(n) {
    let path = '', first = null, last = null;
    const end = () => {
      if (first !== null) path += this.chart.stacked ? `V${this.height}H${first.toFixed(1)}Z` : last === first ? 'h0.1' : '';
      first = null;
    };
    this.values[n].forEach((_, i) => {
      const [x, y] = this.place(n, i);
      if (!Number.isFinite(x) || !Number.isFinite(y)) return end();
      path += (first === null ? 'M' : 'L') + x.toFixed(1) + ',' + y.toFixed(1);
      if (first === null) first = x;
      last = x;
    });
    end();
    return path;
  }

  draw() {
    if (!this.area) return;
    this.findAxes();
    for (const line of this.area.querySelectorAll('path')) line.setAttribute('d', this.path(Number(line.dataset.series)));
    for (const mark of this.svg.querySelectorAll('.mark')) {
      const [x, y] = this.place(Number(mark.dataset.series), Number(mark.dataset.point)), isShown = x >= 0 && x <= this.width && Number.isFinite(y);
      mark.setAttribute('transform', isShown ? `translate(${(this.left + x).toFixed(1)},${(this.top + y).toFixed(1)})` : '');
      mark.setAttribute('visibility', isShown ? 'visible' : 'hidden');
    }
    const down = value => this.top + (1 - this.yAxis.position(value)) * this.height, across = value => this.left + this.xAxis.position(value) * this.width;
    const ticks = this.yAxis.ticks(Math.max(3, Math.floor(this.height / 45)));
    this.svg.querySelector('.grid').setAttribute('d', ticks.map(value => `M${this.left},${down(value).toFixed(1)}h${this.width}`).join(''));
    const label = (x, y, anchor, value) => drawn('text', {class: 'label', x, y, 'text-anchor': anchor}, shortNumber(value));
    this.svg.querySelector('.y-labels').replaceChildren(...ticks.map(value => label(this.left - 6, down(value) + 4, 'end', value)));
    const y = this.svg.querySelector('.x-labels text').getAttribute('y');
    const columns = this.xAxis.ticks(Math.max(3, Math.floor(this.width / 90)));
    this.svg.querySelector('.x-labels').replaceChildren(...columns.map(value => label(across(value), y, 'middle', value)));
    this.svg.querySelector('.x-title').textContent = this.chart.axes[this.axis];
    this.clear();
  }

  clear() {
    this.cursor.setAttribute('d', '');
    this.readout.textContent = '\u00a0';
  }

  zoom(window) {
    this.window = window;
    this.draw();
  }

  // Shows, for each series, the point nearest to `x`. The series nearest to `y` comes first. `x` and `y` count from the
  // top left corner of the plot area.
  show(x, y) {
    const found = this.chart.series.map((series, n) => {
      let nearest = null;
      this.values[n].forEach((_, i) => {
        const place = this.place(n, i), distance = Math.abs(place[0] - x);
        if (Number.isFinite(place[1]) && !(distance >= (nearest ? nearest.distance : Infinity))) nearest = {distance, n, i, place};
      });
      return nearest;
    }).filter(point => point !== null).sort((a, b) => Math.abs(a.place[1] - y) - Math.abs(b.place[1] - y));
    if (found.length === 0) return;
    const texts = found.slice(0, 6).map(({n, i}) => (found.length > 1 ? this.chart.series[n].name + ' ' : '') + shortNumber(this.chart.series[n].y[i]));
    const {n, i, place} = found[0];
    this.readout.textContent = this.chart.axes[this.axis] + ' ' + shortNumber(this.x(this.chart.series[n])[i]) + ': ' + texts.join(', ');
    this.cursor.setAttribute('d', `M${(this.left + place[0]).toFixed(1)},${this.top}v${this.height}`);
  }

  select(step) {
    const count = this.values[0].length;
    this.selected = Math.max(0, Math.min(count - 1, this.selected + step));
    this.show(...this.place(0, this.selected));
  }

  listen() {
    let from = null;
    const at = event => {
      const box = this.svg.getBoundingClientRect(), scale = this.size.width / box.width;
      return [Math.max(0, Math.min(this.width, (event.clientX - box.left) * scale - this.left)), (event.clientY - box.top) * scale - this.top];
    };
    const value = x => this.xAxis.from + x / this.width * (this.xAxis.to - this.xAxis.from);
    this.svg.addEventListener('pointerdown', event => { from = at(event)[0]; });
    this.svg.addEventListener('pointermove', event => {
      const [x, y] = at(event);
      this.show(x, y);
      if (from === null) return;
      this.selection.setAttribute('x', this.left + Math.min(from, x));
      this.selection.setAttribute('width', Math.abs(x - from));
      this.selection.setAttribute('visibility', 'visible');
    });
    const release = event => {
      this.selection.setAttribute('visibility', 'hidden');
      const x = at(event)[0], start = from;
      from = null;
      if (event.type === 'pointerup' && start !== null && Math.abs(x - start) > 5) this.zoom([value(Math.min(start, x)), value(Math.max(start, x))]);
    };
    this.svg.addEventListener('pointerup', release);
    this.svg.addEventListener('pointerleave', event => { release(event); this.clear(); });
    this.svg.addEventListener('dblclick', () => this.zoom(null));
    this.svg.addEventListener('keydown', event => {
      const {from: low, to: high} = this.xAxis, middle = (low + high) / 2, half = (high - low) / 2;
      const keys = {ArrowLeft: () => this.select(-1), ArrowRight: () => this.select(1), PageUp: () => this.select(-25), PageDown: () => this.select(25),
                    '+': () => this.zoom([middle - half / 2, middle + half / 2]), '-': () => this.zoom([middle - 2 * half, middle + 2 * half]), 0: () => this.zoom(null)};
      if (!keys[event.key]) return;
      keys[event.key]();
      event.preventDefault();
    });
  }
}

function addControls(box) {
  const metrics = () => [...charts.values()].filter(each => each.isMetric);
  const axes = metrics()[0].chart.axes;
  const group = make('fieldset', {}, make('legend', {}, 'x-axis'));
  axes.forEach((title, i) => {
    const input = make('input', {type: 'radio', name: 'axis', value: String(i)});
    input.checked = i === 0;
    input.addEventListener('change', () => { choice.axis = i; metrics().forEach(each => each.zoom(null)); });
    group.append(make('label', {}, input, ' ' + title));
  });
  const log = make('input', {type: 'checkbox'});
  log.addEventListener('change', () => { choice.logarithmic = log.checked; metrics().forEach(each => each.draw()); });
  const all = make('button', {type: 'button'}, 'Show all');
  all.addEventListener('click', () => metrics().forEach(each => each.zoom(null)));
  box.append(group, make('label', {}, log, ' logarithmic'), all, make('span', {class: 'note'}, 'drag to zoom, double click to show all'));
}

for (const figure of document.querySelectorAll('figure[data-chart]')) charts.set(figure, new FigureChart(figure));
document.querySelectorAll('[data-controls]').forEach(addControls);
