import { createHash } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { AccountSettings } from '../../accounts/account-options.js';
import { AccountStore } from '../../accounts/account-store.js';
import { Clock } from '../../common/clock.js';
import { isPhoneNumber } from '../../common/phone-number.js';
import { PolicyStore } from '../../outbox/policy-store.js';
import { SmsSettings } from '../sms-options.js';
import type { InboundSms } from '../sms-transport.js';
import { OptOutList } from './opt-out-service.js';
import { EVERY_ACCOUNT, type OptOutKey } from './opt-out-store.js';
import { wordOf } from './opt-out-words.js';

/** How long a carrier's id of a text is remembered, so that the text does nothing when it comes again. */
const HEARD_MS = 30 * 24 * 3_600_000;

/**
 * Takes STOP and START from phones. What was sent to is a signature, or stands for some (`sms.inboundSignatures`): each
 * account that may use one gets an entry, and a default signature has one for all accounts.
 */
@Injectable()
export class OptOutIntake {
  private readonly log = new Logger('OptOut');

  constructor(
    private readonly entries: OptOutList,
    private readonly accounts: AccountStore,
    private readonly guards: PolicyStore,
    private readonly defaults: AccountSettings,
    private readonly settings: SmsSettings,
    private readonly clock: Clock,
  ) {}

  /** Resolves when what a text wishes is stored. @throws StorageUnavailableError when the carrier should send it again */
  async hear(sms: InboundSms): Promise<void> {
    const wish = this.settings.optOutWords.get(wordOf(sms.text));
    if (wish === undefined || !isPhoneNumber(sms.from)) return;
    const keys = await this.keysOf(sms);
    if (keys.length === 0) {
      this.log.warn(
        `A phone wrote ${wish.toUpperCase()} to ${sms.to}, which no account uses: see sms.inboundSignatures.`,
      );
      return;
    }
    // An old text that comes again must not undo a newer one. Where a crash comes in between, it errs on the side of STOP.
    if (wish === 'stop') {
      if (await this.isHeard(sms)) return;
      await this.entries.add(keys, 'phone');
      await this.remember(sms);
    } else if (await this.remember(sms)) await this.entries.remove(keys, 'phone');
  }

  private async keysOf({ from, to }: InboundSms): Promise<readonly OptOutKey[]> {
    const keys: OptOutKey[] = [];
    for (const signature of this.settings.inboundSignatures.get(to) ?? [to]) {
      const forAll = this.defaults.signatures.includes(signature);
      const accounts = forAll ? [EVERY_ACCOUNT] : await this.accounts.accountsWith(signature);
      keys.push(...accounts.map((accountId) => ({ accountId, signature, number: from })));
    }
    return keys;
  }

  private async isHeard(sms: InboundSms): Promise<boolean> {
    const key = heardKey(sms);
    if (key === undefined) return false;
    return this.guards.change([key], (seen) => ({ result: seen.has(key), changes: new Map() }));
  }

  /** False when it was remembered already. */
  private async remember(sms: InboundSms): Promise<boolean> {
    const key = heardKey(sms);
    if (key === undefined) return true;
    const record = { state: {}, messages: [], expiresAt: this.clock.now() + HEARD_MS };
    return this.guards.change([key], (seen) => ({
      result: !seen.has(key),
      changes: seen.has(key) ? new Map() : new Map([[key, record]]),
    }));
  }
}

/** Undefined for a carrier that gives texts no ids. */
function heardKey({ route, id }: InboundSms): string | undefined {
  if (id === undefined || id === '') return undefined;
  return `sms-heard-${createHash('sha256')
    .update(JSON.stringify([route, id]))
    .digest('base64url')}`;
}
