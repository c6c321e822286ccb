import type { InjectionToken } from '@nestjs/common';
import type { CoreFactoryOptions } from './core-options.js';

/**
 * The options that were passed to `forRoot`, or that the factory returned. Each settings provider reads its part of
 * them. The type has only the core's part. A capability reads all options (`AllFactoryOptions`) with `ofCore`.
 */
export const GivenOptions: InjectionToken<CoreFactoryOptions> = Symbol('GivenOptions');
