import type { DeliveryUpdate } from '../../outbox/delivery-state.js';
import type { Dialect } from '../../storage/dialect.js';
import { type Operation, type Row, rowsOf } from '../../storage/engine/operation.js';
import { integerOf, optionalText, textOf } from '../../storage/engine/rows.js';
import { PART_COLUMNS, toPart, updateParts } from './part-rows.js';
import {
  type DatedReceipt,
  endOfNumber,
  isRepeat,
  mayBeForAnother,
  mayBeSpellings,
  nextPart,
  type SmsPart,
  updateOfLasting,
  updateOfParts,
} from './sms-part.js';

/** The result of applying receipts. */
interface AppliedReceipts {
  readonly updates: readonly DeliveryUpdate[];
  /**
   * Receipts that may belong to parts that are not stored yet: no part matches, or only final parts that the receipt does not
   * concern.
   */
  readonly unmatched: readonly DatedReceipt[];
}

/** Finds the part of each receipt, updates it and derives the updates of its SMS. The caller has locked the routes. */
export function* applyReceipts(
  dialect: Dialect,
  receipts: readonly DatedReceipt[],
  now: number,
): Operation<AppliedReceipts> {
  const updates: DeliveryUpdate[] = [];
  const unmatched: DatedReceipt[] = [];
  const withoutEffect: DatedReceipt[] = [];
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
      // Another part may have the same id and be the one that this receipt concerns: search again in the next round.
      if (moved.has(key)) {
        later.push(receipt);
        continue;
      }
      if (isRepeat(receipt, part, [...parts.values()])) continue;
      const concerned = receipt.whole === true ? ofAttempt(parts, part.attempt) : [[key, part] as const];
      const changed = concerned.flatMap(([each, before]) => {
        const after = nextPart(before, receipt);
        return after ? [[each, after] as const] : [];
      });
      if (changed.length === 0) {
        updates.push(...updateOfLasting([...parts.values()], receipt, now));
        if (mayBeForAnother(part, receipt)) withoutEffect.push(receipt);
        continue;
      }
      for (const [each, after] of changed) {
        parts.set(each, after);
        moved.set(each, after);
      }
      updates.push(...updateOfParts([...parts.values()], receipt, now));
    }
    if (moved.size > 0) yield updateParts(dialect, [...moved.values()]);
    pending = later;
  }
  return { updates, unmatched: [...unmatched, ...(yield* laterThanKnown(dialect, withoutEffect))] };
}

/** Returns the parts of one attempt, by their keys. */
function ofAttempt(parts: ReadonlyMap<string, SmsPart>, attempt: number): readonly (readonly [string, SmsPart])[] {
  return [...parts].filter(([, part]) => part.attempt === attempt);
}

/**
 * Finds the key of the part of each receipt, by the receipt's first id that has a part. Receipts without a part are missing in
 * the result.
 */
function* findParts(dialect: Dialect, receipts: readonly DatedReceipt[]): Operation<ReadonlyMap<DatedReceipt, string>> {
  const answers = yield* askParts(dialect, receipts, FIRST_BY_CLAIM);
  const found = new Map<DatedReceipt, string>();
  for (const receipt of receipts) {
    const [row] = answersFor(receipt, answers);
    if (row) found.set(receipt, textOf(row, 'answer'));
  }
  return found;
}

/** Returns the receipts whose own time is after the last update of every part that they may concern. */
function* laterThanKnown(dialect: Dialect, receipts: readonly DatedReceipt[]): Operation<readonly DatedReceipt[]> {
  if (receipts.length === 0) return [];
  const answers = yield* askParts(dialect, receipts, LAST_UPDATE);
  return receipts.filter((receipt) =>
    answersFor(receipt, answers).every((row) => receipt.at > integerOf(row, 'answer')),
  );
}

/**
 * Selects from the parts `p` of an id the key of the likeliest part: first a part that is still `sent`, then an `unknown` one,
 * then the newest.
 */
const FIRST_BY_CLAIM = [
  "concat(p.position, ' ', p.attempt, ' ', p.part, ' ', p.message_id)",
  "ORDER BY CASE p.status WHEN 'sent' THEN 0 WHEN 'unknown' THEN 1 ELSE 2 END, p.recorded_at DESC, p.part LIMIT 1",
] as const;
/** Selects the time of the last receipt of the parts of an id. */
const LAST_UPDATE = ['max(p.updated_at)', "AND p.status <> 'sent'"] as const;

/** A route, a carrier's id, and the number, or null if it is unknown. */
type Question = readonly [string, string, string | null];
type Answers = ReadonlyMap<string, Row>;

/** Returns the questions about each number of a receipt, in the order of its ids. */
function questionsOf({ route, ids, number, otherNumber }: DatedReceipt): readonly string[] {
  const numbers = otherNumber === undefined ? [number ?? null] : [number ?? null, otherNumber];
  return numbers.flatMap((each) => ids.map((id) => JSON.stringify([route, id, each] satisfies Question)));
}

