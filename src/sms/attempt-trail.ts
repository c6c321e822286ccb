import type { TrailEntry } from '../outbox/settlement.js';
import { carrierText } from './carrier-text.js';
import type { RouteAttempt, SubmitResult } from './sms-transport.js';

/** Our count of an SMS's segments beside the carrier's. */
export interface SegmentCounts {
  readonly ours: number;
  readonly carriers: number;
}

const NONE: readonly TrailEntry[] = [];

/**
 * What is kept of the tries that led to a result, oldest first: route, outcome, the carrier's code, and at the last one
 * its count of segments beside ours. Nothing for a result that says nothing of its way, as the sandbox's.
 */
export function attemptTrail(
  { attempts, route, carrierIds, kind, error, trail = NONE }: SubmitResult,
  counts: SegmentCounts | undefined,
  { name, at }: { readonly name: string; readonly at: number },
): readonly TrailEntry[] {
  const told = attempts ?? route ?? carrierIds ?? counts;
  if (told === undefined) return trail;
  const itself = { route: route ?? name, outcome: kind, at, ...(error === undefined ? {} : { code: error }) };
  const tries = (attempts ?? [itself]).map(entryOf);
  const last = tries.at(-1);
  if (!counts || !last) return [...trail, ...tries];
  return [...trail, ...tries.slice(0, -1), { ...last, segments: counts.carriers, our_segments: counts.ours }];
}

function entryOf({ at, route, outcome, code }: RouteAttempt): TrailEntry {
  return { at, route, outcome, ...(code === undefined ? {} : { code: carrierText(code) }) };
}
