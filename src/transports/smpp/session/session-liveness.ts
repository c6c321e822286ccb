import type { Clock } from '../../../common/clock.js';
import type { SmppSessionSettings } from './session-settings.js';

/** What a {@link SessionLiveness} does. */
export interface LivenessActions {
  /** Ask the peer for a sign of life. */
  probe(): void;
  /** It was asked, and is heard again. */
  alive(): void;
  /** It was asked as often as the settings say, and is silent. */
  dead(): void;
}

/** Whether the peer is still there. Any whole PDU from it counts; octets that never become one do not. */
export class SessionLiveness {
  private lastHeard = 0;
  private count = 0;
  private probes = 0;
  private cancel: (() => void) | undefined;

  constructor(
    private readonly settings: Pick<SmppSessionSettings, 'idleMs' | 'responseTimeoutMs' | 'maxMisses'>,
    private readonly clock: Clock,
    private readonly actions: LivenessActions,
  ) {}

  /** Asked for a sign of life and not heard since. */
  get inDoubt(): boolean {
    return this.probes > 0;
  }

  /** Begins a watch: the answer, called when something should have been heard by then, asks at once if nothing was. */
  watch(): () => void {
    const { count } = this;
    return () => {
      if (this.count === count && this.probes === 0 && this.cancel !== undefined) this.ask();
    };
  }

  start(): void {
    this.lastHeard = this.clock.elapsed();
    this.waitForSilence(this.settings.idleMs);
  }

  heard(): void {
    this.count++;
    this.lastHeard = this.clock.elapsed();
    if (this.probes === 0) return;
    this.probes = 0;
    this.waitForSilence(this.settings.idleMs);
    this.actions.alive();
  }

  stop(): void {
    this.cancel?.();
    this.cancel = undefined;
  }

  private waitForSilence(ms: number): void {
    this.wait(ms, () => {
      const silence = this.clock.elapsed() - this.lastHeard;
      if (silence >= this.settings.idleMs) this.ask();
      else this.waitForSilence(this.settings.idleMs - silence);
    });
  }

  private ask(): void {
    this.probes++;
    this.actions.probe();
    this.wait(this.settings.responseTimeoutMs, () => {
      if (this.probes < this.settings.maxMisses) {
        this.ask();
      } else {
        this.stop();
        this.actions.dead();
      }
    });
  }

  private wait(ms: number, task: () => void): void {
    this.cancel?.();
    this.cancel = this.clock.after(ms, task);
  }
}
