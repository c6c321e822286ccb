import { Injectable } from '@nestjs/common';
import { FaultLog, faultCode, reasonOf } from './log.js';
import { describePort, method } from './port.js';

/**
 * The subject of a notice, and the meaning of its id. `due`: deliveries of a channel, by its name. `key`: an API key.
 * `signature`, `opt-out`, `sender`: the signatures, the suppression list and the linked numbers of an account, or of
 * all accounts (`*`). `event`: the event log of an account, or events that have no sequence numbers yet (`*`).
 * `endpoint`: the webhooks of an account. `user`: the sign-in of a user. `account`: the state of an account.
 * `operating`: paused queues and rested routes (`*`). `address`: addresses of numbers on messaging apps were erased
 * (`*`). `campaign`: a campaign. `act`: something to do to a message that a session received, by the session's id.
 */
export type NoticeTopic =
  | 'due'
  | 'key'
  | 'signature'
  | 'opt-out'
  | 'sender'
  | 'event'
  | 'endpoint'
  | 'user'
  | 'account'
  | 'operating'
  | 'address'
  | 'campaign'
  | 'act';

/**
 * Notifies all processes on one database that something has changed, so that workers claim deliveries and caches are
 * read again. A notice carries only an id. A lost notice only causes a delay, because workers also poll every `pollMs`,
 * and no cache entry is used for more than five seconds.
 */
export abstract class Notifier {
  /**
   * Calls the listeners of this process before it returns, and those of other processes soon after. It neither waits
   * nor throws.
   */
  abstract publish(topic: NoticeTopic, id: string): void;
  /**
   * Calls `listener` with the id of each notice about the topic, from whichever process. It must not throw.
   * @returns a function that removes the listener
   */
  abstract listen(topic: NoticeTopic, listener: (id: string) => void): () => void;
}

describePort(Notifier, { publish: method, listen: method });

/** Notifies this process only. */
@Injectable()
export class LocalNotifier extends Notifier {
  private readonly listeners = new Map<string, Set<(id: string) => void>>();

  override publish(topic: NoticeTopic, id: string): void {
    for (const listener of this.listeners.get(topic) ?? []) listener(id);
  }

  override listen(topic: NoticeTopic, listener: (id: string) => void): () => void {
    const listeners = this.listeners.get(topic) ?? new Set();
    this.listeners.set(topic, listeners.add(listener));
    return () => listeners.delete(listener);
  }
}

const logs = new WeakMap<Notifier, FaultLog>();

/**
 * Publishes a notice about a change that is already stored. If the host's notifier throws, the operation still
 * succeeds.
 */
export function publishNotice(notifier: Notifier, topic: NoticeTopic, id: string): void {
  try {
    notifier.publish(topic, id);
  } catch (error) {
    const log = logs.get(notifier) ?? new FaultLog('Notifier');
    logs.set(notifier, log);
    log.warn(`A notice (${topic}) could not be published: ${reasonOf(error)}`, { code: faultCode(error) });
  }
}
