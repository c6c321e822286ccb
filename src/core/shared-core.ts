import type { SharedCore } from './core-options.js';
import { MountPoint } from './mount-point.js';

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
