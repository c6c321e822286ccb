import { EventEmitter, once } from 'node:events';
import type { BaileysEventMap, WAMessage, WASocket } from 'baileys';
import type { Clock } from '../../common/clock.js';
import { within } from '../../common/concurrency/async.js';
import { MINUTE_MS } from '../../common/time.js';
import type {
  Link,
  LinkAct,
  LinkEnd,
  LinkListener,
  LinkResult,
  OutgoingMsgapp,
} from '../../msgapp/msgapp-transport.js';
import type { BaileysCredentials } from './baileys-credentials.js';
import type { Baileys } from './baileys-library.js';
import type { ResolvedBaileysOptions } from './baileys-options.js';
import { ConnectionMonitor } from './connection-monitor.js';
import { incomingMessage } from './incoming-message.js';
import { failureOf, linkEndOf } from './link-end.js';
import { LinkEvents } from './link-events.js';
import { MessageSender } from './message-sender.js';
import type { BaileysLogger } from './quiet-logger.js';
import { ReceiptTracker } from './receipt-tracker.js';
import { Recipients } from './recipients.js';
import type { SessionMemory } from './session-memory.js';

/** The parts that one connection uses. */
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

/** The default lifetimes of the first code of a connection and of each later code. */
const FIRST_CODE_MS = MINUTE_MS;
const CODE_MS = 20_000;

/** How long after a due keep-alive a frame must arrive, in milliseconds. If none arrives, the connection counts as dead. */
const SILENCE_MARGIN_MS = 10_000;

/**
 * Stanzas by which the server requires a passkey to link the account. Baileys does not support it, so no scan succeeds.
 */
const PASSKEY_STANZAS = ['passkey_prologue_request', 'crsc_continuation'];

/** One connection of Baileys. It emits `ended` once. */
export class BaileysLink implements Link {
  private readonly events: LinkEvents;
  private readonly monitor: ConnectionMonitor;
  private readonly receipts: ReceiptTracker;
  private readonly recipients: Recipients;
  private readonly sender: MessageSender;
  private codes = 0;
  private isOpen = false;
  private isOver = false;

  constructor(private readonly parts: LinkParts) {
    const { clock, options, socket, library, credentials, listener, logger } = parts;
    this.events = new LinkEvents(credentials, listener, () => logger.warn('The session could not process an event.'));
    const limits = { answerMs: options.answerTimeoutMs, silenceMs: options.keepAliveMs + SILENCE_MARGIN_MS };
    this.monitor = new ConnectionMonitor(clock, limits, (reason) => this.finish({ next: 'retry', reason }));
    this.receipts = new ReceiptTracker(clock, options.restrictionMs, (event) => this.events.emit(event));
    this.recipients = new Recipients(library, socket);
    this.sender = new MessageSender({
      ...parts,
      recipients: this.recipients,
      receipts: this.receipts,
      onUnusable: (reason) => this.fail(reason),
    });
    this.listen(socket);
    this.monitor.expectAnswer();
  }

  async send(message: OutgoingMsgapp, signal: AbortSignal): Promise<LinkResult> {
    if (!this.isUsable || signal.aborted) return { kind: 'retry', error: 'not_open' };
    return this.sender.send(message, signal);
  }

  async exists(number: string): Promise<string | false | undefined> {
    return this.isUsable ? this.recipients.exists(number) : undefined;
  }

  async act(act: LinkAct): Promise<boolean> {
    if (!this.isUsable) return false;
    const { socket } = this.parts;
    const key = { id: act.message.id, remoteJid: act.message.chat, fromMe: false };
    if (act.kind === 'seen') await socket.readMessages([key]);
    else await socket.sendMessage(act.message.chat, { react: { key, text: act.emoji ?? '' } });
    return true;
  }

  async close(): Promise<void> {
    const { socket, clock, credentials } = this.parts;
    this.stop();
    await hangUp(socket, clock);
    await Promise.all([credentials.saved(), this.events.emitted()]);
  }

  async logout(): Promise<void> {
    const { socket, logger, clock, options, credentials } = this.parts;
    this.stop();
    // The log-out fails on a closed socket. The device then stays on the phone's list until its owner removes it.
    const loggedOut = socket.logout().catch(() => logger.warn('The log-out did not reach the phone.'));
    await within(clock, options.queryTimeoutMs, loggedOut);
    await hangUp(socket, clock);
    await Promise.all([credentials.saved(), this.events.emitted()]);
  }

