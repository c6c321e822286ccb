import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

const HEIGHT = 200;

/** Draws bars into an element and keeps them as wide as the element, until `stop` is called. */
export function drawBars(
  element: HTMLElement,
  names: readonly string[],
  values: readonly number[],
  format: (value: number) => string,
): { stop(): void } {
  const style = getComputedStyle(element);
  // This reads the computed colour, because with forced colours the variables name colours of the system.
  const color = (name: string) => (): string => {
    element.style.color = `var(${name})`;
    const drawn = style.color;
    element.style.color = '';
    return drawn;
  };
  const font = `11px ${style.fontFamily}`;
  const axis = { stroke: color('--soft'), font, ticks: { show: false } };
  const plot = new UPlot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      select: { show: false, left: 0, top: 0, width: 0, height: 0 },
      scales: {
        x: { time: false, range: [-0.6, names.length - 0.4] },
        y: { range: (_, __, most) => [0, most * 1.08 || 1] },
      },
      axes: [
        {
          ...axis,
          size: 28,
          grid: { show: false },
          splits: (self) => ticks(names.length, Math.max(Math.floor(self.width / 90), 1)),
          values: (_, splits) => splits.map((at) => names[at] ?? ''),
        },
        {
          ...axis,
          size: 64,
          grid: { stroke: color('--line'), width: 1 },
          values: (_, splits) => splits.map((at) => (Number.isInteger(at) ? format(at) : '')),
        },
      ],
      series: [
        {},
        {
          fill: color('--brand'),
          stroke: color('--brand'),
          width: 0,
          points: { show: false },
          ...(UPlot.paths.bars && { paths: UPlot.paths.bars({ size: [0.7, 48], radius: 0.15 }) }),
        },
      ],
    },
    [names.map((_, index) => index), [...values]],
    element,
  );
  const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
  resize.observe(element);
  const looks = ['(prefers-color-scheme: dark)', '(forced-colors: active)'].map((query) => matchMedia(query));
  const redraw = (): void => plot.redraw();
  for (const each of looks) each.addEventListener('change', redraw);
  return {
    stop: () => {
      for (const each of looks) each.removeEventListener('change', redraw);
      resize.disconnect();
      plot.destroy();
    },
  };
}

/** Returns the bars that get a label. Some are left out, so that labels do not overlap. */
function ticks(count: number, most: number): number[] {
  const step = Math.ceil(count / most);
  return Array.from({ length: Math.ceil(count / step) }, (_, index) => index * step);
}
