import type { Provider, Type } from '@nestjs/common';
import { MessagingOptionsError } from '../common/errors.js';

const MADE = Symbol('made by forRoot');

/**
 * A module that only `forRoot` and `forRootAsync` complete. Nest would start an application that imports the bare class, and
 * nothing would be mounted.
 * @internal
 */
export abstract class ConfiguredModule {
  /** @throws MessagingOptionsError when Nest instantiates the class itself */
  constructor(made?: unknown) {
    if (made === MADE) return;
    const { name } = new.target;
    throw new MessagingOptionsError(`${name} is imported without forRoot: write ${name}.forRoot({ … }) in imports.`);
  }
}

/**
 * Provides the instance of a module that `forRoot` completed; for any other module nothing. Nothing is injected, so that the
 * sentence comes before Nest's own about services that are missing.
 */
export function configured(module: Type<object>): Provider[] {
  if (!(module.prototype instanceof ConfiguredModule)) return [];
  return [{ provide: module, useFactory: () => new module(MADE) }];
}
