import assert from 'node:assert/strict';
import { SECOND_MS } from '../../../../src/common/time.js';
import { costOf, type Send } from '../../../../src/outbox/accept/send.js';
import type { DeliveryTransition } from '../../../../src/outbox/outbox-records.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, aSend, messageId, onceKey, phone, range, START } from '../fixtures.js';
import { places, type StorageFixture } from '../storage-fixture.js';

const STATUSES = ['queued', 'sent', 'delivered', 'undelivered', 'failed', 'unknown', 'read'] as const;
const ACCOUNTS = [ACCOUNT, 'acc2', 'nobody'];

/** Pseudo-random integers below `bound`, the same in each run (a linear congruential generator). */
function dice(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

/** Takes random steps and computes the expected balances from the storage's answers. */
class Walk {
  readonly balances = new Map<string, number>();
  private readonly refunded = new Set<string>();
  private sends = 0;
  private now = START;

  constructor(
    private readonly world: StorageFixture,
    private readonly roll: (bound: number) => number,
  ) {}

  async step(): Promise<void> {
    this.now += this.roll(10) * SECOND_MS;
    const steps = [this.commit, this.commit, this.claim, this.settle, this.settle, this.expire, this.post];
    await steps[this.roll(steps.length)]?.call(this);
  }

  private move(accountId: string, units: number): void {
    this.balances.set(accountId, (this.balances.get(accountId) ?? 0) + units);
  }

  private draft(): Send {
    const accountId = ACCOUNTS[this.roll(ACCOUNTS.length)] ?? ACCOUNT;
    const key = onceKey({ accountId, key: `k${this.roll(6)}`, fingerprint: `f${this.roll(2)}` });
    this.sends += 1;
    return aSend(this.sends, {
      accountId,
      at: this.now,
      recipients: range(this.roll(3) + 1).map((index) => this.recipient(index)),
      ...(this.roll(2) === 0 && { once: { ...key, expiresAt: this.now + 60 * SECOND_MS } }),
      ...(this.roll(3) === 0 && { lane: `lane${this.roll(2)}` }),
    });
  }

  private recipient(index: number): Send['recipients'][number] {
    const [number, units] = [phone(index), this.roll(4)];
    return units === 0 && this.roll(2) === 0 ? { number, units, refused: 'opted_out' } : { number, units };
  }

  private async commit(): Promise<void> {
    const sends = range(this.roll(4) + 1).map(() => this.draft());
    const outcomes = await this.world.commit(...sends);
    for (const [index, send] of sends.entries()) {
      if (outcomes[index]?.kind === 'accepted') this.move(send.accountId, 0 - costOf(send));
    }
  }

  private async claim(): Promise<void> {
    const abandoned = this.roll(2) === 0;
    const lanes = this.roll(3) === 0 ? { lanes: ['lane0', 'lane1'] } : {};
    await this.world.claim({ now: this.now, limit: this.roll(8) + 1, abandoned, ...lanes });
  }

  private async settle(): Promise<void> {
    const settlements = range(this.roll(6) + 1).map(() => ({
      messageId: messageId(this.roll(this.sends + 2)),
      position: this.roll(3),
      at: this.now,
      status: STATUSES[this.roll(STATUSES.length)] ?? 'sent',
      dueAt: this.now + this.roll(30) * SECOND_MS,
      ...(this.roll(2) === 0 && { attempt: this.roll(3) }),
    }));
    this.follow(await this.world.outbox.settle(settlements));
  }

  private async expire(): Promise<void> {
    const statuses = this.roll(2) === 0 ? (['sent'] as const) : (['sent', 'sending'] as const);
    this.follow(await this.world.outbox.expire({ channel: 'sms', limit: 5, now: this.now, statuses }));
  }

  private async post(): Promise<void> {
    const units = this.roll(30) - 10;
    const accountId = ACCOUNTS[this.roll(2)] ?? ACCOUNT;
    const id = `p${this.roll(40)}`;
    const answer = await this.world.ledger.post({ id, accountId, kind: 'adjust', units, at: this.now });
    if (answer === 'posted') this.move(accountId, units);
  }

  private follow(moved: readonly DeliveryTransition[]): void {
    for (const [index, place] of places(moved).entries()) {
      const { accountId, refund, status } = moved[index] ?? { accountId: '', refund: 0, status: 'sent' };
      assert.ok(refund === 0 || (status === 'failed' && !this.refunded.has(place)), `${place} is refunded once`);
      if (refund > 0) this.refunded.add(place);
      this.move(accountId, refund);
    }
  }
}

export function walkTests({ test }: TestRunner, world: StorageFixture): void {
  for (const seed of [1, 2, 3]) {
    test(`100 random steps leave the balances and the ledger correct, seed ${seed}`, async () => {
      await world.fund(20);
      await world.fund(10, 'acc2');
      const walk = new Walk(world, dice(seed));
      walk.balances.set(ACCOUNT, 20).set('acc2', 10);
      for (const step of range(100)) {
        await walk.step();
        for (const [id, units] of walk.balances) assert.equal(await world.ledger.balance(id), units, `step ${step}`);
        if (step % 20 === 19) await world.sound();
      }
    });
  }
}
