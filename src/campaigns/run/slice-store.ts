import type { Dialect } from '../../storage/dialect.js';
import type { Database } from '../../storage/engine/database.js';
import { type Operation, rowsOf, write } from '../../storage/engine/operation.js';
import { integerOf, optionalText, textOf } from '../../storage/engine/rows.js';
import type { Campaign, Slice } from '../campaign.js';
import { SLICE, toSlice } from '../campaign-rows.js';
import { lockCampaign } from '../campaign-store.js';
import { addCounts, type CountedSlice, countSlice, NO_COUNTS, type StateCount } from './slice-counts.js';

/** A recipient that has left its campaign. */
export interface AcceptedRecipient {
  readonly position: number;
  readonly number: string;
  readonly status: string;
  readonly error: string | undefined;
  readonly units: number;
  readonly refundedUnits: number;
}

/** Persists the sends that campaigns have become, with the states of their recipients as last counted. */
export class SliceStore {
  constructor(private readonly database: Database) {}

  /** The slices whose counts may change: first those that wait for the carrier, then those that were counted long ago. */
  open({ id, foldedTo }: Campaign, limit: number): Promise<readonly Slice[]> {
    return this.database.read(() => readOpen(id, foldedTo, limit));
  }

  /** The slices from a place on that had SMS waiting for the carrier when they were counted last, in their order. */
  waiting({ id }: Campaign, from: number, limit: number): Promise<readonly Slice[]> {
    return this.database.read(() => readWaiting(id, from, limit));
  }

  /** All slices whose counts are not in `Campaign.folded`, in their order. */
  all({ id, accountId, foldedTo }: Campaign): Promise<readonly Slice[]> {
    return this.database.browse(() => readFrom(id, foldedTo), accountId);
  }

  /** The slice that has the recipient at a place, counted from 0 in the order in which they left; undefined: none yet. */
  at({ id, accountId }: Campaign, place: number): Promise<Slice | undefined> {
    return this.database.browse(() => readAt(id, place), accountId);
  }

  /** Recipients of a slice from a position on. */
  recipients(
    { messageId }: Slice,
    from: number,
    limit: number,
    accountId: string,
  ): Promise<readonly AcceptedRecipient[]> {
    return this.database.browse(() => readRecipients(messageId, from, limit), accountId);
  }

  /** Counts the recipients of slices as they are now. */
  count(slices: readonly Slice[], now: number): Promise<readonly CountedSlice[]> {
    return this.database.read(() => countSlices(this.database.dialect, slices, now));
  }

  /** Stores counts, and adds the first slices that cannot change any more to `Campaign.folded`. */
  async keep({ id }: Campaign, counted: readonly CountedSlice[], now: number): Promise<void> {
    if (counted.length === 0) return;
    await this.database.writeLazily(() => writeCounts(this.database.dialect, id, counted, now));
  }
}

function* readOpen(id: string, from: number, limit: number): Operation<readonly Slice[]> {
  const rows = yield* rowsOf(
    `SELECT ${SLICE} FROM messaging_campaign_slice WHERE campaign_id = ? AND first >= ? AND open = 1
      ORDER BY CASE WHEN waiting > 0 THEN 0 ELSE 1 END, counted_at, first LIMIT ?`,
    id,
    from,
    limit,
  );
  return rows.map(toSlice);
}

function* readWaiting(id: string, from: number, limit: number): Operation<readonly Slice[]> {
  const rows = yield* rowsOf(
    `SELECT ${SLICE} FROM messaging_campaign_slice WHERE campaign_id = ? AND first >= ? AND open = 1 AND waiting > 0
      ORDER BY first LIMIT ?`,
    id,
    from,
    limit,
  );
  return rows.map(toSlice);
}

function* readFrom(id: string, from: number): Operation<readonly Slice[]> {
  const rows = yield* rowsOf(
    `SELECT ${SLICE} FROM messaging_campaign_slice WHERE campaign_id = ? AND first >= ? ORDER BY first`,
    id,
    from,
  );
  return rows.map(toSlice);
}

