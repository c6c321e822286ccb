import type { BinaryNode } from 'baileys';
import type { Clock } from '../../common/clock.js';
import type { LinkEvent } from '../../msgapp/msgapp-transport.js';

type Receipt = Extract<LinkEvent, { kind: 'receipt' }>;

/** What the server said of a message that it was sent: `error` when it does not take it. */
export type Ack = { readonly error?: string };

/** The server's error for a number that may not write to people it has not written with before. */
const RESTRICTED = '463';

/** What a receipt's type says; others are of our own devices, or ask for the message again. */
const STATUS: ReadonlyMap<string, Receipt['status']> = new Map([
  ['', 'delivered'],
  ['read', 'read'],
  ['played', 'read'],
]);

/**
 * Reads the server's acknowledgements and the recipients' receipts, as they come off the wire: Baileys has no event for a
 * message that was taken, and holds back the others for up to half a minute after a connection opens.
 */
export class ReceiptTracker {
  private readonly waiting = new Map<string, (ack: Ack | undefined) => void>();

  constructor(
    private readonly clock: Clock,
    /** How long a number that the server calls restricted is so, in milliseconds. */
    private readonly restrictionMs: number,
    private readonly tell: (event: LinkEvent) => void,
  ) {}

  /** Resolves with what the server says of a message, or with undefined when it has not in `ms` milliseconds after `sent`. */
  ackOf(reference: string, sent: Promise<unknown>, ms: number): Promise<Ack | undefined> {
    return new Promise((resolve) => {
      let cancel = () => {};
      const settle = (ack: Ack | undefined) => {
        cancel();
        this.waiting.delete(reference);
        resolve(ack);
      };
      this.waiting.set(reference, settle);
      const limit = () => {
        if (this.waiting.has(reference)) cancel = this.clock.after(ms, () => settle(undefined));
      };
      sent.then(limit, () => settle(undefined));
    });
  }

  /** An `<ack class="message">`. */
  acknowledged({ attrs: { id = '', error, t } }: BinaryNode): void {
    if (error === RESTRICTED) this.tell({ kind: 'restricted', code: error, forMs: this.restrictionMs });
    const settle = this.waiting.get(id);
    if (settle) {
      settle(error === undefined ? {} : { error });
      return;
    }
    // Too late for who waited; it still tells what became of the message.
    const at = this.timeOf(t);
    this.tell(
      error === undefined
        ? { kind: 'receipt', reference: id, status: 'sent', at }
        : { kind: 'receipt', reference: id, status: 'failed', error: ackError(error), at },
    );
  }

  /** A `<receipt>` from `from`, for one message or several. */
  receipt({ attrs: { id = '', type = '', t }, content }: BinaryNode): void {
    const status = STATUS.get(type);
    if (status === undefined) return;
    for (const reference of [id, ...listed(content)]) {
      // Whoever got it, got it from the server.
      this.waiting.get(reference)?.({});
      this.tell({ kind: 'receipt', reference, status, at: this.timeOf(t) });
    }
  }

  /** Nothing will come any more. */
  close(): void {
    for (const settle of [...this.waiting.values()]) settle(undefined);
  }

  /** The server's time, in seconds; ours when it gives none. */
  private timeOf(t: string | undefined): number {
    const seconds = Number(t);
    return Number.isInteger(seconds) && seconds > 0 ? seconds * 1000 : this.clock.now();
  }
}

/** How an error of an acknowledgement is named in a message's record. */
export function ackError(code: string): string {
  return /^\d{1,5}$/.test(code) ? `ack_error_${code}` : 'ack_error';
}

/** Further ids: `<list><item id="…"/></list>`. */
function listed(content: BinaryNode['content']): string[] {
  const list = Array.isArray(content) ? content.find(({ tag }) => tag === 'list')?.content : undefined;
  return Array.isArray(list) ? list.flatMap(({ attrs: { id } }) => (id === undefined ? [] : [id])) : [];
}
