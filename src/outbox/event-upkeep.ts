import { EventLog } from '../events/event-log.js';
import { EventRetention } from '../events/event-retention.js';
import { type PurgeRule, Purger } from './purger.js';

/** How long a log without endpoints and readers stays on, in milliseconds. */
const UNUSED_MS = 7 * 86_400_000;

/** Adds the purges of the log of events to the application's purger. */
export const EVENT_UPKEEP = {
  provide: Symbol('upkeep of events'),
  useFactory: (purger: Purger, log: EventLog, retention: EventRetention): void => {
    for (const rule of rulesOf(log, retention)) purger.add(rule);
  },
  inject: [Purger, EventLog, EventRetention],
};

function rulesOf(log: EventLog, retention: EventRetention): readonly PurgeRule[] {
  return [
    {
      what: 'events',
      // Read at each round, as the option is set after this.
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
