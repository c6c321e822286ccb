import { LRUCache } from 'lru-cache';
import { atMost } from '../../../common/concurrency/at-most.js';

/** The maximum number of pairs of sender and recipient. An evicted pair starts at a new random number. */
const MAX_PAIRS = 20_000;

/**
 * The references by which a phone identifies the parts of one text (3GPP TS 23.040 clause 9.2.3.24.1). They are counted
 * per pair of sender and recipient from a random start, so that consecutive texts have different references.
 */
export class PartReferences {
  private readonly last = new LRUCache<string, number>(atMost(MAX_PAIRS));

  /** @param random in [0, 1), called once per pair */
  constructor(private readonly random: () => number) {}

  /** Returns the next reference, 0 to 65535. Its lower octet is the 8-bit reference. */
  next(sender: string, recipient: string): number {
    const pair = `${sender}\n${recipient}`;
    const reference = ((this.last.get(pair) ?? Math.floor(this.random() * 0x1_0000)) + 1) & 0xffff;
    this.last.set(pair, reference);
    return reference;
  }
}
