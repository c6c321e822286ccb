import type { HandOff } from '../outbox/hand-off.js';
import type { TrailEntry } from '../outbox/settlement.js';

/** The states that a hand-off brings. */
const STATES = { sent: 'sent', retry: 'queued', postponed: 'queued', refused: 'failed', unknown: 'unknown' } as const;

/** A hand-off with the states it brings and their time. @param at milliseconds since the epoch */
export function withTrail(handOff: HandOff, at: number): HandOff {
  const error = handOff.error === undefined ? {} : { error: handOff.error };
  const final = handOff.kind === 'sent' ? handOff.final : undefined;
  const trail: TrailEntry[] = [{ at, status: STATES[handOff.kind], ...(final ? {} : error) }];
  if (final) trail.push({ at, status: final, ...error });
  return { ...handOff, trail: [...(handOff.trail ?? []), ...trail] };
}
