import asyncHooks from 'node:async_hooks';
import { afterEach, describe, expect, test } from '@jest/globals';
import { SharedContext, withSharedContexts } from '../../../src/transports/baileys/shared-contexts.js';

const NAME = 'AsyncLocalStorage';
const original = Object.getOwnPropertyDescriptor(asyncHooks, NAME) ?? {};
const current = () => Object.getOwnPropertyDescriptor(asyncHooks, NAME);

afterEach(() => {
  Object.defineProperty(asyncHooks, NAME, original);
});

describe('what is done with shared contexts', () => {
  test('makes them, and what is made afterwards is Node’s own', () => {
    expect(withSharedContexts(() => new asyncHooks.AsyncLocalStorage())).toBeInstanceOf(SharedContext);
    expect(current()).toEqual(original);
  });

  test('leaves Node’s own behind when it fails', () => {
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

  test('works where the class cannot be assigned, as on Node 22', () => {
    const getter = { get: () => original.value, enumerable: true, configurable: true };
    Object.defineProperty(asyncHooks, NAME, getter);
    expect(withSharedContexts(() => new asyncHooks.AsyncLocalStorage())).toBeInstanceOf(SharedContext);
    expect(current()).toEqual(getter);
  });

  test('puts back what the host had there', () => {
    class Traced<T> extends SharedContext<T> {}
    Object.defineProperty(asyncHooks, NAME, { value: Traced, configurable: true, enumerable: true, writable: true });
    withSharedContexts(() => undefined);
    expect(asyncHooks.AsyncLocalStorage).toBe(Traced);
  });
});
