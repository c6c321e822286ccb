import { EventEmitter, once } from 'node:events';
import type { BaileysEventMap, WASocket } from 'baileys';
import { within } from '../../common/async.js';
import type { Clock } from '../../common/clock.js';
import type { Link, LinkEnd, LinkListener, OutgoingMsgapp } from '../../msgapp/msgapp-transport.js';
import type { DeliveryResult } from '../../outbox/delivery-result.js';
import type { BaileysCredentials } from './baileys-credentials.js';
import type { Baileys } from './baileys-library.js';
import type { ResolvedBaileysOptions } from './baileys-options.js';
import { ConnectionMonitor } from './connection-monitor.js';
import { failureOf, linkEndOf } from './link-end.js';
import { LinkEvents } from './link-events.js';
import { MessageSender } from './message-sender.js';
import type { BaileysLogger } from './quiet-logger.js';
import { ReceiptTracker } from './receipt-tracker.js';
import { Recipients } from './recipients.js';
import type { SessionMemory } from './session-memory.js';

/** What one connection works with. */
interface LinkParts {
  readonly library: Baileys;
  readonly socket: WASocket;
  readonly credentials: BaileysCredentials;
  readonly memory: SessionMemory;
  readonly options: ResolvedBaileysOptions;
  readonly logger: BaileysLogger;
  readonly clock: Clock;
  readonly listener: LinkListener;
}

/** How long a code lives unless the host says otherwise: the first of a connection, and each later one. */
const FIRST_CODE_MS = 60_000;
const CODE_MS = 20_000;

/** How much longer than the pause between two keep-alives the server may be silent. */
const SILENCE_MARGIN_MS = 10_000;

/** The server wants a passkey to link this account, which Baileys cannot give: its owner sees no code accepted. */
const PASSKEY_STANZAS = ['passkey_prologue_request', 'crsc_continuation'];

/** One connection of Baileys, from its start to its one end. */
export class BaileysLink implements Link {
  private readonly voice: LinkEvents;
  private readonly watch: ConnectionMonitor;
  private readonly desk: ReceiptTracker;
  private readonly recipients: Recipients;
  private readonly sender: MessageSender;
  private codes = 0;
  private isOpen = false;
  private isOver = false;

  constructor(private readonly parts: LinkParts) {
    const { clock, options, socket, library, memory, credentials, listener, logger } = parts;
    this.voice = new LinkEvents(credentials, listener, () => logger.warn('The session could not deal with an event.'));
    const patience = { answerMs: options.answerTimeoutMs, silenceMs: options.keepAliveMs + SILENCE_MARGIN_MS };
    this.watch = new ConnectionMonitor(clock, patience, (reason) => this.finish({ next: 'retry', reason }));
    this.desk = new ReceiptTracker(clock, options.restrictionMs, (event) => this.voice.tell(event));
    this.recipients = new Recipients(library, socket, memory);
    this.sender = new MessageSender({
      ...parts,
      recipients: this.recipients,
      desk: this.desk,
      broken: (reason) => this.fail(reason),
    });
    this.listen(socket);
    this.watch.expect();
  }

  async send(message: OutgoingMsgapp, signal: AbortSignal): Promise<DeliveryResult> {
    if (!this.isUsable || signal.aborted) return { kind: 'retry', error: 'not_open' };
    return this.sender.send(message, signal);
  }

  async exists(number: string): Promise<boolean | undefined> {
    return this.isUsable ? this.recipients.exists(number) : undefined;
  }

  async close(): Promise<void> {
    const { socket, clock, credentials } = this.parts;
    this.stop();
    await hangUp(socket, clock);
    await credentials.saved();
  }

  async logout(): Promise<void> {
    const { socket, logger, clock, options, credentials } = this.parts;
    this.stop();
    // On a socket that is closed there is nobody to tell; the device then stays on the phone's list until its owner removes it.
    const told = socket.logout().catch(() => logger.warn('The phone could not be told of the log-out.'));
    await within(clock, options.queryTimeoutMs, told);
    await hangUp(socket, clock);
    await credentials.saved();
  }

  /** Gives the connection up because of what it was given to work with. */
  fail(reason: string): void {
    this.finish({ next: 'retry', reason });
  }

  private get isUsable(): boolean {
    return this.isOpen && !this.isOver && this.parts.socket.ws.isOpen;
  }

  private listen({ ws, ev }: WASocket): void {
    guardListeners(ws, (event, error) => this.faulted(event, error));
    ev.on('creds.update', () => this.parts.credentials.save());
    ev.on('connection.update', (update) => this.updated(update));
    ws.on('frame', () => this.watch.heard());
    ws.on('CB:ack,class:message', (node) => this.desk.acknowledged(node));
    ws.on('CB:receipt', (node) => this.received(node));
    // Without this a refused upgrade is never heard of: Baileys takes the event and does nothing with it.
    ws.on('unexpected-response', (_request, { statusCode }) => {
      this.finish({ next: 'retry', reason: `upgrade_refused_${statusCode}` });
    });
    for (const type of PASSKEY_STANZAS) {
      ws.on(`CB:notification,type:${type}`, () => this.voice.tell({ kind: 'notice', reason: 'passkey_required' }));
    }
  }

