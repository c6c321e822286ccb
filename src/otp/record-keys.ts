import { hash } from 'node:crypto';
import type { OtpBinding } from './otp-codes.js';

/**
 * The keys of the policy records of a number. They are hashes, so that service names of any length fit and names that differ only
 * in letter case stay distinct on every database.
 */
export class RecordKeys {
  /** The newest code of (account, service, number). */
  readonly challenge: string;

  constructor(private readonly binding: OtpBinding) {
    const { accountId, service, number } = binding;
    this.challenge = keyOf('challenge', accountId, service, number);
  }

  /** Wrong tries of (account, number), over all services. */
  get tries(): string {
    return keyOf('tries', this.binding.accountId, this.binding.number);
  }

  /** Sends of (account, number), over all services. */
  get sends(): string {
    return keyOf('sends', this.binding.accountId, this.binding.number);
  }

  /** Sends to the number, over all accounts. */
  get everywhere(): string {
    return keyOf('everywhere', this.binding.number);
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
}

function keyOf(kind: string, ...parts: readonly string[]): string {
  return `otp-${kind}-${hash('sha256', JSON.stringify(parts), 'base64url')}`;
}
