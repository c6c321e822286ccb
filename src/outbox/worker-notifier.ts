import { Injectable } from '@nestjs/common';
import { describePort, method } from '../common/port.js';

/**
 * Notifies the workers of a channel that deliveries may be due. A lost notification delays a delivery by at most `pollMs`,
 * because workers also poll.
 */
export abstract class WorkerNotifier {
  abstract notify(channel: string): void;
  /**
   * Calls `listener` at each notification.
   * @returns a function that removes the listener
   */
  abstract listen(listener: (channel: string) => void): () => void;
}

describePort(WorkerNotifier, { notify: method, listen: method });

/** Notifies the workers of this process. */
@Injectable()
export class LocalWorkerNotifier extends WorkerNotifier {
  private readonly listeners = new Set<(channel: string) => void>();

  override notify(channel: string): void {
    for (const listener of this.listeners) listener(channel);
  }

  override listen(listener: (channel: string) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
