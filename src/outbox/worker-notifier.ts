import { Injectable } from '@nestjs/common';

/**
 * Wakes the workers of a channel. Only a hint: rows are the truth, and workers look by themselves now and then, so a lost
 * ring costs a moment and no message.
 */
export abstract class WorkerNotifier {
  abstract notify(channel: string): void;
  /** Calls `listener` at each ring; the answer ends that. */
  abstract listen(listener: (channel: string) => void): () => void;
}

/** Wakes the workers of this process. */
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
