import { LRUCache } from 'lru-cache';
import type { Clock } from '../../common/clock.js';
import { within } from '../../common/concurrency/async.js';
import { atMost } from '../../common/concurrency/at-most.js';
import type { Notifier } from '../../common/notifier.js';
import { DAY_MS, MINUTE_MS } from '../../common/time.js';
import type { AddressStore, KnownAddress } from '../address-store.js';
import type { Link } from '../msgapp-transport.js';

/** A number that is on the channel. */
export interface Recipient {
  /** The app's own address of it; undefined where the app has none besides the number. */
  readonly address: string | undefined;
}

/** How long the server's answer is believed, in milliseconds: people join more often than they leave or change their number. */
export const THERE_MS = DAY_MS;
const NOT_THERE_MS = 10 * MINUTE_MS;

/** How long this process uses a stored address before it reads it again, in milliseconds: a notice of its erasure may be lost. */
const READ_AGAIN_MS = 10 * MINUTE_MS;

/** Largest number of cached answers. */
const CHECKED_AT_ONCE = 20_000;

interface Known extends Recipient {
  /** On the clock's `elapsed`. */
  readonly until: number;
}

/** What finding a recipient needs. */
interface RecipientParts {
  readonly clock: Clock;
  readonly addresses: AddressStore;
  readonly notifier: Notifier;
  /** The transport's name. */
  readonly app: string;
  /** How long an answer is awaited, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Finds out whether recipients are on the channel, and at which address: numbers that write to people who are not risk a ban.
 *
 * An address belongs to the number, so the sessions, processes and accounts of an app share it. That a number is not there is
 * believed of one session only and for a short time: the server says so to a restricted session too.
 */
export class RecipientCheck {
  private readonly known = new LRUCache<string, Known>(atMost(CHECKED_AT_ONCE));
  /** By number, until when sessions believe that it is not there. */
  private readonly absent = new LRUCache<string, Map<string, number>>(atMost(CHECKED_AT_ONCE));

  constructor(private readonly parts: RecipientParts) {
    // Which number was erased is not said, so that no notice has a number.
    parts.notifier.listen('address', () => {
      this.known.clear();
      this.absent.clear();
    });
  }

  /** False when the number is not on the channel, undefined when that is not known now. */
  async find(sessionId: string, link: Link, number: string): Promise<Recipient | false | undefined> {
    const { clock, timeoutMs } = this.parts;
    const known = await this.remembered(number);
    if (known) return known;
    if ((this.absent.get(number)?.get(sessionId) ?? 0) > clock.elapsed()) return false;
    const answer = await within(clock, timeoutMs, link.exists(number));
    if (answer === undefined) return undefined;
    if (answer !== false) return this.learn(number, answer === true ? undefined : answer);
    const believedBy = this.absent.get(number) ?? new Map<string, number>();
    this.absent.set(number, believedBy.set(sessionId, clock.elapsed() + NOT_THERE_MS));
    return false;
  }

  /** A number wrote to us, so it is on the channel whatever a server has said before. */
  heardFrom(number: string): void {
    this.absent.delete(number);
  }

  /** The app does not know this address any more; the next look-up asks its server. */
  async forget(number: string, { address }: Recipient): Promise<void> {
    const { addresses, app } = this.parts;
    this.known.delete(number);
    if (address !== undefined) await addresses.forget({ app, number }, address);
  }

  private async remembered(number: string): Promise<Recipient | undefined> {
    const { clock, addresses, app } = this.parts;
    const known = this.known.get(number);
    if (known && known.until > clock.elapsed()) return known;
    const stored = await addresses.find({ app, number });
    const leftMs = stored ? THERE_MS - ageOf(stored, clock.now()) : 0;
    if (!stored || leftMs <= 0) return undefined;
    return this.keep(number, stored.address, Math.min(READ_AGAIN_MS, leftMs));
  }

  private async learn(number: string, address: string | undefined): Promise<Recipient> {
    const { clock, addresses, app } = this.parts;
    if (address === undefined) return this.keep(number, undefined, THERE_MS);
    await addresses.remember({ app, number }, { address, learnedAt: clock.now() });
    return this.keep(number, address, READ_AGAIN_MS);
  }

  private keep(number: string, address: string | undefined, ms: number): Recipient {
    const known = { address, until: this.parts.clock.elapsed() + ms };
    this.known.set(number, known);
    return known;
  }
}

/** Milliseconds; a moment ahead of our clock counts like one behind it, since no clock makes an address last for ever. */
function ageOf({ learnedAt }: KnownAddress, now: number): number {
  return Math.abs(now - learnedAt);
}
