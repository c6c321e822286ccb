import {
  HIGHEST_BALANCE,
  type LedgerEntry,
  type LedgerPosting,
  LedgerStore,
  MOST_FAULTS,
  type PostingAnswer,
  postedBefore,
} from '../../billing/ledger-store.js';
import type { HostTransaction } from '../../common/host-transaction.js';
import type { Page, PageRequest } from '../../common/page.js';
import { checkBooks } from './check-books.js';
import { memoryPage } from './memory-page.js';
import type { MemoryTables } from './memory-tables.js';
import { refuseHost } from './refuse-host.js';

/** Balances and ledger in memory. */
export class MemoryLedgerStore extends LedgerStore {
  constructor(protected readonly tables: MemoryTables) {
    super();
  }

  override async balance(accountId: string): Promise<number | undefined> {
    return this.tables.balance(accountId);
  }

  override async post(posting: LedgerPosting, host?: HostTransaction): Promise<PostingAnswer> {
    refuseHost(host);
    const balance = this.tables.balance(posting.accountId);
    if (balance === undefined) return 'unknown';
    const before = [posting.id, posting.formerId ?? ''].flatMap((id) => this.tables.entries.get(id) ?? []);
    const answer = postedBefore(posting, before);
    if (answer) return answer;
    if (balance + posting.units < 0) return 'refused';
    const posted = this.tables.posted.get(posting.accountId) ?? 0;
    if (posting.units > 0 && posted + posting.units > HIGHEST_BALANCE) return 'over';
    const { id, accountId, kind, units, note, at } = posting;
    this.tables.book({ id, accountId, kind, units, note, at, messageId: undefined, position: undefined });
    return 'posted';
  }

  override async entries(accountId: string, page: PageRequest): Promise<Page<LedgerEntry>> {
    return memoryPage(
      [...this.tables.entries.values()].filter((entry) => entry.accountId === accountId),
      page,
    );
  }

  override async check(): Promise<readonly string[]> {
    return checkBooks(this.tables).slice(0, MOST_FAULTS);
  }
}
