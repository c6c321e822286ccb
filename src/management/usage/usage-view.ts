import type { UsageAmountsView, UsageGroup } from './usage.api.js';
import type { UsageAmounts, UsageRow } from './usage-records.js';

/** Returns the value of a group in the form that people see. */
export function groupView(row: UsageRow, group: UsageGroup): string | null {
  if (group === 'day') return new Date(row.day ?? 0).toISOString().slice(0, 10);
  return row[group] || null;
}

export function amountsView({ charged, refunded, sends, recipients }: UsageAmounts): UsageAmountsView {
  return { units: charged, refunded_units: refunded, net_units: charged - refunded, sends, recipients };
}
