import { takeTogether } from '../common/take-together.js';
import type { OptOutKey, OptOutStore } from './opt-out-store.js';

/** The most keys that are looked up in one go. */
const TOGETHER = 5000;

interface Question {
  readonly keys: readonly OptOutKey[];
  readonly done: (numbers: readonly string[]) => void;
  readonly fail: (error: unknown) => void;
}

/** Asks the database who has opted out: once for all who ask while it is answering somebody else. */
export class OptOutLookup {
  private readonly waiting: Question[] = [];
  private asking = false;

  constructor(private readonly store: OptOutStore) {}

  /** The numbers of those keys that are on the list. */
  async numbers(keys: readonly OptOutKey[]): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (const part of inParts(keys)) for (const number of await this.ask(part)) found.add(number);
    return found;
  }

  private ask(keys: readonly OptOutKey[]): Promise<readonly string[]> {
    return new Promise((done, fail) => {
      this.waiting.push({ keys, done, fail });
      if (!this.asking) void this.askAll();
    });
  }

  private async askAll(): Promise<void> {
    this.asking = true;
    while (this.waiting.length > 0) {
      const batch = takeTogether(this.waiting, ({ keys }) => keys.length, TOGETHER);
      try {
        const found = new Set((await this.store.among(batch.flatMap(({ keys }) => keys))).map(nameOf));
        for (const { keys, done } of batch) {
          done(keys.filter((key) => found.has(nameOf(key))).map(({ number }) => number));
        }
      } catch (error) {
        for (const { fail } of batch) fail(error);
      }
    }
    this.asking = false;
  }
}

/** Keys in portions that may be looked up in one go. */
export function* inParts(keys: readonly OptOutKey[]): Generator<readonly OptOutKey[]> {
  for (let from = 0; from < keys.length; from += TOGETHER) yield keys.slice(from, from + TOGETHER);
}

function nameOf({ accountId, signature, number }: OptOutKey): string {
  return `${number} ${accountId} ${signature}`;
}
