import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { faultCode, faultLog, nameOf } from '../../common/log.js';
import { countryOf } from '../../common/phone-numbers/phone-number.js';
import { DAY_MS } from '../../common/time.js';
import { MessagingEvents } from '../../events/messaging-events.js';
import { type CodeCount, UNKNOWN_COUNTRY } from '../usage/usage-records.js';
import { UsageStore } from '../usage/usage-store.js';

/** How long outcomes are gathered before they are stored, in milliseconds. */
const EVERY_MS = 1000;

/** How many counts may wait while the storage is away. Further outcomes are not counted. */
const MAX_WAITING = 10_000;

/**
 * Counts the verified and refused codes by the events of this process. A verification or a refusal itself writes no count. A
 * crash loses the counts of the last second.
 */
@Injectable()
export class CodeCounter implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private waiting = new Map<string, CodeCount>();
  private stopListening: () => void = () => undefined;
  private cancel: (() => void) | undefined;
  private storing: Promise<void> = Promise.resolve();

  constructor(
    private readonly events: MessagingEvents,
    private readonly store: UsageStore,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    const stops = [
      this.events.on('otp.verified', ({ account, data }) => {
        this.count(account, 'verified', countryOf(data.number) ?? UNKNOWN_COUNTRY);
      }),
      this.events.on('otp.refused', ({ account, data }) => this.count(account, 'refused', data.reason)),
    ];
    this.stopListening = () => {
      for (const stop of stops) stop();
    };
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopListening();
    this.cancel?.();
    await this.storing;
    await this.flush();
  }

  private count(accountId: string, what: CodeCount['what'], name: string): void {
    const now = this.clock.now();
    const day = now - (now % DAY_MS);
    this.add({ accountId, day, what, name, count: 1 });
    this.cancel ??= this.clock.after(EVERY_MS, () => {
      this.cancel = undefined;
      this.storing = this.flush();
    });
  }

  private add(count: CodeCount): void {
    const key = JSON.stringify([count.accountId, count.day, count.what, count.name]);
    const before = this.waiting.get(key);
    if (!before && this.waiting.size >= MAX_WAITING) return;
    this.waiting.set(key, { ...count, count: count.count + (before?.count ?? 0) });
  }

  private async flush(): Promise<void> {
    const counts = [...this.waiting.values()];
    this.waiting = new Map();
    try {
      await this.store.countCodes(counts);
    } catch (error) {
      const sentence = `Codes could not be counted: ${nameOf(error)}. They will be counted with the next codes.`;
      faultLog('Codes', this.clock).warn(sentence, { code: faultCode(error) });
      for (const count of counts) this.add(count);
    }
  }
}
