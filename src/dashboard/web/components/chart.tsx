import { useEffect, useRef } from 'preact/hooks';
import { number } from '../core/format.js';
import { language } from '../core/i18n.js';
import { theme } from '../core/theme.js';

interface BarChartProps {
  /** The description of the chart. A table next to it has the same numbers for people who cannot see the chart. */
  readonly label: string;
  readonly names: readonly string[];
  readonly values: readonly number[];
}

/** A bar chart. The drawing library is loaded when the first chart is shown. */
export function BarChart({ label, names, values }: BarChartProps) {
  const element = useRef<HTMLElement>(null);
  const data = JSON.stringify([names, values]);
  useEffect(() => {
    let draw: { stop(): void } | undefined;
    let gone = false;
    import('./chart-drawing.js').then(
      ({ drawBars }) => {
        if (!gone && element.current) draw = drawBars(element.current, names, values, (value) => number(value));
      },
      // The error is ignored, because the table next to the chart has the same numbers.
      () => undefined,
    );
    return () => {
      gone = true;
      draw?.stop();
    };
  }, [data, theme.value, language.value]);
  return <figure ref={element} class="chart" role="img" aria-label={label} />;
}
