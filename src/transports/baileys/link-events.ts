import type { LinkEvent, LinkListener } from '../../msgapp/msgapp-transport.js';
import type { BaileysCredentials } from './baileys-credentials.js';

/** Passes the events of a connection to its session, in their order. */
export class LinkEvents {
  private queue: Promise<void> = Promise.resolve();

  constructor(
    private readonly credentials: Pick<BaileysCredentials, 'saved'>,
    private readonly listener: LinkListener,
    private readonly onListenerError: () => void,
  ) {}

  emit(event: LinkEvent): void {
    this.queue = this.queue.then(() => this.pass(event));
  }

  /** Emits the event that `read` returns. Nothing is emitted if it returns undefined or fails. Later events wait for it. */
  emitFrom(read: () => Promise<LinkEvent | undefined>): void {
    this.queue = this.queue.then(read).then(
      (event) => event && this.pass(event),
      () => this.onListenerError(),
    );
  }

  /** Resolves when every event so far has been emitted. */
  emitted(): Promise<void> {
    return this.queue;
  }

  /** Emits an event after the credentials are stored. Nothing is emitted if `event` then returns undefined. */
  emitAfterSave(event: () => LinkEvent | undefined): void {
    this.queue = this.queue
      .then(() => this.credentials.saved())
      .then(() => {
        const stored = event();
        if (stored) this.pass(stored);
      });
  }

  /** Passes an event on, and does not wait until the session has processed it. */
  private pass(event: LinkEvent): void {
    this.listener(event).catch(this.onListenerError);
  }
}
