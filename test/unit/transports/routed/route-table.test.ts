import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Choosable, RouteSelector } from '../../../../src/transports/routed/sms-router.js';

interface Route extends Choosable {
  readonly name: string;
}

const route = (name: string, over: Partial<Omit<Route, 'signatures'>> & { signatures?: string[] } = {}): Route => ({
  name,
  prefixes: [''],
  weight: 1,
  ...over,
  signatures: over.signatures && new Set(over.signatures),
});

/** The random numbers in the order in which they are drawn, then halves. */
const names = (routes: readonly Route[], number: string, signature = 'INFOS', lots: number[] = []) =>
  new RouteSelector(routes, () => lots.shift() ?? 0.5).candidates(number, signature).map(({ name }) => name);

describe('the routes of an SMS', () => {
  test('begin with the longest prefix, then shorter ones, then the routes for all numbers', () => {
    const routes = [
      route('all'),
      route('bf', { prefixes: ['226'] }),
      route('mobile', { prefixes: ['22670', '22671'] }),
    ];
    expect(names(routes, '22670123456')).toEqual(['mobile', 'bf', 'all']);
    expect(names(routes, '22676123456')).toEqual(['bf', 'all']);
    expect(names(routes, '33612345678')).toEqual(['all']);
  });

  test('include a route with several matching prefixes once, by the longest', () => {
    const routes = [route('bf', { prefixes: ['226', '22670'] }), route('other', { prefixes: ['226'] })];
    expect(names(routes, '22670123456')).toEqual(['bf', 'other']);
  });

  test('are empty if no prefix or signature matches', () => {
    expect(names([route('bf', { prefixes: ['226'] })], '33612345678')).toEqual([]);
    expect(names([route('bank', { signatures: ['BANK'] })], '22670123456')).toEqual([]);
  });

  test('at equal prefixes begin with routes for the signature; a longer prefix takes precedence', () => {
    const routes = [
      route('any', { prefixes: ['226'] }),
      route('bank', { prefixes: ['226'], signatures: ['BANK'] }),
      route('mobile', { prefixes: ['22670'] }),
      route('bank-everywhere', { signatures: ['BANK'] }),
    ];
    expect(names(routes, '22670123456', 'BANK')).toEqual(['mobile', 'bank', 'any', 'bank-everywhere']);
    expect(names(routes, '22670123456', 'INFOS')).toEqual(['mobile', 'any']);
  });

  test('of a number that is shorter than the prefixes are those for all numbers', () => {
    expect(names([route('long', { prefixes: ['2267012345'] }), route('all')], '2267')).toEqual(['all']);
  });

  test('of equal rank are ordered by chance, by weight', () => {
    const routes = [route('a', { weight: 1 }), route('b', { weight: 3 })];
    expect(names(routes, '226', 'INFOS', [0.5, 0.4])).toEqual(['b', 'a']);
    expect(names(routes, '226', 'INFOS', [0.9, 0.4])).toEqual(['a', 'b']);
  });

  test('over many SMS each come first as often as their weight says, and routes of weight 0 come last', () => {
    const routes = [route('spare', { weight: 0 }), route('a'), route('b', { weight: 2 }), route('c', { weight: 5 })];
    let seed = 7;
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const table = new RouteSelector(routes, random);
    const first: Record<string, number> = {};
    for (let sms = 0; sms < 8000; sms++) {
      const order = table.candidates('22670123456', 'INFOS').map(({ name }) => name);
      expect(order).toHaveLength(4);
      expect(order.at(-1)).toBe('spare');
      first[order[0] ?? ''] = (first[order[0] ?? ''] ?? 0) + 1;
    }
    expect(Math.round((first.a ?? 0) / 1000)).toBe(1);
    expect(Math.round((first.b ?? 0) / 1000)).toBe(2);
    expect(Math.round((first.c ?? 0) / 1000)).toBe(5);
  });

  test('are all routes that match, each once, and no other (property)', () => {
    const digits = fc.string({ unit: fc.constantFrom('2', '6', '7'), minLength: 1, maxLength: 4 });
    const anyRoute = fc.record({
      prefixes: fc.oneof(fc.constant(['']), fc.array(digits, { minLength: 1, maxLength: 3 })),
      signatures: fc.option(fc.array(fc.constantFrom('A', 'B'), { minLength: 1 }), { nil: undefined }),
      weight: fc.constantFrom(0, 1, 5),
    });
    fc.assert(
      fc.property(fc.array(anyRoute, { minLength: 1, maxLength: 6 }), digits, (given, number) => {
        const routes = given.map(({ signatures, ...rest }, index) =>
          route(String(index), { ...rest, ...(signatures && { signatures }) }),
        );
        const fit = routes.filter(
          ({ prefixes, signatures }) =>
            prefixes.some((prefix) => number.startsWith(prefix)) && (signatures?.has('A') ?? true),
        );
        const found = names(routes, number, 'A');
        expect([...found].sort()).toEqual(fit.map(({ name }) => name).sort());
        expect(new Set(found).size).toBe(found.length);
      }),
    );
  });
});
