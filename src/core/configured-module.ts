import type { Provider, Type } from '@nestjs/common';
import { MessagingOptionsError } from '../common/errors.js';

const MADE = Symbol('made by forRoot');

/**
 * The base of modules that must be imported with `forRoot` or `forRootAsync`. If an application imported the bare
 * class, Nest would start it without a word, and nothing would be mounted.
 * @internal
 */
export abstract class ConfiguredModule {
  /** @throws MessagingOptionsError if Nest instantiates the class itself */
  constructor(made?: unknown) {
    if (made === MADE) return;
    const { name } = new.target;
    throw new MessagingOptionsError(`${name} is imported without forRoot: write ${name}.forRoot({ … }) in imports.`);
  }
}

/**
 * Provides the instance of a module that `forRoot` has completed. The provider injects nothing, so that our error comes
 * before Nest's own errors about missing services.
 */
export function configured(module: Type<object>): Provider[] {
  if (!(module.prototype instanceof ConfiguredModule)) return [];
  return [{ provide: module, useFactory: () => new module(MADE) }];
}