function* readAt(id: string, place: number): Operation<Slice | undefined> {
  const [row] = yield* rowsOf(
    `SELECT ${SLICE} FROM messaging_campaign_slice WHERE campaign_id = ? AND first <= ? ORDER BY first DESC LIMIT 1`,
    id,
    place,
  );
  const slice = row && toSlice(row);
  return slice && place < slice.first + slice.recipients ? slice : undefined;
}

function* readRecipients(messageId: string, from: number, limit: number): Operation<readonly AcceptedRecipient[]> {
  const rows = yield* rowsOf(
    `SELECT position, number, status, error, units, refunded_units FROM messaging_recipient
      WHERE message_id = ? AND position >= ? ORDER BY position LIMIT ?`,
    messageId,
    from,
    limit,
  );
  return rows.map((row) => ({
    position: integerOf(row, 'position'),
    number: textOf(row, 'number'),
    status: textOf(row, 'status'),
    error: optionalText(row, 'error'),
    units: integerOf(row, 'units'),
    refundedUnits: integerOf(row, 'refunded_units'),
  }));
}

function* countSlices(dialect: Dialect, slices: readonly Slice[], now: number): Operation<readonly CountedSlice[]> {
  if (slices.length === 0) return [];
  const optedOut = `CASE WHEN r.error = 'opted_out' THEN 1 ELSE 0 END`;
  const rows = yield* rowsOf(
    `SELECT r.message_id, r.status, ${optedOut} AS opted_out, count(*) AS recipients, sum(r.refunded_units) AS refunded
      FROM messaging_recipient r${dialect.by('primary key')} WHERE r.message_id ${dialect.among()}
      GROUP BY r.message_id, r.status, ${optedOut}`,
    JSON.stringify(slices.map(({ messageId }) => messageId)),
  );
  const states = new Map<string, StateCount[]>(slices.map(({ messageId }) => [messageId, []]));
  for (const row of rows) {
    states.get(textOf(row, 'message_id'))?.push({
      status: textOf(row, 'status'),
      optedOut: integerOf(row, 'opted_out') === 1,
      recipients: integerOf(row, 'recipients'),
      refunded: integerOf(row, 'refunded'),
    });
  }
  return slices.map((slice) => countSlice(slice, states.get(slice.messageId) ?? [], now));
}

const COUNTED = {
  campaign_id: 'id',
  counts: 'text',
  first: 'integer',
  waiting: 'integer',
  open: 'integer',
  counted_at: 'integer',
} as const;

/** How many slices are added to `Campaign.folded` at a time. */
const FOLDED_AT_ONCE = 100;

function* writeCounts(dialect: Dialect, id: string, counted: readonly CountedSlice[], now: number): Operation<void> {
  // The campaign is locked first, so that two processes do not fold the same slices.
  const campaign = yield* lockCampaign(dialect, { id });
  if (!campaign) return;
  yield dialect.updateRows({
    table: 'messaging_campaign_slice',
    set: { counts: 'v.counts', waiting: 'v.waiting', open: 'v.open', counted_at: 'v.counted_at' },
    shape: COUNTED,
    rows: counted.map(({ slice, counts, waiting, open }) => [
      id,
      JSON.stringify(counts),
      slice.first,
      waiting,
      open ? 1 : 0,
      now,
    ]),
    // A slice that was closed by another process meanwhile is already a part of the sum.
    on: 'messaging_campaign_slice.campaign_id = v.campaign_id AND messaging_campaign_slice.first = v.first AND messaging_campaign_slice.open = 1',
  });
  const rows = yield* rowsOf(
    `SELECT ${SLICE} FROM messaging_campaign_slice WHERE campaign_id = ? AND first >= ? ORDER BY first LIMIT ?`,
    id,
    campaign.foldedTo,
    FOLDED_AT_ONCE,
  );
  let { folded = NO_COUNTS, foldedTo: to } = campaign;
  for (const { first, recipients, counts, open } of rows.map(toSlice)) {
    if (open || !counts) break;
    folded = addCounts(folded, counts);
    to = first + recipients;
  }
  if (to > campaign.foldedTo) {
    const sql = 'UPDATE messaging_campaign SET folded_to = ?, folded = ? WHERE id = ?';
    yield* write(sql, to, JSON.stringify(folded), id);
  }
}
