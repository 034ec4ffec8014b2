/** Waiting times of the last minute on a logarithmic scale, as dots and lines on a canvas. */

const span = 60_000;
const grid = [[0.1, '0.1 ms'], [1, '1 ms'], [10, '10 ms'], [100, '100 ms'], [1_000, '1 s'], [10_000, '10 s']];
const lowest = Math.log10(0.1);
const highest = Math.log10(20_000);
let waits = [];

/** Takes over what is new; the same summary may come several times. */
export function add(summaries) {
  const known = new Set(waits.map(wait => wait.id));
  const added = summaries
    .filter(wait => !known.has(wait.id))
    .map(wait => ({ ...wait, at: +wait.at, median: +wait.median, longest: +wait.longest }));
  waits = [...waits, ...added].filter(wait => wait.at >= Date.now() - span);
}

/** Median of the medians and the longest wait of a series; null if it has none. */
export function summary(name) {
  const own = waits.filter(wait => wait.scenario === name);
  if (own.length === 0) {
    return null;
  }
  const medians = own.map(wait => wait.median).sort((one, other) => one - other);
  return { median: medians[medians.length >> 1], longest: Math.max(...own.map(wait => wait.longest)) };
}

/** Draws these series; a low canvas has every second line of the grid. */
export function draw(canvas, names) {
  const color = name => {
    canvas.style.color = `var(${name})`;
    return getComputedStyle(canvas).color;
  };
  const scale = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (canvas.width !== width * scale || canvas.height !== height * scale) {
    canvas.width = width * scale;
    canvas.height = height * scale;
  }
  const pen = canvas.getContext('2d');
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  const left = 52;
  const bottom = height - 22;
  const now = Date.now();
  const x = at => left + (width - left - 8) * (1 - (now - at) / span);
  const y = millis =>
    bottom - (bottom - 6) * (Math.log10(Math.max(millis, 0.1)) - lowest) / (highest - lowest);

  pen.font = '12px system-ui, sans-serif';
  pen.lineWidth = 1;
  pen.strokeStyle = color('--line');
  pen.fillStyle = color('--muted');
  pen.textAlign = 'right';
  pen.textBaseline = 'middle';
  for (const [millis, label] of grid.filter((line, i) => height > 120 || i % 2 === 1)) {
    const line = Math.round(y(millis)) + 0.5;
    pen.beginPath();
    pen.moveTo(left, line);
    pen.lineTo(width - 8, line);
    pen.stroke();
    pen.fillText(label, left - 8, Math.min(line, bottom - 5));
  }
  pen.textBaseline = 'top';
  for (const ago of [60, 30, 0]) {
    pen.textAlign = ago === 60 ? 'left' : ago === 0 ? 'right' : 'center';
    pen.fillText(ago === 0 ? '0 s' : `−${ago} s`, x(now - ago * 1_000), bottom + 6);
  }
  for (const name of names) {
    pen.strokeStyle = pen.fillStyle = color(`--series-${name}`);
    for (const wait of waits) {
      if (wait.scenario === name && wait.at <= now) {
        pen.globalAlpha = 0.35;
        pen.beginPath();
        pen.moveTo(x(wait.at), y(wait.median));
        pen.lineTo(x(wait.at), y(wait.longest));
        pen.stroke();
        pen.globalAlpha = 1;
        pen.beginPath();
        pen.arc(x(wait.at), y(wait.median), 2, 0, 2 * Math.PI);
        pen.fill();
      }
    }
  }
}
