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
  /** The app's own address of the number. Undefined if the app has no other address. */
  readonly address: string | undefined;
}

/**
 * How long an answer of the server is used, in milliseconds. It can be long, because people rarely leave the channel or change
 * their number.
 */
export const THERE_MS = DAY_MS;
const NOT_THERE_MS = 10 * MINUTE_MS;

/**
 * How long this process uses a stored address before it reads it again, in milliseconds. It must be short, because a notice of
 * the address's erasure may be lost.
 */
const READ_AGAIN_MS = 10 * MINUTE_MS;

/** How many answers are cached. */
const CHECKED_AT_ONCE = 20_000;

interface Known extends Recipient {
  /** On the clock's `elapsed`. */
  readonly until: number;
}

/** The dependencies of `RecipientCheck`. */
interface RecipientParts {
  readonly clock: Clock;
  readonly addresses: AddressStore;
  readonly notifier: Notifier;
  /** The transport's name. */
  readonly app: string;
  /** How long to wait for an answer, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Finds out whether recipients are on the channel, and at which address. A number that writes to people who are not on the
 * channel risks a ban.
 *
 * An address belongs to the number, so the sessions, processes and accounts of an app share it. The answer that a number is not
 * on the channel is used for one session only and for a short time, because the server gives this answer to a restricted session
 * too.
 */
export class RecipientCheck {
  private readonly known = new LRUCache<string, Known>(atMost(CHECKED_AT_ONCE));
  /** For each number and session, until when the number counts as not on the channel. */
  private readonly absent = new LRUCache<string, Map<string, number>>(atMost(CHECKED_AT_ONCE));

  constructor(private readonly parts: RecipientParts) {
    // The notice does not say which number was erased, so that no notice contains a number.
    parts.notifier.listen('address', () => {
      this.known.clear();
      this.absent.clear();
    });
  }

  /** Finds a recipient. False: the number is not on the channel. Undefined: that is not known now. */
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

  /** Notes that a number wrote to us. So it is on the channel, whatever a server has said before. */
  heardFrom(number: string): void {
    this.absent.delete(number);
  }

  /** Forgets an address that the app no longer knows. The next look-up asks the app's server. */
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

/**
 * Returns the age of an address in milliseconds. If the address was learned in the future of our clock, the distance counts too,
 * so that a wrong clock does not make an address last for ever.
 */
function ageOf({ learnedAt }: KnownAddress, now: number): number {
  return Math.abs(now - learnedAt);
}
