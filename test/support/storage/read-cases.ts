import { expect } from '@jest/globals';
import { messageId, phone } from '../../contract/storage/fixtures.js';
import { LARGE, LARGE_ID, type ReadFixture, SMALL, type Watched } from './read-fixture.js';

/** Asserts that one read was limited. */
export type Check = (watched: Watched<unknown>, most: number) => Promise<void>;

/** The requests that an account may make, and the rows that an answer may cost. */
export async function readEverything(world: ReadFixture, check: Check): Promise<void> {
  const page = await world.list();
  expect(page.result.items.map(({ recipients }) => recipients)).toEqual([LARGE, ...Array(49).fill(1)]);
  await check(page, 150);

  const ofKinds = await world.list({ kinds: ['text', 'media'] });
  expect(ofKinds.result).toEqual(page.result);
  await check(ofKinds, 300);
  const first = await world.firstRecipients(page.result.items.map(({ id }) => id));
  expect([...first.result.keys()].sort()).toEqual(page.result.items.map(({ id }) => id).sort());
  await check(first, 250);

  const numbers = await world.numbers(page.result.items.map(({ id }) => id));
  expect(numbers.result.get(LARGE_ID)).toHaveLength(100);
  expect(numbers.rows).toHaveLength(149);
  await check(numbers, 350);

  for (const from of [0, LARGE - 200]) {
    const first = await world.recipients({ limit: 100, from });
    expect(first.result.items.map(({ number }) => number)).toEqual(
      Array.from({ length: 100 }, (_, at) => phone(from + at)),
    );
    await check(first, 400);
  }

  const direct = await world.list({ number: '33612345678' });
  expect(direct.result).toMatchObject({ items: [{ id: messageId(2) }], next: undefined });
  await check(direct, 20);
  const order = await world.list({ number: '33612345678', metadata: { order: '2' } });
  expect(order.result.items.map(({ id }) => id)).toEqual([messageId(2)]);
  await check(order, 20);
  const nobody = await world.list({ number: '33600000000', status: 'failed', sender: 'RARE' });
  expect(nobody.result).toEqual({ items: [], next: undefined });
  await check(nobody, 20);
}

/** Searches for a rare value. Returns how many pages it took. */
export async function searchFor(
  world: ReadFixture,
  query: Parameters<ReadFixture['list']>[0],
  check: Check,
  most: number,
): Promise<number> {
  let after: string | undefined;
  for (let pages = 1; ; pages++) {
    const page = await world.list({ ...query, after });
    await check(page, most);
    const { items, next } = page.result;
    if (items.length > 0) {
      expect(items.map(({ id }) => id)).toEqual([messageId(0)]);
      return pages;
    }
    expect([typeof next, pages <= SMALL]).toEqual(['string', true]);
    after = next;
  }
}

/** Looks for recipients in a state that none of them has. Returns how many pages it took. */
export async function searchRecipients(world: ReadFixture, check: Check, most: number): Promise<number> {
  let from: number | undefined;
  for (let pages = 1; ; pages++) {
    const page = await world.recipients({ limit: 50, status: 'delivered', from });
    expect(page.result.items).toEqual([]);
    await check(page, most);
    if (page.result.next === undefined) return pages;
    from = page.result.next;
  }
}
