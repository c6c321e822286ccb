import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, test } from '@jest/globals';
import { SharedContext } from '../../../../src/transports/baileys/shared-contexts.js';
import { settled } from '../../../support/common/settled.js';

const KINDS: [string, typeof AsyncLocalStorage][] = [
  ['AsyncLocalStorage', AsyncLocalStorage],
  ['SharedContext', SharedContext],
];

// Our class must pass the same tests as Node's own.
describe.each(KINDS)('%s', (_name, Context) => {
  test('has the value it was run with, across awaits, and none outside', async () => {
    const context = new Context<string>();
    const seen = await context.run(
      'a',
      async (suffix: string) => {
        await settled();
        return `${context.getStore()}${suffix}`;
      },
      '!',
    );
    expect([seen, context.getStore()]).toEqual(['a!', undefined]);
  });

  test('keeps the values of concurrent runs apart', async () => {
    const [one, two] = [new Context<string>(), new Context<string>()];
    const look = async () => {
      await settled();
      return [one.getStore(), two.getStore()];
    };
    const nested = one.run('a', () => two.run('b', look));
    const alone = [one.run('c', look), two.run('d', look), look()];
    expect(await Promise.all([nested, ...alone])).toEqual([
      ['a', 'b'],
      ['c', undefined],
      [undefined, 'd'],
      [undefined, undefined],
    ]);
  });

  test('has the value of the innermost run, and the outer one afterwards, even after a throw', () => {
    const context = new Context<number>();
    context.run(1, () => {
      expect(context.run(2, () => context.getStore())).toBe(2);
      const failing = () =>
        context.run(3, () => {
          throw new Error('thrown');
        });
      expect(failing).toThrow('thrown');
      expect(context.getStore()).toBe(1);
    });
  });

  test('can be left without leaving other contexts', () => {
    const [one, two] = [new Context<string>(), new Context<string>()];
    const look = (...rest: string[]) => [one.getStore(), two.getStore(), ...rest];
    one.run('a', () =>
      two.run('b', () => {
        expect(one.exit(look, 'rest')).toEqual([undefined, 'b', 'rest']);
        expect(look()).toEqual(['a', 'b']);
      }),
    );
  });

  test('can be entered for the rest of the current execution', async () => {
    const context = new Context<string>();
    const entered = async () => {
      await settled();
      context.enterWith('a');
      await settled();
      return context.getStore();
    };
    expect(await entered()).toBe('a');
  });

  test('has no value once it is disabled, until it is used again; other contexts keep theirs', () => {
    const [one, two] = [new Context<string>(), new Context<string>()];
    const look = () => [one.getStore(), two.getStore()];
    two.run('b', () =>
      one.run('a', () => {
        one.disable();
        expect(look()).toEqual([undefined, 'b']);
        expect(one.run('c', look)).toEqual(['c', 'b']);
      }),
    );
  });

  test('is carried along by functions that are bound to a context', () => {
    const context = new Context<string>();
    const bound = context.run('a', () => AsyncLocalStorage.bind(() => context.getStore()));
    expect([bound(), context.getStore()]).toEqual(['a', undefined]);
  });
});
