import type { Cancellation } from '../../common/concurrency/async.js';
import { countryOf } from '../../common/phone-numbers/phone-number.js';
import type { Writable } from '../../common/writable.js';
import type { Dialect } from '../../storage/dialect.js';
import type { Database } from '../../storage/engine/database.js';
import { type Operation, type Row, rowsOf } from '../../storage/engine/operation.js';
import { integerOf, optionalInteger, optionalText, textOf } from '../../storage/engine/rows.js';
import { UNKNOWN_COUNTRY, type UsageAmounts } from './usage-records.js';

/** The key of a row of the summary. The row counts the messages of one channel, country, signature and key. */
interface UsageKey {
  readonly channel: string;
  readonly country: string;
  readonly signature: string;
  readonly key: string;
  readonly isCode: boolean;
}

export type UsagePart = UsageKey & UsageAmounts;

/** The sums of a range of the ledger. */
export interface Attributed {
  /** How many charges and refunds the range has, and their sum. */
  readonly entries: number;
  readonly units: number;
  readonly parts: readonly UsagePart[];
}

/** How many entries are read at a time, and how many recipients. */
const ENTRIES = 1000;
const RECIPIENTS = 5000;

/**
 * Attributes the charges and refunds of an account in a range of time to channels, countries, signatures and keys. It reads
 * page by page, so that other work runs in between. A charge whose recipient was removed counts for `UNKNOWN_COUNTRY`.
 */
export async function attribute(
  database: Database,
  accountId: string,
  since: number,
  until: number,
  signal?: Cancellation,
): Promise<Attributed> {
  const sums = new Sums();
  let [entries, units] = [0, 0];
  for (let last: Entry | undefined, isFirst = true; isFirst || last !== undefined; isFirst = false) {
    if (signal?.aborted) throw signal.reason;
    const page = await database.browse(() => readEntries(database.dialect, accountId, since, until, last), accountId);
    for (const { units: each } of page) units += each;
    entries += page.length;
    for (const charge of page) if (charge.kind === 'charge') sums.charge(charge);
    for (const chunk of chunksOf(page.filter(({ kind }) => kind === 'charge'))) {
      if (signal?.aborted) throw signal.reason;
      const rows = await database.browse(() => readRecipients(database.dialect, chunk), accountId);
      for (const row of rows) sums.recipient(row);
    }
    const refunds = page.filter(({ kind }) => kind === 'refund');
    const numbers = await database.browse(() => readRefunded(database.dialect, refunds), accountId);
    for (const refund of refunds) sums.refund(refund, numbers.get(`${refund.messageId} ${refund.position}`));
    sums.settle();
    last = page.length === ENTRIES ? page.at(-1) : undefined;
  }
  return { entries, units, parts: sums.parts() };
}

interface Entry {
  readonly id: string;
  readonly kind: 'charge' | 'refund';
  readonly units: number;
  readonly messageId: string;
  readonly position: number;
  readonly at: number;
  readonly channel: string;
  readonly signature: string;
  readonly key: string;
  readonly isCode: boolean;
  readonly recipients: number;
}

function* readEntries(
  dialect: Dialect,
  accountId: string,
  since: number,
  until: number,
  last: Entry | undefined,
): Operation<readonly Entry[]> {
  const behind = last && dialect.keyset('l', ['posted_at', 'id'], '>', [last.at, last.id]);
  const rows = yield* rowsOf(
    `SELECT l.id, l.kind, l.units, l.message_id, l.position, l.posted_at, m.channel, m.kind AS message_kind, m.sender, m.key_id,
        m.recipients
      FROM messaging_ledger l${dialect.by('messaging_ledger_account')} LEFT JOIN messaging_message m ON ${dialect.lookUp('m.id = l.message_id')}
      WHERE l.account_id = ? AND l.posted_at >= ? AND l.posted_at < ? AND l.kind IN ('charge', 'refund')${behind ? ` AND ${behind.sql}` : ''}
      ORDER BY l.posted_at, l.id LIMIT ?`,
    accountId,
    last?.at ?? since,
    until,
    ...(behind?.params ?? []),
    ENTRIES,
  );
  return rows.map(toEntry);
}

/** The kinds of messages that are codes: ours, and those of log-in systems. */
const CODE_KINDS: ReadonlySet<string> = new Set(['otp', 'login']);

function toEntry(row: Row): Entry {
  const channel = optionalText(row, 'channel') ?? '';
  return {
    id: textOf(row, 'id'),
    kind: textOf(row, 'kind') === 'charge' ? 'charge' : 'refund',
    units: integerOf(row, 'units'),
    messageId: textOf(row, 'message_id'),
    position: optionalInteger(row, 'position') ?? 0,
    at: integerOf(row, 'posted_at'),
    channel,
    // The sender of other channels is a number.
    signature: channel === 'sms' ? textOf(row, 'sender') : '',
    key: optionalText(row, 'key_id') ?? '',
    isCode: CODE_KINDS.has(optionalText(row, 'message_kind') ?? ''),
    recipients: optionalInteger(row, 'recipients') ?? 0,
  };
}

/** Messages that together have at most `RECIPIENTS` recipients, or a part of a message that has more. */
interface Chunk {
  readonly ids: readonly string[];
  readonly from: number;
  readonly below: number;
}

