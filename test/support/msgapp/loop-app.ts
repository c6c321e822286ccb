import { createHash } from 'node:crypto';
import {
  type Link,
  type LinkListener,
  type LinkOrder,
  MsgappTransport,
  type OutgoingMsgapp,
} from '../../../src/msgapp/msgapp-transport.js';
import type { DeliveryResult } from '../../../src/outbox/delivery/delivery-result.js';
import type { MsgappTransportHarness, ReceivedMsgapp } from '../../contract/msgapp/msgapp-contract.js';

const TAKEN = '22670000000';
/** TAKEN with another digit, as people write it. */
const RESPELLED = '226700000009';
const REFUSED = '22670000001';
const ABSENT = '22670000003';
const BUSY = '22670000002';

/** A messaging app without a network, and its transport. Tests replace its methods to insert mistakes. */
export class LoopApp extends MsgappTransport {
  override readonly name = 'loop';
  override readonly repeat = 'idempotent';
  readonly phone = '22675000000';
  readonly inboxes = new Map<string, ReceivedMsgapp[]>();
  private readonly seen = new Set<string>();
  private readonly waiting = new Map<string, () => Promise<void>>();
  private codes = 0;

  override async open(order: LinkOrder, listener: LinkListener): Promise<Link> {
    const link = { isClosed: false };
    const report: LinkListener = async (event) => {
      if (!link.isClosed || this.speaksWhenClosed) await listener(event);
    };
    const close = async () => {
      link.isClosed = true;
    };
    void this.begin(order, report);
    return {
      send: async (message) => (link.isClosed ? { kind: 'retry', error: 'closed' } : this.deliver(message)),
      exists: (number) => this.isThere(number),
      close,
      logout: close,
    };
  }

  /** A mistake to insert. */
  speaksWhenClosed = false;

  async begin(order: LinkOrder, report: LinkListener): Promise<void> {
    const number = (await order.credentials.read('loop', ['number'])).get('number');
    if (order.linked && number !== undefined) return report({ kind: 'open', number });
    this.codes += 1;
    const qr = `loop-${this.codes}`;
    this.waiting.set(qr, async () => {
      await order.credentials.write([{ kind: 'loop', id: 'number', value: this.phone }]);
      await report({ kind: 'linked', number: this.phone });
      await report({ kind: 'open', number: this.phone });
    });
    return report({ kind: 'qr', qr, expiresAt: Date.now() + 60_000 });
  }

  async isThere(number: string): Promise<string | boolean> {
    return number === RESPELLED ? TAKEN : number !== ABSENT;
  }

  async scan(qr: string): Promise<void> {
    await this.waiting.get(qr)?.();
  }

  async deliver(message: OutgoingMsgapp): Promise<DeliveryResult> {
    if (message.to === REFUSED) return { kind: 'refused', error: 'not_on_channel' };
    if (message.to === BUSY) return { kind: 'retry', error: 'busy' };
    if (!this.seen.has(message.messageId)) await this.keep(message);
    this.seen.add(message.messageId);
    return { kind: 'sent', reference: message.messageId };
  }

  async keep({ to = '', address = to, content }: OutgoingMsgapp): Promise<void> {
    const inbox = this.inboxes.get(address) ?? [];
    this.inboxes.set(address, inbox);
    if ('text' in content) {
      inbox.push({ text: content.text });
      return;
    }
    const hash = createHash('sha256');
    for await (const chunk of content.media.open()) hash.update(chunk);
    inbox.push({ text: content.media.caption ?? '', sha256: hash.digest('hex') });
  }
}

export function loopAppHarness(app: LoopApp): MsgappTransportHarness {
  return {
    transport: app,
    phone: app.phone,
    scan: (qr) => app.scan(qr),
    number: (outcome) =>
      ({ taken: TAKEN, respelled: RESPELLED, absent: ABSENT, refused: REFUSED, busy: BUSY })[outcome],
    received: (number) => app.inboxes.get(number) ?? [],
    close: async () => undefined,
  };
}
