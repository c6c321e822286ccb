import type { Send } from '../../outbox/send.js';
import { type Dialect, shapeOf } from './dialect.js';
import type { Statement } from './operation.js';

/** From so many recipients on, a send's rows travel by themselves, without its id repeated in each of them. */
const LARGE = 50;

const RECIPIENT =
  'message_id, channel, lane, due_at, updated_at, position, number, units, refunded_units, status, attempt';

/** The recipients of accepted sends; those that are refused in a statement of their own. */
export function insertRecipients(dialect: Dialect, sends: readonly Send[]): Statement[] {
  const screened = sends.filter(isScreened);
  const whole = screened.length === 0 ? sends : sends.filter((send) => !isScreened(send));
  const small = [...whole.filter((send) => send.recipients.length <= LARGE), ...screened];
  const statements = whole.filter((send) => send.recipients.length > LARGE).map((send) => recipientsOf(dialect, send));
  if (screened.length > 0) statements.push(refusedRecipients(dialect, screened));
  const source = dialect.rows(shapeOf('message_id channel lane number', 'position units at'));
  const rows = small.flatMap((send) =>
    send.recipients.flatMap(({ number, units, refused }, position) =>
      refused === undefined ? [[send.id, send.channel, send.lane ?? null, number, position, units, send.at]] : [],
    ),
  );
  if (rows.length === 0) return statements;
  statements.push({
    sql: `INSERT INTO messaging_recipient (${RECIPIENT})
      SELECT v.message_id, v.channel, v.lane, v.at, v.at, v.position, v.number, v.units, 0, 'queued', 0 FROM ${source}`,
    params: [JSON.stringify(rows)],
  });
  return statements;
}

function recipientsOf(dialect: Dialect, { id, channel, lane, at, recipients: all }: Send): Statement {
  const [text, integer] = [dialect.typed('text'), dialect.typed('integer')];
  return {
    sql: `INSERT INTO messaging_recipient (${RECIPIENT})
      SELECT ${text}, ${text}, ${text}, ${integer}, ${integer},
        v.position, v.number, v.units, 0, 'queued', 0 FROM ${dialect.numberedPairs()}`,
    params: [id, channel, lane ?? null, at, at, JSON.stringify(all.map(({ number, units }) => [number, units]))],
  };
}

function isScreened({ recipients: all }: Send): boolean {
  return all.some(({ refused }) => refused !== undefined);
}

/** Those that are stored and not sent: in no lane, and due never. */
function refusedRecipients(dialect: Dialect, sends: readonly Send[]): Statement {
  const rows = sends.flatMap((send) =>
    send.recipients.flatMap(({ number, units, refused }, position) =>
      refused === undefined ? [] : [[send.id, send.channel, number, refused, position, units, send.at]],
    ),
  );
  return {
    sql: `INSERT INTO messaging_recipient (${RECIPIENT}, error)
      SELECT v.message_id, v.channel, NULL, NULL, v.at, v.position, v.number, v.units, 0, 'failed', 0, v.error
      FROM ${dialect.rows(shapeOf('message_id channel number error', 'position units at'))}`,
    params: [JSON.stringify(rows)],
  };
}