  private updated(update: BaileysEventMap['connection.update']): void {
    if (this.isOver) return;
    const { connection, qr, isNewLogin, lastDisconnect, reachoutTimeLock } = update;
    const { credentials, clock } = this.parts;
    if (qr) this.showCode(qr);
    if (isNewLogin) {
      this.watch.expect();
      this.tellLinked('linked');
    }
    if (connection === 'open') {
      this.watch.answered();
      this.isOpen = true;
      this.tellLinked('open');
    }
    if (reachoutTimeLock?.isActive) {
      const forMs = (reachoutTimeLock.timeEnforcementEnds?.getTime() ?? 0) - clock.now();
      if (forMs > 0) this.voice.tell({ kind: 'restricted', code: 'reachout_timelock', forMs });
    }
    if (connection === 'close') {
      const stage = { linked: credentials.number !== undefined, codeShown: this.codes > 0 };
      this.finish(linkEndOf(lastDisconnect?.error, stage));
    }
  }

  private showCode(qr: string): void {
    const { clock, options } = this.parts;
    this.watch.answered();
    const lifetime = options.qrTimeoutMs ?? (this.codes === 0 ? FIRST_CODE_MS : CODE_MS);
    this.codes++;
    this.voice.tell({ kind: 'qr', qr, expiresAt: clock.now() + lifetime });
  }

  private received(node: Parameters<ReceiptTracker['receipt']>[0]): void {
    const { library, credentials } = this.parts;
    const { me } = credentials.creds;
    const { from } = node.attrs;
    // Our own other devices, the phone above all, confirm their copies.
    if (library.areJidsSameUser(from, me?.id) || library.areJidsSameUser(from, me?.lid)) return;
    this.desk.receipt(node);
  }

  /** A frame that cannot be read ends the connection; after it none can. Anything else that Baileys stumbles over does not. */
  private faulted(event: string | symbol, error: unknown): void {
    if (event === 'message') this.finish({ next: 'retry-few', reason: 'unreadable_frame' });
    else this.parts.logger.warn(`A listener failed: ${failureOf(error).reason}.`);
  }

  /** Tells something of the number that is only true when its credentials are stored. */
  private tellLinked(kind: 'linked' | 'open'): void {
    this.voice.tellSaved(() => {
      const { number } = this.parts.credentials;
      return number === undefined ? undefined : { kind, number };
    });
  }

  /** The one end. What was to be stored is stored before it is told, so that the next connection finds it. */
  private finish(end: LinkEnd): void {
    if (this.isOver) return;
    this.stop();
    this.voice.tellSaved(() => ({ kind: 'ended', end }));
    void hangUp(this.parts.socket, this.parts.clock);
  }

  private stop(): void {
    this.isOver = true;
    this.watch.stop();
    this.desk.close();
  }
}

/**
 * Catches what the listeners that an emitter has now throw or reject with. Many of Baileys' are async and nobody looks at
 * what becomes of them: one stanza at the wrong moment, or one frame that cannot be decrypted, would end the process.
 */
export function guardListeners(emitter: EventEmitter, failed: (event: string | symbol, error: unknown) => void): void {
  for (const event of emitter.eventNames()) {
    for (const listener of emitter.listeners(event)) {
      emitter.off(event, listener as (...args: unknown[]) => void);
      emitter.on(event, async (...args: unknown[]) => {
        try {
          await listener.apply(emitter, args);
        } catch (error) {
          failed(event, error);
        }
      });
    }
  }
}

/** How long a socket may take to close in order. */
const CLOSE_MS = 2000;

/** `WebSocket.CLOSED`. */
const CLOSED = 3;

interface Wire extends EventEmitter {
  readonly readyState: number;
  terminate(): void;
}

/** Closes a connection; one whose other side does not answer is cut off, where Baileys would wait for half a minute. */
async function hangUp(socket: Pick<WASocket, 'end' | 'ws'>, clock: Clock): Promise<void> {
  // Baileys may have let go of it already.
  const wire: unknown = Reflect.get(socket.ws, 'socket');
  socket.end(undefined).catch(() => undefined);
  if (!isWire(wire) || wire.readyState === CLOSED) return;
  const closed = once(wire, 'close').then(() => true);
  if (!(await within(clock, CLOSE_MS, closed))) wire.terminate();
}

function isWire(value: unknown): value is Wire {
  return value instanceof EventEmitter && 'readyState' in value && 'terminate' in value;
}
