import { MessagingOptionsError } from '../common/errors.js';
import { shown } from '../common/shown.js';

/** Where the sandbox is. */
export interface SandboxOptions {
  /** Where the endpoints are mounted, below the host's global prefix if it has one. Default `sandbox`. */
  readonly path?: string | undefined;
}

/** `SandboxOptions` with every default filled in. */
export interface ResolvedSandboxOptions {
  /** Without slashes at its ends. */
  readonly path: string;
}

/** Segments of unreserved characters (RFC 3986 section 2.3). */
const PATH = /^[\w.~-]+(\/[\w.~-]+)*$/;

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
  const path = typeof given === 'string' ? given.replace(/^\/|\/$/g, '') : '';
  if (PATH.test(path)) return { path };
  throw new MessagingOptionsError(
    `SandboxModule: option path must be one or more segments of letters, digits and . _ ~ -, such as "sandbox"; got ${shown(given)}.`,
  );
}
