import { Injectable, Logger } from '@nestjs/common';
import { nameOf } from '../common/log.js';
import type { DeliveryTransition } from './delivery-transition.js';

/** Every event with its payload. Where a change is stored, the process that stored it emits the event afterwards. */
export interface MessagingEventMap {
  /** A recipient's delivery changed its state. */
  'delivery.moved': DeliveryTransition;
  /** A carrier delivered a text from a phone. */
  'sms.inbound': SmsFromPhone;
  /** A number was opted out of SMS under a signature. */
  'sms.opted_out': OptOutNotice;
  /** A number was opted in again. */
  'sms.opted_in': OptOutNotice;
  /** A carrier counted another number of segments than this module; the price does not change. */
  'sms.segments_differ': SegmentDifference;
  /** A code was verified. */
  'otp.verified': OtpSubject;
  /** A code was not compared, because there were too many wrong tries for its number. `retryAfter` in seconds. */
  'otp.locked': OtpSubject & { readonly retryAfter: number };
  /** No code was sent: codes may not go to the number's country. */
  'otp.refused.country': OtpRefusal;
  /** No code was sent: the cooldown since the last send of the pending code has not ended. */
  'otp.refused.cooldown': OtpRefusal;
  /** No code was sent: too many sends to this service and number. */
  'otp.refused.sends': OtpRefusal;
  /** No code was sent: too many sends to this number, over all services. */
  'otp.refused.sends_per_number': OtpRefusal;
  /** No code was sent: too many sends to this number, over all accounts. */
  'otp.refused.sends_everywhere': OtpRefusal;
  /** No code was sent: too many numbers of one prefix are unverified. */
  'otp.refused.prefix_breaker': OtpRefusal;
  /** No code was sent: too few of the recent codes to this country were verified. */
  'otp.refused.country_breaker': OtpRefusal;
  /** No code was sent: its price would exceed the account's daily cap for codes. */
  'otp.refused.spend_cap': OtpRefusal;
  /** A session changed its state. */
  'msgapp.session': MsgappSessionEvent & { readonly status: string; readonly number: string | undefined };
  /** A channel restricts a number: messages to new contacts are refused until `until`, milliseconds since the epoch. */
  'msgapp.restricted': Omit<MsgappSessionEvent, 'reason'> & { readonly code: string; readonly until: number };
  /** A notice about a session for the operator; the session's state does not change. */
  'msgapp.notice': MsgappSessionEvent;
}

/** The session of an event. Phone numbers of sessions are masked. */
export interface MsgappSessionEvent {
  readonly accountId: string;
  readonly channel: string;
  readonly sessionId: string;
  /** A short word. */
  readonly reason: string;
}

/** A text from a phone, as the carrier delivered it. */
export interface SmsFromPhone {
  /** The name of the link or gateway that received it. */
  readonly route: string;
  /** The sending number, E.164 digits without the plus sign. */
  readonly from: string;
  /** The number or short code that it was sent to. */
  readonly to: string;
  readonly text: string;
  /** The carrier's id of the text, if it has one. */
  readonly id?: string;
}

/** A change of the suppression list. */
export interface OptOutNotice {
  /** Undefined: all accounts. */
  readonly accountId: string | undefined;
  readonly signature: string;
  /** E.164 digits without the plus sign. */
  readonly number: string;
  /** The cause of the change: a text from the phone, or an operator's decision. */
  readonly source: 'phone' | 'operator';
}

/** Two different counts of the segments of one SMS. */
export interface SegmentDifference {
  readonly messageId: string;
  /** The recipient's place in the send, from 0. */
  readonly position: number;
  readonly route: string;
  /** The number of segments that was charged. */
  readonly ours: number;
  /** The number of segments that the carrier reported. */
  readonly carriers: number;
}

/** The account, service and number of a code. */
export interface OtpSubject {
  readonly accountId: string;
  readonly service: string;
  /** E.164 digits without the plus sign. */
  readonly number: string;
}

/** A code that was not sent. */
export interface OtpRefusal extends OtpSubject {
  /** Seconds; undefined when waiting changes nothing. */
  readonly retryAfter: number | undefined;
}

/**
 * Emits the events of this process to the host. An event is lost when the process ends before its listener has run, so read the
 * stored state where it matters.
 *
 * @example
 * ```ts
 * const off = events.on('delivery.moved', ({ messageId, status }) => console.log(messageId, status));
 * off();
 * ```
 */
@Injectable()
export class MessagingEvents {
  private readonly listeners = new Map<string, Set<(payload: never) => void>>();

  /**
   * Calls `listener` at every event of a kind. The emitter does not wait for a returned promise. An error or rejection of a
   * listener is logged, and affects neither other listeners nor the emitter.
   *
   * @returns a function that removes the listener
   */
  on<K extends keyof MessagingEventMap>(event: K, listener: (payload: MessagingEventMap[K]) => void): () => void {
    const listeners = this.listeners.get(event) ?? new Set();
    this.listeners.set(event, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  /** Emits an event; for the module itself. */
  emit<K extends keyof MessagingEventMap>(event: K, payload: MessagingEventMap[K]): void {
    for (const listener of this.listeners.get(event) ?? []) {
      try {
        const returned = (listener as (payload: MessagingEventMap[K]) => unknown)(payload);
        // An unhandled rejection would end the host's process.
        if (isThenable(returned)) Promise.resolve(returned).catch((error: unknown) => logError(event, error));
      } catch (error) {
        logError(event, error);
      }
    }
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** Logs only the error's name, because its message may quote the payload. */
function logError(event: string, error: unknown): void {
  const name = nameOf(error);
  new Logger('MessagingEvents').error(`A listener of ${event} threw ${name}.`);
}
