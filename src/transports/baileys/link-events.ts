import type { LinkEvent, LinkListener } from '../../msgapp/msgapp-transport.js';
import type { BaileysCredentials } from './baileys-credentials.js';

/** Tells a session what its connection has to say: one thing after the other, in the order in which it happened. */
export class LinkEvents {
  private telling: Promise<void> = Promise.resolve();

  constructor(
    private readonly credentials: Pick<BaileysCredentials, 'saved'>,
    private readonly listener: LinkListener,
    private readonly deaf: () => void,
  ) {}

  tell(event: LinkEvent): void {
    this.telling = this.telling.then(() => this.pass(event));
  }

  /** Tells what is only true when the credentials are stored; nothing when `event` answers undefined then. */
  tellSaved(event: () => LinkEvent | undefined): void {
    this.telling = this.telling
      .then(() => this.credentials.saved())
      .then(() => {
        const stored = event();
        if (stored) this.pass(stored);
      });
  }

  /** What the session makes of it is not waited for. */
  private pass(event: LinkEvent): void {
    this.listener(event).catch(this.deaf);
  }
}
