import { createRequire } from 'node:module';
import type { Type } from '@nestjs/common';
import { once } from '../common/concurrency/once.js';

// `__filename` is the fallback, because in a CommonJS bundle of esbuild `import.meta.url` is undefined.
const require = createRequire(import.meta.url ?? __filename);

/** The host's class-validator, loaded at first use: it takes about as long to load as all of this package. */
export const classValidator = once((): typeof import('class-validator') => require('class-validator'));

/** Decorators that wait, by the prototype of their class. */
const waiting = new WeakMap<object, (() => void)[]>();

/** A property decorator of class-validator that {@link applyLateDecorators} makes and applies. */
export function lateDecorator(make: () => PropertyDecorator): PropertyDecorator {
  return (target, property) => {
    waiting.set(target, [...(waiting.get(target) ?? []), () => make()(target, property)]);
  };
}

/** Applies the decorators that wait on a class and on the classes it extends, in their order. Later calls do nothing. */
export function applyLateDecorators(dto: Type<object>): void {
  for (let target: unknown = dto.prototype; isObject(target); target = Object.getPrototypeOf(target)) {
    for (const apply of waiting.get(target) ?? []) apply();
    waiting.delete(target);
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
