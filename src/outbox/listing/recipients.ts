import { withinPage } from '../../common/listing/page.js';
import type { Variables } from '../../common/text/personal-text.js';
import type { Dialect } from '../../storage/dialect.js';
import { type Operation, type Row, rowsOf, type Statement } from '../../storage/engine/operation.js';
import { integerOf, optionalInteger, optionalText, textOf } from '../../storage/engine/rows.js';
import type { DeliveryStatus } from '../delivery-state.js';
import {
  FIRST_RECIPIENTS,
  type RecipientPage,
  type RecipientQuery,
  SHOWN_ATTEMPTS,
  type StoredRecipient,
  type TrackedRecipient,
} from '../outbox-records.js';
import { firstTrails, newestAttempts } from '../settle/trail.js';

/** The maximum number of recipients that are examined for one page. */
export const EXAMINED_RECIPIENTS = 20_000;

const RECIPIENT = 'r.number, r.status, r.units, r.refunded_units, r.error, r.vars, r.updated_at, r.due_at';

/** The approximate size of a recipient, and of each of its attempts, in bytes. */
const BYTES = 300;

/** The first recipients of a message, in the order of the send. */
export function* listRecipients(messageId: string): Operation<readonly StoredRecipient[]> {
  const rows = yield* rowsOf(
    `SELECT ${RECIPIENT} FROM messaging_recipient r WHERE r.message_id = ? AND r.position < ? ORDER BY r.position`,
    messageId,
    FIRST_RECIPIENTS,
  );
  return rows.map(toRecipient);
}

/** See `OutboxStore.firstRecipients`. */
export function* listFirstRecipients(
  dialect: Dialect,
  messageIds: readonly string[],
): Operation<ReadonlyMap<string, TrackedRecipient>> {
  if (messageIds.length === 0) return new Map();
  const rows = yield* rowsOf(
    `SELECT r.message_id, ${RECIPIENT} FROM messaging_recipient r${dialect.by('primary key')}
      WHERE r.message_id ${dialect.among()} AND r.position = 0`,
    JSON.stringify(messageIds),
  );
  const trails = yield* firstTrails(dialect, messageIds);
  return new Map(
    rows.map((row) => {
      const id = textOf(row, 'message_id');
      return [id, { ...toRecipient(row), trail: trails.get(id) ?? [] }];
    }),
  );
}

/** See `OutboxStore.recipientPage`. */
export function* readRecipients(
  dialect: Dialect,
  messageId: string,
  { limit, from = 0, status }: RecipientQuery,
): Operation<RecipientPage> {
  const [message] = yield* rowsOf(
    'SELECT recipients, octet_length(payload) AS bytes FROM messaging_message WHERE id = ?',
    messageId,
  );
  const count = message ? integerOf(message, 'recipients') : 0;
  const textBytes = message ? integerOf(message, 'bytes') : 0;
  const end = Math.min(count, from + (status === undefined ? limit : EXAMINED_RECIPIENTS));
  const seen = status === undefined ? { sql: '1 = 1', params: [] } : seenAs(status);
  // The recipients and the message's refunded units are read in one statement. With two statements, a refund between
  // them would show in only one of them.
  const rows = yield* rowsOf(
    `SELECT r.position, ${RECIPIENT}, r.tries,
        (SELECT m.refunded_units FROM messaging_message m WHERE m.id = r.message_id) AS all_refunded
      FROM messaging_recipient r${dialect.by('primary key')}
      WHERE r.message_id = ? AND r.position >= ? AND r.position < ? AND ${seen.sql} ORDER BY r.position LIMIT ?`,
    messageId,
    from,
    end,
    ...seen.params,
    limit + 1,
  );
  const found = rows.slice(0, limit).map((row) => ({
    ...toRecipient(row),
    position: integerOf(row, 'position'),
    storedAttempts: integerOf(row, 'tries'),
  }));
  const items = withinPage(found, ({ storedAttempts, vars }) => {
    // A personal text is part of the page, too. With its values it is about as long as the text with the variables.
    const own = vars === undefined ? 0 : textBytes + Object.values(vars).join('').length;
    return BYTES + Math.min(storedAttempts, SHOWN_ATTEMPTS) * BYTES + own;
  });
  const attempts = yield* newestAttempts(dialect, messageId, items, SHOWN_ATTEMPTS);
  const [first] = rows;
  const further = rows[items.length];
  const unread = end < count ? end : undefined;
  return {
    items: items.map(({ storedAttempts, ...item }) => ({
      ...item,
      attempts: attempts.get(item.position) ?? [],
      attemptsCount: storedAttempts,
    })),
    next: further ? integerOf(further, 'position') : unread,
    refundedUnits: first ? integerOf(first, 'all_refunded') : 0,
  };
}

/** The first numbers of several messages, in the order of the sends. */
export function* listNumbers(
  dialect: Dialect,
  messageIds: readonly string[],
): Operation<ReadonlyMap<string, readonly string[]>> {
  const numbers = new Map<string, string[]>(messageIds.map((id) => [id, []]));
  if (messageIds.length === 0) return numbers;
  const rows = yield* rowsOf(
    `SELECT message_id, number FROM messaging_recipient${dialect.by('primary key')}
      WHERE message_id ${dialect.among()} AND position < ? ORDER BY message_id, position`,
    JSON.stringify(messageIds),
    FIRST_RECIPIENTS,
  );
  for (const row of rows) numbers.get(textOf(row, 'message_id'))?.push(textOf(row, 'number'));
  return numbers;
}

/** The condition that an account sees a recipient `r` in a state. It is `shownStatus` in SQL. */
export function seenAs(status: DeliveryStatus): Statement {
  if (status === 'queued') return { sql: "r.status = 'queued' AND r.error IS NULL", params: [] };
  if (status === 'sending') {
    return { sql: "(r.status = 'sending' OR (r.status = 'queued' AND r.error IS NOT NULL))", params: [] };
  }
  return { sql: 'r.status = ?', params: [status] };
}

function toRecipient(row: Row): StoredRecipient {
  const vars = storedVars(row);
  // Only this package writes the column, from values of this type.
  const status = textOf(row, 'status') as DeliveryStatus;
  const updatedAt = integerOf(row, 'updated_at');
  const dueAt = optionalInteger(row, 'due_at') ?? updatedAt;
  return {
    number: textOf(row, 'number'),
    status,
    units: integerOf(row, 'units'),
    refundedUnits: integerOf(row, 'refunded_units'),
    error: optionalText(row, 'error'),
    ...(vars === undefined ? {} : { vars }),
    updatedAt,
    ...(status === 'queued' && dueAt > updatedAt ? { dueAt } : {}),
  };
}

/** The values of a recipient's personal text. */
export function storedVars(row: Row): Variables | undefined {
  const text = optionalText(row, 'vars');
  return text === undefined ? undefined : JSON.parse(text);
}
