import { AccountStore } from '../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import type { OtpLimits } from '../../../src/otp/otp-limits.js';
import type { OtpOptions } from '../../../src/otp/otp-options.js';
import type { VerifyOutcome } from '../../../src/otp/otp-results.js';
import { resolveOtpSettings } from '../../../src/otp/otp-settings.js';
import type { OtpPayload } from '../../../src/otp/otp-text-source.js';
import { ChallengePolicy } from '../../../src/otp/send-challenge.js';
import { VerifyStep } from '../../../src/otp/verify-challenge.js';
import { decide } from '../../../src/outbox/accept/decide.js';
import type { CommitOutcome } from '../../../src/outbox/outbox-records.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { PolicyStore } from '../../../src/outbox/policy/policy-store.js';
import { MemoryStorage } from '../../../src/testing/memory-storage.js';
import { PEPPER } from './otp-app.js';

export const NUMBER = '22670000001';

const START = Date.UTC(2026, 10, 21, 10);

/** OTP on a storage without HTTP, outbox or workers, so whole months pass in a second. */
export class OtpBench {
  now = START;
  readonly storage = new MemoryStorage();
  private readonly settings;
  /** The recipient of the codes if a call names no other number. */
  private number = NUMBER;
  private sends = 0;

  constructor(limits: OtpLimits = {}, options: Partial<OtpOptions> = {}) {
    this.settings = resolveOtpSettings({ pepper: PEPPER, limits, ...options }, { home: 'BF' });
  }

  async open(units = 1_000_000_000): Promise<this> {
    await this.storage.start();
    await this.storage.store(AccountStore).createAccount({ id: 'a', name: 'A', createdAt: 0 });
    await this.storage.store(LedgerStore).post({ id: 'f', accountId: 'a', kind: 'topup', units, at: 0 });
    return this;
  }

  /**
   * Restarts at the beginning of time with a number of which nothing is stored. Opening a storage would take longer.
   */
  next(): this {
    this.now = START;
    this.number = String(Number(this.number) + 1);
    return this;
  }

  /** The result, and the code that was sent. */
  async send(
    service = 's',
    number = this.number,
    units = 1,
  ): Promise<{ outcome: CommitOutcome; code: string; id: string }> {
    const id = `m${String(this.sends++).padStart(9, '0')}`;
    const binding = { accountId: 'a', service, number };
    const request = { binding, messageId: id, channel: 'sms', units, newId: `c${id}`, now: this.now, message: '' };
    const [outcome] = await this.storage.store(OutboxStore).commit(
      [
        {
          id,
          accountId: 'a',
          channel: 'sms',
          sender: 'INFOS',
          payload: { kind: 'otp' },
          reply: {},
          at: this.now,
          recipients: [{ number, units }],
          policy: new ChallengePolicy(request, this.settings),
        },
      ],
      decide,
    );
    if (!outcome) throw new Error('There is no outcome.');
    const payload = (await this.storage.store(OutboxStore).find('a', 'sms', id))?.payload as OtpPayload | undefined;
    const code = payload ? this.settings.codes.codeOf(payload, binding) : '';
    return { outcome, code, id };
  }

  async verify(otp: string, service = 's', number = this.number): Promise<VerifyOutcome> {
    const step = new VerifyStep({ accountId: 'a', service, number }, otp, this.now, this.settings);
    return this.storage.store(PolicyStore).change(step.keys, step.decide);
  }

  async fail(messageId: string): Promise<void> {
    await this.storage.store(OutboxStore).settle([{ messageId, position: 0, status: 'failed', at: this.now }]);
  }
}
