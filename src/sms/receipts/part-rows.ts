import type { Dialect } from '../../storage/dialect.js';
import type { Row, Statement } from '../../storage/engine/operation.js';
import { integerOf, optionalText, type RowShape, shapeOf, textOf } from '../../storage/engine/rows.js';
import { type PartStatus, partsOf, type SmsPart, type TakenSms } from './sms-part.js';

const SHAPE: RowShape = {
  message_id: 'id',
  route: 'id',
  carrier_id: 'id',
  number: 'id',
  ...shapeOf('status error', 'position attempt part parts recorded_at updated_at expires_at'),
};

/** The columns of a part's row. */
export const PART_COLUMNS = Object.keys(SHAPE).filter((name) => name !== 'expires_at');

/** Inserts the parts of SMS. Existing parts stay unchanged. */
export function insertParts(dialect: Dialect, taken: readonly TakenSms[]): Statement {
  const rows = taken.flatMap((sms) => partsOf(sms).map((part) => [...valuesOf(part), sms.expiresAt]));
  const onDuplicate = ['message_id, position, attempt, part'] as const;
  return dialect.insertRows({ table: 'messaging_sms_part', shape: SHAPE, rows, onDuplicate });
}

/** Updates status, error and time of parts. */
export function updateParts(dialect: Dialect, parts: readonly SmsPart[]): Statement {
  return dialect.updateRows({
    table: 'messaging_sms_part',
    set: { status: 'v.status', error: 'v.error', updated_at: 'v.updated_at' },
    shape: { message_id: 'id', ...shapeOf('status error', 'position attempt part updated_at') },
    rows: parts.map(({ messageId, status, error, position, attempt, part, updatedAt }) => {
      return [messageId, status, error ?? null, position, attempt, part, updatedAt];
    }),
    on: SAME_PART,
  });
}

const SAME_PART = ['message_id', 'position', 'attempt', 'part']
  .map((column) => `messaging_sms_part.${column} = v.${column}`)
  .join(' AND ');

function valuesOf(part: SmsPart): unknown[] {
  return [
    part.messageId,
    part.route,
    part.carrierId,
    part.number,
    part.status,
    part.error ?? null,
    part.position,
    part.attempt,
    part.part,
    part.parts,
    part.recordedAt,
    part.updatedAt,
  ];
}

/** Reads a part from its row. */
export function toPart(row: Row): SmsPart {
  return {
    messageId: textOf(row, 'message_id'),
    position: integerOf(row, 'position'),
    attempt: integerOf(row, 'attempt'),
    part: integerOf(row, 'part'),
    parts: integerOf(row, 'parts'),
    route: textOf(row, 'route'),
    carrierId: textOf(row, 'carrier_id'),
    number: textOf(row, 'number'),
    // The cast is safe, because only this module writes the column.
    status: textOf(row, 'status') as PartStatus,
    error: optionalText(row, 'error'),
    recordedAt: integerOf(row, 'recorded_at'),
    updatedAt: integerOf(row, 'updated_at'),
  };
}
