import { type DynamicModule, Module } from '@nestjs/common';
import { any, formatValue, OptionPlace, type OptionsOf, optionalGroup } from '../common/options.js';
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