function chunksOf(charges: readonly Entry[]): readonly Chunk[] {
  const chunks: Chunk[] = [];
  let ids: string[] = [];
  let together = 0;
  const flush = () => {
    if (ids.length > 0) chunks.push({ ids, from: 0, below: RECIPIENTS });
    [ids, together] = [[], 0];
  };
  for (const { messageId, recipients } of charges) {
    if (recipients > RECIPIENTS) {
      for (let from = 0; from < recipients; from += RECIPIENTS) {
        chunks.push({ ids: [messageId], from, below: from + RECIPIENTS });
      }
      continue;
    }
    if (together + recipients > RECIPIENTS) flush();
    ids.push(messageId);
    together += recipients;
  }
  flush();
  return chunks;
}

interface Charged {
  readonly messageId: string;
  readonly position: number;
  readonly number: string;
  readonly units: number;
}

/** Each message has its own range of positions. With one range for all messages, PostgreSQL would search the whole index. */
function* readRecipients(dialect: Dialect, { ids, from, below }: Chunk): Operation<readonly Charged[]> {
  const rows = yield* rowsOf(
    `SELECT r.message_id, r.position, r.number, r.units FROM ${dialect.rows({ id: 'id', low: 'integer', high: 'integer' })}
      ${dialect.thenJoin} messaging_recipient r${dialect.by('primary key')}
      ON ${dialect.lookUp('r.message_id = v.id')} AND r.position >= v.low AND r.position < v.high`,
    JSON.stringify(ids.map((id) => [id, from, below])),
  );
  return rows.map((row) => ({
    messageId: textOf(row, 'message_id'),
    position: integerOf(row, 'position'),
    number: textOf(row, 'number'),
    units: integerOf(row, 'units'),
  }));
}

/** Returns the numbers of refunded recipients, by message and position. */
function* readRefunded(dialect: Dialect, refunds: readonly Entry[]): Operation<ReadonlyMap<string, string>> {
  if (refunds.length === 0) return new Map();
  const rows = yield* rowsOf(
    `SELECT r.message_id, r.position, r.number FROM ${dialect.rows({ message_id: 'id', position: 'integer' })}
      ${dialect.thenJoin} messaging_recipient r${dialect.by('primary key')}
      ON ${dialect.lookUp('r.message_id = v.message_id AND r.position = v.position')}`,
    JSON.stringify(refunds.map(({ messageId, position }) => [messageId, position])),
  );
  return new Map(
    rows.map((row) => [`${textOf(row, 'message_id')} ${integerOf(row, 'position')}`, textOf(row, 'number')]),
  );
}

const NOTHING: UsageAmounts = { charged: 0, refunded: 0, sends: 0, recipients: 0 };

/** A charge whose recipients are being read. */
interface OpenCharge {
  readonly entry: Entry;
  units: number;
  recipients: number;
  /** The country of the first recipient. */
  first: string;
}

/** Adds up charges and refunds. */
class Sums {
  private readonly byKey = new Map<string, UsageKey & Writable<UsageAmounts>>();
  private readonly open = new Map<string, OpenCharge>();

  charge(entry: Entry): void {
    const { units, recipients } = entry;
    this.open.set(entry.messageId, { entry, units: -units, recipients, first: UNKNOWN_COUNTRY });
  }

  recipient({ messageId, position, number, units }: Charged): void {
    const charge = this.open.get(messageId);
    if (!charge) return;
    const country = countryIn(number);
    if (position === 0) charge.first = country;
    charge.units -= units;
    charge.recipients--;
    this.add(charge.entry, country, { charged: units, recipients: 1 });
  }

  refund(entry: Entry, number: string | undefined): void {
    this.add(entry, countryIn(number), { refunded: entry.units });
  }

  /** Attributes the cost of recipients that were removed. */
  settle(): void {
    for (const { entry, units, recipients, first } of this.open.values()) {
      this.add(entry, first, { sends: 1 });
      if (units !== 0 || recipients !== 0) this.add(entry, UNKNOWN_COUNTRY, { charged: units, recipients });
    }
    this.open.clear();
  }

  parts(): readonly UsagePart[] {
    return [...this.byKey.values()];
  }

  private add({ channel, signature, key, isCode }: Entry, country: string, amounts: Partial<UsageAmounts>): void {
    // None of these values contains a line break.
    const name = [channel, country, signature, key, isCode].join('\n');
    const part = this.byKey.get(name) ?? { channel, country, signature, key, isCode, ...NOTHING };
    this.byKey.set(name, part);
    addTo(part, amounts);
  }
}

/** Adds amounts to others. */
export function addTo(
  sum: Writable<UsageAmounts>,
  { charged = 0, refunded = 0, sends = 0, recipients = 0 }: Partial<UsageAmounts>,
): void {
  sum.charged += charged;
  sum.refunded += refunded;
  sum.sends += sends;
  sum.recipients += recipients;
}

/** Returns the country of a number. An erased number has no country. */
function countryIn(number: string | undefined): string {
  return (number !== undefined && /^\d+$/.test(number) && countryOf(number)) || UNKNOWN_COUNTRY;
}
