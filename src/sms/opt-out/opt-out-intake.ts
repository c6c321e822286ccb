import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AccountSettings } from '../../accounts/account-options.js';
import { AccountStore } from '../../accounts/account-store.js';
import { Clock } from '../../common/clock.js';
import { faultLog, fromOutside } from '../../common/log.js';
import { isPhoneNumber } from '../../common/phone-numbers/phone-number.js';
import { DAY_MS } from '../../common/time.js';
import { PolicyStore } from '../../outbox/policy/policy-store.js';
import { SmsSettings } from '../sms-options.js';
import type { InboundSms } from '../sms-transport.js';
import { OptOutList } from './opt-out-service.js';
import { EVERY_ACCOUNT, type OptOutKey } from './opt-out-store.js';
import { requestIn } from './opt-out-words.js';

/** How long a carrier's id of an inbound text is kept, so that a repeat of the text has no effect. */
const PROCESSED_MS = 30 * DAY_MS;

/**
 * Applies STOP and START texts from phones. The destination of a text is a signature, or maps to several
 * (`sms.inboundSignatures`). Each account that may use a signature gets an entry. A default signature gets one entry for all
 * accounts.
 */
@Injectable()
export class OptOutIntake {
  constructor(
    private readonly entries: OptOutList,
    private readonly accounts: AccountStore,
    private readonly policies: PolicyStore,
    private readonly defaults: AccountSettings,
    private readonly settings: SmsSettings,
    private readonly clock: Clock,
  ) {}

  /**
   * Resolves when the request in a text is stored. Texts without a request have no effect.
   * @throws StorageUnavailableError the carrier should send the text again
   */
  async apply(sms: InboundSms): Promise<void> {
    const { optOutWords, inboundDestinations } = this.settings;
    const signatures = inboundDestinations.signaturesOf(sms.to);
    const request = requestIn(optOutWords, sms.text, [sms.to, ...signatures]);
    if (request === undefined || !isPhoneNumber(sms.from)) return;
    const keys = await this.keysOf(sms.from, signatures);
    if (keys.length === 0) {
      faultLog('OptOut', this.clock).warn(
        `A phone wrote ${request.toUpperCase()} to a destination that no account uses: see sms.inboundSignatures.`,
        { channel: 'sms', route: sms.route },
        ` The destination is ${fromOutside(sms.to)}.`,
      );
      return;
    }
    // A repeat of an old text must not undo a newer text. STOP is applied before its id is stored, and START after. So if the
    // process crashes in between, the number is on the list.
    if (request === 'stop') {
      if (await this.isProcessed(sms)) return;
      await this.entries.add(keys, 'phone');
      await this.markProcessed(sms);
    } else if (await this.markProcessed(sms)) await this.entries.remove(keys, 'phone');
  }

  private async keysOf(number: string, signatures: readonly string[]): Promise<readonly OptOutKey[]> {
    const keys: OptOutKey[] = [];
    for (const signature of signatures) {
      const forAll = this.defaults.signatures.includes(signature);
      const accounts = forAll ? [EVERY_ACCOUNT] : await this.accounts.accountsWith(signature);
      keys.push(...accounts.map((accountId) => ({ accountId, signature, number })));
    }
    return keys;
  }

  private async isProcessed(sms: InboundSms): Promise<boolean> {
    const key = processedKey(sms);
    if (key === undefined) return false;
    return this.policies.change([key], (seen) => ({ result: seen.has(key), changes: new Map() }));
  }

  /** Stores the id of a text. Returns false if the id is already stored. */
  private async markProcessed(sms: InboundSms): Promise<boolean> {
    const key = processedKey(sms);
    if (key === undefined) return true;
    const record = { state: {}, messages: [], expiresAt: this.clock.now() + PROCESSED_MS };
    return this.policies.change([key], (seen) => ({
      result: !seen.has(key),
      changes: seen.has(key) ? new Map() : new Map([[key, record]]),
    }));
  }
}

/** Returns the key of a text. Undefined if the carrier gives texts no ids. */
function processedKey({ route, id }: InboundSms): string | undefined {
  if (id === undefined || id === '') return undefined;
  return `sms-heard-${createHash('sha256')
    .update(JSON.stringify([route, id]))
    .digest('base64url')}`;
}
