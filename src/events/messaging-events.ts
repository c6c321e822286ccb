import { Injectable, Logger } from '@nestjs/common';
import { nameOf } from '../common/log.js';
import type { DeliveryTransition } from '../outbox/outbox-store.js';

/** Every event and what comes with it. */
export interface MessagingEventMap {
  /** A recipient's delivery changed its state; emitted after that is stored, by the process that stored it. */
  'delivery.moved': DeliveryTransition;
  /** A text came in from a phone. */
  'sms.inbound': SmsFromPhone;
  /** A number wants no SMS under a signature any more; emitted after that is stored, by the process that stored it. */
  'sms.opted_out': OptOutNotice;
  /** A number wants SMS again; emitted as `sms.opted_out`. */
  'sms.opted_in': OptOutNotice;
  /** A carrier counted other segments than we did; the price stays ours. */
  'sms.segments_differ': SegmentDifference;
  /** A code was verified. */
  'otp.verified': OtpSubject;
  /** A code was not compared: too many wrong tries for its number. `retryAfter` in seconds. */
  'otp.locked': OtpSubject & { readonly retryAfter: number };
  /** No code was sent: the number's country is not among those allowed. */
  'otp.refused.country': OtpRefusal;
  /** No code was sent: one that is pending was sent a moment ago. */
  'otp.refused.cooldown': OtpRefusal;
  /** No code was sent: too many for this service and number. */
  'otp.refused.sends': OtpRefusal;
  /** No code was sent: too many for this number, over all services. */
  'otp.refused.sends_per_number': OtpRefusal;
  /** No code was sent: too many for this number, over all accounts. */
  'otp.refused.sends_everywhere': OtpRefusal;
  /** No code was sent: too many numbers of one prefix wait to be verified. */
  'otp.refused.prefix_breaker': OtpRefusal;
  /** No code was sent: too few codes to this country are verified. */
  'otp.refused.country_breaker': OtpRefusal;
  /** No code was sent: the account has spent what it may on codes today. */
  'otp.refused.spend_cap': OtpRefusal;
  /** A session took a step; emitted after that is stored. */
  'msgapp.session': MsgappSessionEvent & { readonly status: string; readonly number: string | undefined };
  /** A channel restricts a number: until then (milliseconds since the epoch) messages to new contacts are refused. */
  'msgapp.restricted': Omit<MsgappSessionEvent, 'reason'> & { readonly code: string; readonly until: number };
  /** Something that the operator should know of a session; its state stays. */
  'msgapp.notice': MsgappSessionEvent;
}

/** Which session an event is about. Numbers are masked. */
export interface MsgappSessionEvent {
  readonly accountId: string;
  readonly channel: string;
  readonly sessionId: string;
  /** A short word. */
  readonly reason: string;
}

/** A text from a phone, as a carrier handed it over. */
export interface SmsFromPhone {
  /** The link or gateway it came by. */
  readonly route: string;
  /** Who sent it, E.164 digits without the plus sign. */
  readonly from: string;
  /** What it was sent to: a number or a short code. */
  readonly to: string;
  readonly text: string;
  /** The carrier's id, where it gives one. */
  readonly id?: string;
}

/** A change of the suppression list. */
export interface OptOutNotice {
  /** Undefined: all accounts. */
  readonly accountId: string | undefined;
  readonly signature: string;
  /** E.164 digits without the plus sign. */
  readonly number: string;
  /** How the entry came to be: a text from the phone, or somebody's decision. */
  readonly source: 'phone' | 'operator';
}

/** Two counts of the segments of one SMS. */
export interface SegmentDifference {
  readonly messageId: string;
  /** The recipient's place in the send, from 0. */
  readonly position: number;
  readonly route: string;
  readonly ours: number;
  readonly carriers: number;
}

/** Whose code an event is about. */
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

/** Tells the host what happens, in this process. Listeners are for reacting quickly; the database is the truth. */
@Injectable()
export class MessagingEvents {
  private readonly listeners = new Map<string, Set<(payload: never) => void>>();

  /**
   * Calls `listener` at every event of a kind; the answer ends that. A listener that throws, or whose promise is rejected,
   * disturbs nobody else: it is logged. Nobody waits for a promise.
   */
  on<K extends keyof MessagingEventMap>(event: K, listener: (payload: MessagingEventMap[K]) => void): () => void {
    const listeners = this.listeners.get(event) ?? new Set();
    this.listeners.set(event, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  /** Used by the module itself. */
  emit<K extends keyof MessagingEventMap>(event: K, payload: MessagingEventMap[K]): void {
    for (const listener of this.listeners.get(event) ?? []) {
      try {
        const answer = (listener as (payload: MessagingEventMap[K]) => unknown)(payload);
        // Not caught, an async listener's mistake would end the host's process.
        if (isThenable(answer)) Promise.resolve(answer).catch((error: unknown) => tellMistake(event, error));
      } catch (error) {
        tellMistake(event, error);
      }
    }
  }
}

function isThenable(answer: unknown): answer is PromiseLike<unknown> {
  return typeof answer === 'object' && answer !== null && 'then' in answer && typeof answer.then === 'function';
}

/** Only its name: a listener's message may quote what it was given. */
function tellMistake(event: string, error: unknown): void {
  const name = nameOf(error);
  new Logger('MessagingEvents').error(`A listener of ${event} threw ${name}.`);
}
