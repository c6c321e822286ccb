import { Injectable } from '@nestjs/common';
import { Rounds } from '../../common/concurrency/rounds.js';
import { isoOf } from '../../common/phone-numbers/iso.js';
import { VERSION } from '../../common/version.js';
import { DispatchSettings } from '../../outbox/delivery/dispatch-options.js';
import { StartedStorage } from '../../storage/messaging-storage.js';
import type { SystemView } from './operations.api.js';

/** Returns which software runs here, and the state of the storage. */
@Injectable()
export class SystemService {
  constructor(
    private readonly storage: StartedStorage,
    private readonly rounds: Rounds,
    private readonly settings: DispatchSettings,
  ) {}

  /** @throws StorageUnavailableError */
  async read(): Promise<SystemView> {
    const skew = await this.skew();
    const findings = await this.storage.examine();
    const workers = this.rounds.all().map(({ worker, lastRound }) => ({ name: worker, last_round: isoOf(lastRound) }));
    return {
      version: VERSION,
      node: process.version,
      role: this.settings.role,
      storage: findings.map(({ text, todo }) => ({ text, todo })),
      workers,
      clock_skew_ms: skew,
    };
  }

  private async skew(): Promise<number | null> {
    const begun = Date.now();
    const now = await this.storage.serverNow();
    return now === undefined ? null : Math.round((begun + Date.now()) / 2 - now);
  }
}
