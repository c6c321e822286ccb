import type { CoreValues } from './core-options.js';

/** The values that `forRoot` was given or that the factory returned. Each settings provider reads its part. */
export abstract class MessagingValues implements CoreValues {
  abstract readonly signatures: readonly string[];
}
