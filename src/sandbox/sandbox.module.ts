import { type DynamicModule, Module } from '@nestjs/common';
import { capabilityModule } from '../core/capability.js';
import { ConfiguredModule } from '../core/configured-module.js';
import { EventStreams } from '../http/event-streams.js';
import { HttpSettings } from '../http/http-options.js';
import { HookInbox } from './hooks/hook-inbox.js';
import { HookTarget, SandboxPath } from './hooks/hook-target.js';
import { sandboxHookOpenapi, sandboxHooksOpenapi } from './hooks/sandbox-hooks.openapi.js';
import { SandboxPhones } from './phones/sandbox-phones.js';
import { sandboxOpenapi, sandboxScanOpenapi } from './sandbox.openapi.js';
import { SandboxFiles } from './sandbox-files.js';
import { SandboxHosts } from './sandbox-guards.js';
import { SandboxLive } from './sandbox-live.js';
import { resolveSandboxOptions, type SandboxOptions } from './sandbox-options.js';
import { SandboxPage } from './sandbox-page.js';

/**
 * Shows the messages that sandbox phones received. `GET /sandbox` is a page for people, `GET /sandbox/phones/:number/messages` is
 * for programs. On a loopback address it accepts only names of this machine and the names in the option `hosts`. **It needs no
 * authentication and shows one-time codes to every client that reaches it**: import it only while the application runs on the
 * sandbox, never in production. It needs the messaging core, which each of our other modules brings.
 *
 * @example
 * ```ts
 * @Module({ imports: [MessagingModule.forRoot(options), SandboxModule.forRoot()] })
 * ```
 */
@Module({})
export class SandboxModule extends ConfiguredModule {
  /** @throws MessagingOptionsError with a sentence that names the wrong option */
  static forRoot(options?: SandboxOptions): DynamicModule {
    const { path, hosts, docs, apiKey } = resolveSandboxOptions(options);
    return capabilityModule(
      SandboxModule,
      { path, controllers: true },
      {
        imports: [SandboxPhones],
        controllers: [sandboxOpenapi, sandboxScanOpenapi, sandboxHookOpenapi, sandboxHooksOpenapi],
        providers: [
          EventStreams,
          SandboxLive,
          SandboxFiles,
          HookInbox,
          HookTarget,
          { provide: SandboxPath, useValue: { path } satisfies SandboxPath },
          { provide: SandboxHosts, useValue: { names: hosts } satisfies SandboxHosts },
          {
            provide: SandboxPage,
            useFactory: (settings: HttpSettings) => new SandboxPage({ path, apiPath: settings.path, docs, apiKey }),
            inject: [HttpSettings],
          },
        ],
      },
    );
  }
}
