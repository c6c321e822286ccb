import { METRICS, type MetricDefinition, OPEN_LABELS } from '../../../src/telemetry/metrics.js';

/** The table of all metrics as in `docs/telemetry.md`. */
export function metricsTable(): string {
  const metrics: readonly (readonly [string, MetricDefinition])[] = Object.entries(METRICS);
  const rows = metrics.map(([name, { kind, scope, labels, help }]) => {
    const cells = [`\`messaging_${name}\``, kind, scope, labelsOf(labels), help.replaceAll('|', '\\|')];
    return `| ${cells.join(' | ')} |`;
  });
  return ['| metric | type | of | labels | meaning |', '|---|---|---|---|---|', ...rows].join('\n');
}

function labelsOf(labels: MetricDefinition['labels']): string {
  const described = Object.entries(labels).map(([label, values]) =>
    typeof values === 'string' ? `\`${label}\`` : `\`${label}\`: ${values.join(', ')}`,
  );
  return described.join('; ');
}

/** The labels whose values are not in the table. */
export function openLabels(): string {
  const rows = Object.entries(OPEN_LABELS).map(([label, { what, most }]) => `| \`${label}\` | ${what} | ${most} |`);
  return ['| label | values | at most |', '|---|---|---|', ...rows].join('\n');
}
