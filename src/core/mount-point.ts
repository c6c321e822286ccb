import { MessagingOptionsError } from '../common/errors.js';
import type { SharedCore } from './core-options.js';

/** Where a core mounts its routes, and whether it does; the capabilities on it do the same. */
export abstract class MountPoint {
  abstract readonly path: string;
  abstract readonly controllers: boolean;

  /** @throws MessagingOptionsError when the module is no core of ours */
  static of(core: unknown): MountPoint {
    const providers = typeof core === 'object' && core !== null && 'providers' in core ? core.providers : [];
    for (const provider of Array.isArray(providers) ? providers : []) {
      if (provider?.provide === MountPoint && 'useValue' in provider) return provider.useValue;
    }
    throw new MessagingOptionsError('Option core must be what MessagingCore.forRoot or forRootAsync gave.');
  }
}

/**
 * Whether a capability is mounted on a core that stands already.
 * @throws MessagingOptionsError when what is named is none: the names beside it would be the ones that are complained of
 */
export function isOnSharedCore<T extends object>(options: T): options is Extract<T, SharedCore> {
  if (typeof options !== 'object' || options === null || !('core' in options)) return false;
  const { core }: { readonly core: unknown } = options;
  MountPoint.of(core);
  return true;
}
