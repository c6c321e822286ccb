import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { METRICS, type MetricDefinition } from '../../src/telemetry/metrics.js';
import { ROOT } from '../support/sample-app/sample-app.js';
import { hasPeer } from '../support/transports/carriers/installed.js';

export const FOLDER = join(ROOT, 'docs/observability');
export const RULES = join(FOLDER, 'alerts.yml');

/** Whether Prometheus and its tool are available here. */
export const hasPrometheus = (): boolean =>
  hasPeer('Observability', 'prometheus', ['promtool', 'prometheus', 'setpriv']);

/** A shipped expression and its place. */
export interface Shipped {
  readonly place: string;
  readonly expr: string;
}

/** The expressions of all dashboards, with the interval that Grafana would insert. */
export function dashboardExpressions(): Shipped[] {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
  return files.flatMap((file) => {
    const { panels }: { panels: readonly { title: string; targets: readonly { expr: string }[] }[] } = JSON.parse(
      readFileSync(join(FOLDER, file), 'utf8'),
    );
    return panels.flatMap(({ title, targets }) =>
      targets.map(({ expr }) => ({ place: `${file}: ${title}`, expr: expr.replaceAll('$__rate_interval', '10s') })),
    );
  });
}

/** The expressions of the alerts, each on one line. */
export function alertExpressions(): Shipped[] {
  const text = readFileSync(RULES, 'utf8');
  const rules = [...text.matchAll(/- alert: (\w+)\n([\s\S]*?)(?=\n {6}- alert|\n*$(?![\s\S]))/g)];
  return rules.map(([, place = '', body = '']) => {
    const [, expr = ''] = /expr: (?:\|-\n)?([\s\S]*?)\n {8}\w+:/.exec(body) ?? [];
    return { place, expr: expr.replace(/\s+/g, ' ').trim() };
  });
}

/** The series that an expression selects: each of our names with its labels. */
export function selectorsOf(expr: string): { readonly name: string; readonly labels: readonly string[] }[] {
  return [...expr.matchAll(/messaging_(\w+)(?:\{([^}]*)\})?/g)].map(([, name = '', labels = '']) => ({
    name,
    labels: [...labels.matchAll(/(\w+)\s*(?:=~|!=|!~|=)/g)].map(([, label = '']) => label),
  }));
}

/** The definition behind a series. For the buckets, the sum and the count of a histogram, that of the histogram. */
export function metricBehind(series: string): MetricDefinition | undefined {
  const all: Readonly<Record<string, MetricDefinition>> = METRICS;
  const found = all[series];
  if (found) return found.kind === 'histogram' ? undefined : found;
  const histogram = all[series.replace(/_(bucket|sum|count)$/, '')];
  return histogram?.kind === 'histogram' ? histogram : undefined;
}
