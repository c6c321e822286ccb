import { any, formatValue, OptionPlace, type OptionsOf, optionalGroup } from '../common/options.js';
import { mountPath } from '../http/http-settings.js';

/** Where the sandbox is mounted and which host names it accepts. */
export interface SandboxOptions {
  /**
   * Mount path of the endpoints, below the host's global prefix if there is one: segments as in the service's own `path`.
   * Default `sandbox`.
   */
  readonly path?: string | undefined;
  /**
   * Host names accepted on a loopback address besides `localhost`, `127.0.0.1` and `[::1]`, without a port; for instance the
   * name of a proxy on this machine. Default none. On other addresses every name is accepted.
   */
  readonly hosts?: readonly string[] | undefined;
}

/** `SandboxOptions` with every default filled in. */
export interface ResolvedSandboxOptions {
  /** Without slashes at its ends. */
  readonly path: string;
  /** In lower case. */
  readonly hosts: readonly string[];
}

const SANDBOX_OPTIONS = optionalGroup({
  path: any((given, place) => mountPath(given, 'sandbox', place)).or('sandbox'),
  hosts: any(hostNames).or([]),
} satisfies OptionsOf<SandboxOptions>);

const PLACE = new OptionPlace('', (path) => `SandboxModule: ${path === '' ? 'the options' : `option ${path}`}`);

/**
 * Checks the options and fills in the defaults.
 * @throws MessagingOptionsError naming the wrong option
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
