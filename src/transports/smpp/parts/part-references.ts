import { LRUCache } from 'lru-cache';

/** Pairs of sender and recipient that are remembered; one that is forgotten starts anew at random. */
const REMEMBERED = 20_000;

/**
 * The numbers by which a phone knows the parts of one text (3GPP TS 23.040 clause 9.2.3.24.1). Counted for each pair of
 * sender and recipient from a random start, so that texts that follow one another never share one.
 */
export class PartReferences {
  private readonly last = new LRUCache<string, number>({ max: REMEMBERED });

  /** @param random in [0, 1), asked once a pair */
  constructor(private readonly random: () => number) {}

  /** The next one, 0 to 65535; its lower octet is the 8-bit reference. */
  next(sender: string, recipient: string): number {
    const pair = `${sender}\n${recipient}`;
    const reference = ((this.last.get(pair) ?? Math.floor(this.random() * 0x1_0000)) + 1) & 0xffff;
    this.last.set(pair, reference);
    return reference;
  }
}
