import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, test } from '@jest/globals';
import { SharedContext } from '../../../src/transports/baileys/shared-contexts.js';
import { settled } from '../../support/common/settled.js';

const KINDS: [string, typeof AsyncLocalStorage][] = [
  ['AsyncLocalStorage', AsyncLocalStorage],
  ['SharedContext', SharedContext],
];

// What holds for Node's own holds for ours.
describe.each(KINDS)('%s', (_name, Context) => {
  test('has what it was run with, across awaits, and nothing outside', async () => {
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

  test('keeps what two do at the same time apart', async () => {
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

  test('has the innermost, and the outer one again after it, also when that throws', () => {
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

  test('can be left, and only this one is', () => {
    const [one, two] = [new Context<string>(), new Context<string>()];
    const look = (...rest: string[]) => [one.getStore(), two.getStore(), ...rest];
    one.run('a', () =>
      two.run('b', () => {
        expect(one.exit(look, 'rest')).toEqual([undefined, 'b', 'rest']);
        expect(look()).toEqual(['a', 'b']);
      }),
    );
  });

  test('can be entered for the rest of what goes on', async () => {
    const context = new Context<string>();
    const entered = async () => {
      await settled();
      context.enterWith('a');
      await settled();
      return context.getStore();
    };
    expect(await entered()).toBe('a');
  });

  test('has nothing once it is disabled, until it is used again; others stay', () => {
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

  test('goes along with what is bound to a context', () => {
    const context = new Context<string>();
    const bound = context.run('a', () => AsyncLocalStorage.bind(() => context.getStore()));
    expect([bound(), context.getStore()]).toEqual(['a', undefined]);
  });
});
