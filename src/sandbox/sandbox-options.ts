import { any, formatValue, OptionPlace, type OptionsOf, optionalGroup } from '../common/options.js';
import { mountPath } from '../http/http-options.js';

/** The sandbox's path, the host names that it accepts, and what its page shows about the application. */
export interface SandboxOptions {
  /**
   * The path under which the endpoints are mounted, below the host's global prefix if there is one. Its segments follow the rules
   * of the service's own `path`. Default `sandbox`.
   */
  readonly path?: string | undefined;
  /**
   * Host names that are accepted on a loopback address besides `localhost`, `127.0.0.1` and `[::1]`, without a port. Example: the
   * name of a proxy on this machine. Default none. On other addresses every name is accepted.
   */
  readonly hosts?: readonly string[] | undefined;
  /**
   * The address of the API document that the page links to, if the application serves one. It is a path of this server, for
   * example `/docs`, or a URL. Default none.
   */
  readonly docs?: string | undefined;
  /**
   * Returns an API key for the command that the page offers to copy, for example the key of a demo account. Only pages that are
   * opened on this machine, as `localhost` or another loopback name, contain it. Default none.
   */
  readonly apiKey?: (() => string | undefined) | undefined;
}

/** `SandboxOptions` with every default filled in. */
interface ResolvedSandboxOptions {
  /** The path, without slashes at its ends. */
  readonly path: string;
  /** The host names, in lower case. */
  readonly hosts: readonly string[];
  readonly docs?: string | undefined;
  readonly apiKey?: (() => string | undefined) | undefined;
}

const SANDBOX_OPTIONS = optionalGroup({
  path: any((given, place) => mountPath(given, 'sandbox', place)).or('sandbox'),
  hosts: any(hostNames).or([]),
  docs: any(docsAddress).or(undefined),
  apiKey: any(keySource).or(undefined),
} satisfies OptionsOf<SandboxOptions>);

const PLACE = new OptionPlace('', (path) => `SandboxModule: ${path === '' ? 'the options' : `option ${path}`}`);

/**
 * Checks the options and fills in the defaults.
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
export function resolveSandboxOptions(options?: SandboxOptions): ResolvedSandboxOptions {
  return SANDBOX_OPTIONS.read(options, PLACE);
}

function hostNames(hosts: unknown, place: OptionPlace): readonly string[] {
  const names: readonly unknown[] = Array.isArray(hosts) ? hosts : [undefined];
  return names.map((name) => {
    if (typeof name === 'string' && /^[\w.-]{1,253}$/.test(name)) return name.toLowerCase();
    return place.refuse(
      `must be a list of host names without a port, such as ["sms.example.test"]; got ${formatValue(hosts)}`,
    );
  });
}

function docsAddress(given: unknown, place: OptionPlace): string {
  // A path must not begin with `//`, because the name of another server would follow.
  if (typeof given === 'string' && /^(\/(?!\/)|https?:\/\/)[^\s\\]*$/.test(given)) return given;
  return place.refuse(`must be a path of this server or a URL, such as "/docs"; got ${formatValue(given)}`);
}

function keySource(given: unknown, place: OptionPlace): () => string | undefined {
  if (typeof given === 'function') return () => given();
  // The message does not show the value, because it may be the key itself.
  return place.refuse(`must be a function that returns an API key; got a ${typeof given}`);
}
