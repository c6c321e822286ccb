import { MessagingOptionsError } from '../common/errors.js';

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
