import { type DynamicModule, Module } from '@nestjs/common';
import { capabilityModule } from './core/capability.js';
import { ConfiguredModule } from './core/configured-module.js';
import { EventStreams } from './http/event-streams.js';
import { HttpSettings } from './http/http-settings.js';
import { HookInbox } from './sandbox/hooks/hook-inbox.js';
import { HookTarget, SandboxPath } from './sandbox/hooks/hook-target.js';
import { sandboxHookOpenapi, sandboxHooksOpenapi } from './sandbox/hooks/sandbox-hooks.openapi.js';
import { sandboxOpenapi, sandboxScanOpenapi } from './sandbox/sandbox.openapi.js';
import { SandboxFiles } from './sandbox/sandbox-files.js';
import { SandboxHosts } from './sandbox/sandbox-guards.js';
import { SandboxLive } from './sandbox/sandbox-live.js';
import { resolveSandboxOptions, type SandboxOptions } from './sandbox/sandbox-options.js';
import { SandboxPage } from './sandbox/sandbox-page.js';
import { SandboxPhones } from './sandbox/sandbox-phones.js';

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
          ...[EventStreams, SandboxLive, SandboxFiles, HookInbox, HookTarget],
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
