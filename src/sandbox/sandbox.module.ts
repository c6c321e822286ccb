import { type DynamicModule, Module } from '@nestjs/common';
import { MessagingOptionsError } from '../common/errors.js';
import { formatValue } from '../common/options.js';
import { EventStreams } from '../http/event-streams.js';
import { HttpSettings, mountPath } from '../http/http-settings.js';
import { mountController } from '../http/mount-controller.js';
import { SandboxController } from './sandbox.controller.js';
import { SandboxHosts } from './sandbox-host.guard.js';
import { SandboxLive } from './sandbox-live.js';
import { SandboxPage } from './sandbox-page.js';
import { SandboxScanController } from './sandbox-scan.controller.js';

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

/**
 * Shows what sandbox phones received: `GET /sandbox` is a page, `GET /sandbox/phones/:number/messages` is for programs. On a
 * loopback address it accepts only the names of this machine and those of the option `hosts`. **It is unauthenticated and
 * shows one-time codes to every client that reaches it**: import it while the application runs on the sandbox, never in
 * production. It needs the messaging core, which any of our other modules brings.
 *
 * @example
 * ```ts
 * @Module({ imports: [MessagingModule.forRoot(options), SandboxModule.forRoot()] })
 * ```
 */
@Module({})
export class SandboxModule {
  /** @throws MessagingOptionsError with a sentence that names the wrong option */
  static forRoot(options?: SandboxOptions): DynamicModule {
    const { path, hosts } = resolveSandboxOptions(options);
    return {
      module: SandboxModule,
      controllers: [mountController(SandboxController, path), mountController(SandboxScanController, path)],
      providers: [
        EventStreams,
        SandboxLive,
        { provide: SandboxHosts, useValue: { names: hosts } satisfies SandboxHosts },
        {
          provide: SandboxPage,
          useFactory: (settings: HttpSettings) => new SandboxPage({ path, apiPath: settings.path }),
          inject: [HttpSettings],
        },
      ],
    };
  }
}

/** `SandboxOptions` with every default filled in. */
export interface ResolvedSandboxOptions {
  /** Without slashes at its ends. */
  readonly path: string;
  /** In lower case. */
  readonly hosts: readonly string[];
}

/**
 * Checks the options and fills in the defaults.
 * @throws MessagingOptionsError naming the wrong option
 */
export function resolveSandboxOptions(options: SandboxOptions = {}): ResolvedSandboxOptions {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new MessagingOptionsError('SandboxModule: the options must be an object.');
  }
  const unknown = Object.keys(options).find((name) => name !== 'path' && name !== 'hosts');
  if (unknown !== undefined) {
    throw new MessagingOptionsError(`SandboxModule: option ${unknown} is not known; there are path, hosts.`);
  }
  const { path: given = 'sandbox', hosts = [] } = options;
  return { path: mountPath('SandboxModule: option path', given, 'sandbox'), hosts: hostNames(hosts) };
}

function hostNames(hosts: unknown): readonly string[] {
  const names: readonly unknown[] = Array.isArray(hosts) ? hosts : [undefined];
  return names.map((name) => {
    if (typeof name === 'string' && /^[\w.-]{1,253}$/.test(name)) return name.toLowerCase();
    throw new MessagingOptionsError(
      `SandboxModule: option hosts must be a list of host names without a port, such as ["sms.example.test"]; got ${formatValue(hosts)}.`,
    );
  });
}
