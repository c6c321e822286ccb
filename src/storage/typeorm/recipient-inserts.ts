import type { Send } from '../../outbox/send.js';
import { type Dialect, type RowShape, shapeOf } from './dialect.js';
import type { LaneTurns } from './lane-turns.js';
import type { Statement } from './operation.js';

/** From so many recipients on, a send's rows travel by themselves, without its id repeated in each of them. */
const LARGE = 50;

const FREE = shapeOf('message_id channel number', 'position units at');
const LANED: RowShape = { ...FREE, lane: 'text', lane_turn: 'integer' };

/** Writes the recipients of accepted sends, in lanes behind one another in the order of the sends. */
export function insertRecipients(dialect: Dialect, sends: readonly Send[], turns: LaneTurns): Statement[] {
  const laned = sends.filter(({ lane }) => lane !== undefined);
  const turnOf = new Map(laned.map((send) => [send.id, turns.next(send.at)]));
  const small = sends.filter((send) => send.recipients.length <= LARGE);
  return [
    ...sends
      .filter((send) => send.recipients.length > LARGE)
      .map((send) => oneSend(dialect, send, turnOf.get(send.id))),
    // What has no lane, which is most, is spared the columns.
    ...manySends(
      dialect,
      small.filter(({ id }) => !turnOf.has(id)),
      FREE,
      () => [],
    ),
    ...manySends(
      dialect,
      small.filter(({ id }) => turnOf.has(id)),
      LANED,
      ({ id, lane }) => [lane, turnOf.get(id)],
    ),
  ];
}

function manySends(
  dialect: Dialect,
  sends: readonly Send[],
  shape: RowShape,
  more: (send: Send) => readonly unknown[],
): Statement[] {
  if (sends.length === 0) return [];
  const columns = Object.keys(shape).filter((column) => column !== 'at');
  const rows = sends.flatMap((send) => {
    const rest = more(send);
    return send.recipients.map(({ number, units }, position) => [
      ...[send.id, send.channel, number, position, units, send.at],
      ...rest,
    ]);
  });
  const sql = `INSERT INTO messaging_recipient (due_at, updated_at, refunded_units, status, attempt, ${columns.join(', ')})
    SELECT v.at, v.at, 0, 'queued', 0, ${columns.map((column) => `v.${column}`).join(', ')} FROM ${dialect.rows(shape)}`;
  return [{ sql, params: [JSON.stringify(rows)] }];
}

function oneSend(dialect: Dialect, { id, channel, lane, at, recipients }: Send, turn: number | undefined): Statement {
  const [text, integer] = [dialect.typed('text'), dialect.typed('integer')];
  const rows = recipients.map(({ number, units }) => [number, units]);
  return {
    sql: `INSERT INTO messaging_recipient (
        message_id, channel, lane, lane_turn, due_at, updated_at, position, number, units, refunded_units, status, attempt)
      SELECT ${text}, ${text}, ${text}, ${integer}, ${integer}, ${integer},
        v.position, v.number, v.units, 0, 'queued', 0 FROM ${dialect.numberedPairs()}`,
    params: [id, channel, lane ?? null, turn ?? null, at, at, JSON.stringify(rows)],
  };
}
