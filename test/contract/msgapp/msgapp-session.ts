import assert from 'node:assert/strict';
import type { Link, LinkEvent, OutgoingMsgapp } from '../../../src/msgapp/msgapp-transport.js';
import type { CredentialChange, SessionCredentials } from '../../../src/msgapp/sessions/session-credentials.js';
import type { DeliveryResult } from '../../../src/outbox/delivery/delivery-result.js';
import type { MsgappTransportHarness } from './msgapp-harness.js';

/** The longest wait of the suite, in turns of the event loop of about a millisecond each. */
const MAX_TURNS = 15_000;
/** How long the suite listens for silence, in such turns. */
const QUIET_TURNS = 100;

/** A session of the contract suite. It does the work of the session manager, with credentials in memory. */
export class MsgappContractSession {
  /** Events of all connections, oldest first. */
  readonly events: LinkEvent[] = [];
  readonly credentials: SessionCredentials = new CredentialsInMemory();
  private opened: Link | undefined;
  /** The index at which the events of the latest connection begin. */
  private start = 0;

  constructor(
    private readonly harness: MsgappTransportHarness,
    private readonly id = 'session',
  ) {}

  /** The numbers that the session was linked to. */
  get linkedAs(): readonly string[] {
    return this.events.flatMap((event) => (event.kind === 'linked' ? [event.number] : []));
  }

  /** The latest connection. */
  get connection(): Link {
    assert.ok(this.opened, 'a connection was opened');
    return this.opened;
  }

  async open(): Promise<void> {
    this.start = this.events.length;
    const order = { sessionId: this.id, channel: 'msgapp', credentials: this.credentials };
    const linked = this.linkedAs.length > 0;
    this.opened = await this.harness.transport.open(
      { ...order, linked },
      async (event) => void this.events.push(event),
    );
  }

  /** Links the session to the phone, and reconnects if pairing asks for it. */
  async link(): Promise<void> {
    const { transport, credentials: given } = this.harness;
    if (given) {
      assert.ok(transport.acceptCredentials, 'a transport without codes accepts credentials');
      const accepted = await this.settles(transport.acceptCredentials(given, new AbortController().signal));
      assert.ok(accepted.address.length > 0 && accepted.address.length <= 255);
      await this.credentials.write(accepted.credentials);
    }
    await this.open();
    if (!given) await this.harness.scan((await this.hears('qr')).qr);
    await this.until(() => this.has('open') || this.has('ended'));
    if (!this.has('ended')) return;
    const { end } = await this.hears('ended');
    assert.equal(end.next, 'restart', 'a scan ends in an open connection, or asks for a restart');
    await this.open();
    await this.hears('open');
  }

  /** The first event of a kind of the latest connection, which has come or will come. */
  async hears<K extends LinkEvent['kind']>(kind: K): Promise<Extract<LinkEvent, { kind: K }>> {
    const found = () => this.events.slice(this.start).find((event) => isOfKind(event, kind));
    await this.until(() => found() !== undefined);
    const event = found();
    assert.ok(event && isOfKind(event, kind));
    return event;
  }

  /** Sends a message and checks the form of the result. */
  async send(message: OutgoingMsgapp, signal: AbortSignal = new AbortController().signal): Promise<DeliveryResult> {
    const result = await this.settles(this.connection.send(message, signal));
    if (result.kind === 'sent') {
      assert.ok(result.final !== undefined || result.reference, 'a receipt needs a reference');
      return result;
    }
    assert.ok(result.error.length > 0, 'an error says why');
    const text = 'text' in message.content ? message.content.text : undefined;
    assert.ok(message.to === undefined || !result.error.includes(message.to), 'no number in an error');
    assert.ok(text === undefined || !result.error.includes(text), 'no text in an error');
    return result;
  }

  async close(): Promise<void> {
    await this.opened?.close();
  }

  /** Waits for a condition while the harness may advance its clock. */
  async until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
    for (let turn = 0; !(await isTrue()); turn += 1) {
      assert.ok(turn < MAX_TURNS, 'it should have happened long ago');
      await this.turn();
    }
  }

  /** Lets time pass in which nothing should happen. */
  async quiet(): Promise<void> {
    for (let turn = 0; turn < QUIET_TURNS; turn += 1) await this.turn();
  }

  /** Awaits a promise while the harness may advance its clock. */
  async settles<T>(promise: Promise<T>): Promise<T> {
    let over = false;
    const done = () => {
      over = true;
    };
    promise.then(done, done);
    await this.until(() => over);
    return promise;
  }

  /** Whether the latest connection has reported such an event. */
  has(kind: LinkEvent['kind']): boolean {
    return this.events.slice(this.start).some((event) => event.kind === kind);
  }

  private async turn(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 1));
    this.harness.pass?.();
  }
}

function isOfKind<K extends LinkEvent['kind']>(event: LinkEvent, kind: K): event is Extract<LinkEvent, { kind: K }> {
  return event.kind === kind;
}

class CredentialsInMemory implements SessionCredentials {
  private readonly values = new Map<string, string>();

  async read(kind: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const entries = ids.map((id) => [id, this.values.get(`${kind}/${id}`)] as const);
    return new Map(entries.flatMap(([id, value]) => (value === undefined ? [] : [[id, value]])));
  }

  async write(changes: readonly CredentialChange[]): Promise<void> {
    for (const { kind, id, value } of changes) {
      if (value === undefined) this.values.delete(`${kind}/${id}`);
      else this.values.set(`${kind}/${id}`, value);
    }
  }
}
