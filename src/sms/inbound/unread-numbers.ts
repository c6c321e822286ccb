import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { faultLog } from '../../common/log.js';
import { maskNumber } from '../../common/phone-numbers/phone-number.js';
import { MessagingEvents } from '../../events/messaging-events.js';

/** The texts of one route, since the start of this process, whose sender could not be read. */
export interface UnreadNumber {
  readonly route: string;
  readonly count: number;
  /** The sender of the last such text, masked. */
  readonly last: string;
  /** When the last such text came, in milliseconds since the epoch. */
  readonly lastAt: number;
}

/** How many characters of a sender are shown. A number has at most 15 digits. */
const MAX_SHOWN = 24;

/**
 * Counts texts of phones whose number cannot be read for sure. Such a text is dropped, even if it is a STOP, so the operator must
 * know about it.
 */
@Injectable()
export class UnreadNumbers {
  /** The counts by route. The host's options name the routes, so there are few. */
  private readonly routes = new Map<string, UnreadNumber>();

  constructor(
    private readonly events: MessagingEvents,
    private readonly clock: Clock,
  ) {}

  add(route: string, address: string): void {
    const last = maskNumber(address.slice(0, MAX_SHOWN).replace(/[^ -~]/g, '?'));
    const count = (this.routes.get(route)?.count ?? 0) + 1;
    this.routes.set(route, { route, count, last, lastAt: this.clock.now() });
    faultLog('SmsInbound', this.clock).warn(
      `Route ${route}: a text was dropped because the number of its phone cannot be read for sure. The option home of the link or gateway says in which country's national form numbers may be.`,
      { channel: 'sms', route, code: 'number_unread' },
      ` It came from ${last}.`,
    );
    this.events.emit('sms.number_unread', { route, address: last });
  }

  /** Returns the routes that had such texts. */
  all(): readonly UnreadNumber[] {
    return [...this.routes.values()];
  }
}
