import { ReceivedSmsStore, type ReceivedText, type WriterQuery } from '../../../../sms/inbound/received-sms-store.js';
import type { Dialect } from '../../dialects/dialect.js';
import type { Executor } from '../../engine/executor.js';
import { type Operation, rowsOf, write } from '../../engine/operation.js';
import { integerOf, shapeOf, textOf } from '../../engine/rows.js';
import type { EventRecorder } from '../events/event-recorder.js';
import { isPhone } from '../phone-filter.js';

/** Texts of phones in SQL. */
export class TypeormReceivedSmsStore extends ReceivedSmsStore {
  constructor(
    private readonly executor: Executor,
    private readonly recorder: EventRecorder,
  ) {
    super();
  }

  override receive(texts: readonly ReceivedText[], now: number): Promise<readonly boolean[]> {
    const { dialect } = this.executor;
    return this.recorder.write(function* ({ tell }) {
      const isNew = yield* addNames(dialect, texts, now);
      for (const [index, { events }] of texts.entries()) if (isNew[index]) events.forEach(tell);
      return isNew;
    });
  }

  override async lastWriter(query: WriterQuery): Promise<string | undefined> {
    const [row] = await this.executor.browse(() => findLastWriter(this.executor.dialect, query));
    return row && textOf(row, 'account_id');
  }

  override purge(now: number, limit: number): Promise<number> {
    return this.executor.write(() =>
      write(this.executor.dialect.deleteFirst('messaging_sms_received', 'id', 'expires_at'), now, limit),
    );
  }
}

const NAME = shapeOf('id text_id', 'expires_at');

/** Stores the names of texts; for each text, whether its name was not there. */
function* addNames(dialect: Dialect, texts: readonly ReceivedText[], now: number): Operation<readonly boolean[]> {
  // The first of a name wins. Sorted, so that two transactions with the same texts wait for each other in one order only.
  const rows = [
    ...new Map(texts.toReversed().map(({ name, id, expiresAt }) => [name, [name, id, expiresAt]])).values(),
  ].sort();
  const names = JSON.stringify(rows.map(([name]) => name));
  const find = `SELECT n.id, n.text_id, n.expires_at FROM messaging_sms_received n WHERE n.id IN ${dialect.strings()}`;
  // Only where there are any: a delete that finds nothing would lock gaps.
  const expired = (yield* rowsOf(find, names)).filter((row) => integerOf(row, 'expires_at') <= now);
  if (expired.length > 0) {
    yield* write(
      `DELETE FROM messaging_sms_received WHERE id IN ${dialect.strings()} AND expires_at <= ?`,
      JSON.stringify(expired.map((row) => textOf(row, 'id')).sort()),
      now,
    );
  }
  yield dialect.insertRows({ table: 'messaging_sms_received', shape: NAME, rows, onDuplicate: ['id'] });
  const textOfName = new Map((yield* rowsOf(find, names)).map((row) => [textOf(row, 'id'), textOf(row, 'text_id')]));
  return texts.map(({ id, name }) => textOfName.get(name) === id);
}

/**
 * A look-up for each account: as a join, PostgreSQL would read the index of all accounts. What was never handed over, to a
 * number that has opted out for instance, did not reach the phone, which answers somebody else.
 */
function findLastWriter(dialect: Dialect, { number, signatures, since }: WriterQuery) {
  const phone = isPhone('s.number', number);
  const last = `SELECT s.sent_at FROM messaging_sent_to s${dialect.by('primary key')}
      ${dialect.thenJoin} messaging_message m${dialect.by('primary key')}
        ON m.id = s.message_id AND m.sender IN ${dialect.strings()}
      ${dialect.thenJoin} messaging_recipient r${dialect.by('primary key')}
        ON r.message_id = s.message_id AND r.position = s.position AND r.status NOT IN ('queued', 'failed')
      WHERE s.account_id = a.id AND s.channel = 'sms' AND ${phone.sql} AND s.sent_at >= ?
      ORDER BY s.sent_at DESC LIMIT 1`;
  return rowsOf(
    `SELECT w.account_id FROM (SELECT a.id AS account_id, (${last}) AS sent_at FROM messaging_account a) w
      WHERE w.sent_at IS NOT NULL ORDER BY w.sent_at DESC, w.account_id LIMIT 1`,
    JSON.stringify(signatures),
    ...phone.params,
    since,
  );
}
