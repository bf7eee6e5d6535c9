// Parallel coordinates (Inselberg, The plane with parallel coordinates, 1985): an axis for each key and metric, a line for each run. The
// user selects a range on an axis by dragging or with the arrow keys; runs outside of a selected range become gray.
const size = {width: 1200, height: 380, left: 60, right: 60, top: 46, bottom: 24};

function axisScale(values) {
  const numbers = values.filter(value => typeof value === 'number');
  const isNumeric = numbers.length > 0 && numbers.length === values.filter(value => value !== null).length;
  const bottom = size.height - size.bottom, height = bottom - size.top;
  if (!isNumeric) {
    const words = [...new Set(values.filter(value => value !== null).map(String))].sort();
    const step = words.length > 1 ? height / (words.length - 1) : 0;
    return {place: value => value === null ? null : bottom - words.indexOf(String(value)) * step,
            labels: words.slice(0, 24).map((word, i) => [word, bottom - i * step])};
  }
  const low = Math.min(...numbers), high = Math.max(...numbers);
  const isLogarithmic = low > 0 && high / low >= 50;
  const map = value => isLogarithmic ? Math.log(value) : value;
  const range = map(high) - map(low) || 1;
  const place = value => value === null ? null : bottom - (high > low ? (map(value) - map(low)) / range : 0.5) * height;
  const between = [0, 0.25, 0.5, 0.75, 1].map(part => isLogarithmic ? Math.exp(map(low) + part * range) : low + part * (high - low));
  const marks = high > low ? between : [low];
  let digits = 3;  // more if labels of close values would be equal
  while (digits < 6 && new Set(marks.map(value => value.toPrecision(digits))).size < marks.length) ++digits;
  return {place, labels: marks.map(value => [shortNumber(Number(value.toPrecision(digits))), place(value)])};
}

function useParallel(model) {
  const figure = document.getElementById('parallel-lines');
  const svg = drawn('svg', {viewBox: `0 0 ${size.width} ${size.height}`, role: 'group', 'aria-label': 'parallel coordinates'});
  const readout = make('p', {class: 'readout', 'aria-live': 'polite'}, 'drag over a part of an axis to select runs; click on the axis to remove the selection');
  const step = model.axes.length > 1 ? (size.width - size.left - size.right) / (model.axes.length - 1) : 0;
  const axes = model.axes.map((title, i) => ({title, x: size.left + i * step, ...axisScale(model.runs.map(run => run.values[i])), brush: null}));
  const lines = model.runs.map((run, number) => {
    const path = axes.map((axis, i) => [axis.x, axis.place(run.values[i])]).filter(point => point[1] !== null)
                     .map((point, i) => (i ? 'L' : 'M') + point[0].toFixed(1) + ',' + point[1].toFixed(1)).join('');
    const line = drawn('path', {class: `line c${number % 8} d${Math.floor(number / 8) % 4}`, d: path}, drawn('title', {}, run.name));
    line.addEventListener('pointerenter', () => {
      line.classList.add('chosen');
      readout.textContent = run.name + ': ' + model.axes.map((title, i) => title + ' ' + shortNumber(run.values[i])).join(', ');
    });
    line.addEventListener('pointerleave', () => line.classList.remove('chosen'));
    return line;
  });
  svg.append(...lines);

  function passes(run) {
    return axes.every((axis, i) => {
      const y = axis.place(run.values[i]);
      return !axis.brush || (y !== null && y >= axis.brush[0] && y <= axis.brush[1]);
    });
  }

  function choose() {
    let count = 0;
    model.runs.forEach((run, i) => {
      const isIn = passes(run);
      count += isIn;
      lines[i].classList.toggle('excluded', !isIn);
    });
    for (const axis of axes) {
      axis.mark.setAttribute('visibility', axis.brush ? 'visible' : 'hidden');
      if (!axis.brush) continue;
      axis.mark.setAttribute('y', axis.brush[0]);
      axis.mark.setAttribute('height', Math.max(1, axis.brush[1] - axis.brush[0]));
    }
    readout.textContent = count + ' of ' + model.runs.length + ' runs';
  }

  for (const axis of axes) addAxis(svg, axis, choose);
  figure.replaceChildren(svg, readout);
}

function addAxis(svg, axis, choose) {
  const bottom = size.height - size.bottom;
  const cut = axis.title.length > 18 ? axis.title.slice(0, 17) + '…' : axis.title;
  svg.append(drawn('line', {class: 'axis', x1: axis.x, x2: axis.x, y1: size.top, y2: bottom}),
             drawn('text', {class: 'title-of-axis', x: axis.x, y: 20, 'text-anchor': 'middle'}, drawn('title', {}, axis.title), cut),
             ...axis.labels.map(([shown, y]) => drawn('text', {x: axis.x + 5, y: y + 3}, String(shown).slice(0, 14))));
  axis.mark = drawn('rect', {class: 'brush', x: axis.x - 7, width: 14, visibility: 'hidden'});
  const strip = drawn('rect', {class: 'strip', x: axis.x - 10, width: 20, y: size.top - 8, height: bottom - size.top + 16, tabindex: '0', role: 'slider',
                               'aria-label': axis.title + ': arrow keys move the selected range, + and - enlarge and shrink it, Escape removes it',
                               'aria-valuemin': '0', 'aria-valuemax': '100', 'aria-valuenow': '50'});
  const clamp = y => Math.max(size.top - 1, Math.min(bottom + 1, y));
  const heightAt = event => clamp((event.clientY - svg.getBoundingClientRect().top) * size.height / svg.getBoundingClientRect().height);
  let from = null;
  strip.addEventListener('pointerdown', event => {
    from = heightAt(event);
    axis.brush = null;
    strip.setPointerCapture(event.pointerId);
    choose();
  });
  strip.addEventListener('pointermove', event => {
    if (from === null) return;
    const to = heightAt(event);
    axis.brush = Math.abs(to - from) < 3 ? null : [Math.min(from, to), Math.max(from, to)];
    choose();
  });
  strip.addEventListener('pointerup', () => { from = null; });
  strip.addEventListener('keydown', event => {
    const [low, high] = axis.brush || [size.top, (size.top + bottom) / 2];
    const changed = {ArrowUp: [low - 15, high - 15], ArrowDown: [low + 15, high + 15], '+': [low - 10, high + 10], '-': [low + 10, high - 10], Escape: null};
    if (!(event.key in changed)) return;
    const brush = changed[event.key];
    axis.brush = brush && brush[1] > brush[0] ? brush.map(clamp) : null;
    choose();
    event.preventDefault();
  });
  svg.append(axis.mark, strip);
}

if (data.parallel && document.getElementById('parallel-lines') && data.parallel.axes.length > 0) useParallel(data.parallel);
