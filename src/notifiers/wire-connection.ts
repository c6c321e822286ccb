import type { Clock } from '../common/clock.js';
import { pause, within } from '../common/concurrency/async.js';

/** A connection to the carrier of payloads between processes, such as Redis. */
export interface Wire {
  /** Resolves when the carrier has accepted the payload. */
  send(payload: string): Promise<unknown>;
  /** Ends the connection, even if it does not answer. Never throws. */
  close(): void;
}

/** How a connection ended. `refused`: before it was usable. `deaf`: payloads were accepted, but none came back. */
export interface Ended {
  readonly how: 'refused' | 'deaf' | 'lost' | 'closed';
  readonly error?: unknown;
}

/** Time limits in milliseconds: for connecting, and for a payload until it is accepted and then until it comes back. */
const OPEN_MS = 10_000;
const ANSWER_MS = 5000;
/** Time between two probes, in milliseconds. Nothing else detects a peer that has vanished without closing the connection. */
const PROBE_MS = 15_000;

/** One connection, from its beginning to its end. It is usable once one of its own payloads has come back. */
export class WireConnection {
  /** Resolves with true once the connection is usable, and with false if it ends before. Never rejects. */
  readonly usable: Promise<boolean>;
  /** Resolves when the connection has ended. Never rejects. */
  readonly ended: Promise<Ended>;
  private readonly over = new AbortController();
  private wire: Wire | undefined;
  private isUsable = false;
  private resolve: (ended: Ended) => void = () => undefined;
  private heard: () => void = () => undefined;

  /**
   * @param probe a payload for which `echo` is called when it comes back
   * @param open connects; it must call `lost` when the connection ends, and leave nothing open if it rejects
   */
  constructor(
    private readonly clock: Clock,
    private readonly probe: string,
    open: (lost: (error?: unknown) => void) => Promise<Wire>,
  ) {
    this.ended = new Promise((resolve) => {
      this.resolve = resolve;
    });
    this.usable = this.start(open((error) => this.lose(error)));
  }

  /** Records that a payload of this process has come back. */
  echo(): void {
    this.heard();
  }

  /**
   * Sends a payload. Resolves with false if the carrier did not accept it in time. In that case the connection has
   * ended.
   */
  async send(payload: string): Promise<boolean> {
    const sent = this.wire?.send(payload).then(() => true) ?? Promise.resolve(false);
    sent.catch((error: unknown) => this.lose(error));
    const taken = (await within(this.clock, ANSWER_MS, sent)) ?? false;
    if (!taken) this.lose();
    return taken;
  }

  close(): void {
    this.end({ how: 'closed' });
  }

  private async start(opening: Promise<Wire>): Promise<boolean> {
    opening.then(
      (wire) => (this.over.signal.aborted ? wire.close() : this.use(wire)),
      (error: unknown) => this.lose(error),
    );
    if (!(await within(this.clock, OPEN_MS, opening))) this.lose();
    else if (!(await this.isHeard())) this.end({ how: 'deaf' });
    this.isUsable = !this.over.signal.aborted;
    void this.watch();
    return this.isUsable;
  }

  private use(wire: Wire): void {
    this.wire = wire;
  }

  private async watch(): Promise<void> {
    const { signal } = this.over;
    while (!signal.aborted) {
      await pause(this.clock, PROBE_MS, signal);
      if (!signal.aborted && !(await this.isHeard())) this.lose();
    }
  }

  private async isHeard(): Promise<boolean> {
    const heard = new Promise<true>((resolve) => {
      this.heard = () => resolve(true);
    });
    return (await this.send(this.probe)) && ((await within(this.clock, ANSWER_MS, heard)) ?? false);
  }

  private lose(error?: unknown): void {
    this.end({ how: this.isUsable ? 'lost' : 'refused', error });
  }

  private end(ended: Ended): void {
    if (this.over.signal.aborted) return;
    this.over.abort();
    this.wire?.close();
    this.wire = undefined;
    this.resolve(ended);
  }
}
