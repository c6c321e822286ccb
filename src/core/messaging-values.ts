import type { InjectionToken } from '@nestjs/common';
import type { CoreValues } from './core-options.js';

/**
 * The values that `forRoot` was given or that the factory returned. Each settings provider reads its part. The core knows its
 * own part; a capability reads the whole (`AllValues`) through `ofCore`.
 */
export const MessagingValues: InjectionToken<CoreValues> = Symbol('MessagingValues');
