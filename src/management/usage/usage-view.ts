import { type UsageAmounts, type UsageGroup, type UsageRow } from './usage-records.js';

/** What an account has used. */
export interface UsageAmountsView {
  /** Units that were charged. */
  readonly units: number;
  /** Units that went back. */
  readonly refunded_units: number;
  readonly net_units: number;
  readonly sends: number;
  readonly recipients: number;
}

/** What an account has used, of one group; it has the fields by which was grouped. */
export interface UsageItemView extends UsageAmountsView {
  /** `2026-11-21`, UTC. */
  readonly day?: string;
  readonly channel?: string;
  /** ISO 3166, or `unknown`. */
  readonly country?: string;
  /** Null on channels without signatures. */
  readonly signature?: string | null;
  /** The id of the key that sent it; null for users and the host's own code. */
  readonly key?: string | null;
}

export interface UsageView {
  /** The period, `until` not included. */
  readonly since: string;
  readonly until: string;
  readonly items: readonly UsageItemView[];
  readonly total: UsageAmountsView;
}

/** The value of a group as it is shown. */
export function groupView(row: UsageRow, group: UsageGroup): string | null {
  if (group === 'day') return new Date(row.day ?? 0).toISOString().slice(0, 10);
  return row[group] || null;
}

export function amountsView({ charged, refunded, sends, recipients }: UsageAmounts): UsageAmountsView {
  return { units: charged, refunded_units: refunded, net_units: charged - refunded, sends, recipients };
}
