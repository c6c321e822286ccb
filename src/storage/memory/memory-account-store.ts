import {
  type Account,
  AccountStore,
  type Signature,
  type SignatureStatus,
  type StoredApiKey,
} from '../../accounts/account-store.js';
import type { HostTransaction } from '../../common/host-transaction.js';
import type { Page, PageRequest } from '../../common/page.js';
import { memoryPage } from './memory-page.js';
import { refuseHost } from './refuse-host.js';

/** Accounts, keys and signatures in the process's memory; for tests. Signatures are listed in the order of creation. */
export class MemoryAccountStore extends AccountStore {
  private readonly accounts = new Map<string, Account>();
  private readonly keys = new Map<string, StoredApiKey>();
  private readonly signatures = new Map<string, Map<string, Signature>>();

  /** For the stores beside this one, which keep the account's money. */
  has(accountId: string): boolean {
    return this.accounts.has(accountId);
  }

  override async createAccount(account: Account, host?: HostTransaction): Promise<boolean> {
    refuseHost(host);
    if (this.accounts.has(account.id)) return false;
    this.accounts.set(account.id, account);
    return true;
  }

  override async findAccount(id: string): Promise<Account | undefined> {
    return this.accounts.get(id);
  }

  override async listAccounts(page: PageRequest): Promise<Page<Account>> {
    return pageByAge([...this.accounts.values()], page);
  }

  override async addKey(key: StoredApiKey, host?: HostTransaction): Promise<boolean> {
    refuseHost(host);
    if (this.keys.has(key.id)) return false;
    this.keys.set(key.id, key);
    return true;
  }

  override async findKey(id: string): Promise<StoredApiKey | undefined> {
    return this.keys.get(id);
  }

  override async listKeys(accountId: string, page: PageRequest): Promise<Page<StoredApiKey>> {
    const keys = [...this.keys.values()].filter((key) => key.accountId === accountId);
    return pageByAge(keys, page);
  }

  override async expireKey(id: string, at: number): Promise<boolean> {
    const key = this.keys.get(id);
    if (key === undefined) return false;
    this.keys.set(id, { ...key, expiresAt: Math.min(key.expiresAt ?? at, at) });
    return true;
  }

  override async revokeKey(id: string, at: number): Promise<boolean> {
    const key = this.keys.get(id);
    if (key === undefined) return false;
    this.keys.set(id, { ...key, revokedAt: key.revokedAt ?? at });
    return true;
  }

  override async registerSignature(signature: Signature): Promise<Signature> {
    const names = this.signatures.get(signature.accountId) ?? new Map<string, Signature>();
    this.signatures.set(signature.accountId, names);
    const registered = names.get(signature.name) ?? signature;
    names.set(signature.name, registered);
    return registered;
  }

  override async decideSignature(
    accountId: string,
    name: string,
    status: SignatureStatus,
    reason: string | undefined,
    at: number,
  ): Promise<Signature | undefined> {
    const names = this.signatures.get(accountId);
    const registered = names?.get(name);
    if (names === undefined || registered === undefined) return undefined;
    const decided = { ...registered, status, reason, decidedAt: at };
    names.set(name, decided);
    return decided;
  }

  override async listSignatures(accountId: string): Promise<readonly Signature[]> {
    return [...(this.signatures.get(accountId)?.values() ?? [])];
  }

  override async accountsWith(signature: string): Promise<readonly string[]> {
    return [...this.signatures].flatMap(([accountId, names]) =>
      names.get(signature)?.status === 'verified' ? [accountId] : [],
    );
  }
}

function pageByAge<T extends { readonly id: string; readonly createdAt: number }>(
  rows: readonly T[],
  page: PageRequest,
): Page<T> {
  const { items, next } = memoryPage(
    rows.map((row) => ({ id: row.id, at: row.createdAt, row })),
    page,
  );
  return { items: items.map(({ row }) => row), next };
}
