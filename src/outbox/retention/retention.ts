import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { Purger } from '../purger.js';
import { contentRemover } from './removed-payload.js';
import { RetentionSettings } from './retention-options.js';
import { RetentionStore } from './retention-store.js';

/** The data of each option, in the words of the log line at start. */
const KEPT = [
  ['texts', 'texts'],
  ['messages', 'recipients'],
  ['trail', 'histories of deliveries'],
] as const;

/** The first batch is small, because the time of a batch is not known yet. */
const SIZES = { firstSize: 32, batchSize: 1024 };

/** Adds the purges of the options `retention`. When the application starts, it logs which data is kept for ever. */
@Injectable()
export class Retention implements OnApplicationBootstrap {
  constructor(
    private readonly settings: RetentionSettings,
    store: RetentionStore,
    purger: Purger,
    clock: Clock,
  ) {
    const { texts, messages, trail, keys } = settings;
    const remove = contentRemover(keys[0]);
    const order = (before: number, limit: number) => ({ before, limit, now: clock.now() });
    if (texts !== undefined) {
      const purge = (before: number, limit: number) => store.purgeTexts(order(before, limit), remove);
      purger.add({ what: 'texts', keepMs: texts, ...SIZES, purge });
    }
    if (messages !== undefined) {
      const purge = (before: number, limit: number) => store.purgeMessages(order(before, limit), remove);
      purger.add({ what: 'recipients', keepMs: messages, ...SIZES, purge });
    }
    if (trail !== undefined) {
      const purge = (before: number, limit: number) => store.purgeTrail(before, limit);
      purger.add({ what: 'histories of deliveries', keepMs: trail, ...SIZES, purge });
    }
  }

  onApplicationBootstrap(): void {
    const kept = KEPT.filter(([option]) => this.settings[option] === undefined);
    if (kept.length === 0) return;
    const [options, words] = [kept.map(([option]) => option), kept.map(([, each]) => each)];
    new Logger('Messaging').log(
      `The database keeps ${listed(words)} for ever: retention.${options.join(' and retention.')} ${options.length > 1 ? 'were' : 'was'} not given.`,
    );
  }
}

function listed(words: readonly string[]): string {
  return [words.slice(0, -1).join(', '), words.at(-1)].filter(Boolean).join(' and ');
}
