import type { Settlement } from '../../outbox/settlement.js';
import { nextPart, settlementOfParts } from '../../sms/part-fate.js';
import type { DatedReceipt, SmsPart } from '../../sms/sms-part.js';
import type { Dialect } from './dialect.js';
import { type Operation, rowsOf } from './operation.js';
import { PART_COLUMNS, toPart, updateParts } from './part-rows.js';
import { integerOf, optionalText } from './values.js';

/** What became of receipts. */
export interface AppliedReceipts {
  readonly settlements: readonly Settlement[];
  /** Those that no part matches. */
  readonly unmatched: readonly DatedReceipt[];
}

/** Finds the part of each receipt, moves it on and says what that means for its SMS. The routes are locked. */
export function* applyReceipts(dialect: Dialect, receipts: readonly DatedReceipt[]): Operation<AppliedReceipts> {
  const settlements: Settlement[] = [];
  const unmatched: DatedReceipt[] = [];
  let pending = receipts;
  while (pending.length > 0) {
    const found = yield* findParts(dialect, pending);
    const sms = yield* loadSms(dialect, [...found.values()]);
    const later: DatedReceipt[] = [];
    const moved = new Map<string, SmsPart>();
    for (const receipt of pending) {
      const key = found.get(receipt);
      const parts = key === undefined ? undefined : sms.get(smsOf(key));
      const part = key === undefined ? undefined : parts?.get(key);
      if (key === undefined || !parts || !part) {
        unmatched.push(receipt);
        continue;
      }
      // Another part may have the same id, and this receipt be for that one: it is looked for again.
      if (moved.has(key)) {
        later.push(receipt);
        continue;
      }
      const next = nextPart(part, receipt);
      if (!next) continue;
      parts.set(key, next);
      moved.set(key, next);
      settlements.push(...settlementOfParts([...parts.values()], receipt));
    }
    if (moved.size > 0) yield updateParts(dialect, [...moved.values()]);
    pending = later;
  }
  return { settlements, unmatched };
}

/** The part of each receipt by its key, that of the first id that has one; a receipt without one is not there. */
function* findParts(dialect: Dialect, receipts: readonly DatedReceipt[]): Operation<ReadonlyMap<DatedReceipt, string>> {
  // Each question once: carriers that have one id for everything ask the same one again and again.
  const asked = new Set(receipts.flatMap((receipt) => receipt.ids.map((id) => questionOf(receipt, id))));
  const questions = [...asked].map((text): Question => JSON.parse(text));
  const answers = new Map([
    ...(yield* firstParts(
      dialect,
      questions.filter(([, , number]) => number !== null),
      'AND p.number = v.number',
    )),
    ...(yield* firstParts(
      dialect,
      questions.filter(([, , number]) => number === null),
      '',
    )),
  ]);
  const found = new Map<DatedReceipt, string>();
  for (const receipt of receipts) {
    const [key] = receipt.ids.flatMap((id) => answers.get(questionOf(receipt, id)) ?? []);
    if (key !== undefined) found.set(receipt, key);
  }
  return found;
}

/** Route, the carrier's id, and the number where it is known. */
type Question = readonly [string, string, string | null];

function questionOf({ route, number }: DatedReceipt, id: string): string {
  return JSON.stringify([route, id, number ?? null] satisfies Question);
}

/** By question the part that `byClaim` puts first; a question without one is not there. */
function* firstParts(
  dialect: Dialect,
  questions: readonly Question[],
  sameNumber: string,
): Operation<ReadonlyMap<string, string>> {
  if (questions.length === 0) return new Map();
  const rows = yield* rowsOf(
    `SELECT v.place, (
        SELECT concat(p.position, ' ', p.attempt, ' ', p.part, ' ', p.message_id) FROM messaging_sms_part p
          WHERE p.route = v.route AND p.carrier_id = v.carrier_id ${sameNumber}
          ORDER BY CASE p.status WHEN 'sent' THEN 0 WHEN 'unknown' THEN 1 ELSE 2 END, p.recorded_at DESC, p.part LIMIT 1
      ) AS part_key
      FROM ${dialect.rows({ route: 'id', carrier_id: 'id', number: 'id', place: 'integer' })}`,
    JSON.stringify(questions.map((question, place) => [...question, place])),
  );
  return new Map(
    rows.flatMap((row): [string, string][] => {
      const key = optionalText(row, 'part_key');
      return key === undefined ? [] : [[JSON.stringify(questions[integerOf(row, 'place')]), key]];
    }),
  );
}

/** All parts of the SMS that these parts belong to, by SMS and by key; locked, in one order by everybody. */
function* loadSms(dialect: Dialect, keys: readonly string[]): Operation<ReadonlyMap<string, Map<string, SmsPart>>> {
  const sms = new Map<string, Map<string, SmsPart>>(keys.map((key) => [smsOf(key), new Map()]));
  if (sms.size === 0) return sms;
  const rows = yield* rowsOf(
    `SELECT ${PART_COLUMNS.map((name) => `p.${name}`).join(', ')}
      FROM ${dialect.rowsInOrder({ message_id: 'id', position: 'integer' }, 'message_id, position')}
      ${dialect.thenJoin} messaging_sms_part p${dialect.by('primary key')} ON p.message_id = v.message_id AND p.position = v.position
      ORDER BY p.message_id, p.position, p.attempt, p.part${dialect.lock('p', 'wait')}`,
    `[${[...sms.keys()].join(',')}]`,
  );
  for (const part of rows.map(toPart)) {
    const { messageId, position, attempt } = part;
    sms.get(JSON.stringify([messageId, position]))?.set(`${position} ${attempt} ${part.part} ${messageId}`, part);
  }
  return sms;
}

/** The SMS of a part's key, as a row of JSON. */
function smsOf(key: string): string {
  const [position, attempt, part] = key.split(' ', 3);
  const messageId = key.slice(`${position} ${attempt} ${part} `.length);
  return JSON.stringify([messageId, Number(position)]);
}
