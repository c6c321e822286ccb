import type { Caller, CallOptions, SendOptions } from '../caller.js';
import type { Listing } from '../listing.js';
import type {
  AuditEntry,
  AuditQuery,
  CodeFigures,
  Key,
  KeyOrder,
  KeyWithSecret,
  LedgerEntry,
  LedgerQuery,
  Me,
  OptOut,
  OptOutsQuery,
  Overview,
  PeriodQuery,
  Signature,
  Usage,
  UsageQuery,
} from './account-types.js';

export const SUCCESS = { success: true } as const;

/** What every change without an answer of its own gives. */
export type Done = typeof SUCCESS;

/** An account's keys, names, books and log, for its users, and for an operator who names it. */
export class AccountRoutes {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Who the caller is; for an operator, who names an account, also that account. */
  me(options?: CallOptions): Promise<Me> {
    return this.#caller.json({ path: ['me'] }, options);
  }

  overview(options?: CallOptions): Promise<Overview> {
    return this.#caller.json({ path: ['overview'] }, options);
  }

  codes(period?: PeriodQuery, options?: CallOptions): Promise<CodeFigures> {
    return this.#caller.json({ path: ['codes'], query: period }, options);
  }

  usage(query?: UsageQuery, options?: CallOptions): Promise<Usage> {
    return this.#caller.json({ path: ['usage'], query }, options);
  }

  /** The sums of `usage` as a CSV file. */
  usageCsv(query?: UsageQuery, options?: CallOptions): Promise<Blob> {
    return this.#csv('usage', query, options);
  }

  /** Newest first. */
  ledger(query?: LedgerQuery, options?: CallOptions): Listing<LedgerEntry> {
    return this.#caller.list(['ledger'], query, options);
  }

  /** All entries of `ledger` as a CSV file. A large one may take longer than the default `timeoutMs`. */
  ledgerCsv(query?: Omit<LedgerQuery, 'limit'>, options?: CallOptions): Promise<Blob> {
    return this.#csv('ledger', query, options);
  }

  /** Newest first. */
  audit(query?: AuditQuery, options?: CallOptions): Listing<AuditEntry> {
    return this.#caller.list(['audit'], query, options);
  }

  /** Newest first. */
  keys(query?: { readonly limit?: number | undefined }, options?: CallOptions): Listing<Key> {
    return this.#caller.list(['keys'], query, options);
  }

  /** The answer has the key, which no later one has. */
  createKey(order: KeyOrder, options?: SendOptions): Promise<KeyWithSecret> {
    return this.#post(['keys'], order, options);
  }

  /** Makes a key that replaces another one, which goes on for `grace_hours`. Default 24. */
  rotateKey(
    id: string,
    order: { readonly grace_hours?: number | undefined } = {},
    options?: SendOptions,
  ): Promise<KeyWithSecret> {
    return this.#post(['keys', id, 'rotate'], order, options);
  }

  revokeKey(id: string, options?: CallOptions): Promise<Done> {
    return this.#remove(['keys', id], options);
  }

  signatures(query?: { readonly limit?: number | undefined }, options?: CallOptions): Listing<Signature> {
    return this.#caller.list(['signatures'], query, options);
  }

  /** Asks for a name; an operator decides on it. */
  registerSignature(name: string, options?: SendOptions): Promise<Signature> {
    return this.#post(['signatures'], { name }, options);
  }

  /** Takes back a name that nobody has decided on. */
  removeSignature(name: string, options?: CallOptions): Promise<Done> {
    return this.#remove(['signatures', name], options);
  }

  /** Newest first. */
  optOuts(query?: OptOutsQuery, options?: CallOptions): Listing<OptOut> {
    return this.#caller.list(['optouts'], query, options);
  }

  addOptOuts(
    order: { readonly signature: string; readonly numbers: readonly string[] },
    options?: SendOptions,
  ): Promise<{ readonly added: number }> {
    return this.#post(['optouts'], order, options);
  }

  removeOptOut(id: string, options?: CallOptions): Promise<Done> {
    return this.#remove(['optouts', id], options);
  }

  #post<T>(path: readonly string[], body: object, options?: SendOptions): Promise<T> {
    return this.#caller.json({ method: 'POST', path, body, repeat: 'keyed' }, options);
  }

  #csv(list: string, query: object | undefined, options?: CallOptions): Promise<Blob> {
    const ask = { path: [list], query, accept: 'text/csv', large: true } as const;
    return this.#caller.read(ask, options, (response) => response.blob());
  }

  #remove(path: readonly string[], options?: CallOptions): Promise<Done> {
    return this.#caller.json({ method: 'DELETE', path, gone: SUCCESS }, options);
  }
}
