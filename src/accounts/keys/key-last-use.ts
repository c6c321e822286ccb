import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { faultCode, faultLog, nameOf } from '../../common/log.js';
import { MINUTE_MS } from '../../common/time.js';
import { AccountStore } from '../account-store.js';

/** The maximum number of keys that one transaction updates. */
const AT_A_TIME = 1000;

/**
 * Remembers when keys were last used, to the minute. Once a minute it writes the uses of all keys in the background. A
 * crash loses the uses of the last minute.
 */
@Injectable()
export class KeyLastUse implements BeforeApplicationShutdown {
  private pending = new Map<string, number>();
  private cancel: (() => void) | undefined;
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly clock: Clock,
    private readonly store: AccountStore,
  ) {}

  /** Notes that a key is used now. It neither waits nor throws. */
  note(id: string): void {
    const minute = Math.floor(this.clock.now() / MINUTE_MS) * MINUTE_MS;
    if (this.pending.get(id) === minute) return;
    this.pending.set(id, minute);
    this.cancel ??= this.clock.after(MINUTE_MS, () => {
      this.writing = this.write();
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.cancel?.();
    await this.writing;
    await this.write();
  }

  private async write(): Promise<void> {
    const uses = [...this.pending].sort();
    this.pending = new Map();
    this.cancel = undefined;
    try {
      for (let at = 0; at < uses.length; at += AT_A_TIME) {
        await this.store.useKeys(new Map(uses.slice(at, at + AT_A_TIME)));
      }
    } catch (error) {
      const sentence = `The last uses of keys could not be written: ${nameOf(error)}. The next ones will be.`;
      faultLog('Keys', this.clock).warn(sentence, { code: faultCode(error) });
    }
  }
}
