import { createHash } from 'node:crypto';
import { randomMark } from '../../common/ids.js';
import { phoneOf } from '../../common/phone-numbers/phone-spellings.js';
import type { Dialect } from '../../storage/dialect.js';
import type { Database } from '../../storage/engine/database.js';
import { type Operation, rowsOf, write } from '../../storage/engine/operation.js';
import { integerOf, type RowShape, textOf } from '../../storage/engine/rows.js';

/** How many different numbers a route may send to. */
export interface RecipientQuota {
  readonly route: string;
  /** The maximum number of different numbers at a time. */
  readonly count: number;
  /** How long a number counts after its last SMS, in milliseconds. */
  readonly windowMs: number;
}

/** The numbers of a batch that a route may send to. */
export interface AdmittedNumbers {
  readonly admitted: ReadonlySet<string>;
  /** When the first number stops to count, in milliseconds since the epoch. Undefined if all numbers are admitted. */
  readonly freeAt: number | undefined;
}

/**
 * Persists which numbers each route has sent to within its window, as hashes. Each number takes one of the route's places, and
 * the place is part of the primary key. So two processes can never take the same place, on whatever node.
 * @throws StorageUnavailableError from every method, if the database is unavailable
 */
export class RouteRecipientStore {
  constructor(private readonly database: Database) {}

  /** Returns the numbers that count already or for which there was room a moment ago. It reserves nothing. */
  admissible(quota: RecipientQuota, numbers: readonly string[], now: number): Promise<AdmittedNumbers> {
    return this.database.read(function* () {
      return admit(quota, numbers, now, yield* takenPlaces(quota.route)).answer;
    });
  }

  /** Reserves a place for each number that counts already or for which there is room, in their order. */
  reserve(quota: RecipientQuota, numbers: readonly string[], now: number): Promise<AdmittedNumbers> {
    const { dialect } = this.database;
    return this.database.write(() => reserveNumbers(dialect, quota, numbers, now));
  }

  /**
   * Replaces the hashes of a number by random ones. Its places stay taken, because the SIM card has sent to it.
   * @returns how many were replaced
   */
  forget(number: string): Promise<number> {
    const { dialect } = this.database;
    return this.database.write(function* () {
      const routes = yield* rowsOf('SELECT DISTINCT r.route FROM messaging_sms_route_recipient r ORDER BY r.route');
      let forgotten = 0;
      for (const route of routes.map((row) => textOf(row, 'route'))) {
        yield* lockRoute(dialect, route);
        forgotten += yield* write(
          'UPDATE messaging_sms_route_recipient SET recipient = ? WHERE route = ? AND recipient = ?',
          `erased ${randomMark()}`,
          route,
          hashOf(route, number),
        );
      }
      return forgotten;
    });
  }

  /** Deletes at most `limit` numbers that no longer count. @returns how many were deleted */
  purge(now: number, limit: number): Promise<number> {
    const first = this.database.dialect.deleteFirst('messaging_sms_route_recipient', 'route, place', 'expires_at');
    return this.database.write(() => write(first, now, limit));
  }
}

/** A place of a route and the number that took it. */
interface Place {
  readonly place: number;
  /** See {@link hashOf}. */
  readonly recipient: string;
  /** Until when the number counts, in milliseconds since the epoch. */
  readonly expiresAt: number;
}

function* reserveNumbers(
  dialect: Dialect,
  quota: RecipientQuota,
  numbers: readonly string[],
  now: number,
): Operation<AdmittedNumbers> {
  yield* lockRoute(dialect, quota.route);
  const { answer, moved, added } = admit(quota, numbers, now, yield* takenPlaces(quota.route));
  const valuesOf = ({ place, recipient, expiresAt }: Place) => [quota.route, place, recipient, expiresAt];
  if (moved.length > 0) {
    yield dialect.updateRows({
      table: 'messaging_sms_route_recipient',
      set: { recipient: 'v.recipient', expires_at: 'v.expires_at' },
      shape: SHAPE,
      rows: moved.map(valuesOf),
      on: 'messaging_sms_route_recipient.route = v.route AND messaging_sms_route_recipient.place = v.place',
    });
  }
  if (added.length > 0) {
    yield dialect.insertRows({ table: 'messaging_sms_route_recipient', shape: SHAPE, rows: added.map(valuesOf) });
  }
  return answer;
}

