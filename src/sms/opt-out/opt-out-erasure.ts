import type { Clock } from '../../common/clock.js';
import { pause } from '../../common/concurrency/async.js';
import { type ErasureRule, pages } from '../../outbox/retention/erasure-service.js';
import type { RetentionSettings } from '../../outbox/retention/retention-options.js';
import { hashedNumber } from './erased-numbers.js';
import type { OptOutDirectory } from './opt-out-directory.js';
import type { OptOut, OptOutStore } from './opt-out-store.js';

/** For how long a process may not know yet that a list has hashes, in milliseconds: the age of its cache, and a little more. */
const KNOWN_AFTER_MS = 5000;

/** How many lists a step reads, and how many entries a transaction changes. */
const LISTS = 500;
const AT_ONCE = 100;

/** The longest delay of a Node timer. The timer only keeps the process of a command alive. */
const MAX_MS = 2 ** 31 - 1;

/**
 * Replaces a number in the suppression list by a keyed hash, so that its opt-out stays in force. First all processes learn to
 * look for hashes in the lists of the number. Until then its entries stay. Without a secret they stay for good.
 */
export function optOutErasure(
  store: OptOutStore,
  directory: OptOutDirectory,
  { keys: [key] }: RetentionSettings,
  clock: Clock,
): ErasureRule {
  return {
    what: 'optOuts',
    everywhere: async (number) => {
      const entries: OptOut[] = [];
      for await (const found of pages((after) => store.entriesOf(number, after, LISTS))) entries.push(...found);
      if (key === undefined || entries.length === 0) return { optOuts: 0, optOutsLeft: entries.length };
      const since = await store.allowHashes(entries, clock.now());
      for (const { accountId } of entries) directory.forget(accountId);
      await waitUntil(since + KNOWN_AFTER_MS, clock);
      for (let from = 0; from < entries.length; from += AT_ONCE) {
        await store.renumber(entries.slice(from, from + AT_ONCE), hashedNumber(key, number));
      }
      return { optOuts: entries.length, optOutsLeft: 0 };
    },
  };
}

async function waitUntil(time: number, clock: Clock): Promise<void> {
  const ms = Math.min(time - clock.now(), KNOWN_AFTER_MS);
  if (ms <= 0) return;
  const alive = setInterval(() => undefined, MAX_MS);
  await pause(clock, ms);
  clearInterval(alive);
}