  /** Ends the connection because of an error outside of it, such as credentials that cannot be stored. */
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
    ev.on('messages.upsert', ({ messages }) => this.incoming(messages));
    ev.on('lid-mapping.update', (mapping) => this.mapped(mapping));
    ws.on('frame', () => this.monitor.heard());
    ws.on('CB:ack,class:message', (node) => this.receipts.acknowledged(node));
    ws.on('CB:receipt', (node) => this.received(node));
    // Baileys listens to this event and ignores it, so a refused upgrade would not be noticed otherwise.
    ws.on('unexpected-response', (_request, { statusCode }) => {
      this.finish({ next: 'retry', reason: `upgrade_refused_${statusCode}` });
    });
    for (const type of PASSKEY_STANZAS) {
      ws.on(`CB:notification,type:${type}`, () => this.events.emit({ kind: 'notice', reason: 'passkey_required' }));
    }
  }

  private updated(update: BaileysEventMap['connection.update']): void {
    if (this.isOver) return;
    const { connection, qr, isNewLogin, lastDisconnect, reachoutTimeLock } = update;
    const { credentials, clock } = this.parts;
    if (qr) this.showCode(qr);
    if (isNewLogin) {
      this.monitor.expectAnswer();
      this.emitLinked('linked');
    }
    if (connection === 'open') {
      this.monitor.answered();
      this.isOpen = true;
      this.emitLinked('open');
    }
    if (reachoutTimeLock?.isActive) {
      const forMs = (reachoutTimeLock.timeEnforcementEnds?.getTime() ?? 0) - clock.now();
      if (forMs > 0) this.events.emit({ kind: 'restricted', code: 'reachout_timelock', forMs });
    }
    if (connection === 'close') {
      const stage = { linked: credentials.number !== undefined, codeShown: this.codes > 0 };
      this.finish(linkEndOf(lastDisconnect?.error, stage));
    }
  }

  private showCode(qr: string): void {
    const { clock, options } = this.parts;
    this.monitor.answered();
    const lifetime = options.qrTimeoutMs ?? (this.codes === 0 ? FIRST_CODE_MS : CODE_MS);
    this.codes++;
    this.events.emit({ kind: 'qr', qr, expiresAt: clock.now() + lifetime });
  }

  private received(node: Parameters<ReceiptTracker['received']>[0]): void {
    const { library, credentials } = this.parts;
    const { me } = credentials.creds;
    const { from } = node.attrs;
    // The account's other devices, above all the phone, confirm their copies too. Their receipts do not count.
    if (library.areJidsSameUser(from, me?.id) || library.areJidsSameUser(from, me?.lid)) return;
    this.receipts.received(node);
  }

  /** Passes on received messages, even after the connection has ended, because the app counts these messages as delivered. */
  private incoming(messages: readonly WAMessage[]): void {
    const { library, socket, clock } = this.parts;
    for (const each of messages) {
      this.events.emitFrom(async () => {
        const message = await incomingMessage(library, socket, each, clock.now());
        return message && { kind: 'message', message };
      });
    }
  }

  /** Passes on which number a LID has. */
  private mapped({ lid, pn }: BaileysEventMap['lid-mapping.update']): void {
    const { library } = this.parts;
    const number = library.jidDecode(pn)?.user;
    if (!library.isLidUser(lid) || !library.isPnUser(pn) || number === undefined) return;
    this.events.emit({ kind: 'identified', identity: library.jidNormalizedUser(lid), number });
  }

  /**
   * Ends the connection after an unreadable frame, because no later frame can be read. Other errors of listeners are
   * logged.
   */
  private faulted(event: string | symbol, error: unknown): void {
    if (event === 'message') this.finish({ next: 'retry-few', reason: 'unreadable_frame' });
    else this.parts.logger.warn(`A listener failed: ${failureOf(error).reason}.`);
  }

  /** Emits an event with the linked number after its credentials are stored. */
  private emitLinked(kind: 'linked' | 'open'): void {
    this.events.emitAfterSave(() => {
      const { number } = this.parts.credentials;
      return number === undefined ? undefined : { kind, number };
    });
  }

  /**
   * Ends the connection. `ended` is emitted after all writes, so that the next connection reads the current
   * credentials.
   */
  private finish(end: LinkEnd): void {
    if (this.isOver) return;
    this.stop();
    this.events.emitAfterSave(() => ({ kind: 'ended', end }));
    void hangUp(this.parts.socket, this.parts.clock);
  }

  private stop(): void {
    this.isOver = true;
    // Baileys may have events in its buffer, which would be lost with its socket.
    this.parts.socket.ev.flush();
    this.monitor.stop();
    this.receipts.close();
  }
}

/**
 * Catches errors and rejections of an emitter's current listeners. Many listeners of Baileys are async without error
 * handling, so that an unexpected stanza or an undecryptable frame would end the process.
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

/** How long a socket may take to close in order, in milliseconds. */
const CLOSE_MS = 2000;

/** `WebSocket.CLOSED`. */
const CLOSED = 3;

interface Wire extends EventEmitter {
  readonly readyState: number;
  terminate(): void;
}

/** Closes a connection, and terminates it if the server does not answer. Baileys alone would wait for half a minute. */
async function hangUp(socket: Pick<WASocket, 'end' | 'ws'>, clock: Clock): Promise<void> {
  // The socket is undefined if Baileys has released it.
  const wire: unknown = Reflect.get(socket.ws, 'socket');
  socket.end(undefined).catch(() => undefined);
  if (!isWire(wire) || wire.readyState === CLOSED) return;
  const closed = once(wire, 'close').then(() => true);
  if (!(await within(clock, CLOSE_MS, closed))) wire.terminate();
}

function isWire(value: unknown): value is Wire {
  return value instanceof EventEmitter && 'readyState' in value && 'terminate' in value;
}
