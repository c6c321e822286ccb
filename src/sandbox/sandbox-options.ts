import { MessagingOptionsError } from '../common/errors.js';
import { mountPath } from '../http/mount-path.js';

/** Where the sandbox is. */
export interface SandboxOptions {
  /**
   * Where the endpoints are mounted, below the host's global prefix if it has one: segments as in the service's own `path`.
   * Default `sandbox`.
   */
  readonly path?: string | undefined;
}

/** `SandboxOptions` with every default filled in. */
export interface ResolvedSandboxOptions {
  /** Without slashes at its ends. */
  readonly path: string;
}

/** Fills in the defaults. @throws MessagingOptionsError naming the option that is wrong */
export function resolveSandboxOptions(options: SandboxOptions = {}): ResolvedSandboxOptions {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new MessagingOptionsError('SandboxModule: the options must be an object.');
  }
  const unknown = Object.keys(options).find((name) => name !== 'path');
  if (unknown !== undefined) {
    throw new MessagingOptionsError(`SandboxModule: option ${unknown} is not known; there is path.`);
  }
  const { path: given = 'sandbox' } = options;
  return { path: mountPath('SandboxModule: option path', given, 'sandbox') };
}
