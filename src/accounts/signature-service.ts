import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { MessagingError } from '../common/errors.js';
import { checkAccountId, checkText } from '../common/inputs.js';
import { AccountStore, type Signature, type SignatureStatus } from './account-store.js';
import { SignatureDirectory } from './signature-directory.js';
import { isSignatureName } from './signature-name.js';

/** For operators: the sender names of accounts, and the decisions on them. The default signatures need none of this. */
@Injectable()
export class SignatureService {
  constructor(
    private readonly clock: Clock,
    private readonly store: AccountStore,
    private readonly directory: SignatureDirectory,
  ) {}

  /**
   * Registers a name, which then waits for a decision; a name that is registered already stays as it is and is answered.
   * Throws `error.signature_format`, `error.account_not_found`.
   */
  async register(accountId: string, name: string): Promise<Signature> {
    if (!isSignatureName(name)) throw new MessagingError('error.signature_format');
    await this.requireAccount(accountId);
    const createdAt = this.clock.now();
    return this.store.registerSignature({
      accountId,
      name,
      status: 'pending',
      reason: undefined,
      createdAt,
      decidedAt: undefined,
    });
  }

  /**
   * Lets the account send under a registered name, also one that was rejected before: at once on this instance, within five
   * seconds on the others. Throws `error.signature_not_found`.
   */
  verify(accountId: string, name: string): Promise<Signature> {
    return this.decide(accountId, name, 'verified', undefined);
  }

  /**
   * Refuses a registered name, also one that was verified before; effective as `verify` is. Throws
   * `error.signature_not_found`, and for the reason `error.field_not_string`, `error.field_invalid`.
   */
  reject(accountId: string, name: string, reason?: string): Promise<Signature> {
    return this.decide(accountId, name, 'rejected', reason);
  }

  /** The names an account has registered. Throws `error.account_not_found`. */
  async list(accountId: string): Promise<readonly Signature[]> {
    await this.requireAccount(accountId);
    return this.store.listSignatures(accountId);
  }

  private async decide(
    accountId: string,
    name: string,
    status: SignatureStatus,
    reason: string | undefined,
  ): Promise<Signature> {
    checkAccountId(accountId);
    // Another type would be another name in each database: SQLite makes "36111.0" of a number.
    if (typeof name !== 'string') throw new MessagingError('error.signature_not_found');
    if (reason !== undefined) checkText('reason', reason);
    try {
      const signature = await this.store.decideSignature(accountId, name, status, reason, this.clock.now());
      if (signature === undefined) throw new MessagingError('error.signature_not_found');
      return signature;
    } finally {
      // Also when storage failed: it may have done it all the same.
      this.directory.forget(accountId);
    }
  }

  private async requireAccount(id: string): Promise<void> {
    checkAccountId(id);
    if ((await this.store.findAccount(id)) === undefined) throw new MessagingError('error.account_not_found');
  }
}
