import { DAY_MS } from '../common/time.js';
import { EventLog } from '../events/event-log.js';
import { EventRetention } from '../events/event-retention.js';
import { type PurgeRule, Purger } from './purger.js';
import type { ErasureRule } from './retention/erasure-service.js';
import { RetentionSettings } from './retention/retention-options.js';

/** How long a log stays on without endpoints and readers, in milliseconds. */
const UNUSED_MS = 7 * DAY_MS;

/** Adds the purges of the event log to the application's purger. */
export const EVENT_UPKEEP = {
  provide: Symbol('upkeep of events'),
  useFactory: (purger: Purger, log: EventLog, retention: EventRetention, kept: RetentionSettings): void => {
    for (const rule of rulesOf(log, retention, kept)) purger.add(rule);
  },
  inject: [Purger, EventLog, EventRetention, RetentionSettings],
};

/** Erases a number from the event logs. */
export function eventErasure(log: EventLog): ErasureRule {
  return { what: 'events', accounts: (number, accountIds) => log.erase(number, accountIds) };
}

function rulesOf(
  log: EventLog,
  retention: EventRetention,
  { texts, messages }: RetentionSettings,
): readonly PurgeRule[] {
  const redaction = (what: 'texts' | 'numbers', keepMs: number | undefined): readonly PurgeRule[] =>
    keepMs === undefined
      ? []
      : [{ what: `${what} of events`, keepMs, purge: (before, limit) => log.redact(what, before, limit) }];
  return [
    ...redaction('texts', texts),
    ...redaction('numbers', messages),
    {
      what: 'events',
      // This is a getter, because the option is set later. Each round reads it.
      get keepMs() {
        return retention.keepMs;
      },
      purge: (before, limit) => log.purge(before, limit),
    },
    {
      what: 'recordings of events',
      keepMs: UNUSED_MS,
      purge: (before, limit) => log.switchOffUnused(before, limit),
    },
  ];
}
