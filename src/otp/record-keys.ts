import { hash } from 'node:crypto';
import { phoneOf } from '../common/phone-numbers/phone-spellings.js';
import type { OtpBinding } from './otp-codes.js';

/**
 * The keys of the policy records of a number. They are hashes. So service names of any length fit, and names that differ only in
 * letter case stay distinct on every database. A code belongs to the number as it was written. Limits belong to the phone, so
 * that another spelling of its number cannot avoid them.
 */
export class RecordKeys {
  /** The newest code of (account, service, number). */
  readonly challenge: string;
  /** Today's spelling of the number. */
  private readonly phone: string;

  constructor(private readonly binding: OtpBinding) {
    const { accountId, service, number } = binding;
    this.phone = phoneOf(number);
    this.challenge = keyOf('challenge', accountId, service, number);
  }

  /** Wrong tries of (account, number), over all services. */
  get tries(): string {
    return keyOf('tries', this.binding.accountId, this.phone);
  }

  /** Sends of (account, number), over all services. */
  get sends(): string {
    return keyOf('sends', this.binding.accountId, this.phone);
  }

  /** Sends of (account, service, phone), for a phone whose number has several spellings. */
  get spelled(): string {
    return keyOf('spelled', this.binding.accountId, this.binding.service, this.phone);
  }

  /** The last send of (account, service, phone), for a phone whose number has several spellings. */
  get cooldown(): string {
    return keyOf('cooldown', this.binding.accountId, this.binding.service, this.phone);
  }

  /** Sends to the number, over all accounts. */
  get everywhere(): string {
    return keyOf('everywhere', this.phone);
  }

  /** Unverified numbers of (account, prefix). */
  prefix(prefix: string): string {
    return keyOf('prefix', this.binding.accountId, prefix);
  }

  /** Codes of (account, country). */
  country(country: string): string {
    return keyOf('country', this.binding.accountId, country);
  }

  /** Units that the account has spent on codes today. */
  get spend(): string {
    return keyOf('spend', this.binding.accountId);
  }

  /** Units that a log-in hook has spent today. The hook is the service of the binding. */
  get hookSpend(): string {
    return keyOf('hook-spend', this.binding.accountId, this.binding.service);
  }
}

function keyOf(kind: string, ...parts: readonly string[]): string {
  return `otp-${kind}-${hash('sha256', JSON.stringify(parts), 'base64url')}`;
}
