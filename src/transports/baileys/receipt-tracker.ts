import type { BinaryNode } from 'baileys';
import type { Clock } from '../../common/clock.js';
import type { LinkEvent } from '../../msgapp/msgapp-transport.js';

type Receipt = Extract<LinkEvent, { kind: 'receipt' }>;

/** The server's acknowledgement of a message. It has an `error` if the server refuses the message. */
export type Ack = { readonly error?: string };

/** The server's error for a number that may not write to people who do not know it. */
export const RESTRICTED = '463';

/** The status for each type of receipt. Other types come from our own devices or request the message again. */
const STATUS: ReadonlyMap<string, Receipt['status']> = new Map([
  ['', 'delivered'],
  ['read', 'read'],
  ['played', 'read'],
]);

/**
 * Reads the server's acknowledgements and the recipients' receipts from the wire. Baileys has no event for an accepted message,
 * and it delays receipts for up to half a minute after a connection opens.
 */
export class ReceiptTracker {
  private readonly waiting = new Map<string, (ack: Ack | undefined) => void>();

  constructor(
    private readonly clock: Clock,
    /** How long a restriction lasts after the server reports it, in milliseconds. */
    private readonly restrictionMs: number,
    private readonly emit: (event: LinkEvent) => void,
  ) {}

  /** Resolves with the acknowledgement of a message, or with undefined `ms` milliseconds after `sent` without one. */
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

  /** Processes an `<ack class="message">`. */
  acknowledged({ attrs: { id = '', error, t } }: BinaryNode): void {
    if (error === RESTRICTED) this.emit({ kind: 'restricted', code: error, forMs: this.restrictionMs });
    const settle = this.waiting.get(id);
    if (settle) {
      settle(error === undefined ? {} : { error });
      return;
    }
    // A late acknowledgement still reports the status of its message.
    const at = this.timeOf(t);
    this.emit(
      error === undefined
        ? { kind: 'receipt', reference: id, status: 'sent', at }
        : { kind: 'receipt', reference: id, status: 'failed', error: ackError(error), at },
    );
  }

  /** Processes a `<receipt>` for one or several messages. */
  received({ attrs: { id = '', type = '', t }, content }: BinaryNode): void {
    const status = STATUS.get(type);
    if (status === undefined) return;
    for (const reference of [id, ...listed(content)]) {
      // A receipt implies that the server has acknowledged the message.
      this.waiting.get(reference)?.({});
      this.emit({ kind: 'receipt', reference, status, at: this.timeOf(t) });
    }
  }

  /** Resolves all waits without an acknowledgement. */
  close(): void {
    for (const settle of [...this.waiting.values()]) settle(undefined);
  }

  /** Converts the server's time from seconds to milliseconds. Without a time it returns our own time. */
  private timeOf(t: string | undefined): number {
    const seconds = Number(t);
    return Number.isInteger(seconds) && seconds > 0 ? seconds * 1000 : this.clock.now();
  }
}

/** Returns the error of a message for an error code of its acknowledgement. */
export function ackError(code: string): string {
  return /^\d{1,5}$/.test(code) ? `ack_error_${code}` : 'ack_error';
}

/** Returns the further ids of a receipt: `<list><item id="…"/></list>`. */
function listed(content: BinaryNode['content']): string[] {
  const list = Array.isArray(content) ? content.find(({ tag }) => tag === 'list')?.content : undefined;
  return Array.isArray(list) ? list.flatMap(({ attrs: { id } }) => (id === undefined ? [] : [id])) : [];
}
