import type { Clock } from '../../../common/clock.js';
import type { SmppBindSettings } from './bind-settings.js';

/** The actions of a {@link BindLiveness}. */
interface LivenessActions {
  /** Sends an enquire_link. */
  probe(): void;
  /** Called when the peer is heard again after a probe. */
  alive(): void;
  /** Called when the peer stays silent after `maxMisses` probes. */
  dead(): void;
}

/** Detects a dead peer. Any complete PDU is a sign of life. An incomplete PDU is not. */
export class BindLiveness {
  private lastHeard = 0;
  private heardCount = 0;
  private probes = 0;
  private cancel: (() => void) | undefined;

  constructor(
    private readonly settings: Pick<SmppBindSettings, 'idleMs' | 'responseTimeoutMs' | 'maxMisses'>,
    private readonly clock: Clock,
    private readonly actions: LivenessActions,
  ) {}

  /** Whether the peer was probed and has not been heard since. */
  get inDoubt(): boolean {
    return this.probes > 0;
  }

  /** Returns a function that probes the peer if nothing has been heard since this call. Call it at the response timeout. */
  expectTraffic(): () => void {
    const { heardCount } = this;
    return () => {
      if (this.heardCount === heardCount && this.probes === 0 && this.cancel !== undefined) this.probe();
    };
  }

  start(): void {
    this.lastHeard = this.clock.elapsed();
    this.waitForSilence(this.settings.idleMs);
  }

  heard(): void {
    this.heardCount++;
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
      if (silence >= this.settings.idleMs) this.probe();
      else this.waitForSilence(this.settings.idleMs - silence);
    });
  }

  private probe(): void {
    this.probes++;
    this.actions.probe();
    this.wait(this.settings.responseTimeoutMs, () => {
      if (this.probes < this.settings.maxMisses) {
        this.probe();
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
