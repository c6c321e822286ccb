import { Injectable } from '@nestjs/common';
import { LEDGER_KINDS, type LedgerKind, type LedgerPage, type LedgerView } from '../../billing/ledger.api.js';
import { LedgerService } from '../../billing/ledger-service.js';
import { MessagingError } from '../../common/errors.js';
import { unsendableCharacter } from '../../common/inputs.js';
import { cursorOf } from '../../common/listing/list-query.js';
import { csvLine } from '../../http/csv.js';
import { type ListQuery, type Period, pageOf, periodOf } from '../list-query.js';
import { ledgerView } from './ledger-view.js';

/** The filter of entries. */
export interface LedgerFilter extends Period {
  readonly kind?: string | undefined;
}

/** The filter and page of a listing of entries. */
export type LedgerListQuery = LedgerFilter & ListQuery;

/** How many entries are read at a time for CSV. */
const AT_A_TIME = 1000;

const COLUMNS = ['id', 'kind', 'units', 'message_id', 'position', 'note', 'at'] as const satisfies (keyof LedgerView)[];

/** Lists the ledger of an account, by pages and as CSV. */
@Injectable()
export class LedgerListing {
  constructor(private readonly ledger: LedgerService) {}

  /**
   * Lists entries, newest first.
   * @throws MessagingError `error.invalid_cursor`, `error.field_invalid`
   */
  async list(accountId: string, query: LedgerListQuery = {}): Promise<LedgerPage> {
    const page = pageOf(query, (text) => text !== '' && text.length <= 200 && unsendableCharacter(text) === undefined);
    const { items, next } = await this.ledger.entries(accountId, { ...page, ...filterOf(query) });
    return { items: items.map(ledgerView), next_cursor: cursorOf(next) };
  }

  /**
   * Returns all matching entries as lines of CSV, newest first, after a line with the names of the columns. It reads entries only
   * as fast as the caller takes lines.
   *
   * @throws MessagingError `error.field_invalid`
   */
  csv(accountId: string, filter: LedgerFilter = {}): AsyncIterable<string> {
    return this.lines(accountId, filterOf(filter));
  }

  private async *lines(accountId: string, filter: ReturnType<typeof filterOf>): AsyncGenerator<string> {
    yield csvLine(COLUMNS);
    for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
      const { items, next } = await this.ledger.entries(accountId, { ...filter, limit: AT_A_TIME, after });
      yield items.map((entry) => lineOf(ledgerView(entry))).join('');
      after = next;
    }
  }
}

function lineOf(entry: LedgerView): string {
  return csvLine(COLUMNS.map((column) => entry[column]));
}

function filterOf({ kind, ...period }: LedgerFilter) {
  return { kind: kindOf(kind), ...periodOf(period) };
}

function kindOf(given: string | undefined): LedgerKind | undefined {
  const kind = LEDGER_KINDS.find((each) => each === given);
  if (given !== undefined && kind === undefined) throw new MessagingError('error.field_invalid', { field: 'kind' });
  return kind;
}
