import { LocalNotifier } from '../../../src/common/notifier.js';
import { MessagingEvents } from '../../../src/events/messaging-events.js';
import type { IdempotencyKey } from '../../../src/outbox/accept/send.js';
import { Idempotency } from '../../../src/outbox/idempotency.js';
import { type Acceptance, Outbox } from '../../../src/outbox/outbox.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import type { MessagingStorage } from '../../../src/storage/messaging-storage.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { ACCOUNT, aSend } from '../../contract/storage/fixtures.js';

/** A process with a gate of its own over a storage that others may share. Each of its works sends one SMS. */
export class GateProcess {
  readonly gate: Idempotency;
  /** Works that have begun here. */
  works = 0;
  private readonly outbox: Outbox;

  /** @param from the number of its first send, different from those of other processes */
  constructor(
    storage: MessagingStorage,
    readonly clock = new FakeClock(),
    private readonly from = 0,
  ) {
    const outbox = storage.store(OutboxStore);
    this.gate = new Idempotency(outbox, clock);
    this.outbox = new Outbox(outbox, new LocalNotifier(), new MessagingEvents());
  }

  /** A send under the key `k`. `around` gets the send that its work is to make. */
  run(
    body: unknown,
    around: (send: () => Promise<Acceptance>) => Promise<Acceptance> = (send) => send(),
    host?: { manager: unknown },
  ): Promise<Acceptance> {
    const work = (once?: IdempotencyKey) => {
      const send = aSend(this.from + ++this.works, { at: this.clock.now(), ...(once && { once }) });
      return around(() => this.outbox.accept(send));
    };
    return this.gate.run(ACCOUNT, 'r', { key: 'k', body }, work, host);
  }
}
