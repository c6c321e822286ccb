import { MessagingOptionsError } from '../common/errors.js';
import type { SharedCore } from './core-options.js';

/**
 * The path at which a core mounts its routes, and whether it mounts them. The capabilities of the core use the same.
 */
export abstract class MountPoint {
  abstract readonly path: string;
  abstract readonly controllers: boolean;

  /**
   * The mount point of a core.
   * @throws MessagingOptionsError if the module is not a core
   */
  static of(core: unknown): MountPoint {
    const providers = typeof core === 'object' && core !== null && 'providers' in core ? core.providers : [];
    for (const provider of Array.isArray(providers) ? providers : []) {
      if (provider?.provide === MountPoint && 'useValue' in provider) return provider.useValue;
    }
    throw new MessagingOptionsError('Option core must be what MessagingCore.forRoot or forRootAsync gave.');
  }
}

/**
 * Whether the options of a capability name an existing core. A wrong `core` throws here, because the next error would
 * be about the options beside it.
 * @throws MessagingOptionsError if `core` is not a core
 */
export function isOnSharedCore<T extends object>(options: T): options is Extract<T, SharedCore> {
  if (typeof options !== 'object' || options === null || !('core' in options)) return false;
  const { core }: { readonly core: unknown } = options;
  MountPoint.of(core);
  return true;
}
