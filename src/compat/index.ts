/** Doors in the shape of other services, for software that can only speak to them. */

export { CompatModule } from './compat.module.js';
export type { CompatOptions } from './compat-options.js';
