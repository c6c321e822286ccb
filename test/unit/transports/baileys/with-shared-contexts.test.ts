import asyncHooks from 'node:async_hooks';
import { afterEach, describe, expect, test } from '@jest/globals';
import { SharedContext, withSharedContexts } from '../../../../src/transports/baileys/shared-contexts.js';

const NAME = 'AsyncLocalStorage';
const original = Object.getOwnPropertyDescriptor(asyncHooks, NAME) ?? {};
const current = () => Object.getOwnPropertyDescriptor(asyncHooks, NAME);

afterEach(() => {
  Object.defineProperty(asyncHooks, NAME, original);
});

describe('a function that runs with shared contexts', () => {
  test('makes shared contexts, and afterwards Node’s own class is back', () => {
    expect(withSharedContexts(() => new asyncHooks.AsyncLocalStorage())).toBeInstanceOf(SharedContext);
    expect(current()).toEqual(original);
  });

  test('leaves Node’s own class in place if it throws', () => {
    const failing = () =>
      withSharedContexts(() => {
        throw new Error('no socket');
      });
    expect(failing).toThrow('no socket');
    expect(current()).toEqual(original);
  });

  test('need not make any', () => {
    expect(withSharedContexts(() => 'socket')).toBe('socket');
  });

  test('works if the class cannot be assigned, as on Node 22', () => {
    const getter = { get: () => original.value, enumerable: true, configurable: true };
    Object.defineProperty(asyncHooks, NAME, getter);
    expect(withSharedContexts(() => new asyncHooks.AsyncLocalStorage())).toBeInstanceOf(SharedContext);
    expect(current()).toEqual(getter);
  });

  test('puts back the class that the host had installed', () => {
    class Traced<T> extends SharedContext<T> {}
    Object.defineProperty(asyncHooks, NAME, { value: Traced, configurable: true, enumerable: true, writable: true });
    withSharedContexts(() => undefined);
    expect(asyncHooks.AsyncLocalStorage).toBe(Traced);
  });
});
