import { type OnApplicationBootstrap, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Clock } from '../common/clock.js';
import { pause, within } from '../common/concurrency/async.js';
import { Spaced } from '../common/concurrency/batcher.js';
import type { IdGenerator } from '../common/ids.js';
import { FaultLog, faultCode, nameOf } from '../common/log.js';
import { LocalNotifier, type NoticeTopic } from '../common/notifier.js';
import { MINUTE_MS } from '../common/time.js';
import { MAX_CHARACTERS, type Notice, noticesOf, partOf, payloadOf } from './notices.js';
import { type Ended, type Wire, WireConnection } from './wire-connection.js';

/** The least time between two payloads, in milliseconds. */
const SPACING_MS = 20;
/** The maximum number of notices that wait for a payload. */
const MAX_WAITING = 1000;
/**
 * The longest pause before the first attempt to reconnect, in milliseconds. It doubles with each failure, up to
 * `MAX_MS`.
 */
const FIRST_MS = 250;
const MAX_MS = 30_000;
/** The pause if no payload has ever come back, in milliseconds. */
const DEAF_MS = 10 * MINUTE_MS;
/** How long a shutdown waits for a connection, and then for its last payload, in milliseconds. */
const FLUSH_MS = 1000;

/** The sentences that are logged when a connection has ended. */
const SENTENCES = {
  refused: 'The connection failed. Until it succeeds, workers of other processes poll, and their caches age.',
  lost: 'The connection was lost. Until it is back, workers of other processes poll, and their caches age.',
};

/**
 * Notifies all processes over a connection that carries payloads. Notices are gathered without repeats, and a payload
 * is sent at most every 20 ms. No operation waits for the connection. Without one, notices are dropped: other processes
 * then find the change at their next poll, or when a cache entry expires. The notifier reconnects by itself.
 */
export abstract class WireNotifier
  extends LocalNotifier
  implements OnModuleInit, OnApplicationBootstrap, OnApplicationShutdown
{
  private readonly warnings: FaultLog;
  /** Identifies the payloads of this process. */
  private readonly from: string;
  private readonly waiting = new Set<string>();
  private readonly spacing: Spaced;
  private readonly stopping = new AbortController();
  private isSending = false;
  private connection: WireConnection | undefined;
  private running: Promise<void> = Promise.resolve();

  /** @param deafness the sentence that is logged if the carrier accepts payloads but none comes back */
  constructor(
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
    private readonly deafness: string,
  ) {
    super();
    this.warnings = new FaultLog(this.constructor.name, clock);
    this.spacing = new Spaced(clock, SPACING_MS);
    this.from = ids.next().slice(0, 64);
  }

  /** @throws MessagingOptionsError if the driver is not installed */
  abstract onModuleInit(): Promise<void>;

  /**
   * Connects. If it rejects, it must leave nothing open.
   *
   * @param received must be called with each payload
   * @param lost must be called when the connection has ended
   */
  protected abstract open(received: (payload: unknown) => void, lost: (error?: unknown) => void): Promise<Wire>;

  /** Begins to connect and does not wait for the connection, so that the application also starts while the carrier is down. */
  onApplicationBootstrap(): void {
    this.running = this.keepConnected();
  }

  /** Sends the waiting notices and closes the connection, within two seconds. */
  async onApplicationShutdown(): Promise<void> {
    const { connection } = this;
    const usable = await within(this.clock, FLUSH_MS, Promise.resolve(connection?.usable));
    if (usable && this.waiting.size > 0) {
      await within(this.clock, FLUSH_MS, Promise.resolve(connection?.send(this.take())));
    }
    this.stopping.abort();
    this.connection?.close();
    await this.running;
  }

  override publish(topic: NoticeTopic, id: string): void {
    super.publish(topic, id);
    const part = partOf(topic, id);
    if (part === undefined || this.stopping.signal.aborted) return;
    if (this.waiting.size < MAX_WAITING) this.waiting.add(part);
    else
      this.warnings.warn('Too many notices are waiting, so other processes find some changes only at their next poll.');
    this.schedule();
  }

  private schedule(): void {
    if (this.isSending || this.waiting.size === 0) return;
    this.spacing.schedule(this.waiting.size, () => void this.flush());
  }

  private async flush(): Promise<void> {
    if (this.isSending) return;
    this.isSending = true;
    const { connection } = this;
    // The time-outs of the connection limit this wait.
    const usable = await connection?.usable;
    const payload = this.take();
    if (usable) await connection?.send(payload);
    this.isSending = false;
    this.schedule();
  }

  /** Takes as many waiting notices as fit into one payload. */
  private take(): string {
    const parts: string[] = [];
    let characters = 0;
    for (const part of this.waiting) {
      characters += part.length + 1;
      if (characters > MAX_CHARACTERS) break;
      parts.push(part);
      this.waiting.delete(part);
    }
    return payloadOf(this.from, parts);
  }

  private async keepConnected(): Promise<void> {
    const { signal } = this.stopping;
    let hasBeenUsable = false;
    for (let failures = 0; !signal.aborted; failures++) {
      const connection = new WireConnection(this.clock, payloadOf(this.from, []), (lost) =>
        this.open((payload) => this.receive(payload), lost),
      );
      this.connection = connection;
      if (await connection.usable) {
        hasBeenUsable = true;
        failures = 0;
      }
      const ended = await connection.ended;
      this.logEnd(ended);
      const ceilingMs = Math.min(MAX_MS, FIRST_MS * 2 ** Math.min(failures, 30));
      const isDeaf = ended.how === 'deaf' && !hasBeenUsable;
      await pause(this.clock, isDeaf ? DEAF_MS : this.ids.random() * ceilingMs, signal);
    }
  }

  /**
   * Receives a payload. It can only make this process read something again. It is not logged, because it may have any
   * content.
   */
  private receive(payload: unknown): void {
    const received = noticesOf(payload);
    if (!received) this.warnings.warn('A payload that is not ours was ignored.');
    else if (received.from === this.from) this.connection?.echo();
    else this.look(received.notices);
  }

  private look(notices: readonly Notice[]): void {
    for (const [topic, id] of notices) {
      try {
        super.publish(topic, id);
      } catch (error) {
        this.warnings.warn(`A listener failed: ${nameOf(error)}.`, { code: faultCode(error) });
      }
    }
  }

  private logEnd({ how, error }: Ended): void {
    if (how === 'closed') return;
    if (how === 'deaf') this.warnings.warn(this.deafness, { code: 'deaf' });
    else this.warnings.warn(SENTENCES[how], { code: how }, codeIn(error));
  }
}

/**
 * The code of a driver's error, or the first word of an error of Redis. The rest of the message is not logged, because
 * it may contain an address or a name.
 */
function codeIn(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const code = 'code' in error ? String(error.code) : /^[A-Z]{4,20}(?= )/.exec(error.message)?.[0];
  return code !== undefined && /^\w{1,40}$/.test(code) ? ` (${code})` : '';
}
