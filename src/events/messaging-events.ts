import { Injectable } from '@nestjs/common';
import { FaultLog, faultCode, nameOf } from '../common/log.js';
import type { DeliveryTransition } from './delivery-transition.js';
import {
  DELIVERY_EVENTS,
  type EventType,
  type MessagingEvent,
  type NewEvent,
  toMessagingEvent,
} from './event-types.js';
import { deliveryEvents } from './events-of.js';

/**
 * Every event of this process by its name: the events of the accounts' logs, and those that are for the host only.
 * `account` is `*` if a change concerns all accounts, or if a received text belongs to none.
 */
export type MessagingEventMap = { readonly [T in EventType]: MessagingEvent<T> } & HostEvents;

/** Events that are in no log and in no webhook. */
export interface HostEvents {
  /** A carrier counted another number of segments than this module; the price does not change. */
  readonly 'sms.segments_differ': SegmentDifference;
  /** A text of a phone was dropped, because the phone's number cannot be read for sure. `address` is masked. */
  readonly 'sms.number_unread': { readonly route: string; readonly address: string };
  /** A log-in system has called a hook, or somebody has sent a test through it. */
  readonly 'login_hook.called': CalledLoginHook;
}

/** A call of a log-in hook. It has no code and no number. */
export interface CalledLoginHook {
  readonly account: string;
  /** The id of the hook. */
  readonly hook: string;
  /** The kind of its log-in system, for example `supabase`. */
  readonly kind: string;
  /** How the call ended: `accepted`, `repeated`, or the reason of a refusal. */
  readonly outcome: string;
}

/** Two different counts of the segments of one SMS. */
export interface SegmentDifference {
  readonly messageId: string;
  /** The recipient's position in the send, from 0. */
  readonly position: number;
  readonly route: string;
  /** The number of segments that was charged. */
  readonly ours: number;
  /** The number of segments that the carrier reported. */
  readonly carriers: number;
}

/**
 * Emits the events of this process to the host. An event is lost if the process ends before its listener has run. If an
 * event must not be missed, read the event log or the stored state instead.
 *
 * @example
 * ```ts
 * const off = events.on('message.delivered', ({ account, data }) => console.log(account, data.id));
 * off();
 * ```
 */
@Injectable()
export class MessagingEvents {
  private readonly log = new FaultLog('MessagingEvents');
  private readonly listeners = new Map<string, Set<(payload: never) => void>>();

  /**
   * Calls `listener` for every event of one kind, or of several. The emitter does not wait for a returned promise. An
   * error or rejection of a listener is logged, and affects neither other listeners nor the emitter.
   *
   * @returns a function that removes the listener
   */
  on<K extends keyof MessagingEventMap>(
    event: K | readonly K[],
    listener: (payload: MessagingEventMap[K]) => void,
  ): () => void {
    const kinds: readonly string[] = typeof event === 'string' ? [event] : event;
    for (const kind of kinds) this.listeners.set(kind, (this.listeners.get(kind) ?? new Set()).add(listener));
    return () => {
      for (const kind of kinds) this.listeners.get(kind)?.delete(listener);
    };
  }

  /** Emits an event of an account; for the module itself. */
  publish(event: NewEvent): void {
    if (this.hears(event.type)) this.emit(event.type, toMessagingEvent(event));
  }

  /** Emits the events of deliveries that changed their state; for the module itself. */
  publishTransitions(transitions: readonly DeliveryTransition[]): void {
    // A campaign changes thousands of states, and few hosts listen to them.
    if (!MOVED.some((type) => this.hears(type))) return;
    for (const transition of transitions) for (const event of deliveryEvents(transition)) this.publish(event);
  }

  /** Emits an event; for the module itself. */
  emit<K extends keyof MessagingEventMap>(event: K, payload: MessagingEventMap[K]): void {
    for (const listener of this.listeners.get(event) ?? []) {
      try {
        const returned = (listener as (payload: MessagingEventMap[K]) => unknown)(payload);
        // An unhandled rejection would end the host's process.
        if (isThenable(returned)) Promise.resolve(returned).catch((error: unknown) => this.report(event, error));
      } catch (error) {
        this.report(event, error);
      }
    }
  }

  private hears(type: EventType): boolean {
    return (this.listeners.get(type)?.size ?? 0) > 0;
  }

  /** Logs only the error's name, because its message may quote the payload. */
  private report(event: string, error: unknown): void {
    this.log.error(`A listener of ${event} threw ${nameOf(error)}.`, { code: faultCode(error) });
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** The types of the events of deliveries. */
const MOVED = [...DELIVERY_EVENTS, 'send.completed'] as const;