/** Returns the answers for the ids of a receipt, in the order of its questions. Ids without a part are left out. */
function answersFor(receipt: DatedReceipt, answers: Answers): readonly Row[] {
  return questionsOf(receipt).flatMap((question) => {
    const row = answers.get(question);
    return row ? [row] : [];
  });
}

/** Runs a selection on the parts of each id of these receipts. Ids without an answer are missing in the result. */
function* askParts(
  dialect: Dialect,
  receipts: readonly DatedReceipt[],
  asked: readonly [what: string, of: string],
): Operation<Answers> {
  // Each question is asked once, because a carrier that gives all its parts the same id would repeat it for each receipt.
  const texts = new Set(receipts.flatMap(questionsOf));
  const questions = [...texts].map((text): Question => JSON.parse(text));
  const ofNumber = questions.filter(([, , number]) => number !== null);
  const ofAny = questions.filter(([, , number]) => number === null);
  const answers = new Map([
    ...(yield* askOf(dialect, ofNumber, 'AND p.number = v.number', asked)),
    ...(yield* askOf(dialect, ofAny, '', asked)),
  ]);
  const others = ofNumber.filter((question) => !answers.has(JSON.stringify(question)));
  const respelled = yield* inStoredSpelling(dialect, others);
  const more = yield* askOf(dialect, [...respelled.values()], 'AND p.number = v.number', asked);
  for (const [text, question] of respelled) {
    const row = more.get(JSON.stringify(question));
    if (row) answers.set(text, row);
  }
  return answers;
}

/**
 * For questions about a number to which no part of the id was sent, returns the question with the number of a part that may be
 * the same phone in another spelling. If there is no such part, or more than one, the question is left out. The key is the
 * original question.
 */
function* inStoredSpelling(dialect: Dialect, questions: readonly Question[]): Operation<ReadonlyMap<string, Question>> {
  const respelled = new Map<string, Question>();
  if (questions.length === 0) return respelled;
  const rows = yield* rowsOf(
    `SELECT v.place, (
        SELECT CASE WHEN min(p.number) = max(p.number) THEN min(p.number) END FROM messaging_sms_part p
          WHERE p.route = v.route AND p.carrier_id = v.carrier_id AND p.number LIKE concat('%', v.number_end)
      ) AS number
      FROM ${dialect.rows({ route: 'id', carrier_id: 'id', number_end: 'id', place: 'integer' })}`,
    JSON.stringify(questions.map(([route, id, number], place) => [route, id, endOfNumber(number ?? ''), place])),
  );
  for (const row of rows) {
    const question = questions[integerOf(row, 'place')];
    const stored = optionalText(row, 'number');
    if (!question || stored === undefined) continue;
    const [route, id, number] = question;
    if (mayBeSpellings(stored, number ?? '')) respelled.set(JSON.stringify(question), [route, id, stored]);
  }
  return respelled;
}

function* askOf(
  dialect: Dialect,
  questions: readonly Question[],
  sameNumber: string,
  [what, of]: readonly [what: string, of: string],
): Operation<Answers> {
  if (questions.length === 0) return new Map();
  const rows = yield* rowsOf(
    `SELECT v.place, (
        SELECT ${what} FROM messaging_sms_part p
          WHERE p.route = v.route AND p.carrier_id = v.carrier_id ${sameNumber} ${of}
      ) AS answer
      FROM ${dialect.rows({ route: 'id', carrier_id: 'id', number: 'id', place: 'integer' })}`,
    JSON.stringify(questions.map((question, place) => [...question, place])),
  );
  const answered = rows.filter(({ answer }) => answer !== null);
  return new Map(answered.map((row) => [JSON.stringify(questions[integerOf(row, 'place')]), row]));
}

/** Locks and reads all parts of the SMS of these parts, by SMS and by key, in the order that all transactions use. */
function* loadSms(dialect: Dialect, keys: readonly string[]): Operation<ReadonlyMap<string, Map<string, SmsPart>>> {
  const sms = new Map<string, Map<string, SmsPart>>(keys.map((key) => [smsOf(key), new Map()]));
  if (sms.size === 0) return sms;
  const rows = yield* rowsOf(
    `SELECT ${PART_COLUMNS.map((name) => `p.${name}`).join(', ')}
      FROM ${dialect.rowsInOrder({ message_id: 'id', position: 'integer' }, 'message_id, position')}
      ${dialect.thenJoin} messaging_sms_part p${dialect.by('primary key')} ON ${dialect.lookUp('p.message_id = v.message_id AND p.position = v.position')}
      ORDER BY p.message_id, p.position, p.attempt, p.part${dialect.lock('p', 'wait')}`,
    `[${[...sms.keys()].join(',')}]`,
  );
  for (const part of rows.map(toPart)) {
    const { messageId, position, attempt } = part;
    sms.get(JSON.stringify([messageId, position]))?.set(`${position} ${attempt} ${part.part} ${messageId}`, part);
  }
  return sms;
}

/** Returns the SMS of a part's key, as a JSON row. */
function smsOf(key: string): string {
  const [position, attempt, part] = key.split(' ', 3);
  const messageId = key.slice(`${position} ${attempt} ${part} `.length);
  return JSON.stringify([messageId, Number(position)]);
}
