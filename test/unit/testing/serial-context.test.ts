import { executionAsyncId } from 'node:async_hooks';
import { describe, expect, test } from '@jest/globals';
import { SerialContext } from '../../support/jest/serial-context.mjs';

describe('what Jest gets in place of an AsyncLocalStorage', () => {
  const context = new SerialContext<string>();

  test('holds a store until the promise of its callback has settled, and then the store before', async () => {
    const seen: (string | undefined)[] = [context.getStore()];
    const look = async () => {
      await Promise.resolve();
      seen.push(context.getStore());
    };
    await context.run('outer', async () => {
      await context.run('inner', look);
      await look();
      await expect(context.run('failing', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
      await look();
    });
    expect([...seen, context.getStore()]).toEqual([undefined, 'inner', 'outer', 'outer', undefined]);
  });

  test('holds it during a callback without a promise, even if that throws', () => {
    expect(context.run('a', () => context.getStore())).toBe('a');
    expect(() =>
      context.run('a', () => {
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(context.getStore()).toBeUndefined();
  });

  // Node gives promises ids only while hooks are in use, up to Node 22. They make each promise slow.
  test('leaves the tests themselves without hooks of Node', async () => {
    await Promise.resolve();
    expect(executionAsyncId()).toBe(0);
  });
});
