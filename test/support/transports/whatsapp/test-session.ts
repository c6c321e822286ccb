import type {
  Link,
  LinkEnd,
  LinkEvent,
  MsgappTransport,
  OutgoingMsgapp,
} from '../../../../src/msgapp/msgapp-transport.js';
import type { DeliveryResult } from '../../../../src/outbox/delivery/delivery-result.js';
import { until } from '../../common/until.js';
import { MemoryCredentials } from './memory-credentials.js';
import type { Phone } from './phone.js';

type EventOf<K extends LinkEvent['kind']> = Extract<LinkEvent, { kind: K }>;

/** A session that does the work of the session manager by hand: it opens connections and receives their reports. */
export class TestSession {
  credentials = new MemoryCredentials();
  /** The reports of the latest connection. */
  events: LinkEvent[] = [];
  private current: Link | undefined;
  private linked = false;
  private messages = 0;

  constructor(
    private readonly transport: MsgappTransport,
    readonly id = 'session',
  ) {}

  /** The latest connection. */
  get link(): Link {
    if (!this.current) throw new Error('Nothing was opened.');
    return this.current;
  }

  async open(): Promise<Link> {
    const events: LinkEvent[] = [];
    this.events = events;
    const order = { sessionId: this.id, channel: 'msgapp', credentials: this.credentials, linked: this.linked };
    this.current = await this.transport.open(order, async (event) => {
      events.push(event);
      if (event.kind === 'linked') this.linked = true;
    });
    return this.current;
  }

  /** The first event of a kind that the latest connection has reported or will report. */
  async hears<K extends LinkEvent['kind']>(kind: K): Promise<EventOf<K>> {
    const { events } = this;
    return until(
      () => events.find((event): event is EventOf<K> => event.kind === kind),
      (event) => event !== undefined,
    ) as Promise<EventOf<K>>;
  }

  async end(): Promise<LinkEnd> {
    return (await this.hears('ended')).end;
  }

  /** Opens a connection that is already linked. */
  async resume(): Promise<this> {
    await this.open();
    await this.hears('open');
    return this;
  }

  /** Links it to a phone and opens it. */
  async linkTo(phone: Phone): Promise<this> {
    await this.open();
    const { qr } = await this.hears('qr');
    await phone.scan(qr);
    await this.end();
    return this.resume();
  }

  /** From now on it has the credentials of another session. */
  takeOver({ credentials }: TestSession): void {
    this.credentials = credentials;
    this.linked = true;
  }

  /** From now on it counts as linked. */
  pretendLinked(): void {
    this.linked = true;
  }

  /** Closes the latest connection, if there is one. */
  async close(): Promise<void> {
    await this.current?.close();
  }

  /** Sends to a phone. */
  send(
    to: Phone,
    content: OutgoingMsgapp['content'] | string,
    { messageId = `message-${this.id}-${++this.messages}`, signal = new AbortController().signal } = {},
  ): Promise<DeliveryResult> {
    const from = '22670000000';
    const body = typeof content === 'string' ? { text: content } : content;
    return this.link.send({ messageId, from, to: to.number, attempt: 1, content: body }, signal);
  }

  /** What was reported of a message, oldest first. */
  receipts(reference: string): string[] {
    return this.events.flatMap((event) =>
      event.kind === 'receipt' && event.reference === reference ? [event.status] : [],
    );
  }
}