const SHAPE: RowShape = { route: 'id', place: 'integer', recipient: 'id', expires_at: 'integer' };

/** Locks a route's places until the transaction ends. Does nothing if a writer locks the whole database. */
function* lockRoute(dialect: Dialect, route: string): Operation<void> {
  if (dialect.lock('a', 'wait') === '') return;
  for (const sql of dialect.lockTimeout) yield { sql, params: [] };
  // Receipts lock the route by its name, so that this lock does not wait for them.
  const id = `recipients of ${route}`;
  const lock = () => rowsOf(dialect.lockByIds('messaging_sms_route', 'a.id', 'wait'), JSON.stringify([id]));
  if ((yield* lock()).length > 0) return;
  yield* dialect.insertNew({ sql: 'INSERT INTO messaging_sms_route (id) VALUES (?)', params: [id] }, 'id');
  yield* lock();
}

function* takenPlaces(route: string): Operation<readonly Place[]> {
  const rows = yield* rowsOf(
    'SELECT r.place, r.recipient, r.expires_at FROM messaging_sms_route_recipient r WHERE r.route = ? ORDER BY r.place',
    route,
  );
  return rows.map((row) => ({
    place: integerOf(row, 'place'),
    recipient: textOf(row, 'recipient'),
    expiresAt: integerOf(row, 'expires_at'),
  }));
}

/** Decides which numbers are admitted, and which places change for them. */
function admit(
  { route, count, windowMs }: RecipientQuota,
  numbers: readonly string[],
  now: number,
  places: readonly Place[],
): { readonly answer: AdmittedNumbers; readonly moved: readonly Place[]; readonly added: readonly Place[] } {
  const known = new Map(places.map((place) => [place.recipient, place]));
  const live = new Map(places.filter(({ expiresAt }) => expiresAt > now).map((place) => [place.recipient, place]));
  const taken = new Set(places.map(({ place }) => place));
  const moved = new Map<number, Place>();
  const added: Place[] = [];
  const admitted = new Set<string>();
  const expiresAt = now + windowMs;
  // The places of numbers that no longer count. A number that comes back keeps its own place.
  const comingBack = new Set(numbers.map((number) => hashOf(route, number)));
  const free = places.filter((place) => place.expiresAt <= now && !comingBack.has(place.recipient));
  for (const number of new Set(numbers)) {
    const recipient = hashOf(route, number);
    const own = live.get(recipient);
    if (own === undefined && live.size >= count) continue;
    admitted.add(number);
    const reused = own ?? known.get(recipient) ?? free.shift();
    const place = { place: reused?.place ?? lowestFree(taken), recipient, expiresAt };
    live.set(recipient, place);
    taken.add(place.place);
    if (reused === undefined) {
      added.push(place);
    } else if (!added.some((each) => each.place === place.place)) {
      moved.set(place.place, place);
    }
  }
  const isFull = new Set(numbers).size > admitted.size;
  const freeAt = isFull ? Math.min(...[...live.values()].map((place) => place.expiresAt)) : undefined;
  return { answer: { admitted, freeAt }, moved: [...moved.values()], added };
}

function lowestFree(taken: ReadonlySet<number>): number {
  let place = 0;
  while (taken.has(place)) place++;
  return place;
}

/** Returns the form in which a number is stored: the same for all spellings of one phone, and another one for each route. */
function hashOf(route: string, number: string): string {
  return createHash('sha256')
    .update(`${route}\n${phoneOf(number)}`)
    .digest('base64url');
}
